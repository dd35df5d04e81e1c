#include "access/server_token.h"

#include <gmock/gmock.h>

#include "model/records_testing.h"
#include "vault/control_plane_vault.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ServerTokensTest : public ::testing::Test, protected RecordFolder {
 protected:
  ServerToken Mint(const std::string& name, Duration duration = std::chrono::hours(1)) {
    return tokens.Mint({.name = name, .principal = {"user", "ann"}, .email = {}, .duration = duration, .vault = {}});
  }
  std::string SecretOf(const std::string& name) { return SecretAt("server-token-" + name); }
  std::string SecretAt(const std::string& key) { return ControlPlaneVault(world.context, datastore).Get(key).value_or(""); }

  TokenSecrets secrets{world.context, *config, repo, datastore};
  ServerTokens tokens{world.context, services(), secrets};
};

TEST_F(ServerTokensTest, TheSecretIsInTheVaultAndNowhereElse) {
  const ServerToken token = Mint("t");
  EXPECT_EQ(token.vault, "_token-secrets");
  EXPECT_EQ(token.secret_key, "server-token-t");
  EXPECT_EQ(token.email, "user:ann");
  const std::string secret = SecretOf("t");
  EXPECT_EQ(secret.size(), 64u);
  EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_THAT(FilesWith(secret), IsEmpty());
  EXPECT_EQ(ServerToken::Parse(token.ToJson(), "t").ToJson(), token.ToJson());
}

TEST_F(ServerTokensTest, ATokenWhoseTimeIsOverIsExpiredThoughNobodyHasRecordedIt) {
  Mint("t", std::chrono::minutes(30));
  EXPECT_EQ(tokens.All()[0].EffectiveState(world.clock.Now()), ServerToken::State::kActive);
  world.clock.Advance(std::chrono::minutes(30));
  EXPECT_EQ(tokens.All()[0].state, ServerToken::State::kActive);
  EXPECT_EQ(tokens.All()[0].EffectiveState(world.clock.Now()), ServerToken::State::kExpired);
  EXPECT_EQ(CodeOf([&] { Mint("t"); }), "token_exists");
  tokens.Rotate("t", std::chrono::hours(1), {});
  EXPECT_EQ(tokens.All()[0].EffectiveState(world.clock.Now()), ServerToken::State::kActive);
}

TEST_F(ServerTokensTest, OnlyARevokedTokenIsMintedOver) {
  Mint("t");
  const std::string first = SecretOf("t");
  EXPECT_EQ(CodeOf([&] { Mint("t"); }), "token_exists");
  EXPECT_EQ(SecretOf("t"), first) << "a refused mint leaves the secret alone";
  EXPECT_FALSE(tokens.Revoke("t").already);
  EXPECT_TRUE(tokens.Revoke("t").already);
  EXPECT_EQ(CodeOf([&] { tokens.Rotate("t", std::chrono::hours(1), {}); }), "token_revoked");
  const ServerToken again = Mint("t");
  EXPECT_EQ(again.state, ServerToken::State::kActive);
  EXPECT_EQ(again.revoked_at, "");
  EXPECT_NE(SecretAt(again.secret_key), first);
  EXPECT_NE(SecretAt(again.secret_key), "");
  EXPECT_EQ(tokens.All().size(), 1u);
}

// Somebody else's mint may be between its secret and its record: who loses must not have replaced the winner's secret.
TEST_F(ServerTokensTest, AMintTakesNoSecretsPlace) {
  ControlPlaneVault(world.context, datastore).Put("server-token-t", "theirs", {});
  const ServerToken ours = Mint("t");
  EXPECT_EQ(SecretOf("t"), "theirs");
  EXPECT_THAT(ours.secret_key, ::testing::StartsWith("server-token-t-"));
  EXPECT_EQ(SecretAt(ours.secret_key).size(), 64u);
  EXPECT_EQ(tokens.All()[0].secret_key, ours.secret_key);
}

TEST_F(ServerTokensTest, RotatingMakesANewSecret) {
  Mint("t");
  const std::string first = SecretOf("t");
  tokens.Rotate("t", std::chrono::hours(1), {});
  EXPECT_NE(SecretOf("t"), first);
  EXPECT_EQ(CodeOf([&] { tokens.Rotate("x", std::chrono::hours(1), {}); }), "token_not_found");
  EXPECT_EQ(CodeOf([&] { tokens.Revoke("x"); }), "token_not_found");
}

TEST_F(ServerTokensTest, RotatingIntoAnotherVaultForgetsTheOldSecret) {
  CreateVault(world.context, *config, {.type = "local_encryption", .name = "v1", .config = {}});
  Mint("t");
  EXPECT_EQ(tokens.Rotate("t", std::chrono::hours(1), "v1").vault, "v1");
  EXPECT_EQ(SecretOf("t"), "");
  EXPECT_EQ(CodeOf([&] { tokens.Rotate("t", std::chrono::hours(1), "nope"); }), "vault_not_found");
  EXPECT_EQ(CodeOf([&] { tokens.Rotate("t", std::chrono::hours(1), "_other"); }), "validation_failed");
}

TEST(ServerTokenRecords, ThatAreDamagedAreRefused) {
  const Json json = {{"name", "t"}, {"state", "active"}, {"principalId", "user:ann"}, {"expiresAt", "2026-12-01T15:29:01.064Z"},
                     {"vaultName", "v"}, {"secretKey", "k"}};
  EXPECT_NO_THROW(ServerToken::Parse(json, "t"));
  for (const auto& [key, value] : json.items()) {
    Json damaged = json;
    damaged.erase(key);
    EXPECT_THROW(ServerToken::Parse(damaged, "t"), UserError) << key;
  }
  Json forged = json;
  forged["principalId"] = "service:scheduler";
  EXPECT_THROW(ServerToken::Parse(forged, "t"), UserError);
}

}  // namespace
}  // namespace swamp

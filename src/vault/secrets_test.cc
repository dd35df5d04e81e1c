#include "vault/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/text.h"
#include "vault/test_vault.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SecretReaderTest : public ::testing::Test {
 protected:
  explicit SecretReaderTest(const std::string& marker = "") : vaults(marker) {}
  std::vector<Json> Audit() { return AuditTrail(vaults.context, vaults.repo).Find({}).entries; }

  TestVaults vaults;
  Redactor redactor;
  SecretReader secrets{vaults.context, *vaults.config, vaults.repo, redactor};
};

TEST_F(SecretReaderTest, ReadsOnceAndHidesWhatItRead) {
  vaults.Create("v", std::nullopt, /*audit_reads=*/true);
  vaults.Open("v")->Put("k", "s3cret-value", {});
  EXPECT_EQ(secrets.Read("v", "k", "expression:vault-resolve"), "s3cret-value");
  EXPECT_EQ(redactor.Redact("a s3cret-value"), "a ***");
  vaults.Open("v")->Put("k", "changed", {});
  EXPECT_EQ(secrets.Read("v", "k", "expression:vault-resolve"), "s3cret-value") << "one value a run";
  ASSERT_THAT(Audit(), SizeIs(1));
  const Json entry = Audit().front();
  EXPECT_EQ(CompactJson(entry), R"({"action":"get","timestamp":")" + entry["timestamp"].get<std::string>() +
                                    R"(","vaultName":"v","vaultType":"local_encryption","secretKey":"k",)"
                                    R"("callerContext":"expression:vault-resolve"})");
}

TEST_F(SecretReaderTest, ReadsAreRecordedOnlyWhereTheVaultWantsIt) {
  vaults.Create("v");
  vaults.Open("v")->Put("k", "s3cret-value", {});
  secrets.Read("v", "k", "expression:vault-resolve");
  EXPECT_THAT(Audit(), IsEmpty());
}

TEST_F(SecretReaderTest, StoresAndThenReadsTheNewValue) {
  vaults.Create("v");
  vaults.Open("v")->Put("k", "old-value", {});
  EXPECT_EQ(secrets.Read("v", "k", "c"), "old-value");
  secrets.Put("v", "k", "new-value", "model:m/create");
  EXPECT_EQ(secrets.Read("v", "k", "c"), "new-value");
  EXPECT_EQ(vaults.Open("v")->Get("k"), "new-value");
  EXPECT_EQ(redactor.Redact("old-value new-value"), "*** ***");
  ASSERT_THAT(Audit(), SizeIs(1));
  EXPECT_EQ(Audit().front()["callerContext"], "model:m/create");
}

TEST_F(SecretReaderTest, SaysWhatIsMissing) {
  vaults.Create("v");
  EXPECT_EQ(ErrorOf([&] { secrets.Read("v", "k", "c"); }).code(), "secret_not_found");
  EXPECT_THAT(ErrorOf([&] { secrets.Read("v", "k", "c"); }).hint(), HasSubstr("swamp vault put v k"));
  EXPECT_EQ(ErrorOf([&] { secrets.Read("w", "k", "c"); }).code(), "vault_not_found");
  EXPECT_EQ(ErrorOf([&] { secrets.Read("v", "../k", "c"); }).code(), "validation_failed");
}

TEST_F(SecretReaderTest, TheProgramsOwnVaultsAreRefused) {
  vaults.Write("vaults/control_plane/a.yaml", "id: a\nname: _token-secrets\ntype: control_plane\n");
  for (const char* name : {"_token-secrets", "a"}) {
    EXPECT_EQ(ErrorOf([&] { secrets.Read(name, "k", "c"); }).code(), "validation_failed");
    EXPECT_EQ(ErrorOf([&] { secrets.Put(name, "k", "v", "c"); }).code(), "validation_failed");
    EXPECT_EQ(ErrorOf([&] { secrets.DefaultVaultFor(name); }).code(), "validation_failed");
  }
  EXPECT_FALSE(secrets.HasUserVault());
  EXPECT_EQ(ErrorOf([&] { secrets.DefaultVaultFor(std::nullopt); }).code(), "vault_not_found");
}

TEST_F(SecretReaderTest, TheFirstVaultByNameIsTheDefault) {
  vaults.Create("b");
  EXPECT_EQ(secrets.DefaultVaultFor(std::nullopt).vault.name, "b");
  EXPECT_THAT(vaults.log.warnings(), IsEmpty());
  vaults.Create("a");
  EXPECT_EQ(secrets.DefaultVaultFor(std::nullopt).vault.name, "a");
  EXPECT_EQ(secrets.DefaultVaultFor(std::nullopt).vault.name, "a");
  EXPECT_THAT(vaults.log.warnings(), SizeIs(1));
  EXPECT_EQ(secrets.DefaultVaultFor("b").vault.name, "b");
  EXPECT_EQ(ErrorOf([&] { secrets.DefaultVaultFor("c"); }).code(), "vault_not_found");
}

class SecretReaderWithDefault : public SecretReaderTest {
 protected:
  SecretReaderWithDefault() : SecretReaderTest("defaultVault: b\n") {}
};

TEST_F(SecretReaderWithDefault, TheMarkerNamesTheDefault) {
  vaults.Create("a");
  EXPECT_EQ(secrets.DefaultVaultFor(std::nullopt).vault.name, "a") << "one that does not exist is passed over";
  vaults.Create("b");
  EXPECT_EQ(secrets.DefaultVaultFor(std::nullopt).vault.name, "b");
}

TEST_F(SecretReaderTest, ATypeThatNeedsAnExtensionNamesIt) {
  vaults.Write("vaults/@swamp/aws-sm/a.yaml", "id: a\nname: cloud\ntype: '@swamp/aws-sm'\n");
  const UserError error = ErrorOf([&] { secrets.Read("cloud", "k", "c"); });
  EXPECT_EQ(error.code(), "vault_type_unavailable");
  EXPECT_EQ(error.hint(), "swamp extension pull @swamp/aws-sm");
}

// ---- the audit trail ----

class AuditTrailTest : public SecretReaderTest {
 protected:
  AuditTrailTest() { vault = vaults.Create("v").vault; }
  void Record(VaultAction action, const std::string& key) { trail.Record(action, vault, key, "cli:vault-put"); }
  std::vector<std::string> Keys(const AuditTrail::Query& query) {
    std::vector<std::string> keys;
    for (const Json& entry : trail.Find(query).entries) keys.push_back(entry["secretKey"]);
    return keys;
  }
  VaultConfig vault;
  AuditTrail trail{vaults.context, vaults.repo};
};

TEST_F(AuditTrailTest, VA23_KeepsOneLineForEachChange) {
  Record(VaultAction::kPut, "a");
  Record(VaultAction::kAnnotate, "a");
  Record(VaultAction::kGet, "a");
  Record(VaultAction::kDelete, "a");
  const std::string file = ".swamp/audit/vault-audit-" + FormatTime(vaults.world.clock.Now()).substr(0, 10) + ".jsonl";
  EXPECT_EQ(Split(vaults.Read(file), '\n').size(), 4U);
  EXPECT_EQ(vaults.ModeOf(file), 0600U);
  EXPECT_EQ(Keys({.action = VaultAction::kAnnotate}).size(), 1U);
  EXPECT_THAT(Keys({.action = VaultAction::kGet}), IsEmpty());
}

TEST_F(AuditTrailTest, VA23_ABrokenLastLineHidesNothing) {
  Record(VaultAction::kPut, "a");
  const std::string file = ".swamp/audit/vault-audit-" + FormatTime(vaults.world.clock.Now()).substr(0, 10) + ".jsonl";
  vaults.Write(file, vaults.Read(file) + R"({"action":"put","times)");
  Record(VaultAction::kPut, "b");
  EXPECT_THAT(Keys({}), ::testing::ElementsAre("a", "b"));
}

TEST_F(AuditTrailTest, GivesTheNewestInTheOrderOfTime) {
  for (const char* key : {"a", "b", "c"}) {
    Record(VaultAction::kPut, key);
    vaults.world.clock.Advance(std::chrono::hours(24));
  }
  vaults.Write(".swamp/audit/vault-reads-2026-12-01.jsonl",
               R"({"timestamp":"2026-12-01T00:00:00.000Z","vaultName":"v","secretKey":"old"})" "\n");
  EXPECT_THAT(Keys({.limit = 2}), ::testing::ElementsAre("b", "c"));
  EXPECT_TRUE(trail.Find({.limit = 2}).truncated);
  EXPECT_FALSE(trail.Find({.limit = 4}).truncated);
  const auto old = trail.Find({.action = VaultAction::kGet, .since = ParseTime("2026-11-30T00:00:00Z")}).entries;
  ASSERT_THAT(old, SizeIs(1));
  EXPECT_EQ(old.front().items().begin().key(), "action");
  vaults.world.clock.Advance(std::chrono::hours(24 * 8));
  EXPECT_THAT(Keys({}), IsEmpty());
  const Time now = vaults.world.clock.Now();
  EXPECT_EQ(ErrorOf([&] { trail.Find({.since = now + Duration(1)}); }).code(), "validation_failed");
  EXPECT_EQ(ErrorOf([&] { trail.Find({.since = now - std::chrono::hours(24 * 366)}); }).code(), "validation_failed");
}

}  // namespace
}  // namespace swamp

// swamp doctor secrets --fix: the secrets reach the vault before any definition names them, and nothing of a peer is lost.

#include <fstream>

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kMostRequests = 60;
constexpr const char* kKey = "config/models/test/account/m1.yaml";

std::string Account(const std::string& name, const std::string& password, const std::string& more = "") {
  return "# an account\ntype: test/account\ntypeVersion: 2026.01.01.1\nid: 22222222-5d1a-4a51-9a0e-2b8f9f0f7c" +
         std::string(name == "m1" ? "11" : "12") + "\nname: " + name +
         "\nmine: kept\nglobalArguments:\n  user: joe  # who\n  password: " + password + "\n" + more;
}
const std::string kTls = "  tls:\n    key: |\n      line one\n      line two\n";

class DoctorSecretsFix : public ::testing::Test {
 protected:
  static std::map<std::string, std::string> Types() { return {{"SWAMP_TEST_TYPES", "1"}}; }
  static RunResult Fix(const Checkout& checkout, std::vector<std::string> more = {"-y"}) {
    std::vector<std::string> words = {"doctor", "secrets", "--fix", "--vault", "v", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    RunResult result = checkout.Run(words, {.environment = Types()});
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("hunter")));
    return result;
  }
  void Write(const std::filesystem::path& path, const std::string& text) { WriteFileAtomically(bucket.context().files(), path, text); }
  // A definition with secrets in the clear, as an older program would have published it.
  void Publish(const Checkout& checkout, const std::string& text) {
    Write(checkout.cache() / kKey, text);
    checkout.Do({"datastore", "sync"});
  }
  static std::string Secret(const Checkout& checkout, const std::string& key) {
    return checkout.Do({"vault", "read-secret", "v", key})["value"];
  }
  // A vault whose secrets are files in a folder that all checkouts share; `put` may run something first.
  void CreateSharedVault(const Checkout& checkout, const std::string& before_put = "") {
    const std::filesystem::path folder = bucket.folder() / "shared";
    std::filesystem::create_directories(folder);
    const std::string put = before_put + "cat > " + folder.string() + "/\"$1\"";
    checkout.Do({"vault", "create", "command", "v", "--config",
                 CompactJson({{"get", {"cat", folder.string() + "/{key}"}},
                              {"raw", true},
                              {"put", {"sh", "-c", put, "sh", "{key}"}},
                              {"list", {"ls", folder.string()}}})});
  }

  Bucket bucket{Backend::kFolder};
};

TEST_F(DoctorSecretsFix, MovesTheSecretsAndKeepsTheRestOfTheDocument) {
  Checkout& plain = bucket.Plain("plain");
  plain.Do({"vault", "create", "local_encryption", "v"});
  const auto file = plain.folder() / "models/test/account/m1.yaml";
  Write(file, Account("m1", "'hunter2 # not'", kTls));
  const Json preview = Fix(plain, {}).json();
  EXPECT_EQ(preview["overallStatus"], "fail");
  EXPECT_EQ(preview["fixed"], Json::array());
  EXPECT_EQ(ReadFile(bucket.context().files(), file), Account("m1", "'hunter2 # not'", kTls));
  EXPECT_EQ(plain.Do({"vault", "list-keys", "v"})["count"], 0);

  const RunResult result = Fix(plain);
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_EQ(result.json()["overallStatus"], "pass");
  EXPECT_EQ(result.json()["fixed"],
            Json::array({{{"definitionId", "22222222-5d1a-4a51-9a0e-2b8f9f0f7c11"},
                          {"definitionName", "m1"},
                          {"type", "test/account"},
                          {"moved",
                           {{{"path", "globalArguments.password"},
                             {"vaultName", "v"},
                             {"vaultKey", "m1-password"},
                             {"expression", "${{ vault.get('v', 'm1-password') }}"}},
                            {{"path", "globalArguments.tls.key"},
                             {"vaultName", "v"},
                             {"vaultKey", "m1-tls.key"},
                             {"expression", "${{ vault.get('v', 'm1-tls.key') }}"}}}}}}));
  EXPECT_EQ(Secret(plain, "m1-password"), "hunter2 # not");
  EXPECT_EQ(Secret(plain, "m1-tls.key"), "line one\nline two\n");
  const std::string text = ReadFile(bucket.context().files(), file).value();
  EXPECT_THAT(text, AllOf(HasSubstr("# an account\n"), HasSubstr("mine: kept\n"), HasSubstr("user: joe  # who\n"),
                          HasSubstr("${{ vault.get('v', 'm1-password') }}"), Not(HasSubstr("hunter")), Not(HasSubstr("line one"))));
  EXPECT_EQ(Fix(plain).json()["fixed"], Json::array());
}

TEST_F(DoctorSecretsFix, OverwritesNoSecret) {
  Checkout& plain = bucket.Plain("plain");
  plain.Do({"vault", "create", "local_encryption", "v"});
  plain.Do({"vault", "put", "v", "m1-password"}, {.input = "another", .has_input = true});
  plain.Do({"vault", "put", "v", "m1-password-2"}, {.input = "a third", .has_input = true});
  plain.Do({"vault", "put", "v", "m1-tls.key"}, {.input = "line one\nline two\n", .has_input = true});
  Write(plain.folder() / "models/test/account/m1.yaml", Account("m1", "hunter2", kTls));
  const Json fixed = Fix(plain).json()["fixed"][0]["moved"];
  EXPECT_EQ(fixed[0]["vaultKey"], "m1-password-3");
  EXPECT_EQ(fixed[1]["vaultKey"], "m1-tls.key");  // it holds that very value
  EXPECT_EQ(Secret(plain, "m1-password"), "another");
  EXPECT_EQ(Secret(plain, "m1-password-2"), "a third");
  EXPECT_EQ(Secret(plain, "m1-password-3"), "hunter2");
}

TEST_F(DoctorSecretsFix, WhatCannotBeMovedLeavesItsDefinitionWholeAndTheOthersGoOn) {
  Checkout& plain = bucket.Plain("plain");
  plain.Do({"vault", "create", "local_encryption", "v"});
  const auto file = plain.folder() / "models/test/account/m1.yaml";
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {Account("m1", "hunter2", "  pin: 1234\n"), "globalArguments.pin is no text"},
           {Account("m1", "hunter2-${{ vault.get('v', 'k') }}"), "globalArguments.password holds an expression"},
           {Account("m1", "&a hunter2", "other: *a\n"), "can't be changed alone"}}) {
    SCOPED_TRACE(text);
    Write(file, text);
    Write(plain.folder() / "models/test/account/m2.yaml", Account("m2", "hunter3"));
    const RunResult result = Fix(plain);
    EXPECT_EQ(result.exit_code, 1) << result;
    const Json json = result.json();
    EXPECT_EQ(json["fixed"][0]["definitionName"], "m2");
    EXPECT_EQ(json["left"][0]["definitionName"], "m1");
    EXPECT_THAT(json["left"][0]["error"].get<std::string>(), HasSubstr(what));
    EXPECT_EQ(ReadFile(bucket.context().files(), file), text);
    EXPECT_EQ(plain.Do({"vault", "list-keys", "v"})["secretKeys"], Json::array({"m2-password"}));
  }
}

TEST_F(DoctorSecretsFix, NeedsAVaultThatCanTakeThem) {
  Checkout& plain = bucket.Plain("plain");
  const auto fix = [&](const std::string& vault) {
    return plain.Run({"doctor", "secrets", "--fix", "--vault", vault, "--json"}, {.environment = Types()}).error_code();
  };
  EXPECT_EQ(fix("v"), "vault_not_found");
  EXPECT_EQ(fix("_internal"), "validation_failed");
  plain.Do({"vault", "create", "env_file", "ci", "--config", R"({"path":"ci.env"})"});
  EXPECT_EQ(fix("ci"), "vault_unsupported");
  EXPECT_EQ(plain.Run({"doctor", "secrets", "--fix"}).exit_code, 2);
  EXPECT_EQ(plain.Run({"doctor", "secrets", "--vault", "v"}).exit_code, 2);
}

TEST_F(DoctorSecretsFix, TwoCheckoutsSeeOneEdit) {
  Checkout& a = bucket.first();
  Checkout& b = bucket.Clone("b");
  CreateSharedVault(a);
  Publish(a, Account("m1", "hunter2"));
  b.Do({"datastore", "sync"});
  // A peer changes something else meanwhile: the stale checkout takes it up.
  Publish(a, Account("m1", "hunter2", "  pin:\n") + "tags: {team: storage}\n");
  const RunResult result = Fix(b);
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(bucket.Peek(kKey).value(), AllOf(HasSubstr("team: storage"), HasSubstr("vault.get('v', 'm1-password')"),
                                              Not(HasSubstr("hunter"))));
  a.Do({"datastore", "sync"});
  EXPECT_EQ(Secret(a, "m1-password"), "hunter2");
  EXPECT_EQ(Fix(a).json()["overallStatus"], "pass");
}

TEST_F(DoctorSecretsFix, ADefinitionThatAPeerEditsInBetweenIsLeftAndReported) {
  Checkout& a = bucket.first();
  Checkout& b = bucket.Clone("b");
  // Between the secret and the edit the peer publishes an edit of its own.
  const auto theirs = bucket.folder() / "theirs.yaml";
  Write(theirs, Account("m1", "hunter2") + "tags: {team: storage}\n");
  CreateSharedVault(b, "cp " + theirs.string() + " " + (a.cache() / kKey).string() + " && cd " + a.folder().string() +
                           " && env -u SWAMP_TEST_KILL HOME=" + a.home().string() + " " + SWAMP_FAULTY_PROGRAM +
                           " datastore sync >/dev/null 2>&1; ");
  a.Do({"datastore", "sync"});
  Publish(a, Account("m1", "hunter2"));
  const RunResult result = Fix(b);
  EXPECT_EQ(result.exit_code, 1) << result;
  const Json left = result.json()["left"][0];
  EXPECT_EQ(left["code"], "config_conflict");
  EXPECT_EQ(left["stored"][0]["vaultKey"], "m1-password");
  EXPECT_THAT(bucket.Peek(kKey).value(), AllOf(HasSubstr("team: storage"), HasSubstr("password: hunter2")));
  EXPECT_TRUE(b.Do({"datastore", "conflicts", "list"})["conflicts"].empty());
  // The same command again uses the secret that is there.
  EXPECT_EQ(Fix(b).exit_code, 0);
  EXPECT_THAT(bucket.Peek(kKey).value(), AllOf(HasSubstr("team: storage"), HasSubstr("vault.get('v', 'm1-password')")));
}

TEST_F(DoctorSecretsFix, KilledAtAnyRequestTheVaultHasWhatADefinitionNamesAndARerunFinishes) {
  Checkout& a = bucket.first();
  CreateSharedVault(a);
  for (const Proxy::Moment moment : {Proxy::Moment::kBefore, Proxy::Moment::kAfter}) {
    for (int request = 0; request < kMostRequests; ++request) {
      SCOPED_TRACE("request " + std::to_string(request) + (moment == Proxy::Moment::kBefore ? " before" : " after"));
      const std::string value = "hunter" + std::to_string(request) + (moment == Proxy::Moment::kBefore ? "b" : "a");
      Publish(a, Account("m1", value));
      const bool killed = a.RunKilledAt({"doctor", "secrets", "--fix", "--vault", "v", "-y"}, request, moment, {.environment = Types()});
      for (const std::string& text : {bucket.Peek(kKey).value(), ReadFile(bucket.context().files(), a.cache() / kKey).value()}) {
        const std::size_t at = text.find("vault.get('v', '");
        if (at == std::string::npos) {
          EXPECT_THAT(text, HasSubstr(value));
        } else {
          const std::string key = text.substr(at + 16, text.find('\'', at + 16) - at - 16);
          EXPECT_EQ(ReadFile(bucket.context().files(), bucket.folder() / "shared" / key), value);
        }
      }
      EXPECT_EQ(Fix(a).exit_code, 0);
      EXPECT_THAT(bucket.Peek(kKey).value(), AllOf(HasSubstr("vault.get('v', 'm1-password"), Not(HasSubstr("hunter"))));
      EXPECT_TRUE(a.Do({"datastore", "status"})["unpublished"]["paths"].empty());
      EXPECT_TRUE(a.Do({"datastore", "conflicts", "list"})["conflicts"].empty());
      if (HasFailure()) return;
      if (!killed) break;
    }
  }
}

TEST_F(DoctorSecretsFix, WithoutTheBucketTheEditIsRecordedAndPublishedLater) {
  Checkout& a = bucket.first();
  CreateSharedVault(a);
  Publish(a, Account("m1", "hunter2"));
  a.FailPuts(kKey, Proxy::Moment::kBefore);
  const RunResult result = Fix(a);
  EXPECT_EQ(result.exit_code, 1) << result;
  EXPECT_EQ(result.json()["left"][0]["code"], "managed_config_unpublished") << result;
  a.EndFaults();
  EXPECT_EQ(Fix(a).exit_code, 0);
  EXPECT_THAT(bucket.Peek(kKey).value(), HasSubstr("vault.get('v', 'm1-password')"));
}

TEST_F(DoctorSecretsFix, AVaultOfThisMachineBesideASharedDatastoreIsWarnedOf) {
  Checkout& a = bucket.first();
  a.Do({"vault", "create", "local_encryption", "v"});
  Publish(a, Account("m1", "hunter2"));
  EXPECT_THAT(Fix(a, {}).json()["warnings"].dump(), HasSubstr("stay on this machine"));
}

TEST_F(DoctorSecretsFix, AutomaticDefinitionsToo) {
  Checkout& a = bucket.first();
  CreateSharedVault(a);
  const char* key = "auto-definitions/test/account/m1.yaml";
  Write(a.cache() / key, Account("m1", "hunter2"));
  a.Do({"datastore", "sync"});
  ASSERT_THAT(bucket.Peek(key).value_or(""), HasSubstr("hunter2"));
  const RunResult result = Fix(a);
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(bucket.Peek(key).value(), AllOf(HasSubstr("vault.get('v', 'm1-password')"), HasSubstr("# an account")));
}

}  // namespace
}  // namespace swamp::e2e

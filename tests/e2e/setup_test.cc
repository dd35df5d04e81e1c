// A repository moves to a datastore that has something already, is interrupted on the way, or is joined by another.

#include <fstream>

#include "backends.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr int kMostRequests = 80;

class Setup : public OnEveryBucket {
 protected:
  // A repository with definitions, an extension and data of its own, on the default datastore.
  static Checkout& WithContent(Bucket& bucket, const std::string& name, const std::string& run) {
    Checkout& checkout = bucket.Plain(name);
    for (const std::string& model : {std::string("shared"), "only-" + name}) {
      checkout.Do({"model", "create", "command/shell", model});
      checkout.Do({"model", "edit", model}, {.input = ModelText(run), .has_input = true});
    }
    for (int i = 0; i < 3; ++i) {
      const fs::path version = checkout.folder() / ".swamp/data/command/shell" / ("id-" + name) / std::to_string(i) / "1";
      fs::create_directories(version);
      std::ofstream(version / "raw") << "data " << i << " of " << name;
    }
    return checkout;
  }
  static std::vector<std::string> SetupArguments(Bucket& bucket, const std::string& prefix) {
    Json config = bucket.DatastoreConfig();
    config["prefix"] = bucket.prefix() + "/" + prefix;
    return {"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(config)};
  }
  static std::string Marker(const Checkout& checkout) {
    std::ifstream file(checkout.folder() / ".swamp.yaml");
    return {std::istreambuf_iterator<char>(file), {}};
  }
};
SWAMP_ON_EVERY_BUCKET(Setup);

TEST_P(Setup, DS18_DS55_AMigrationInterruptedAnywhereMeetsAnotherOne) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  bucket.Publish("@acme/y", "2026.01.01.1");
  // A folder's faults are counted in the store alone; a third of the points is enough on a server.
  const int step = IsRgw(GetParam()) ? 3 : 1;
  int points = 0;
  for (int at = 1; at < kMostRequests; at += step) {
    const std::string n = std::to_string(at);
    Checkout& a = WithContent(bucket, "a" + n, "echo a");
    Checkout& c = WithContent(bucket, "c" + n, "echo c");
    a.Do({"extension", "pull", "@acme/x", "-y"});
    c.Do({"extension", "pull", "@acme/y", "-y"});
    a.Do(SetupArguments(bucket, n));
    c.Do(SetupArguments(bucket, n));
    const bool killed = a.RunKilledAt({"datastore", "config", "migrate", "-y"}, at, Proxy::Moment::kAfter);
    points += killed;
    const Json of_c = c.Do({"datastore", "config", "migrate", "-y"});
    const Json of_a = a.Do({"datastore", "config", "migrate", "-y"});
    const auto shared = bucket.Peek(n + "/" + ModelKey("shared"));
    ASSERT_TRUE(shared);
    const bool first_was_a = shared->find("echo a") != std::string::npos;
    // Whoever finds the migration done joins it and copies nothing; else it says what it found there already.
    const Json& second = first_was_a ? of_c : of_a;
    if (second["alreadyMigrated"] == false) {
      EXPECT_EQ(second["kept"], Json::array({"models/command/shell/shared.yaml"})) << n;
    }
    const std::vector<std::string> models = c.ModelNames();
    const Json lockfile = Json::parse(bucket.Peek(n + "/config/upstream_extensions.json").value_or("{}"));
    if (of_c["alreadyMigrated"] == false) {
      EXPECT_THAT(models, Contains("only-c" + n));
      EXPECT_TRUE(lockfile.contains("@acme/y")) << n;
    }
    if (of_a["alreadyMigrated"] == false || !killed) {
      EXPECT_THAT(models, Contains("only-a" + n));
      EXPECT_TRUE(lockfile.contains("@acme/x")) << n;
    }
    EXPECT_TRUE(bucket.Peek(n + "/config/managed-config-migrated.json"));
    EXPECT_TRUE(a.Do({"datastore", "config", "migrate", "-y"})["alreadyMigrated"].get<bool>());
    for (const Checkout* one : {&a, &c}) EXPECT_TRUE(fs::exists(one->folder() / "models/command/shell/shared.yaml"));
    if (!killed) break;
  }
  EXPECT_GT(points, 3);
}

TEST_P(Setup, DS59_ASetupThatDiesAnywhereLeavesTheRepositoryAsItWasAndCompletesWhenRunAgain) {
  Bucket bucket(GetParam());
  const int step = IsRgw(GetParam()) ? 4 : 1;
  for (const auto moment : {Proxy::Moment::kBefore, Proxy::Moment::kAfter}) {
    for (int at = 1; at < kMostRequests; at += step) {
      const std::string n = std::to_string(at) + (moment == Proxy::Moment::kBefore ? "b" : "a");
      Checkout& a = WithContent(bucket, n, "echo a");
      const std::string before = Marker(a);
      if (!a.RunKilledAt(SetupArguments(bucket, n), at, moment)) break;
      if (Marker(a) == before) {
        for (int i = 0; i < 3; ++i) {
          EXPECT_TRUE(fs::exists(a.folder() / ".swamp/data/command/shell" / ("id-" + n) / std::to_string(i) / "1/raw"));
        }
      }
      a.Do(SetupArguments(bucket, n));
      for (int i = 0; i < 3; ++i) {
        const std::string key = "/data/command/shell/id-" + n + "/" + std::to_string(i) + "/1/raw";
        EXPECT_EQ(bucket.Peek(n + key), "data " + std::to_string(i) + " of " + n);
      }
      EXPECT_THAT(Marker(a), HasSubstr("@swamp/s3-datastore"));
    }
  }
}

TEST_P(Setup, DS58_DS62_JoiningAFilledBucketBringsAllOfItAndCountsIt) {
  Bucket bucket(GetParam());
  Checkout& a = WithContent(bucket, "mover", "echo a");
  const Json moved = a.Do(SetupArguments(bucket, "filled"));
  EXPECT_EQ(moved["filesCopied"], 3);
  EXPECT_EQ(moved["bytesCopied"], 3 * 15);
  EXPECT_EQ(moved["directoriesMigrated"], Json::array({"data"}));
  Checkout& c = bucket.Plain("joiner");
  std::vector<std::string> join = SetupArguments(bucket, "filled");
  join.emplace_back("--skip-migration");
  const Json joined = c.Do(join);
  EXPECT_EQ(joined["filesPulled"], 3);
  EXPECT_EQ(joined["filesCopied"], 0);
  EXPECT_TRUE(fs::exists(c.cache() / "data/command/shell/id-mover/2/1/raw"));
  EXPECT_EQ(c.Do({"datastore", "sync"})["filesPulled"], 0);
}

TEST_P(Setup, DS77_StandardOutputIsOneDocumentWhateverThereIsToSay) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  // The former name of the type, which is worth a warning.
  std::string marker = Marker(a);
  const std::string type = "\"@swamp/s3-datastore\"";
  const std::string quoted = "'@swamp/s3-datastore'";
  for (const std::string& old : {type, quoted}) {
    if (const auto at = marker.find(old); at != std::string::npos) marker.replace(at, old.size(), "s3");
  }
  ASSERT_THAT(marker, HasSubstr("type: s3\n"));
  std::ofstream(a.folder() / ".swamp.yaml", std::ios::trunc) << marker;
  const RunResult created = a.Run({"model", "create", "command/shell", "m1", "--json"});
  EXPECT_EQ(created.exit_code, 0) << created;
  EXPECT_EQ(created.json()["name"], "m1");
  const RunResult listed = a.Run({"model", "search"});
  EXPECT_THAT(listed.err, HasSubstr("@swamp/s3-datastore"));
  EXPECT_THAT(listed.out, ::testing::Not(HasSubstr("s3-datastore")));
}

TEST_P(Setup, DS56_AVariableInTheDatastoresConfigIsNamedWhenItIsMissingAndAVaultIsRefusedWithTheReason) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.Plain("mover");
  const auto words = [&](const std::string& expression) {
    Json config = bucket.DatastoreConfig();
    config["prefix"] = bucket.prefix() + "/" + expression;
    return std::vector<std::string>{"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(config)};
  };
  const std::string before = Marker(a);
  for (const std::map<std::string, std::string>& environment : {std::map<std::string, std::string>{}, {{"TEAM_PREFIX", ""}}}) {
    const RunResult refused = a.Fail(words("${{ env.TEAM_PREFIX }}"), "datastore_config_invalid", {.environment = environment});
    EXPECT_THAT(refused.err, HasSubstr("TEAM_PREFIX"));
  }
  EXPECT_EQ(Marker(a), before);
  const RunOptions set{.environment = {{"TEAM_PREFIX", "team"}}};
  a.Do(words("${{ env.TEAM_PREFIX }}"), set);
  EXPECT_THAT(Marker(a), HasSubstr("env.TEAM_PREFIX"));
  a.Do({"datastore", "config", "migrate", "-y"}, set);
  a.Do({"model", "create", "command/shell", "m1"}, set);
  EXPECT_TRUE(bucket.Peek("team/" + ModelKey("m1")));
  // The vaults' own configuration is in this very datastore.
  EXPECT_THAT(a.Fail(words("${{ vault.get(v, k) }}"), "datastore_config_invalid", set).err,
              AllOf(HasSubstr("with managed config"), HasSubstr("env.NAME")));
}

// ---- the control plane's secrets ----

constexpr const char* kSecrets = "_control/token-secrets/values/";

std::string SecretOf(const Checkout& checkout, const std::string& key) {
  return checkout.Run({"vault", "read-secret", "_token-secrets", key}).out;
}

std::vector<std::string> SetupIn(Bucket& bucket, const std::string& prefix) {
  Json config = bucket.DatastoreConfig();
  config["prefix"] = bucket.prefix() + "/" + prefix;
  return {"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(config)};
}

TEST_P(Setup, TheSecretsOfTokensMoveFromDatastoreToDatastore) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.Plain("mover");
  a.Do({"access", "token", "mint", "t", "--principal", "user:ann"});
  a.Do({"worker", "token", "create", "w", "--duration", "1d"});
  const std::string server = SecretOf(a, "server-token-t");
  const std::string worker = SecretOf(a, "worker-token-w");
  ASSERT_EQ(server.size(), 64u);
  const auto holds = [&] {
    EXPECT_EQ(SecretOf(a, "server-token-t"), server);
    EXPECT_EQ(SecretOf(a, "worker-token-w"), worker);
    EXPECT_EQ(a.Do({"access", "token", "list"})[0]["name"], "t");
  };
  EXPECT_EQ(a.Do(SetupIn(bucket, "one"))["warnings"], Json::array());
  holds();
  EXPECT_EQ(bucket.Keys(std::string("one/") + kSecrets).size(), 2u);
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp" / kSecrets / "server-token-t"));
  a.Do(SetupIn(bucket, "two"));
  holds();
  EXPECT_EQ(bucket.Keys(std::string("one/") + kSecrets).size(), 2u) << "others may be using it";
  EXPECT_NE(bucket.Peek("one/_control/token-secrets/encryption-key"), bucket.Peek("two/_control/token-secrets/encryption-key"));
  a.Do({"datastore", "setup", "filesystem", "--path", (bucket.folder() / "shared").string()});
  holds();
  a.Do({"datastore", "setup", "filesystem", "--path", (bucket.folder() / "empty").string(), "--skip-migration"});
  EXPECT_EQ(a.Run({"vault", "read-secret", "_token-secrets", "server-token-t"}).exit_code, 1);
}

TEST_P(Setup, ASecretThatTheNewDatastoreHasStaysAndOneThatCannotBeReadHoldsNothingUp) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.Plain("first");
  a.Do({"access", "token", "mint", "t", "--principal", "user:ann"});
  a.Do(SetupIn(bucket, "one"));
  const std::string there = SecretOf(a, "server-token-t");
  Checkout& c = bucket.Plain("second");
  c.Do({"access", "token", "mint", "t", "--principal", "user:bob"});
  c.Do({"access", "token", "mint", "u", "--principal", "user:bob"});
  const std::string own = SecretOf(c, "server-token-u");
  std::ofstream(c.folder() / ".swamp" / kSecrets / "server-token-x") << "{\"damaged\":";
  const Json moved = c.Do(SetupIn(bucket, "one"));
  std::string warnings;
  for (const Json& one : moved["warnings"]) warnings += one.get<std::string>() + "\n";
  EXPECT_THAT(warnings, HasSubstr("the secret server-token-t was not carried over: the new datastore has another one, which stays"));
  EXPECT_THAT(warnings, HasSubstr("the secret server-token-x was not carried over"));
  EXPECT_THAT(warnings, ::testing::Not(HasSubstr("server-token-u")));
  EXPECT_EQ(SecretOf(a, "server-token-t"), there);
  EXPECT_EQ(SecretOf(a, "server-token-u"), own);
  for (const char* left : {"server-token-t", "server-token-x"}) EXPECT_TRUE(fs::exists(c.folder() / ".swamp" / kSecrets / left));
  EXPECT_FALSE(fs::exists(c.folder() / ".swamp" / kSecrets / "server-token-u"));
}

TEST_P(Setup, ASecretIsReadableWhereverAMoveIsKilled) {
  Bucket bucket(GetParam());
  const int step = IsRgw(GetParam()) ? 9 : 4;
  int points = 0;
  for (const auto moment : {Proxy::Moment::kBefore, Proxy::Moment::kAfter}) {
    for (int at = 1; at < kMostRequests; at += step) {
      const std::string n = std::to_string(at) + (moment == Proxy::Moment::kBefore ? "b" : "a");
      Checkout& a = bucket.Plain("p" + n);
      a.Do({"access", "token", "mint", "t", "--principal", "user:ann"});
      const std::string secret = SecretOf(a, "server-token-t");
      const bool killed = a.RunKilledAt(SetupIn(bucket, n), at, moment);
      EXPECT_EQ(SecretOf(a, "server-token-t"), secret) << n;
      a.Do(SetupIn(bucket, n));
      EXPECT_EQ(SecretOf(a, "server-token-t"), secret) << n;
      if (!killed) break;
      ++points;
    }
  }
  EXPECT_GT(points, 8);
}

TEST_P(Setup, TheSecretsOfTokensMoveIntoANamespaceAndOutOfIt) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"access", "token", "mint", "t", "--principal", "user:ann"});
  const std::string secret = SecretOf(a, "server-token-t");
  a.Do({"datastore", "namespace", "set", "infra"});
  a.Do({"datastore", "namespace", "migrate", "-y"});
  EXPECT_EQ(SecretOf(a, "server-token-t"), secret);
  EXPECT_TRUE(bucket.Keys(kSecrets).empty());
  EXPECT_EQ(bucket.Keys(std::string("infra/") + kSecrets).size(), 1u);
  a.Do({"datastore", "namespace", "unset", "--migrate", "-y"});
  EXPECT_EQ(SecretOf(a, "server-token-t"), secret);
  EXPECT_TRUE(bucket.Keys(std::string("infra/") + kSecrets).empty());
}

}  // namespace
}  // namespace swamp::e2e

// A repository moves to a datastore that has something already, is interrupted on the way, or is joined by another.

#include <fstream>

#include "backends.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace swamp::e2e

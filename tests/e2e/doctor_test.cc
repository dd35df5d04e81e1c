// `doctor datastores`, and what other programs have left in a bucket.

#include <fstream>

#include "backends.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kVersion = "data/command/shell/0b0c0d0e-0000-4000-8000-000000000001/result/1/";
constexpr const char* kMeta = "_index/_meta.json";

class Doctor : public OnEveryBucket {
 protected:
  static void Plant(Bucket& bucket, const std::string& key, const std::string& bytes) {
    const std::string etag = bucket.EtagOf(key);
    const Condition condition = etag.empty() ? Condition::Absent() : Condition::Matches({etag});
    EXPECT_TRUE(bucket.store().Put(bucket.context(), key, Body::FromBytes(bytes), condition, {}).stored()) << key;
  }
  static void Erase(Bucket& bucket, const std::string& key) {
    bucket.store().Delete(bucket.context(), key, {bucket.EtagOf(key)});
  }
  // The report; `exit_code` is checked.
  static Json Examine(const Checkout& checkout, int exit_code, std::vector<std::string> options = {}) {
    std::vector<std::string> words = {"doctor", "datastores", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    const RunResult result = checkout.Run(words);
    EXPECT_EQ(result.exit_code, exit_code) << result;
    return result.json();
  }
  static Json CheckOf(const Json& report, const std::string& name) {
    for (const Json& check : report["checks"]) {
      if (check["name"] == name) return check;
    }
    return {{"status", "none"}, {"paths", Json::array()}};
  }
  static std::string StatusOf(const Json& report, const std::string& name) { return CheckOf(report, name)["status"]; }
};
SWAMP_ON_EVERY_BUCKET(Doctor);

TEST_P(Doctor, AHealthyDatastorePasses) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  const Json report = Examine(a, 0);
  EXPECT_EQ(report["overallStatus"], "pass");
  EXPECT_EQ(report["datastoreType"], "@swamp/s3-datastore");
  EXPECT_EQ(report["healthFindings"][0]["passed"], true);
  EXPECT_EQ(report["contaminationFinding"], nullptr);
  EXPECT_EQ(Examine(bucket.Plain("plain"), 0)["isCustom"], false);
}

TEST_P(Doctor, DS39_TheIndexAndTheObjectsAreComparedBothWays) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"model", "create", "command/shell", "m2"});
  Checkout& c = bucket.Clone("c");
  c.Do({"datastore", "sync"});
  const std::string bytes = *bucket.Peek(ModelKey("m1"));
  Erase(bucket, ModelKey("m1"));
  const std::string lone = std::string(kVersion) + "raw";
  Plant(bucket, lone, "an older program's");
  const Json found = Examine(a, 1);
  EXPECT_EQ(found["overallStatus"], "fail");
  EXPECT_EQ(CheckOf(found, "index-gone")["paths"], Json::array({ModelKey("m1")}));
  EXPECT_EQ(CheckOf(found, "index-missing")["paths"], Json::array({lone}));
  EXPECT_FALSE(bucket.Peek(ModelKey("m1"))) << "it was only looked at";
  Examine(a, 1, {"--repair"});
  EXPECT_FALSE(bucket.Peek(ModelKey("m1"))) << "without --yes nothing is repaired";
  // Where nobody has the file, the entry goes.
  Checkout& fresh = bucket.Clone("fresh");
  EXPECT_EQ(CheckOf(Examine(a, 0, {"--repair", "-y"}), "index-gone")["repaired"], true);
  EXPECT_EQ(bucket.Peek(ModelKey("m1")), bytes) << "this checkout had it";
  EXPECT_EQ(Examine(fresh, 0)["overallStatus"], "pass");
  EXPECT_THAT(c.ModelNames(), ElementsAre("m1", "m2"));
  c.Do({"datastore", "sync"});
  EXPECT_TRUE(fs::exists(c.cache() / lone));
  Erase(bucket, lone);
  Checkout& late = bucket.Clone("late");
  Examine(late, 0, {"--repair", "-y"});
  EXPECT_FALSE(bucket.Peek(lone));
  EXPECT_EQ(Examine(late, 0)["overallStatus"], "pass");
}

TEST_P(Doctor, DS41_ForeignAndEscapingKeysAreNamed) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  Plant(bucket, "notes/readme.txt", "nobody's");
  Plant(bucket, "alpha/.namespace.json", R"({"namespace":"alpha","repoId":"x"})");
  Plant(bucket, "alpha/config/models/x.yaml", "theirs");
  Plant(bucket, "_index/config.json", [&] {
    Json shard = ParseJson(*bucket.Peek("_index/config.json"), "the shard");
    for (const char* path : {"config/../../x", "/abs", ".."}) shard["entries"][path] = {{"key", path}, {"size", 1}};
    return CompactJson(shard);
  }());
  const Json found = Examine(a, 1);
  EXPECT_EQ(CheckOf(found, "foreign-keys")["paths"], Json::array({"notes/readme.txt"}));
  EXPECT_EQ(found["contaminationFinding"]["keys"], Json::array({"notes/readme.txt"}));
  EXPECT_THAT(CheckOf(found, "index-escapes")["paths"], SizeIs(3));
  Examine(a, 0, {"--repair", "-y"});
  EXPECT_EQ(StatusOf(Examine(a, 0), "index-escapes"), "none");
  EXPECT_EQ(bucket.Peek("notes/readme.txt"), "nobody's");
  EXPECT_EQ(bucket.Peek("alpha/config/models/x.yaml"), "theirs");
  EXPECT_THAT(a.ModelNames(), ElementsAre("m1"));
}

TEST_P(Doctor, BrokenIndexDocumentsAreMadeAnew) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  Plant(bucket, kMeta, "garbage");
  Plant(bucket, "_index/config.json", "{\"half");
  EXPECT_EQ(StatusOf(Examine(a, 1), "index-documents"), "fail");
  Examine(a, 0, {"--repair", "-y"});
  EXPECT_EQ(Examine(a, 0)["overallStatus"], "pass");
  EXPECT_THAT(bucket.Clone("c").ModelNames(), ElementsAre("m1"));
}

TEST_P(Doctor, DS32_LocksOfTypesWithSlashesAreSeenAndDeadOnesRemoved) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  const std::string key = "data/@c/sub/kind/0b0c0d0e-0000-4000-8000-000000000001/.lock";
  const auto lock = [](int ttl) {
    return CompactJson({{"holder", "ann@x"}, {"hostname", "x"}, {"pid", 1}, {"acquiredAt", "2026-01-01T00:00:00.000Z"},
                        {"ttlMs", ttl}, {"nonce", "n"}});
  };
  Plant(bucket, key, lock(600'000));
  const Json status = a.Do({"datastore", "lock", "status"});
  ASSERT_EQ(status["modelLocks"].size(), 1U);
  EXPECT_EQ(status["modelLocks"][0]["model"], "@c/sub/kind/0b0c0d0e-0000-4000-8000-000000000001");
  EXPECT_EQ(StatusOf(Examine(a, 0, {"--repair", "-y"}), "locks"), "pass") << "it is alive";
  EXPECT_TRUE(bucket.Peek(key));
  const Json released = a.Do({"datastore", "lock", "release", "--force", "--model", "@c/sub/kind/0b0c0d0e-0000-4000-8000-000000000001"});
  EXPECT_EQ(released["released"], true);
  EXPECT_FALSE(bucket.Peek(key));
}

TEST_P(Doctor, ALostLockfileEntryIsNoticedWhereItWasPublished) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"extension", "pull", "@acme/x", "-y"});
  EXPECT_EQ(StatusOf(Examine(a, 0), "lockfile"), "pass");
  Plant(bucket, kLockfileKey, "{}\n");
  const Json found = Examine(a, 0, {"--repair", "-y"});
  EXPECT_EQ(CheckOf(found, "lockfile")["paths"], Json::array({"@acme/x"}));
  EXPECT_EQ(found["overallStatus"], "warn");
  EXPECT_EQ(bucket.Peek(kLockfileKey), "{}\n") << "a peer may have removed it on purpose";
}

TEST_P(Doctor, TombstonesGoOnlyWhenAskedFor) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"model", "delete", "m1", "-y"});
  const bool tombstone = bucket.Peek(ModelKey("m1")).has_value();
  EXPECT_EQ(tombstone, IsRgw(GetParam()));
  Examine(a, 0, {"--repair", "-y"});
  EXPECT_EQ(bucket.Peek(ModelKey("m1")).has_value(), tombstone);
  EXPECT_EQ(a.Run({"doctor", "datastores", "--purge-tombstones"}).exit_code, 2);
  Examine(a, 0, {"--repair", "-y", "--purge-tombstones"});
  EXPECT_FALSE(bucket.Peek(ModelKey("m1")));
  a.Do({"model", "create", "command/shell", "m1"});
  EXPECT_THAT(bucket.Clone("c").ModelNames(), ElementsAre("m1"));
}

// ---- what others have written ----

TEST_P(Doctor, AnOlderSingleIndexStaysInSightAfterTheFirstCommit) {
  Bucket bucket(GetParam());
  Json config = bucket.DatastoreConfig();
  config["prefix"] = bucket.prefix() + "/older";
  const std::string raw = std::string(kVersion) + "raw";
  Plant(bucket, "older/" + raw, "data");
  Plant(bucket, "older/.datastore-index.json",
        CompactJson({{"version", 1},
                     {"lastPulled", "x"},
                     {"entries", {{raw, {{"key", raw}, {"size", 4}, {"lastModified", "2026-01-01T00:00:00.000Z"}}}}}}));
  const std::vector<std::string> setup = {"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(config)};
  Checkout& a = bucket.Plain("older-a");
  EXPECT_EQ(a.Do(setup)["filesPulled"], 1);
  a.Do({"datastore", "config", "migrate", "-y"});
  a.Do({"model", "create", "command/shell", "m1"});
  Checkout& late = bucket.Plain("older-b");
  EXPECT_GT(late.Do(setup)["filesPulled"].get<int>(), 0);
  EXPECT_TRUE(fs::exists(late.cache() / raw));
  const Json older = ParseJson(*bucket.Peek("older/.datastore-index.json"), "the older index");
  EXPECT_TRUE(older["entries"].contains(ModelKey("m1"))) << "older readers see what is new";
}

TEST_P(Doctor, MetaOfVersionOneLeavesTheWordToTheOlderIndex) {
  Bucket bucket(GetParam());
  Json config = bucket.DatastoreConfig();
  config["prefix"] = bucket.prefix() + "/older";
  const std::string raw = std::string(kVersion) + "raw";
  Plant(bucket, "older/" + raw, "data");
  Plant(bucket, "older/_index/_meta.json", R"({"version":1,"partitions":[]})");
  Plant(bucket, "older/.datastore-index.json",
        CompactJson({{"version", 1}, {"entries", {{raw, {{"key", raw}, {"size", 4}, {"lastModified", "x"}}}}}}));
  const std::vector<std::string> setup = {"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(config)};
  Checkout& a = bucket.Plain("older-a");
  EXPECT_EQ(a.Do(setup)["filesPulled"], 1);
  const Json migrated = a.Do({"datastore", "migrate-index"});
  EXPECT_EQ(migrated["entriesMigrated"], 1);
  EXPECT_EQ(a.Do({"datastore", "migrate-index"})["entriesMigrated"], 0);
  EXPECT_EQ(ParseJson(*bucket.Peek("older/_index/_meta.json"), "meta")["version"], 2);
  EXPECT_EQ(bucket.Plain("older-b").Do(setup)["filesPulled"], 1);
}

TEST_P(Doctor, EntriesWithoutADigestAndUnknownKeysAreKept) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  Json shard = ParseJson(*bucket.Peek("_index/config.json"), "the shard");
  shard["entries"][ModelKey("m1")].erase("sha256");
  shard["entries"][ModelKey("m1")]["theirs"] = "kept";
  shard["later"] = {1, 2};
  Plant(bucket, "_index/config.json", CompactJson(shard));
  a.Do({"model", "create", "command/shell", "m2"});
  const Json after = ParseJson(*bucket.Peek("_index/config.json"), "the shard");
  EXPECT_EQ(after["entries"][ModelKey("m1")]["theirs"], "kept");
  EXPECT_EQ(after["later"], Json::array({1, 2}));
  EXPECT_THAT(bucket.Clone("c").ModelNames(), ElementsAre("m1", "m2"));
  EXPECT_EQ(Examine(a, 0)["overallStatus"], "pass");
}

TEST_P(Doctor, UnknownKeysOfTheLockfileAndAnOlderPendingRecordSurvive) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  bucket.Publish("@acme/y", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"extension", "pull", "@acme/x", "-y"});
  Json lockfile = bucket.Lockfile();
  lockfile["@acme/x"]["later"] = "kept";
  Plant(bucket, kLockfileKey, PrettyJson(lockfile));
  // An older program's record: a bare time says only that something may be unpublished.
  std::ofstream(a.folder() / ".swamp/managed-config-lockfile-unpublished") << "2026-01-01T00:00:00.000Z\n";
  a.Do({"extension", "pull", "@acme/y", "-y"});
  EXPECT_EQ(bucket.Lockfile()["@acme/x"]["later"], "kept");
  EXPECT_THAT(bucket.LockfileNames(), ElementsAre("@acme/x", "@acme/y"));
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp/managed-config-lockfile-unpublished"));
  // A record without what was there before sets only what is missing.
  Json entry = bucket.Lockfile()["@acme/y"];
  entry["version"] = "2020.01.01.1";
  std::ofstream(a.folder() / ".swamp/managed-config-lockfile-unpublished")
      << CompactJson({{"version", 1}, {"upserts", {{"@acme/y", entry}, {"@acme/z", entry}}}, {"removals", {"@acme/x"}}});
  a.Do({"datastore", "sync"});
  EXPECT_THAT(bucket.LockfileNames(), ElementsAre("@acme/x", "@acme/y", "@acme/z"));
  EXPECT_EQ(bucket.Lockfile()["@acme/y"]["version"], "2026.01.01.1");
}

TEST_P(Doctor, CommentsAndUnknownKeysOfADocumentSurviveAnEdit) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  const std::string text = *bucket.Peek(ModelKey("m1")) + "# a comment\nlater:\n  kept: true\n";
  a.Do({"model", "edit", "m1"}, {.input = text, .has_input = true});
  EXPECT_THAT(*bucket.Peek(ModelKey("m1")), HasSubstr("# a comment\nlater:\n  kept: true\n"));
  Checkout& c = bucket.Clone("c");
  c.Do({"model", "get", "m1", "--refresh"});
  EXPECT_EQ(*bucket.Peek(ModelKey("m1")), [&] {
    std::ifstream file(c.cache() / ModelKey("m1"));
    return std::string(std::istreambuf_iterator<char>(file), {});
  }());
}

// The command matrix holds the list of commands; here a fresh clone sees what each left.
TEST_P(Doctor, DS12_AFreshCloneSeesWhatEachCommandWrote) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  EXPECT_THAT(bucket.Clone("c1").ModelNames(), ElementsAre("m1"));
  a.Do({"model", "edit", "m1"}, {.input = ModelText("echo hello"), .has_input = true});
  Checkout& c2 = bucket.Clone("c2");
  c2.Do({"model", "get", "m1", "--refresh"});
  std::ifstream edited(c2.cache() / ModelKey("m1"));
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(edited), {}), HasSubstr("echo hello"));
  a.Do({"vault", "create", "local_encryption", "v1"});
  EXPECT_THAT(bucket.Clone("c3").Do({"vault", "search", "--refresh"})["results"], SizeIs(1));
  a.Do({"extension", "pull", "@acme/x", "-y"});
  EXPECT_THAT(bucket.Clone("c4").ListedExtensions(), ElementsAre("@acme/x"));
  a.Do({"model", "method", "run", "m1", "execute"});
  const std::size_t rows = a.Do({"data", "query", "true"})["results"].size();
  EXPECT_EQ(bucket.Clone("c5").Do({"data", "query", "true", "--refresh"})["results"].size(), rows);
  a.Do({"datastore", "namespace", "set", "infra"});
  a.Do({"datastore", "namespace", "migrate", "-y"});
  Checkout& c6 = bucket.Clone("c6");
  EXPECT_THAT(c6.ModelNames(), ElementsAre("m1"));
  a.Do({"model", "delete", "m1", "-y", "--force"});
  EXPECT_THAT(c6.ModelNames(), IsEmpty());
}

TEST_P(Doctor, DS53_NoCommandReadsOrWritesTheOldPlacesOfTheConfiguration) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  const std::string decoy = "id: 11111111-0000-4000-8000-000000000001\nname: decoy\ntype: command/shell\n";
  const std::vector<fs::path> places = {"models/command/shell/decoy.yaml", ".swamp/config/models/command/shell/decoy.yaml",
                                        "vaults/local_encryption/decoy.yaml"};
  for (const fs::path& place : places) {
    fs::create_directories((a.folder() / place).parent_path());
    std::ofstream(a.folder() / place) << decoy;
  }
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"model", "edit", "m1"}, {.input = ModelText("echo hello"), .has_input = true});
  a.Do({"vault", "create", "local_encryption", "v1"});
  a.Do({"model", "method", "run", "m1", "execute"});
  EXPECT_THAT(a.ModelNames(), ElementsAre("m1"));
  EXPECT_THAT(a.Do({"vault", "search"})["results"], SizeIs(1));
  a.Fail({"model", "get", "decoy"}, "model_not_found");
  EXPECT_THAT(bucket.Keys("config/"), Not(Contains(HasSubstr("decoy"))));
  EXPECT_FALSE(fs::exists(a.folder() / "models/command/shell/m1.yaml"));
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp/config/models/command/shell/m1.yaml"));
  EXPECT_TRUE(fs::exists(a.cache() / ModelKey("m1")));
  EXPECT_EQ(Examine(a, 0)["overallStatus"], "pass");
}

TEST_P(Doctor, CompactingTheCatalogKeepsItsRows) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"model", "edit", "m1"}, {.input = ModelText("echo hello"), .has_input = true});
  a.Do({"model", "method", "run", "m1", "execute"});
  const Json before = a.Do({"data", "query", "true"})["results"];
  const Json compacted = a.Do({"datastore", "compact"});
  EXPECT_EQ(compacted["vacuumSkipped"], false);
  EXPECT_EQ(a.Do({"data", "query", "true"})["results"], before);
}

}  // namespace
}  // namespace swamp::e2e

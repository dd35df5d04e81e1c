// swamp data, on a repository's own folder and on a bucket. The data is put there as another program would.

#include "backends.h"
#include "place_data.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Data : public ::testing::Test {
 protected:
  Data() : bucket(Backend::kFolder), checkout(bucket.Plain("one")) {
    id = checkout.Do({"model", "create", "command/shell", "m1"})["id"];
  }
  void Put(const std::string& name, int version, const std::string& content, const Placed& how = {}) {
    Place(checkout.folder() / ".swamp", id, name, version, content, how);
  }
  std::vector<std::string> Keys(const Json& json) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    return keys;
  }
  fs::path FolderOf(const std::string& name) { return checkout.folder() / ".swamp/data/command/shell" / id / name; }

  Bucket bucket;
  Checkout& checkout;
  std::string id;
};

TEST_F(Data, GetHasTheOriginalsKeys) {
  Put("result", 1, R"({"exitCode":0})");
  Put("result", 2, R"({"exitCode":3})");
  const Json json = checkout.Do({"data", "get", "m1", "result"});
  EXPECT_THAT(Keys(json), ElementsAre("id", "name", "modelId", "modelName", "modelType", "version", "contentType", "lifetime",
                                      "garbageCollection", "streaming", "tags", "ownerDefinition", "createdAt", "size",
                                      "checksum", "contentPath", "content"));
  EXPECT_EQ(json["content"]["exitCode"], 3);
  EXPECT_EQ(checkout.Do({"data", "get", "--model", id, "--name", "result", "--version", "1"})["content"]["exitCode"], 0);
  EXPECT_FALSE(checkout.Do({"data", "get", "m1", "result", "--no-content"}).contains("content"));
  EXPECT_THAT(checkout.Fail({"data", "get", "m1", "resutl"}, "data_not_found").err, HasSubstr("result"));
  EXPECT_THAT(checkout.Fail({"data", "get", "m1", "result", "--version", "9"}, "data_not_found").err, HasSubstr("1, 2"));
  checkout.Fail({"data", "get", "nosuch", "result"}, "model_not_found");
  checkout.Fail({"data", "get", "m1"}, "usage");
  checkout.Fail({"data", "get", "m1", "../m1"}, "data_not_found");
}

TEST_F(Data, TextIsAHeaderOfEightLinesAndTheContent) {
  Put("log", 1, "one\ntwo", {.content_type = "text/plain"});
  const RunResult text = checkout.Run({"data", "get", "m1", "log"});
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 8 + 1 + 2) << text;
  EXPECT_THAT(text.out, HasSubstr("\n\none\ntwo\n"));
  // Binary goes to a pipe as it is, and to a file on demand.
  const std::string bytes("\x00\xff\x1b[31m", 7);
  Put("image", 1, bytes, {.content_type = "image/png"});
  EXPECT_EQ(checkout.Run({"data", "get", "m1", "image"}).out, bytes);
  checkout.Run({"data", "get", "m1", "image", "--output", "copy.png"});
  EXPECT_EQ(ReadFile(bucket.context().files(), checkout.folder() / "copy.png"), bytes);
  EXPECT_FALSE(checkout.Do({"data", "get", "m1", "image"}).contains("content"));
}

TEST_F(Data, DamagedContentIsNotShownAsIfItWereGood) {
  Put("result", 1, R"({"exitCode":0})");
  WriteFileAtomically(bucket.context().files(), FolderOf("result") / "1" / "raw", R"({"exitCode":1})");
  checkout.Fail({"data", "get", "m1", "result"}, "data_corrupt");
}

TEST_F(Data, ListsGroupsAndVersions) {
  Put("result", 1, "{}");
  Put("result", 2, "{}");
  Put("log", 1, "x", {.content_type = "text/plain", .tags = {{"type", "file"}}});
  const Json list = checkout.Do({"data", "list", "m1"});
  EXPECT_THAT(Keys(list), ElementsAre("modelId", "modelName", "modelType", "groups", "total"));
  EXPECT_EQ(list["groups"][0]["type"], "file");
  EXPECT_EQ(list["groups"][1]["items"][0]["version"], 2);
  EXPECT_EQ(checkout.Do({"data", "list", "m1", "--type", "file"})["total"], 1);
  const Json versions = checkout.Do({"data", "versions", "m1", "result"});
  EXPECT_EQ(versions["total"], 2);
  EXPECT_EQ(versions["versions"][0]["version"], 2);
  EXPECT_EQ(versions["versions"][0]["isLatest"], true);
  EXPECT_EQ(versions["versions"][1]["isLatest"], false);
  checkout.Fail({"data", "versions", "m1", "nosuch"}, "data_not_found");
}

TEST_F(Data, SearchesByEveryFilter) {
  Put("result", 1, "{}", {.tags = {{"team", "storage"}}});
  Put("old", 1, "{}", {.created_at = "2020-01-01T00:00:00.000Z"});
  Put("report-x", 1, "# x", {.lifetime = "30d", .content_type = "text/markdown", .tags = {{"type", "report"}}});
  const auto names = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"data", "search"});
    std::vector<std::string> found;
    const Json answer = checkout.Do(arguments);
    for (const Json& one : answer["results"]) found.push_back(one["name"]);
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_THAT(names({}), ElementsAre("old", "report-x", "result"));
  EXPECT_THAT(names({"REPORT"}), ElementsAre("report-x"));
  EXPECT_THAT(names({"--type", "report"}), ElementsAre("report-x"));
  EXPECT_THAT(names({"--lifetime", "30d"}), ElementsAre("report-x"));
  EXPECT_THAT(names({"--tag", "team=storage"}), ElementsAre("result"));
  EXPECT_THAT(names({"--model", "m1", "--content-type", "application/json", "--since", "5y"}), ElementsAre("result"));
  EXPECT_THAT(names({"--streaming"}), IsEmpty());
  const Json limited = checkout.Do({"data", "search", "--limit", "2"});
  EXPECT_EQ(limited["total"], 2);
  EXPECT_EQ(limited["limited"], true);
  EXPECT_EQ(limited["results"][1]["name"] == "old", false);  // newest first
  checkout.Fail({"data", "search", "--since", "soon"}, "usage");
  checkout.Fail({"data", "search", "--tag", "team"}, "usage");
  WriteFileAtomically(bucket.context().files(), checkout.folder() / ".swamp/outputs/command/shell/execute/o.yaml",
                      "id: 0d4a1f7e-50f9-4f0e-8f0b-6f1f3d2a9c11\nartifacts:\n  dataArtifacts:\n    - dataId: "
                      "4f7b0c7e-2d6a-4c39-9a53-0b0e3c7f6a12\n      name: result\n      version: 1\n");
  EXPECT_THAT(names({"--output", "0d4a1f7e-50f9-4f0e-8f0b-6f1f3d2a9c11", "result"}), ElementsAre("result"));
  checkout.Fail({"data", "search", "--output", "0d4a1f7e-50f9-4f0e-8f0b-6f1f3d2a9c12"}, "output_not_found");
}

TEST_F(Data, QueriesByExpression) {
  Put("result", 1, R"({"exitCode":0,"stdout":"hi"})");
  Put("result", 2, R"({"exitCode":3,"stdout":"ho"})");
  const Json json = checkout.Do({"data", "query", R"(name == "result")"});
  EXPECT_THAT(Keys(json), ElementsAre("predicate", "results", "total", "limited"));
  EXPECT_THAT(Keys(json["results"][0]),
              ElementsAre("id", "name", "version", "isLatest", "createdAt", "namespace", "tags", "modelName", "modelId", "modelType",
                          "specName", "dataType", "contentType", "lifetime", "ownerType", "streaming", "size", "ownerRef",
                          "workflowRunId", "workflowName", "jobName", "stepName", "source", "content"));
  const Json selected = checkout.Do({"data", "query", "version > 0", "--select", "attributes.stdout", "--order-by", "version:desc"});
  EXPECT_EQ(selected, Json({{"results", {"ho", "hi"}}, {"total", 2}, {"limited", false}}));
  EXPECT_EQ(checkout.Run({"data", "query", "true", "--select", "attributes.stdout"}).out, "ho\n");
  EXPECT_EQ(checkout.Do({"data", "query", "version > 0", "--limit", "1"})["limited"], true);
  EXPECT_THAT(checkout.Fail({"data", "query", "bogus =="}, "query_invalid").err, HasSubstr("predicate"));
  EXPECT_THAT(checkout.Fail({"data", "query", "nmae == 1"}, "query_invalid").err, HasSubstr("modelName"));
  checkout.Fail({"data", "query", "true", "--order-by", "version:up"}, "usage");
  checkout.Fail({"data", "query"}, "usage");
}

TEST_F(Data, RenamedDataIsFoundByBothNames) {
  Put("result", 1, R"({"a":1})");
  const Json renamed = checkout.Do({"data", "rename", "m1", "result", "outcome"});
  EXPECT_THAT(Keys(renamed), ElementsAre("oldName", "newName", "modelId", "modelName", "modelType", "copiedVersion", "newVersion",
                                         "warning"));
  EXPECT_EQ(checkout.Do({"data", "get", "m1", "result"})["content"]["a"], 1);
  EXPECT_EQ(checkout.Do({"data", "get", "m1", "result"})["name"], "outcome");
  EXPECT_EQ(checkout.Do({"data", "list", "m1"})["total"], 1);
  EXPECT_EQ(checkout.Do({"data", "query", "true"})["total"], 1);
  EXPECT_EQ(checkout.Do({"data", "query", "version > 0"})["total"], 2);
  checkout.Fail({"data", "rename", "m1", "result", "other"}, "data_not_found");
  checkout.Fail({"data", "rename", "m1", "outcome", "latest"}, "validation_failed");
  Put("live", 1, "{}");
  checkout.Fail({"data", "rename", "m1", "outcome", "--new-name", "live"}, "data_exists");
}

TEST_F(Data, DeletesOneVersionANameOrMany) {
  for (int version = 1; version <= 3; ++version) Put("result", version, "{}");
  Put("log-a", 1, "{}");
  Put("log-b", 1, "{}");
  EXPECT_EQ(checkout.Do({"data", "delete", "m1", "result", "--version", "3"})["versionsDeleted"], 1);
  EXPECT_EQ(checkout.Do({"data", "get", "m1", "result"})["version"], 2);
  checkout.Fail({"data", "delete", "m1", "--prefix", ""}, "usage");
  checkout.Fail({"data", "delete", "m1", "--prefix", "log", "--all"}, "usage");
  checkout.Fail({"data", "delete", "m1", "result", "--dry-run"}, "usage");
  const Json preview = checkout.Do({"data", "delete", "m1", "--prefix", "log", "--dry-run"});
  EXPECT_EQ(preview["totalDeleted"], 2);
  EXPECT_EQ(checkout.Do({"data", "list", "m1"})["total"], 3);
  EXPECT_EQ(checkout.Run({"data", "delete", "m1", "--all"}).exit_code, 2);  // nobody to ask
  EXPECT_EQ(checkout.Do({"data", "delete", "m1", "--prefix", "log"})["totalVersionsDeleted"], 2);
  EXPECT_EQ(checkout.Do({"data", "delete", "m1", "result", "-y"})["versionsDeleted"], 2);
  EXPECT_FALSE(fs::exists(checkout.folder() / ".swamp/data/command"));
  checkout.Fail({"data", "delete", "m1", "result", "-y"}, "data_not_found");
}

TEST_F(Data, DA03_DA04_GcDoesWhatItsPreviewSays) {
  for (int version = 1; version <= 8; ++version) Put("result", version, "0123456789", {.keep = 3});
  for (int version = 1; version <= 3; ++version) Put("gone", version, "x", {.lifetime = "1m"});
  const RunResult text = checkout.Run({"data", "gc", "--dry-run"});
  EXPECT_THAT(text.out, HasSubstr("Would remove 8 versions"));
  const Json dry = checkout.Do({"data", "gc", "--dry-run"});
  Json done = checkout.Do({"data", "gc", "-y"});
  EXPECT_EQ(dry["dryRun"], true);
  EXPECT_EQ(dry["versionsDeleted"], 8);
  EXPECT_EQ(done["versionsDeleted"], dry["versionsDeleted"]);
  EXPECT_EQ(done["bytesReclaimed"], dry["bytesReclaimed"]);
  EXPECT_EQ(done["expiredEntries"], dry["expiredEntries"]);
  EXPECT_EQ(done["expiredEntries"][0]["reason"], "duration-expired");
  EXPECT_FALSE(fs::exists(FolderOf("gone")));
  EXPECT_EQ(checkout.Do({"data", "versions", "m1", "result"})["total"], 3);
  const Json again = checkout.Do({"data", "gc", "-y"});
  EXPECT_EQ(again["versionsDeleted"], 0);
  EXPECT_EQ(again["bytesReclaimed"], 0);
}

// DS-32: whoever is at work on a model, of a type with slashes too, keeps its data; the answer says so.
TEST_F(Data, DS32_GcLeavesAloneWhatSomebodyIsAtWorkOn) {
  const std::string busy = "44444444-4444-4444-8444-444444444444";
  Place(checkout.folder() / ".swamp", busy, "gone", 1, "x", {.lifetime = "1m", .type = "@c/sub/kind"});
  Put("gone", 1, "x", {.lifetime = "1m"});
  const fs::path folder = checkout.folder() / ".swamp/data/@c/sub/kind" / busy;
  WriteFileAtomically(bucket.context().files(), folder / ".lock",
                      CompactJson({{"holder", "ann@x"}, {"hostname", "x"}, {"pid", 1}, {"acquiredAt", "2026-01-01T00:00:00.000Z"},
                                   {"ttlMs", 600'000}, {"nonce", "n"}}));
  Json done = checkout.Do({"data", "gc"});
  EXPECT_EQ(done["versionsDeleted"], 1);
  EXPECT_TRUE(fs::exists(folder / "gone/1/raw"));
  ASSERT_EQ(done["warnings"].size(), 1U);
  EXPECT_THAT(done["warnings"][0].get<std::string>(), AllOf(HasSubstr("@c/sub/kind/" + busy), HasSubstr("ann@x"), HasSubstr("left alone")));
  fs::remove(folder / ".lock");
  done = checkout.Do({"data", "gc"});
  EXPECT_EQ(done["versionsDeleted"], 1);
  EXPECT_FALSE(done.contains("warnings"));
}

TEST_F(Data, DA08_PruneTakesOrphansOnly) {
  const std::string orphan = "11111111-1111-4111-8111-111111111111";
  const std::string automatic = "22222222-2222-4222-8222-222222222222";
  const std::string grant = "33333333-3333-4333-8333-333333333333";
  Put("result", 1, "{}");
  Place(checkout.folder() / ".swamp", orphan, "a", 1, "{}");
  Place(checkout.folder() / ".swamp", automatic, "a", 1, "{}");
  Place(checkout.folder() / ".swamp", grant, "grant-main", 1, "{}", {.type = "swamp/grant"});
  Files& files = bucket.context().files();
  WriteFileAtomically(files, checkout.folder() / ".swamp/auto-definitions/command/shell/d1.yaml",
                      "type: command/shell\nid: " + automatic + "\nname: d1\n");
  const fs::path broken = checkout.folder() / "models/command/shell/broken.yaml";
  WriteFileAtomically(files, broken, "]");
  checkout.Fail({"data", "prune", "--dry-run"}, "validation_failed");
  fs::remove(broken);
  EXPECT_EQ(checkout.Run({"data", "prune"}).exit_code, 2);  // nobody to ask
  const Json pruned = checkout.Do({"data", "prune", "-y"});
  EXPECT_EQ(pruned["modelsReclaimed"], 1);
  EXPECT_EQ(pruned["reclaimedModels"][0]["modelId"], orphan);
  EXPECT_EQ(pruned["reclaimedModels"][0]["modelName"], "m1");
  EXPECT_EQ(checkout.Do({"data", "prune", "-y"})["modelsReclaimed"], 0);
  EXPECT_EQ(checkout.Do({"data", "get", "d1", "a"})["modelId"], automatic);  // found by its automatic definition
}

// ---- on a bucket ----

class SharedData : public OnEveryBucket {};

TEST_P(SharedData, ChangesAreSeenByTheOtherCheckout) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  const std::string id = a.Do({"model", "create", "command/shell", "m1"})["id"];
  for (int version = 1; version <= 3; ++version) Place(a.cache(), id, "result", version, R"({"a":1})", {.keep = 2});
  Place(a.cache(), id, "log", 1, "{}");
  a.Do({"datastore", "sync", "--push", "-y"});
  Checkout& c = bucket.Clone("c");
  EXPECT_EQ(c.Do({"data", "get", "m1", "result", "--refresh"})["version"], 3);
  EXPECT_EQ(c.Do({"data", "query", "true"})["total"], 2);

  EXPECT_EQ(a.Do({"data", "gc", "-y"})["versionsDeleted"], 1);
  a.Do({"data", "rename", "m1", "result", "outcome"});
  a.Do({"data", "delete", "m1", "log", "-y"});
  EXPECT_EQ(c.Do({"data", "get", "m1", "result", "--refresh"})["name"], "outcome");
  EXPECT_EQ(c.Do({"data", "list", "m1"})["total"], 1);
  EXPECT_EQ(c.Do({"data", "query", "true"})["total"], 1);
  EXPECT_EQ(c.Do({"data", "versions", "m1", "result"})["total"], 3);
  // The other way, on data that this checkout has only fetched.
  EXPECT_EQ(c.Do({"data", "delete", "m1", "--all"})["totalDeleted"], 2);
  EXPECT_EQ(a.Do({"data", "query", "version > 0", "--refresh"})["total"], 0);
  EXPECT_EQ(a.Do({"datastore", "status"})["unpublished"]["paths"].size(), 0u);
}

SWAMP_ON_EVERY_BUCKET(SharedData);

// A run's record as another program would leave it.
class DataOfRuns : public Data {
 protected:
  DataOfRuns() {
    workflow = checkout.Do({"workflow", "create", "w1"})["id"];
    Put("result", 1, R"({"exitCode":0})");
    Put("result", 2, R"({"exitCode":3})");
    Put("report", 1, "# Report", {.content_type = "text/markdown", .tags = {{"type", "report"}}});
  }
  void Record(const std::string& run, const std::string& started, const std::string& status, int version) {
    const std::string artifact = fmt::format("dataId: 4f7b0c7e-2d6a-4c39-9a53-0b0e3c7f6a12\n            version: {}\n            tags: {{}}\n", version);
    const std::string record = fmt::format(
        "id: {0}\nworkflowId: {1}\nworkflowName: w1\nstatus: {2}\nstartedAt: '{3}'\njobs:\n  - jobName: main\n    status: {2}\n    steps:\n"
        "      - stepName: first\n        status: {2}\n        dataArtifacts:\n          - name: result\n            {4}"
        "          - name: gone\n            {4}"
        "workflowDataArtifacts:\n  - name: report\n    dataId: 4f7b0c7e-2d6a-4c39-9a53-0b0e3c7f6a12\n    version: 1\n    tags: {{}}\n",
        run, workflow, status, started, artifact);
    WriteFileAtomically(bucket.context().files(),
                        checkout.folder() / ".swamp/workflow-runs" / workflow / ("workflow-run-" + run + ".yaml"), record);
  }

  std::string workflow;
};

constexpr const char* kFirstRun = "cf6bc784-4a22-48ab-ac03-2f093fdabcd9";
constexpr const char* kSecondRun = "00000784-4a22-48ab-ac03-2f093fdabcd9";

TEST_F(DataOfRuns, AreListedByTheRunsRecord) {
  Record(kFirstRun, "2026-12-01T15:30:50.333Z", "succeeded", 1);
  Record(kSecondRun, "2026-12-02T15:30:50.333Z", "failed", 2);
  const Json list = checkout.Do({"data", "list", "--workflow", "w1"});
  EXPECT_THAT(Keys(list), ElementsAre("workflowId", "workflowName", "runId", "runStatus", "groups", "total"));
  EXPECT_EQ(list["workflowId"], workflow);
  EXPECT_EQ(list["runId"], kSecondRun);
  EXPECT_EQ(list["runStatus"], "failed");
  EXPECT_EQ(list["total"], 2);  // what was removed since is left out
  const Json& item = list["groups"][0]["items"][0];
  EXPECT_EQ(item["version"], 2);
  EXPECT_EQ(item["modelId"], id);
  EXPECT_EQ(item["modelName"], "m1");
  EXPECT_EQ(item["jobName"], "main");
  EXPECT_EQ(item["stepName"], "first");
  EXPECT_FALSE(list["groups"][1]["items"][0].contains("stepName"));
  const Json first = checkout.Do({"data", "list", "--workflow", workflow, "--run", kFirstRun, "--type", "resource"});
  EXPECT_EQ(first["total"], 1);
  EXPECT_EQ(first["groups"][0]["items"][0]["version"], 1);
  EXPECT_THAT(checkout.Run({"data", "list", "--workflow", "w1"}).out, HasSubstr("report"));
}

TEST_F(DataOfRuns, AreShownByTheRunsRecord) {
  Record(kFirstRun, "2026-12-01T15:30:50.333Z", "succeeded", 1);
  EXPECT_EQ(checkout.Do({"data", "get", "--workflow", "w1", "result"})["content"]["exitCode"], 0);
  EXPECT_EQ(checkout.Do({"data", "get", "--workflow", "w1", "--run", kFirstRun, "--name", "result"})["version"], 1);
  EXPECT_THAT(checkout.Fail({"data", "get", "--workflow", "w1", "other"}, "data_not_found").err, HasSubstr("result, report"));
  checkout.Fail({"data", "get", "--workflow", "w1", "--run", kSecondRun, "result"}, "run_not_found");
  checkout.Fail({"data", "get", "--workflow", "nosuch", "result"}, "workflow_not_found");
  checkout.Fail({"data", "get", "--workflow", "w1", "m1", "result"}, "usage");
  checkout.Fail({"data", "list", "--workflow", "w1", "m1"}, "usage");
  checkout.Fail({"data", "list", "m1", "--run", kFirstRun}, "usage");
  checkout.Do({"workflow", "create", "idle"});
  checkout.Fail({"data", "list", "--workflow", "idle"}, "run_not_found");
}

}  // namespace
}  // namespace swamp::e2e

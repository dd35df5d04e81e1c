// hydrationStrategy: lazy, as a user sees it: the same answers as with full hydration, and content that comes when it is read.

#include <fstream>

#include "backends.h"
#include "util/sqlite.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

class LazyHydration : public OnEveryBucket {
 protected:
  void SetUp() override {
    OnEveryBucket::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    bucket.emplace(GetParam());
    Checkout& a = bucket->first();
    a.Do({"model", "create", "command/shell", "m1"});
    a.RunWithInput({"model", "edit", "m1"}, ModelText("echo '{\"x\":1}'"));
    a.Do({"model", "method", "run", "m1", "execute", "--skip-reports"});
    a.Do({"model", "method", "run", "m1", "execute", "--skip-reports"});
    lazy = &bucket->Clone("lazy");
    SetStrategy("lazy");
  }
  // As `datastore setup` would write it.
  void SetStrategy(const std::string& strategy) {
    const fs::path path = lazy->folder() / ".swamp.yaml";
    std::string text = *ReadFile(bucket->context().files(), path);
    const std::size_t old = text.find("  hydrationStrategy:");
    if (old != std::string::npos) text.erase(old, text.find('\n', old) + 1 - old);
    const std::string block = "datastore:\n";
    text.insert(text.find(block) + block.size(), "  hydrationStrategy: " + strategy + "\n");
    WriteFileAtomically(bucket->context().files(), path, text);
  }
  std::size_t ContentsHere() {
    std::size_t count = 0;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(lazy->cache() / "data", error)) {
      if (entry.path().filename() == "raw") ++count;
    }
    return count;
  }
  std::optional<Bucket> bucket;
  Checkout* lazy = nullptr;
};

SWAMP_ON_EVERY_BUCKET(LazyHydration);

TEST_P(LazyHydration, DS47_AnEmptyCacheGivesTheSameAnswersAsAFullOne) {
  Checkout& full = bucket->first();
  // What has no need of content fetches none.
  EXPECT_EQ(lazy->Do({"data", "list", "m1"}), full.Do({"data", "list", "m1"}));
  EXPECT_EQ(lazy->Do({"data", "versions", "m1", "result"}), full.Do({"data", "versions", "m1", "result"}));
  const std::vector<std::string> metadata = {"data", "query", "version > 0", "--select", "name"};
  EXPECT_EQ(lazy->Do(metadata), full.Do(metadata));
  EXPECT_EQ(lazy->Do({"data", "get", "m1", "result", "--no-content"})["version"], 2);
  EXPECT_EQ(ContentsHere(), 0u);
  // What needs one fetches that one, once.
  EXPECT_EQ(lazy->Do({"data", "get", "m1", "result", "--version", "1"})["content"],
            full.Do({"data", "get", "m1", "result", "--version", "1"})["content"]);
  EXPECT_EQ(ContentsHere(), 1u);
  const std::vector<std::string> body = {"data", "query", "attributes.exitCode == 0", "--select", "attributes.stdout"};
  EXPECT_EQ(lazy->Do(body), full.Do(body));
  EXPECT_EQ(ContentsHere(), 2u);
  // An expression that reads another model's attribute, and a path that is opened by somebody else.
  lazy->Do({"model", "create", "command/shell", "reader"});
  lazy->RunWithInput({"model", "edit", "reader"},
                     ModelText("cat ${{ model.m1.file.log.log.path }}; echo ${{ model.m1.resource.result.result.attributes.exitCode }}"));
  const Json run = lazy->Do({"model", "method", "run", "reader", "execute", "--skip-reports"});
  EXPECT_THAT(run.dump(), HasSubstr("{\\\"x\\\":1}"));
}

TEST_P(LazyHydration, DS47_WithTheStoreDownContentIsAnErrorAndNothingIsHarmed) {
  lazy->Do({"data", "list", "m1"});
  lazy->Do({"model", "create", "command/shell", "reader"});
  lazy->RunWithInput({"model", "edit", "reader"}, ModelText("echo ${{ model.m1.resource.result.result.attributes.exitCode }}"));
  if (IsRgw(GetParam())) GTEST_SKIP() << "the folder says it all";
  fs::path away;
  for (const auto& entry : fs::recursive_directory_iterator(bucket->folder())) {
    if (entry.path().filename() == bucket->bucket_name() && entry.is_directory()) away = entry.path();
  }
  ASSERT_FALSE(away.empty());
  fs::rename(away, away.native() + ".away");
  EXPECT_THAT(lazy->Fail({"data", "get", "m1", "result"}, "content_unavailable").err, HasSubstr("result version 2"));
  EXPECT_THAT(lazy->Fail({"data", "query", "attributes.exitCode == 0"}, "content_unavailable").err, HasSubstr("version 2"));
  EXPECT_THAT(lazy->Do({"model", "evaluate", "reader"})["unresolved"].dump(), HasSubstr("result version 2"));
  EXPECT_EQ(lazy->Do({"data", "list", "m1"})["total"], 2);
  EXPECT_EQ(lazy->Do({"data", "query", "true", "--select", "name"})["total"], 2);
  fs::rename(away.native() + ".away", away);
  EXPECT_EQ(lazy->Do({"data", "get", "m1", "result"})["content"]["exitCode"], 0);
}

TEST_P(LazyHydration, DA13_RowsOfUnfetchedDataStayThroughRebuilds) {
  const std::vector<std::string> all = {"data", "query", "version > 0", "--select", "name"};
  EXPECT_EQ(lazy->Do(all)["total"], 4);
  const fs::path catalog = lazy->folder() / ".swamp/data/_catalog.db";
  Database(catalog.native()).Execute("UPDATE catalog_meta SET value='3' WHERE key='schema_version'");
  EXPECT_EQ(lazy->Do(all)["total"], 4);
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(catalog.native() + suffix);
  EXPECT_EQ(lazy->Do(all)["total"], 4);
  EXPECT_EQ(ContentsHere(), 0u);
  bucket->first().Do({"data", "delete", "m1", "result", "--version", "1"});
  EXPECT_EQ(lazy->Do({"data", "query", "version > 0", "--select", "name", "--refresh"})["total"], 3);
}

TEST_P(LazyHydration, SyncLeavesTheBucketAsItIsAndSwitchingToFullFetchesTheRest) {
  lazy->Do({"datastore", "sync"});
  const std::vector<std::string> keys = bucket->Keys();
  EXPECT_EQ(lazy->Do({"datastore", "sync", "--push"})["summary"]["total"], 0);
  lazy->Do({"datastore", "sync"});
  EXPECT_EQ(bucket->Keys(), keys);
  EXPECT_EQ(ContentsHere(), 0u);
  SetStrategy("full");
  lazy->Do({"datastore", "sync", "--pull"});
  EXPECT_EQ(ContentsHere(), 4u);
  EXPECT_EQ(bucket->Keys(), keys);
}

TEST_P(LazyHydration, GarbageOfWhatNeverCameIsCollected) {
  EXPECT_EQ(lazy->Do({"data", "delete", "m1", "result", "--version", "1"})["versionsDeleted"], 1);
  EXPECT_EQ(lazy->Do({"data", "rename", "m1", "log", "protocol"})["newVersion"], 1);
  Checkout& full = bucket->first();
  full.Do({"datastore", "sync", "--pull"});
  EXPECT_EQ(full.Do({"data", "versions", "m1", "result"})["total"], 1);
  EXPECT_EQ(full.Do({"data", "get", "m1", "protocol"})["content"], lazy->Do({"data", "get", "m1", "protocol"})["content"]);
  EXPECT_THAT(bucket->Keys("data/"), ::testing::Not(::testing::Contains(HasSubstr("result/1/"))));
}

TEST_P(LazyHydration, GrantsAreNeverLeftOutOfADecision) {
  Checkout& full = bucket->first();
  full.Do({"access", "grant", "create", "--subject", "user:ann", "--allow", "run", "--on", "model:*"});
  full.Do({"access", "grant", "create", "--subject", "user:ann", "--deny", "run", "--on", "model:prod"});
  lazy->Do({"data", "list", "m1"});
  const std::vector<std::string> check = {"access", "check", "--subject", "user:ann", "--action", "run", "--on", "model:prod"};
  if (!IsRgw(GetParam())) {
    const fs::path buckets = bucket->folder() / "buckets";
    fs::rename(buckets, buckets.native() + ".away");
    lazy->Fail(check, "content_unavailable");
    lazy->Fail({"access", "grant", "list"}, "content_unavailable");
    fs::rename(buckets.native() + ".away", buckets);
  }
  EXPECT_EQ(lazy->Do(check)["effect"], "deny");
  EXPECT_EQ(lazy->Do({"access", "grant", "list"}), full.Do({"access", "grant", "list"}));
}

}  // namespace
}  // namespace swamp::e2e

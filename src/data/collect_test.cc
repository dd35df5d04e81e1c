#include "data/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/edit_data.h"
#include "data/testing.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Collecting : public ::testing::Test, public DataFolder<> {
 protected:
  DataRecord WriteKept(const std::string& name, const std::string& lifetime, const Json& kept, const std::string& run = {}) {
    NewVersion version = TestVersion(TestKey(name));
    version.lifetime = *Lifetime::Parse(lifetime);
    version.versions_kept = *VersionsKept::Parse(kept);
    if (!run.empty()) {
      version.owner.workflow_id = kTestModel;
      version.owner.workflow_run_id = run;
    }
    return store.Write(version, "0123456789");
  }
};

TEST_F(Collecting, DA03_ExpiredNamesGoWholeAndAreCountedOnce) {
  for (int i = 0; i < 3; ++i) WriteKept("result", "1m", 10);
  WriteKept("young", "1h", 10);
  world.clock.Advance(std::chrono::minutes(2));
  const CollectReport dry = CollectGarbage(store, {.dry_run = true});
  EXPECT_THAT(store.Names(TestKey("").owner), ElementsAre("result", "young"));
  const CollectReport report = CollectGarbage(store, {});
  EXPECT_EQ(dry.bytes, report.bytes);
  EXPECT_EQ(dry.versions_deleted, 3u);
  EXPECT_EQ(report.versions_deleted, 3u);
  EXPECT_GT(report.bytes, 30u);
  ASSERT_EQ(report.expired.size(), 1u);
  EXPECT_EQ(report.expired[0].reason, "duration-expired");
  EXPECT_THAT(store.Names(TestKey("").owner), ElementsAre("young"));
  EXPECT_FALSE(world.files.Stat(folder.path() / TestKey("result").Folder()));
  EXPECT_EQ(CollectGarbage(store, {}).bytes, 0u);
}

TEST_F(Collecting, DA04_VersionsBeyondTheNumberGo) {
  for (int i = 0; i < 8; ++i) WriteKept("result", "infinite", 3);
  const CollectReport dry = CollectGarbage(store, {.dry_run = true});
  EXPECT_EQ(store.Versions(TestKey("result")).size(), 8u);
  const CollectReport report = CollectGarbage(store, {});
  EXPECT_EQ(dry.versions_deleted, 5u);
  EXPECT_EQ(report.versions_deleted, 5u);
  EXPECT_EQ(dry.bytes, report.bytes);
  EXPECT_THAT(report.expired, IsEmpty());
  EXPECT_THAT(store.Versions(TestKey("result")), ElementsAre(6u, 7u, 8u));
  EXPECT_EQ(store.LatestVersion(TestKey("result")), 8u);
}

TEST_F(Collecting, ByAgeTheHighestStays) {
  for (int i = 0; i < 3; ++i) {
    WriteKept("result", "infinite", "1d");
    world.clock.Advance(std::chrono::hours(16));
  }
  CollectGarbage(store, {});  // 48, 32 and 16 hours old
  EXPECT_THAT(store.Versions(TestKey("result")), ElementsAre(3u));
  world.clock.Advance(std::chrono::hours(1000));
  EXPECT_EQ(CollectGarbage(store, {}).versions_deleted, 0u);
}

TEST_F(Collecting, DA07_DataOfARunGoesWithItsRecord) {
  const std::string run = "cf6bc784-4a22-48ab-ac03-2f093fdabcd9";
  WriteKept("of-run", "workflow", 10, run);
  WriteKept("of-job", "job", 10, run);
  WriteKept("of-none", "workflow", 10);
  std::optional<bool> exists;
  const CollectRequest request{.run_exists = [&](const std::string&, const std::string& id) {
    EXPECT_EQ(id, run);
    return exists;
  }};
  EXPECT_THAT(CollectGarbage(store, request).expired, IsEmpty());  // can't be told
  exists = true;
  EXPECT_THAT(CollectGarbage(store, request).expired, IsEmpty());
  exists = false;
  const CollectReport report = CollectGarbage(store, request);
  ASSERT_EQ(report.expired.size(), 2u);
  EXPECT_EQ(report.expired[0].reason, "job-deleted");
  EXPECT_EQ(report.expired[1].reason, "workflow-deleted");
  EXPECT_THAT(store.Names(TestKey("").owner), ElementsAre("of-none"));
}

TEST_F(Collecting, RenameMarkersGoAfterAMonthAndTombstonesStay) {
  WriteKept("old", "1m", 10);
  RenameData(store, TestKey("old"), "new");
  store.WriteTombstone(WriteKept("dead", "1m", 10));
  world.clock.Advance(std::chrono::hours(24 * 29));
  CollectGarbage(store, {});
  EXPECT_THAT(store.Names(TestKey("").owner), ElementsAre("dead", "old"));  // "new" had its minute
  world.clock.Advance(std::chrono::hours(24 * 2));
  CollectGarbage(store, {});
  EXPECT_THAT(store.Names(TestKey("").owner), ElementsAre("dead"));
}

TEST_F(Collecting, WhatIsBeingWrittenStays) {
  const auto writer = store.Begin(TestVersion(TestKey("result")));
  world.clock.SetNow(SystemClock().Now());
  CollectGarbage(store, {});
  writer->Append("x");
  EXPECT_EQ(writer->Finish().version(), 1u);
}

TEST_F(Collecting, UnreadableDataIsLeftAlone) {
  WriteKept("good", "1m", 10);
  WriteKept("bad", "1m", 10);
  WriteFileAtomically(world.files, folder.path() / TestKey("bad").VersionFolder(1) / "metadata.yaml", "]");
  world.clock.Advance(std::chrono::minutes(2));
  EXPECT_EQ(CollectGarbage(store, {}).expired.size(), 1u);
  EXPECT_THAT(store.Names(TestKey("").owner), ElementsAre("bad"));
}

TEST_F(Collecting, AfterAWriteTheNumberIsKept) {
  for (int i = 0; i < 5; ++i) WriteKept("result", "infinite", 2);
  EXPECT_EQ(DropVersionsBeyondCap(store, TestKey("result")), 3u);
  EXPECT_THAT(store.Versions(TestKey("result")), ElementsAre(4u, 5u));
  EXPECT_EQ(DropVersionsBeyondCap(store, TestKey("result")), 0u);
}

TEST_F(Collecting, PruningTakesWhatHasNoDefinition) {
  Write("result", "x");
  const std::string other = "00000000-0000-4000-8000-000000000001";
  store.Write(TestVersion(TestKey("a", "unit", other)), "x");
  store.WriteTombstone(store.Write(TestVersion(TestKey("b", "unit", other)), "x"));
  const auto orphan = [&](const DataOwner& owner) { return owner.model_id == other; };
  const auto dry = PruneData(store, orphan, true);
  const auto pruned = PruneData(store, orphan, false);
  ASSERT_EQ(pruned.size(), 1u);
  EXPECT_EQ(dry[0].bytes, pruned[0].bytes);
  EXPECT_THAT(pruned[0].names, ElementsAre("a", "b"));
  EXPECT_EQ(pruned[0].model_name, "m1");
  EXPECT_EQ(pruned[0].versions, 3u);
  EXPECT_EQ(store.Owners().size(), 1u);
}

TEST_F(Collecting, DA10_RenamesLeaveOneLiveName) {
  Write("a", "content");
  const RenamedData renamed = RenameData(store, TestKey("a"), "b");
  EXPECT_EQ(renamed.copied_version, 1u);
  EXPECT_EQ(renamed.new_version, 1u);
  EXPECT_NE(store.Latest(TestKey("b"))->metadata.id, store.Latest(TestKey("a"))->metadata.id);
  EXPECT_EQ(CodeOf([&] { RenameData(store, TestKey("a"), "c"); }), "data_not_found");
  EXPECT_EQ(CodeOf([&] { RenameData(store, TestKey("b"), "b"); }), "validation_failed");
  EXPECT_EQ(CodeOf([&] { RenameData(store, TestKey("b"), "../x"); }), "validation_failed");
  Write("live", "x");
  EXPECT_EQ(CodeOf([&] { RenameData(store, TestKey("b"), "live"); }), "data_exists");
  RenameData(store, TestKey("b"), "c");
  RenameData(store, TestKey("c"), "a");  // and back
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(store.Resolve(TestKey(name))) << name;
    EXPECT_EQ(store.Content(*store.Resolve(TestKey(name))), "content") << name;
  }
}

TEST_F(Collecting, DeletingNamesWhatThereIs) {
  Write("result", "a");
  Write("result", "b");
  try {
    DeleteData(store, TestKey("result"), 7);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "data_not_found");
    EXPECT_THAT(error.hint(), HasSubstr("1, 2"));
  }
  try {
    DeleteData(store, TestKey("resutl"), std::nullopt);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.hint(), HasSubstr("result"));
  }
  EXPECT_EQ(DeleteData(store, TestKey("result"), 2), 1u);
  EXPECT_EQ(store.LatestVersion(TestKey("result")), 1u);
  EXPECT_EQ(DeleteData(store, TestKey("result"), std::nullopt), 1u);
  EXPECT_FALSE(store.Latest(TestKey("result")));
}

}  // namespace
}  // namespace swamp

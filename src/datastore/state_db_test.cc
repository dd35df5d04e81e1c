#include "datastore/state_db.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "util/test_world.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StateDbTest : public ::testing::Test {
 protected:
  std::filesystem::path Path() const { return folder.path() / "cache" / ".datastore-state.db"; }
  StateDb Open() { return StateDb(world.files, Path()); }

  TestWorld world;
  TemporaryFolder folder;
};

Base SomeBase(const std::string& path) {
  return {.path = path, .etag = {"e1"}, .size = 3, .sha256 = "ab", .local_mtime_ns = 7, .local_size = 3, .entry = "s"};
}

TEST_F(StateDbTest, RemembersBasesAndChangesAcrossProcesses) {
  {
    StateDb state = Open();
    EXPECT_TRUE(state.started_empty());
    state.MarkDirty("config/a", DirtyKind::kWrite);
    state.Settle({.set = {SomeBase("config/b")}, .forget = {}, .handled = {}, .values = {{"k", "v"}}});
  }
  StateDb state = Open();
  EXPECT_FALSE(state.started_empty());
  EXPECT_EQ(state.FindBase("config/b")->etag.value, "e1");
  EXPECT_THAT(state.AllDirty(), SizeIs(1));
  EXPECT_EQ(state.Value("k"), "v");
  EXPECT_THAT(state.BasesOfPartition("config"), SizeIs(1));
  EXPECT_THAT(state.BasesOfPartition("data"), IsEmpty());
}

TEST_F(StateDbTest, SettlingClearsOnlyTheChangeThatWasHandled) {
  StateDb state = Open();
  state.MarkDirty("a", DirtyKind::kWrite);
  const DirtyRow first = *state.FindDirty("a");
  state.MarkDirty("a", DirtyKind::kRemove);
  state.Settle({.set = {}, .forget = {}, .handled = {first}, .values = {}});
  ASSERT_TRUE(state.FindDirty("a")) << "a change that came during the push was dropped";
  EXPECT_EQ(state.FindDirty("a")->kind, DirtyKind::kRemove);
  state.Settle({.set = {}, .forget = {}, .handled = {*state.FindDirty("a")}, .values = {}});
  EXPECT_FALSE(state.FindDirty("a"));
}

TEST_F(StateDbTest, TwoProcessesWriteAtOnceWithoutTreadingOnEachOther) {
  Open();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      StateDb state = Open();
      for (int n = 0; n < 25; ++n) state.MarkDirty(std::to_string(i) + "/" + std::to_string(n), DirtyKind::kWrite);
    });
  }
  threads.clear();
  StateDb state = Open();
  std::set<std::int64_t> seqs;
  for (const DirtyRow& row : state.AllDirty()) seqs.insert(row.seq);
  EXPECT_THAT(seqs, SizeIs(100));
}

TEST_F(StateDbTest, DS46_ADamagedFileIsReplacedByAnEmptyDatabase) {
  std::filesystem::create_directories(Path().parent_path());
  std::ofstream(Path()) << std::string(8192, 'x');
  StateDb state = Open();
  EXPECT_TRUE(state.started_empty());
  EXPECT_THAT(state.AllDirty(), IsEmpty());
}

TEST_F(StateDbTest, DS46_AnOlderSchemaIsReplacedAndANewerOneRefused) {
  {
    Open();
    Database database(Path().string());
    database.Execute("PRAGMA user_version = 0");
  }
  EXPECT_TRUE(Open().started_empty());
  {
    Database database(Path().string());
    database.Execute("PRAGMA user_version = 99");
  }
  try {
    Open();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "state_newer");
  }
}

TEST_F(StateDbTest, ValuesAreFoundByPrefixAndRemovedByEmptyText) {
  StateDb state = Open();
  state.SetValue("shard:a", "1");
  state.SetValue("shard:b", "2");
  state.SetValue("other", "3");
  EXPECT_THAT(state.ValuesWithPrefix("shard:"), ElementsAre(std::pair("shard:a", "1"), std::pair("shard:b", "2")));
  state.SetValue("shard:a", "");
  EXPECT_THAT(state.ValuesWithPrefix("shard:"), SizeIs(1));
}

}  // namespace
}  // namespace swamp

#include "data/version_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "data/testing.h"
#include "datastore/two_checkouts.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kFolder = std::string("data/command/shell/") + kTestModel + "/";

class Versions : public ::testing::Test, public DataFolder<> {};

TEST_F(Versions, AreNumberedAndTheMarkerNamesTheLast) {
  const DataRecord first = Write("result", "{}");
  const DataRecord second = Write("result", "{\"a\":1}");
  EXPECT_EQ(first.version(), 1u);
  EXPECT_EQ(second.version(), 2u);
  EXPECT_EQ(second.metadata.id, first.metadata.id);
  EXPECT_EQ(Read(kFolder + "result/latest"), "2");
  EXPECT_EQ(Read(kFolder + "result/2/raw"), "{\"a\":1}");
  EXPECT_EQ(second.metadata.size, 7u);
  EXPECT_EQ(second.metadata.checksum, Sha256Hex("{\"a\":1}"));
  EXPECT_THAT(second.paths, ElementsAre(kFolder + "result/2/raw", kFolder + "result/2/metadata.yaml", kFolder + "result/latest"));
  EXPECT_EQ(store.Content(*store.Latest(TestKey("result"))), "{\"a\":1}");
  EXPECT_EQ(store.Content(*store.Find(TestKey("result"), 1)), "{}");
  EXPECT_THAT(store.Names(TestKey("").owner), ElementsAre("result"));
  EXPECT_THAT(store.Owners(), ElementsAre(TestKey("").owner));
}

TEST_F(Versions, AreStreamedAndMayBeWrittenByAChild) {
  const auto writer = store.Begin(TestVersion(TestKey("log")));
  writer->Append("one\n");
  writer->Append("two\n");
  EXPECT_FALSE(store.Latest(TestKey("log")));
  EXPECT_EQ(store.Content(store.Find(TestKey("log"), writer->Finish().version()).value()), "one\ntwo\n");
  const auto child = store.Begin(TestVersion(TestKey("log")));
  std::ofstream(child->PathForChild()) << "from a child";
  const DataRecord record = child->Finish();
  EXPECT_EQ(record.metadata.size, 12u);
  EXPECT_EQ(record.metadata.checksum, Sha256Hex("from a child"));
  EXPECT_EQ(store.Content(record), "from a child");
}

TEST_F(Versions, DiscardedOnesLeaveNothing) {
  {
    const auto writer = store.Begin(TestVersion(TestKey("log")));
    writer->Append("one");
  }
  EXPECT_FALSE(world.files.Stat(folder.path() / "data/command"));
  Write("log", "kept");
  store.Begin(TestVersion(TestKey("log")))->Discard();
  EXPECT_THAT(store.Versions(TestKey("log")), ElementsAre(1u));
}

TEST_F(Versions, ANumberIsNeverTakenTwice) {
  Write("result", "a");
  world.files.CreateFolders(folder.path() / (kFolder + "result/7"), 0755);  // of a process that died
  EXPECT_EQ(Write("result", "b").version(), 8u);
  WriteFileAtomically(world.files, folder.path() / (kFolder + "result/latest"), "20");
  EXPECT_EQ(Write("result", "c").version(), 21u);
}

TEST_F(Versions, WithoutMetadataDoNotExist) {
  Write("result", "a");
  WriteFileAtomically(world.files, folder.path() / (kFolder + "result/2/raw"), "half");
  EXPECT_THAT(store.Versions(TestKey("result")), ElementsAre(1u));
  EXPECT_FALSE(store.Find(TestKey("result"), 2));
  WriteFileAtomically(world.files, folder.path() / (kFolder + "result/latest"), "2");
  EXPECT_EQ(store.Latest(TestKey("result"))->version(), 1u);
}

TEST_F(Versions, TheMarkerMayBeMissingUnreadableOrAnOldLink) {
  Write("result", "a");
  Write("result", "b");
  const fs::path marker = folder.path() / (kFolder + "result/latest");
  fs::remove(marker);
  EXPECT_EQ(store.Latest(TestKey("result"))->version(), 2u);
  fs::create_symlink("1", marker);
  EXPECT_EQ(store.Latest(TestKey("result"))->version(), 1u);
  fs::remove(marker);
  WriteFileAtomically(world.files, marker, "nonsense");
  EXPECT_EQ(store.Latest(TestKey("result"))->version(), 2u);
}

TEST_F(Versions, TheMarkerNeverGoesBack) {
  const auto early = store.Begin(TestVersion(TestKey("result")));
  EXPECT_EQ(Write("result", "second").version(), 2u);
  early->Append("first");
  const DataRecord record = early->Finish();
  EXPECT_EQ(record.version(), 1u);
  EXPECT_EQ(Read(kFolder + "result/latest"), "2");
  EXPECT_THAT(record.paths, ::testing::Not(::testing::Contains(kFolder + "result/latest")));
}

TEST_F(Versions, AHeldMarkerMovesOnPublish) {
  Write("result", "a");
  NewVersion request = TestVersion(TestKey("result"));
  request.hold_marker = true;
  DataRecord held = store.Write(request, "b");
  EXPECT_EQ(store.Latest(TestKey("result"))->version(), 1u);
  store.Publish(held);
  EXPECT_EQ(store.Latest(TestKey("result"))->version(), 2u);
}

// A method whose data was published before it failed at something else.
TEST_F(Versions, AWithdrawnVersionLeavesTheMarkerAtTheOneBefore) {
  Write("result", "a");
  NewVersion request = TestVersion(TestKey("result"));
  request.hold_marker = true;
  DataRecord held = store.Write(request, "b");
  store.Publish(held);
  store.Withdraw(held);
  EXPECT_EQ(Read(kFolder + "result/latest"), "1");
  EXPECT_THAT(store.Versions(TestKey("result")), ElementsAre(1u));
}

TEST_F(Versions, BelongToTheirOwner) {
  Write("result", "a");
  NewVersion request = TestVersion(TestKey("result"));
  request.owner.owner_type = "workflow-step";
  EXPECT_EQ(CodeOf([&] { store.Write(request, "b"); }), "data_not_owner");
  EXPECT_THAT(store.Versions(TestKey("result")), ElementsAre(1u));
}

TEST_F(Versions, DA11_WhatEscapesIsRefusedBeforeAnythingIsWritten) {
  for (const char* name : {"latest", "..", "a/../../b", ".x", ""}) {
    EXPECT_EQ(CodeOf([&] { Write(name, "x"); }), "validation_failed") << name;
  }
  EXPECT_FALSE(world.files.Stat(folder.path() / "data"));
  Write("1", "x");
  EXPECT_EQ(store.Latest(TestKey("1"))->version(), 1u);
  fs::create_directory(folder.path() / "elsewhere");
  fs::create_directory_symlink(folder.path() / "elsewhere", folder.path() / (kFolder + "linked"));
  EXPECT_EQ(CodeOf([&] { Write("linked", "x"); }), "path_escape");
  EXPECT_TRUE(fs::is_empty(folder.path() / "elsewhere"));
  EXPECT_EQ(CodeOf([&] { store.Write(TestVersion(TestKey("r", "../../up")), "x"); }), "path_escape");
}

TEST_F(Versions, DA05_TypesOfAnyDepthAreFound) {
  store.Write(TestVersion(TestKey("a", "unit")), "1");
  store.Write(TestVersion(TestKey("207333", "@team/x/y")), "1");
  store.Write(TestVersion(TestKey("c", "aws/ec2/vpc")), "1");
  std::vector<std::string> types;
  for (const DataOwner& owner : store.Owners()) types.push_back(owner.type);
  EXPECT_THAT(types, ElementsAre("@team/x/y", "aws/ec2/vpc", "unit"));
  EXPECT_THAT(store.Names({"@team/x/y", kTestModel}), ElementsAre("207333"));
}

TEST_F(Versions, ADamagedOneIsNotPassedOffAsWhatItWas) {
  const DataRecord record = Write("result", "{\"a\":1}");
  WriteFileAtomically(world.files, folder.path() / record.RawPath(), "{\"a\":2}");
  EXPECT_EQ(CodeOf([&] { store.Content(record); }), "data_corrupt");
}

TEST_F(Versions, RenamesAreFollowedFiveTimesAndNoMore) {
  Write("n0", "content");
  for (int i = 0; i < 6; ++i) {
    const std::string from = "n" + std::to_string(i);
    const std::string to = "n" + std::to_string(i + 1);
    Write(to, "content");
    store.WriteTombstone(*store.Latest(TestKey(from)), to);
  }
  EXPECT_EQ(store.Resolve(TestKey("n1"))->key.name, "n6");
  EXPECT_FALSE(store.Resolve(TestKey("n0")));
  // Back to a name that forwards: no endless way.
  store.WriteTombstone(*store.Latest(TestKey("n6")), "n1");
  EXPECT_FALSE(store.Resolve(TestKey("n2")));
  // Written again, the name is live.
  Write("n1", "again");
  EXPECT_EQ(store.Content(*store.Resolve(TestKey("n1"))), "again");
}

TEST_F(Versions, ARenameMarkerLooksAsTheOriginalWritesIt) {
  const DataRecord record = Write("result", "{}");
  const DataRecord marker = store.WriteTombstone(record, "renamed", "{}");
  EXPECT_EQ(marker.metadata.id, record.metadata.id);
  const std::string yaml = *Read(kFolder + "result/2/metadata.yaml");
  EXPECT_THAT(yaml, HasSubstr("lifecycle: deleted\nrenamedTo: renamed\n"));
  EXPECT_THAT(yaml, ::testing::Not(HasSubstr("checksum")));
}

TEST_F(Versions, RemovalMovesTheMarkerToWhatIsLeft) {
  for (const char* text : {"a", "b", "c"}) Write("result", text);
  const std::vector<std::uint64_t> last = {3};
  EXPECT_GT(store.Remove(TestKey("result"), last), 0u);
  EXPECT_EQ(Read(kFolder + "result/latest"), "2");
  const std::vector<std::uint64_t> rest = {1, 2, 9};
  store.Remove(TestKey("result"), rest);
  EXPECT_FALSE(world.files.Stat(folder.path() / "data/command"));
}

TEST_F(Versions, UnfinishedOnesGoAfterTheirTime) {
  Write("result", "a");
  world.files.CreateFolders(folder.path() / (kFolder + "result/2"), 0755);
  EXPECT_FALSE(store.RemoveUnfinished(TestKey("result"), Time(Duration(0))));
  EXPECT_TRUE(world.files.Stat(folder.path() / (kFolder + "result/2")));
  store.RemoveUnfinished(TestKey("result"), Time(Duration(INT64_C(99'999'999'999'999) / 1000)));
  EXPECT_TRUE(world.files.Stat(folder.path() / (kFolder + "result/2")));
  SystemClock clock;
  store.RemoveUnfinished(TestKey("result"), clock.Now() + std::chrono::hours(1));
  EXPECT_FALSE(world.files.Stat(folder.path() / (kFolder + "result/2")));
  EXPECT_TRUE(world.files.Stat(folder.path() / (kFolder + "result/1")));
}

TEST_F(Versions, RenumberingMovesAVersionOn) {
  Write("result", "a");
  const DataRecord lost = Write("result", "ours");
  const DataRecord moved = store.RenumberAbove(lost, 5);
  EXPECT_EQ(moved.version(), 6u);
  EXPECT_EQ(store.Content(moved), "ours");
  EXPECT_THAT(*Read(kFolder + "result/6/metadata.yaml"), HasSubstr("version: 6\n"));
  EXPECT_EQ(Read(kFolder + "result/latest"), "6");
  EXPECT_THAT(store.Versions(TestKey("result")), ElementsAre(1u, 6u));
}

// ---- several at once ----

// What a writer writes tells itself whether it is whole.
std::string SelfDescribing(std::uint64_t number) {
  return fmt::format("{{\"n\":{},\"text\":\"{}\"}}", number, std::string(1 + number % 4000, static_cast<char>('a' + number % 26)));
}

bool IsWhole(const std::string& content) {
  const auto json = TryParseJson(content);
  return json && SelfDescribing(json->at("n").get<std::uint64_t>()) == content;
}

TEST(VersionsAtOnce, ReadersNeverSeeATornVersion) {
  DataFolder<RealTimeWorld> data;
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      std::uint64_t seen = 0;
      while (!done) {
        const auto latest = data.store.Latest(TestKey("result"));
        if (!latest) continue;
        EXPECT_GE(latest->version(), seen);
        seen = latest->version();
        EXPECT_TRUE(IsWhole(data.store.Content(*latest)));
        ++reads;
      }
    });
  }
  std::vector<std::thread> writers;
  for (std::uint64_t w = 0; w < 3; ++w) {
    writers.emplace_back([&, w] {
      for (std::uint64_t i = 0; i < 40; ++i) data.Write("result", SelfDescribing(w * 1000 + i));
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(reads, 0);
  EXPECT_EQ(data.store.Versions(TestKey("result")).size(), 120u);
  EXPECT_EQ(data.store.Latest(TestKey("result"))->version(), data.store.Versions(TestKey("result")).back());
}

TEST(VersionsAtOnce, TwoProcessesWriteOneNameAHundredTimesEach) {
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (std::uint64_t p = 0; p < 2; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 1;
      try {
        RealTimeWorld world;
        VersionStore store(world.context, folder.path(), nullptr);
        for (std::uint64_t i = 0; i < 100; ++i) store.Write(TestVersion(TestKey("result")), SelfDescribing(p * 1000 + i));
        status = 0;
      } catch (const std::exception&) {
      }
      ::_exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  RealTimeWorld world;
  VersionStore store(world.context, folder.path(), nullptr);
  const std::vector<std::uint64_t> versions = store.Versions(TestKey("result"));
  ASSERT_EQ(versions.size(), 200u);
  std::set<std::string> contents;
  for (const std::uint64_t version : versions) contents.insert(store.Content(*store.Find(TestKey("result"), version)));
  EXPECT_EQ(contents.size(), 200u);
  EXPECT_EQ(store.Latest(TestKey("result"))->version(), versions.back());
}

// ---- on a synced datastore ----

class SyncedVersions : public ::testing::Test {
 protected:
  TwoCheckouts both;
  VersionStore ours{both.world.context, both.a->root, both.a->cache.get()};
  VersionStore theirs{both.world.context, both.c->root, both.c->cache.get()};
  const DataKey key = TestKey("result");
};

TEST_F(SyncedVersions, TravelToTheOtherCheckout) {
  ours.Write(TestVersion(key), "{\"a\":1}");
  EXPECT_THAT(UnpublishedPaths(*both.a->cache),
              ElementsAre(kFolder + "result/1/metadata.yaml", kFolder + "result/1/raw", kFolder + "result/latest"));
  EXPECT_EQ(both.a->Push().files_pushed, 3);
  both.c->Pull();
  EXPECT_EQ(theirs.Content(*theirs.Latest(key)), "{\"a\":1}");
  EXPECT_EQ(theirs.Write(TestVersion(key), "{}").version(), 2u);
}

// Found by the simulation: a pull can bring a peer's marker before the peer's version.
TEST_F(SyncedVersions, AMarkerThatNamesAVersionStillToComeStaysWhenOthersAreCollected) {
  ours.Write(TestVersion(key), "a");
  ours.Write(TestVersion(key), "b");
  both.a->Push();
  WriteFileAtomically(both.world.files, both.a->root / key.Marker(), "3");
  const std::vector<std::uint64_t> one = {1};
  ours.Remove(key, one);
  EXPECT_EQ(ReadFile(both.world.files, both.a->root / key.Marker()), "3");
  const std::vector<std::uint64_t> two = {2};
  ours.Remove(key, two);
  EXPECT_EQ(ReadFile(both.world.files, both.a->root / key.Marker()), "3");
}

TEST_F(SyncedVersions, RemovalsTravelToo) {
  ours.Write(TestVersion(key), "a");
  ours.Write(TestVersion(key), "b");
  both.a->Push();
  both.c->Pull();
  ours.RemoveName(key);
  both.a->Push();
  EXPECT_THAT(UnpublishedPaths(*both.a->cache), IsEmpty());
  both.c->Pull();
  EXPECT_FALSE(theirs.Latest(key));
  // The number is not used again, neither here nor there.
  EXPECT_EQ(ours.Write(TestVersion(key), "c").version(), 3u);
  both.a->Push();
  both.c->Pull();
  EXPECT_EQ(theirs.Content(*theirs.Latest(key)), "c");
}

TEST_F(SyncedVersions, ANumberIsNotUsedAgainByACheckoutThatNeverSawIt) {
  for (int i = 0; i < 3; ++i) ours.Write(TestVersion(key), "a");
  both.a->Push();
  ours.RemoveName(key);
  both.a->Push();
  both.c->Pull();
  const DataRecord first = theirs.Write(TestVersion(key), "new");
  EXPECT_EQ(first.version(), 1u);
  const PushReport report = both.c->Push();
  ASSERT_EQ(report.conflicts.size(), 1u);
  EXPECT_EQ(report.conflicts[0].path, key.Marker());
  EXPECT_EQ(report.conflicts[0].kind, PushConflict::Kind::kImmutable);
  EXPECT_EQ(theirs.RenumberAbove(first, first.version()).version(), 4u);
  EXPECT_THAT(both.c->Push().conflicts, IsEmpty());
  both.a->Pull();
  EXPECT_THAT(ours.Versions(key), ElementsAre(4u));
  EXPECT_EQ(ours.Content(*ours.Latest(key)), "new");
}

TEST_F(SyncedVersions, AStaleCheckoutCountsOnAboveWhatAPeerRemoved) {
  for (int i = 0; i < 2; ++i) ours.Write(TestVersion(key), "a");
  both.a->Push();
  both.c->Pull();
  theirs.Write(TestVersion(key), "b");
  theirs.RemoveName(key);
  both.c->Push();
  both.a->Pull();
  EXPECT_FALSE(ours.Latest(key));
  EXPECT_EQ(ours.Write(TestVersion(key), "c").version(), 4u);
}

TEST_F(SyncedVersions, WhoeverLosesTheRaceForANumberTakesTheNext) {
  const DataRecord mine = ours.Write(TestVersion(key), "mine");
  const DataRecord other = theirs.Write(TestVersion(key), "other");
  ASSERT_EQ(mine.version(), other.version());
  both.c->Push();
  const PushReport lost = both.a->Push();
  ASSERT_FALSE(lost.conflicts.empty());
  EXPECT_EQ(lost.conflicts.front().kind, PushConflict::Kind::kImmutable);
  const DataRecord moved = ours.RenumberAbove(mine, mine.version());
  EXPECT_EQ(moved.version(), 2u);
  EXPECT_THAT(both.a->Push().conflicts, IsEmpty());
  both.a->Pull();
  EXPECT_EQ(ours.Content(*ours.Find(key, 1)), "other");
  EXPECT_EQ(ours.Content(*ours.Latest(key)), "mine");
  both.c->Pull();
  EXPECT_EQ(theirs.Content(*theirs.Latest(key)), "mine");
}

TEST_F(SyncedVersions, AVersionHasOneWinner) {
  // The same content by both, and then other content: either way the metadata decides, and the loser's content stays here.
  const DataRecord mine = ours.Write(TestVersion(key), "mine");
  theirs.Write(TestVersion(key), "theirs");
  both.c->Push();
  const PushReport lost = both.a->Push();
  ASSERT_EQ(lost.conflicts.size(), 1u);
  EXPECT_EQ(lost.conflicts[0].path, key.VersionFolder(1) + "/metadata.yaml");
  both.c->Pull();
  EXPECT_EQ(theirs.Content(*theirs.Latest(key)), "theirs");
  EXPECT_EQ(ours.RenumberAbove(mine, 1).version(), 2u);
  EXPECT_THAT(both.a->Push().conflicts, IsEmpty());
}

TEST_F(SyncedVersions, AClaimedVersionIsNotAnnouncedWithoutItsContent) {
  const DataRecord mine = ours.Write(TestVersion(key), "mine");
  const auto fault = both.a->faults;
  fault->Add({.operation = StoreOperation::kPut, .key_pattern = mine.RawPath(), .times = -1, .error = StoreError::Kind::kUnreachable});
  EXPECT_THROW(both.a->Push(), StoreError);
  // Nobody else meets half a version, and nobody else gets its number.
  both.c->Pull();
  EXPECT_FALSE(theirs.Latest(key));
  theirs.Write(TestVersion(key), "theirs");
  EXPECT_FALSE(both.c->Push().conflicts.empty());
  fault->Clear();
  EXPECT_THAT(both.a->Push().conflicts, IsEmpty());
}

}  // namespace
}  // namespace swamp

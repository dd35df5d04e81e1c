// Two checkouts and one bucket: the rules of docs/managed-config.md, each seen from outside the engine.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "datastore/index.h"
#include "datastore/moved_away.h"
#include "datastore/tombstone.h"
#include "datastore/two_checkouts.h"
#include "util/digest.h"
#include "util/forwarding_files.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kDoc = "config/models/command/shell/m1.yaml";
constexpr const char* kOther = "config/models/command/shell/m2.yaml";
constexpr const char* kRaw = "data/command/shell/0b0c0d0e-0000-4000-8000-000000000001/result/1/raw";
constexpr const char* kLatest = "data/command/shell/0b0c0d0e-0000-4000-8000-000000000001/result/latest";

std::string ServerName(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

ServerBehaviour BehaviourOf(const std::string& name) {
  if (name == "Ceph") return ServerBehaviour::CephRgw();
  if (name == "OldMinio") return ServerBehaviour::OldMinio();
  ServerBehaviour aws = ServerBehaviour::Aws();
  aws.opaque_etags = name == "OpaqueEtags";
  return aws;
}

// Every rule has to hold on every kind of server.
class SyncEngine : public ::testing::TestWithParam<std::string> {
 protected:
  SyncEngine() : t(BehaviourOf(GetParam())) {}

  std::map<std::string, IndexEntry> IndexOf(const std::string& partition) {
    const auto text = t.bucket.Peek(ShardKey(partition));
    if (!text) return {};
    const auto shard = IndexShard::Parse(*text);
    return shard ? shard->Entries() : std::map<std::string, IndexEntry>{};
  }
  // What readers take for the path's content: nothing for a tombstone.
  std::optional<std::string> InBucket(const std::string& path) {
    auto bytes = t.bucket.Peek(path);
    if (bytes && IsTombstone(*bytes)) return std::nullopt;
    return bytes;
  }

  TwoCheckouts t;
};

INSTANTIATE_TEST_SUITE_P(Servers, SyncEngine, ::testing::Values("Aws", "Ceph", "OldMinio", "OpaqueEtags"), ServerName);

TEST_P(SyncEngine, WhatOneWritesTheOtherPulls) {
  t.a->Write(kDoc, "one");
  EXPECT_EQ(t.a->Push().files_pushed, 1);
  EXPECT_EQ(t.c->Pull().files_pulled, 1);
  EXPECT_EQ(t.c->Read(kDoc), "one");
  EXPECT_EQ(IndexOf("config").at(kDoc).sha256, Sha256Hex("one"));
}

TEST_P(SyncEngine, DS01_ACommandUploadsOnlyThePathsThatItNames) {
  t.bucket.Plant(std::string(kLockfilePath), "{}\n");
  t.a->Pull();
  const ETag published = t.bucket.Plant(std::string(kLockfilePath), "{\"@c/y\": {}}\n");
  t.a->Write(kDoc, "one");
  t.a->Push(/*walk=*/true);
  EXPECT_EQ(t.bucket.Peek(std::string(kLockfilePath)), "{\"@c/y\": {}}\n");
  EXPECT_EQ(t.c->store->Head(t.world.context, std::string(kLockfilePath))->info.etag, published);
}

TEST_P(SyncEngine, DS03_AShardKeepsTheEntriesOfEverybody) {
  t.a->Write(kDoc, "one");
  t.c->Write(kOther, "two");
  t.a->Push();
  t.c->Push();
  EXPECT_THAT(IndexOf("config"), SizeIs(2));
}

TEST_P(SyncEngine, DS06_ARemovalIsNotUndoneByAPullBeforeItsPush) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.a->Remove(kDoc);
  t.bucket.Plant(std::string(kMetaKey), R"({"version":2,"partitions":["config"],"commitSeq":9})");
  t.a->Pull(PullScope::kAll, PullEffort::kRestoreMissing);
  EXPECT_FALSE(t.a->Read(kDoc));
  EXPECT_EQ(t.a->Push().files_removed, 1);
  EXPECT_FALSE(InBucket(kDoc));
  EXPECT_FALSE(IndexOf("config").contains(kDoc));
  t.c->Pull();
  EXPECT_FALSE(t.c->Read(kDoc));
}

TEST_P(SyncEngine, DS13_ChangesSurviveTheProcessAndAreAllThatTheNextPushUploads) {
  t.a->Write(kOther, "peer removes this");
  t.a->Push();
  t.c->Pull();
  t.c->Remove(kOther);
  t.c->Push();
  t.a->Write(kDoc, "one");
  t.a->faults->Add({.operation = StoreOperation::kPut, .times = -1, .error = StoreError::Kind::kUnreachable});
  EXPECT_THROW(t.a->Push(), StoreError);
  t.a->faults->Clear();
  t.a->Reopen();
  EXPECT_THAT(UnpublishedPaths(*t.a->cache), ElementsAre(kDoc));
  EXPECT_EQ(t.a->Push(/*walk=*/true).files_pushed, 1);
  EXPECT_EQ(InBucket(kDoc), "one");
  EXPECT_FALSE(InBucket(kOther));
}

TEST_P(SyncEngine, DS14_AnEditThatKeepsSizeAndTimeIsSeen) {
  t.a->Write(kDoc, "aaaa");
  t.a->Push();
  const auto time = std::filesystem::last_write_time(t.a->root / kDoc);
  {
    const auto file = t.world.files.Create(t.a->root / kDoc, 0644);
    file->Append("bbbb");
    file->Commit(Durability::kLater);
  }
  std::filesystem::last_write_time(t.a->root / kDoc, time);
  EXPECT_EQ(t.a->Push(/*walk=*/true).files_pushed, 1);
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kDoc), "bbbb");
}

TEST_P(SyncEngine, BothSidesChangedADocument_TheSecondIsToldAndBothVersionsAreThere) {
  t.a->Write(kDoc, "base");
  t.a->Push();
  t.c->Pull();
  t.c->Write(kDoc, "theirs");
  t.c->Push();
  t.a->Write(kDoc, "ours");
  const PushReport report = t.a->Push();
  ASSERT_THAT(report.conflicts, SizeIs(1));
  EXPECT_EQ(report.conflicts[0].kind, PushConflict::Kind::kEdited);
  EXPECT_EQ(report.conflicts[0].peer, "cat@c");
  EXPECT_EQ(ReadFile(t.world.files, report.conflicts[0].local_copy), "ours");
  EXPECT_EQ(t.a->Read(kDoc), "theirs");
  EXPECT_EQ(InBucket(kDoc), "theirs");
  EXPECT_THAT(UnpublishedPaths(*t.a->cache), IsEmpty());
  EXPECT_THAT(t.a->Push(true).conflicts, IsEmpty());
}

TEST_P(SyncEngine, BothSidesMadeTheSameChange_ThereIsNoConflict) {
  t.a->Write(kDoc, "base");
  t.a->Push();
  t.c->Pull();
  t.c->Write(kDoc, "same");
  t.c->Push();
  t.a->Write(kDoc, "same");
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_THAT(UnpublishedPaths(*t.a->cache), IsEmpty());
}

TEST_P(SyncEngine, APeerRemovedWhatWasEditedHere) {
  t.a->Write(kDoc, "base");
  t.a->Push();
  t.c->Pull();
  t.c->Remove(kDoc);
  t.c->Push();
  t.a->Write(kDoc, "edited");
  const PushReport report = t.a->Push();
  ASSERT_THAT(report.conflicts, SizeIs(1));
  EXPECT_EQ(report.conflicts[0].kind, PushConflict::Kind::kRemovedByPeer);
  EXPECT_EQ(ReadFile(t.world.files, report.conflicts[0].local_copy), "edited");
  EXPECT_FALSE(t.a->Read(kDoc));
  EXPECT_FALSE(InBucket(kDoc));
}

TEST_P(SyncEngine, ARemovalNeverTakesAVersionThatThisCheckoutHasNotSeen) {
  t.a->Write(kDoc, "base");
  t.a->Push();
  t.c->Pull();
  t.c->Write(kDoc, "newer");
  t.c->Push();
  t.a->Remove(kDoc);
  const PushReport report = t.a->Push();
  ASSERT_THAT(report.conflicts, SizeIs(1));
  EXPECT_EQ(report.conflicts[0].kind, PushConflict::Kind::kRemoval);
  EXPECT_EQ(InBucket(kDoc), "newer");
  EXPECT_EQ(t.a->Read(kDoc), "newer");
  EXPECT_THAT(UnpublishedPaths(*t.a->cache), IsEmpty());
}

TEST_P(SyncEngine, ARemovedPathCanBeMadeAgainByEitherSide) {
  t.a->Write(kDoc, "first");
  t.a->Push();
  t.c->Pull();
  t.a->Remove(kDoc);
  t.a->Push();
  t.c->Pull();
  t.c->Write(kDoc, "second");
  EXPECT_EQ(t.c->Push().files_pushed, 1);
  t.a->Pull();
  EXPECT_EQ(t.a->Read(kDoc), "second");
  t.a->Remove(kDoc);
  t.a->Push();
  // Somebody who never saw the removed object.
  Checkout late(t.world, t.bucket, t.folder.path() / "late", "late@l");
  late.store->Adopt(t.behaviour.ToCapabilities());
  late.Write(kDoc, "third");
  EXPECT_EQ(late.Push().files_pushed, 1);
  EXPECT_EQ(InBucket(kDoc), "third");
}

TEST_P(SyncEngine, OfTwoCreatorsOfOnePathTheSecondIsTold) {
  t.a->Write(kDoc, "mine");
  t.c->Write(kDoc, "hers");
  t.c->Push();
  const PushReport report = t.a->Push();
  ASSERT_THAT(report.conflicts, SizeIs(1));
  EXPECT_EQ(InBucket(kDoc), "hers");
}

TEST_P(SyncEngine, DS19_ALowerMarkerNeverReplacesAHigherOne) {
  t.a->Write(kLatest, "3");
  t.a->Push();
  t.c->Pull();
  t.c->Write(kLatest, "4");
  t.c->Push();
  t.a->Write(kLatest, "3");
  t.a->Push();
  EXPECT_EQ(InBucket(kLatest), "4");
  t.a->Write(kLatest, "4");
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  t.a->Write(kLatest, "5");
  t.c->Write(kLatest, "6");
  t.a->Push();
  t.c->Push();
  EXPECT_EQ(InBucket(kLatest), "6");
}

TEST_P(SyncEngine, ADataVersionIsWrittenOnce) {
  t.a->Write(kRaw, "content");
  t.a->Push();
  t.c->Write(kRaw, "content");
  EXPECT_THAT(t.c->Push().conflicts, IsEmpty());
  Checkout late(t.world, t.bucket, t.folder.path() / "late", "late@l");
  late.store->Adopt(t.behaviour.ToCapabilities());
  late.Write(kRaw, "different");
  const PushReport report = late.Push();
  ASSERT_THAT(report.conflicts, SizeIs(1));
  EXPECT_EQ(report.conflicts[0].kind, PushConflict::Kind::kImmutable);
  EXPECT_EQ(InBucket(kRaw), "content");
  EXPECT_EQ(late.Read(kRaw), "different");
  // Not even by the checkout that wrote it.
  t.a->Write(kRaw, "changed");
  EXPECT_THAT(t.a->Push().conflicts, SizeIs(1));
  EXPECT_EQ(InBucket(kRaw), "content");
}

TEST_P(SyncEngine, LogsOfSeveralWritersAreMergedLineByLine) {
  constexpr const char* kLog = "audit/vault-audit-2026-12-01.jsonl";
  t.a->Write(kLog, "{\"n\":1}\n");
  t.a->Push();
  t.c->Pull();
  t.c->Write(kLog, "{\"n\":1}\n{\"n\":2}\n");
  t.a->Write(kLog, "{\"n\":1}\n{\"n\":3}\n");
  t.c->Push();
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_EQ(InBucket(kLog), "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
  EXPECT_EQ(t.a->Read(kLog), InBucket(kLog));
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kLog), InBucket(kLog));
}

TEST_P(SyncEngine, AFinishedRecordIsNeverReplacedByAnUnfinishedOne) {
  constexpr const char* kRecord = "outputs/command/shell/execute/r.yaml";
  t.a->Write(kRecord, "status: running\n");
  t.a->Push();
  t.c->Pull();
  t.c->Write(kRecord, "status: succeeded\n");
  t.c->Push();
  t.a->Write(kRecord, "status: running\npid: 7\n");
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_EQ(InBucket(kRecord), "status: succeeded\n");
  EXPECT_EQ(t.a->Read(kRecord), "status: succeeded\n");
}

TEST_P(SyncEngine, ARecordOfOneRunNeverTakesThePlaceOfAnothers) {
  constexpr const char* kRecord = "outputs/command/shell/execute/r.yaml";
  t.a->Write(kRecord, "id: one\nstatus: running\n");
  t.a->Push();
  t.c->Write(kRecord, "id: other\nstatus: succeeded\n");
  const PushReport report = t.c->Push();
  ASSERT_EQ(report.conflicts.size(), 1u);
  EXPECT_EQ(ReadFile(t.world.files, report.conflicts[0].local_copy), "id: other\nstatus: succeeded\n");
  EXPECT_EQ(InBucket(kRecord), "id: one\nstatus: running\n");
}

TEST_P(SyncEngine, ALogOfARunOnlyGrows) {
  constexpr const char* kLog = "outputs/command/shell/execute/r.log";
  t.a->Write(kLog, "one\n");
  t.a->Push();
  t.c->Write(kLog, "one\ntwo\n");
  EXPECT_THAT(t.c->Push().conflicts, IsEmpty());
  EXPECT_EQ(InBucket(kLog), "one\ntwo\n");
  t.a->Write(kLog, "of another run\n");
  EXPECT_EQ(t.a->Push().conflicts.size(), 1u);
  EXPECT_EQ(InBucket(kLog), "one\ntwo\n");
}

TEST_P(SyncEngine, AMarkerOfVersionsThatAPeerHasRemovedGoesToo) {
  const std::string folder = "data/command/shell/id/result/";
  for (int version = 1; version <= 2; ++version) {
    t.a->Write(folder + std::to_string(version) + "/raw", "data");
    t.a->Write(folder + "latest", std::to_string(version));
    t.a->Push();
    if (version == 1) t.c->Pull();
  }
  {
    const Cache::Guard guard = t.a->cache->Lock(t.world.context);
    t.a->cache->RememberRemoved(folder + "latest", 2);
  }
  for (const char* path : {"1/raw", "2/raw", "latest"}) t.a->Remove(folder + path);
  t.a->Push();
  t.c->Write(folder + "latest", "1\n");  // as a command that died would leave it
  t.c->Pull();
  EXPECT_THAT(t.c->Push().conflicts, IsEmpty());
  EXPECT_FALSE(t.c->Read(folder + "latest"));
}

TEST_P(SyncEngine, WhoDiesBetweenTakingOursAsideAndBringingTheirsGetsTheirsLater) {
  t.c->Write(kDoc, "ours");
  t.a->Write(kDoc, "theirs");
  t.a->Push();
  t.c->Pull();
  std::filesystem::remove(t.c->root / kDoc);
  t.c->Reopen();
  t.c->Push();
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kDoc), "theirs");
}

TEST_P(SyncEngine, APullOvertakenBetweenAnObjectAndItsEntryFetchesTheNewerOneNextTime) {
  constexpr const char* kRecord = "outputs/command/shell/execute/r.yaml";
  t.a->Write(kRecord, "step: 1\n");
  t.a->Push();
  t.bucket.Plant(kRecord, "step: two\n");  // whoever wrote it hasn't announced it yet
  int reads = 0;
  t.c->faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (operation != StoreOperation::kGet || key != ShardKey(PartitionOf(kRecord)) || ++reads != 2) return;
    t.a->cache->state().SetValue(state_key::kPulledAll, "");
    t.a->Pull();
    t.a->Write(kRecord, "step: three\n");
    t.a->Push();
  });
  t.c->Pull();
  t.c->faults->SetObserver({});
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(t.c->Read(kRecord), "step: two\n");
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kRecord), "step: three\n");
}

TEST_P(SyncEngine, NothingToDoIsOneRequest) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.a->Pull();
  int requests = 0;
  t.bucket.SetRequestHook([&](std::string_view, const std::string&) { ++requests; });
  const PullReport report = t.a->Pull(PullScope::kAll, PullEffort::kRestoreMissing);
  t.a->Push(/*walk=*/true);
  EXPECT_TRUE(report.unchanged);
  EXPECT_EQ(requests, 1);
}

TEST_P(SyncEngine, AnInterruptedPushGoesOnWhereItStopped) {
  // Break off at each call in turn, before and after it took effect, as a kill would.
  for (const auto when : {Fault::Kind::kFailBefore, Fault::Kind::kFailAfter}) {
    for (int call = 0; call < 12; ++call) {
      TwoCheckouts fresh(BehaviourOf(GetParam()));
      fresh.a->Write(kOther, "base");
      fresh.a->Push();
      fresh.c->Pull();
      fresh.a->Write(kDoc, "new");
      fresh.a->Write(kOther, "edited");
      fresh.a->Write(kRaw, "data");
      fresh.a->faults->Add({.kind = when, .skip = call, .times = -1});
      try {
        fresh.a->Push();
      } catch (const StoreError&) {  // as expected, unless the push needed fewer calls
      }
      fresh.a->faults->Clear();
      fresh.a->Reopen();
      EXPECT_THAT(fresh.a->Push().conflicts, IsEmpty());
      fresh.c->Pull();
      EXPECT_EQ(fresh.c->Read(kDoc), "new");
      EXPECT_EQ(fresh.c->Read(kOther), "edited");
      EXPECT_EQ(fresh.c->Read(kRaw), "data");
      EXPECT_THAT(UnpublishedPaths(*fresh.a->cache), IsEmpty());
    }
  }
}

TEST_P(SyncEngine, TheCacheMayVanishAtAnyTime) {
  t.a->Write(kDoc, "one");
  t.a->Write(kRaw, "data");
  t.a->Push();
  std::filesystem::remove_all(t.a->root);
  t.a->Reopen();
  t.a->Pull();
  EXPECT_EQ(t.a->Read(kDoc), "one");
  EXPECT_EQ(t.a->Read(kRaw), "data");
}

TEST_P(SyncEngine, WithoutItsStateNothingIsForcedAndNothingIsLost) {
  t.a->Write(kDoc, "one");
  t.a->Write(kOther, "two");
  t.a->Write(kRaw, "data");
  t.a->Push();
  t.c->Pull();
  t.c->Write(kDoc, "newer");
  t.c->Remove(kOther);
  t.c->Push();
  t.a->Write("config/models/command/shell/m3.yaml", "never published");
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(t.a->root / (std::string(".datastore-state.db") + suffix));
  }
  t.a->Reopen();
  t.a->Pull();
  t.a->Push(/*walk=*/true);
  EXPECT_EQ(InBucket(kDoc), "newer");
  EXPECT_EQ(t.a->Read(kDoc), "newer");
  EXPECT_FALSE(InBucket(kOther)) << "a removal was undone";
  EXPECT_EQ(InBucket(kRaw), "data");
  std::set<std::string> kept;
  for (const ConflictFolder::Copy& copy : t.a->cache->conflicts().List()) {
    kept.insert(*ReadFile(t.world.files, copy.file));
  }
  EXPECT_TRUE(kept.contains("never published"));
}

TEST_P(SyncEngine, DS10_AnUnlistedObjectIsOnlyBelievedGoneAfterAHead) {
  t.a->Write(kRaw, "data");
  t.a->Push();
  t.c->Pull();
  // The shard loses the entry though the object is there.
  t.bucket.Plant(ShardKey(PartitionOf(kRaw)), R"({"version":1,"entries":{}})");
  t.bucket.Plant(std::string(kMetaKey), R"({"version":2,"partitions":[],"commitSeq":77})");
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kRaw), "data");
  t.c->Push();
  EXPECT_TRUE(IndexOf(PartitionOf(kRaw)).contains(kRaw)) << "the next push repairs the index";
  t.bucket.Erase(kRaw);
  t.bucket.Plant(ShardKey(PartitionOf(kRaw)), R"({"version":1,"entries":{} })");
  t.bucket.Plant(std::string(kMetaKey), R"({"version":2,"partitions":[],"commitSeq":78})");
  t.c->Pull();
  EXPECT_FALSE(t.c->Read(kRaw));
}

TEST_P(SyncEngine, DS10_AFailedListingChangesNothingHere) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.c->Pull();
  t.a->Write(kOther, "two");
  t.a->Push();
  t.c->faults->Add({.operation = StoreOperation::kList, .times = -1});
  EXPECT_THROW(t.c->Pull(), StoreError);
  EXPECT_EQ(t.c->Read(kDoc), "one");
  t.c->faults->Clear();
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kOther), "two");
}

TEST_P(SyncEngine, DS24_AnObjectThatVanishesDuringThePullIsARemoval) {
  t.a->Write(kDoc, "one");
  t.a->Write(kOther, "two");
  t.a->Push();
  t.c->faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (operation == StoreOperation::kGet && key == kDoc) t.bucket.Erase(kDoc);
  });
  const PullReport report = t.c->Pull();
  EXPECT_EQ(report.files_pulled, 1);
  EXPECT_FALSE(t.c->Read(kDoc));
  EXPECT_EQ(t.c->Read(kOther), "two");
}

TEST_P(SyncEngine, DS22_APeersNewFilesBesideOursStayThoughTheyAreNotHere) {
  constexpr const char* kOurs = "data/command/shell/0b0c0d0e-0000-4000-8000-000000000001/ours/1/raw";
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.c->Write(kRaw, "theirs");
  t.c->Push();
  t.a->Write(kOurs, "ours");
  t.a->Push(/*walk=*/true);
  EXPECT_EQ(InBucket(kRaw), "theirs");
  EXPECT_TRUE(IndexOf(PartitionOf(kRaw)).contains(kRaw));
  EXPECT_TRUE(IndexOf(PartitionOf(kOurs)).contains(kOurs));
}

TEST_P(SyncEngine, DS39_AnEntryWithoutItsObjectIsRepairedByTheNextPush) {
  t.a->Write(kRaw, "data");
  t.a->Push();
  t.bucket.Erase(kRaw);
  t.c->Pull();
  EXPECT_FALSE(t.c->Read(kRaw));
  t.c->Push();
  EXPECT_FALSE(IndexOf(PartitionOf(kRaw)).contains(kRaw));
}

TEST_P(SyncEngine, DS41_KeysThatLeadElsewhereAreRefusedAndReported) {
  std::string shard = R"({"version":1,"entries":{"data/../../x":{"key":"x","size":1},"/abs":{"key":"x","size":1},)";
  shard += R"("..":{"key":"x","size":1},"data//b":{"key":"x","size":1},"":{"key":"x","size":1}}})";
  t.bucket.Plant("_index/data.json", shard);
  t.bucket.Plant("_index/_root.json", shard);
  t.a->Write(kDoc, "one");
  t.a->Push();
  const PullReport report = t.c->Pull();
  EXPECT_EQ(t.c->Read(kDoc), "one");
  EXPECT_THAT(report.problems, ::testing::Not(IsEmpty()));
  for (const PathProblem& problem : report.problems) EXPECT_THAT(problem.message, HasSubstr("path_escape"));
}

TEST_P(SyncEngine, DS43_AccessDeniedIsNeverTakenForAbsence) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.c->Pull();
  t.c->faults->Add({.operation = StoreOperation::kGet, .times = -1, .error = StoreError::Kind::kDenied});
  EXPECT_THROW(t.c->Pull(), StoreError);
  EXPECT_EQ(t.c->Read(kDoc), "one");
  Checkout fresh(t.world, t.bucket, t.folder.path() / "fresh", "f@f");
  fresh.store->Adopt(t.behaviour.ToCapabilities());
  fresh.faults->Add({.operation = StoreOperation::kGet, .times = -1, .error = StoreError::Kind::kDenied});
  fresh.Write(kOther, "two");
  EXPECT_THROW(fresh.Push(), StoreError);
  EXPECT_THAT(IndexOf("config"), SizeIs(1)) << "an index was made anew from an error";
}

TEST_P(SyncEngine, ALostMetaOrShardIsMadeAnewFromListings) {
  t.a->Write(kDoc, "one");
  t.a->Write(kRaw, "data");
  t.a->Push();
  t.bucket.Plant(std::string(kMetaKey), "garbage");
  t.bucket.Plant(ShardKey(PartitionOf(kRaw)), "{\"broken");
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kDoc), "one");
  EXPECT_EQ(t.c->Read(kRaw), "data");
  t.c->Write(kOther, "two");
  t.c->Push();
  const auto meta = IndexMeta::Parse(*t.bucket.Peek(std::string(kMetaKey)));
  ASSERT_TRUE(meta);
  EXPECT_TRUE(meta->partitions.contains(PartitionOf(kRaw)));
}

TEST_P(SyncEngine, AnOlderSingleIndexIsReadAndKeptUpToDate) {
  t.bucket.Plant(kRaw, "data");
  t.bucket.Plant(std::string(kLegacyIndexKey),
                 std::string(R"({"version":1,"lastPulled":"x","entries":{")") + kRaw +
                     R"(":{"key":"k","size":4,"lastModified":"2026-01-01T00:00:00.000Z"}}})");
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kRaw), "data");
  t.c->Write(kDoc, "one");
  t.c->Push();
  const auto legacy = LegacyIndex::Parse(*t.bucket.Peek(std::string(kLegacyIndexKey)));
  ASSERT_TRUE(legacy);
  EXPECT_TRUE(legacy->Entries().contains(kDoc));
  EXPECT_TRUE(legacy->Entries().contains(kRaw));
}

TEST_P(SyncEngine, AnImmutableObjectThatIsNotWhatItsEntrySaysIsAnErrorThatNamesIt) {
  t.a->Write(kRaw, "data");
  t.a->Push();
  t.bucket.Plant(kRaw, "tampered");
  const PullReport report = t.c->Pull();
  ASSERT_THAT(report.problems, SizeIs(1));
  EXPECT_EQ(report.problems[0].path, kRaw);
  EXPECT_FALSE(t.c->Read(kRaw));
}

TEST_P(SyncEngine, ADocumentWhoseEntryIsStaleIsTakenAsItIs) {
  constexpr const char* kAuto = "auto-definitions/swamp/group/ops.yaml";
  t.a->Write(kAuto, "one");
  t.a->Push();
  t.bucket.Plant(kAuto, "two, by a writer that died before the index");
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kAuto), "two, by a writer that died before the index");
  t.c->Push();
  EXPECT_EQ(IndexOf("auto-definitions").at(kAuto).sha256, Sha256Hex("two, by a writer that died before the index"));
}

TEST_P(SyncEngine, AnIndexWriteThatComesLateDoesNotHideWhatAPeerWroteSince) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.c->Pull();
  t.a->Write(kDoc, "two");
  // While A is between its upload and its index write, C overwrites and announces.
  bool done = false;
  t.a->faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (done || operation != StoreOperation::kGet || key != ShardKey("config")) return;
    done = true;
    t.c->cache->state().SetValue(state_key::kPulledAll, "");  // looks, though nobody has announced yet
    t.c->Pull();
    t.c->Write(kDoc, "three");
    t.c->Push();
  });
  t.a->Push();
  EXPECT_TRUE(done);
  EXPECT_EQ(InBucket(kDoc), "three");
  EXPECT_EQ(IndexOf("config").at(kDoc).sha256, Sha256Hex("three"));
}

TEST_P(SyncEngine, AWriteThatLandsDuringAPushStaysRecorded) {
  t.a->Write(kDoc, "one");
  bool done = false;
  t.a->faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (done || operation != StoreOperation::kPut || key != kDoc) return;
    done = true;
    Cache other(t.world.context, t.a->root);
    other.Write(t.world.context, kDoc, "two", Expected::Version(Sha256Hex("one")));
  });
  t.a->Push();
  EXPECT_EQ(InBucket(kDoc), "one");
  EXPECT_THAT(UnpublishedPaths(*t.a->cache), ElementsAre(kDoc));
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_EQ(InBucket(kDoc), "two");
}

TEST_P(SyncEngine, APullDoesNotReplaceAFileThatIsBeingChangedHere) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.c->Pull();
  t.a->Write(kDoc, "two");
  t.a->Push();
  bool done = false;
  t.c->faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (done || operation != StoreOperation::kGet || key != kDoc) return;
    done = true;
    Cache other(t.world.context, t.c->root);
    other.Write(t.world.context, kDoc, "edited here", Expected::Version(Sha256Hex("one")));
  });
  t.c->Pull();
  EXPECT_EQ(t.c->Read(kDoc), "edited here");
  EXPECT_THAT(t.c->Push().conflicts, SizeIs(1));
}

TEST_P(SyncEngine, AFileEditedByHandIsNeverReplacedByAPull) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.c->Pull();
  WriteFileAtomically(t.world.files, t.c->root / kDoc, "by hand");
  t.a->Write(kDoc, "two");
  t.a->Push();
  EXPECT_THAT(t.c->Pull().kept_local, ElementsAre(kDoc));
  EXPECT_EQ(t.c->Read(kDoc), "by hand");
  EXPECT_THAT(t.c->Push(/*walk=*/true).conflicts, SizeIs(1));
  EXPECT_EQ(t.c->Read(kDoc), "two");
}

TEST_P(SyncEngine, AMissingFileIsNotARemoval) {
  t.a->Write(kDoc, "one");
  t.a->Write(kRaw, "data");
  t.a->Push();
  std::filesystem::remove(t.a->root / kDoc);
  std::filesystem::remove(t.a->root / kRaw);
  t.a->Push(/*walk=*/true);
  EXPECT_EQ(InBucket(kDoc), "one");
  t.a->Pull(PullScope::kAll, PullEffort::kRestoreMissing);
  EXPECT_EQ(t.a->Read(kDoc), "one");
  EXPECT_EQ(t.a->Read(kRaw), "data");
}

TEST_P(SyncEngine, DS04_AnAnswerThatWasLostIsNoConflict) {
  t.a->Write(kDoc, "one");
  t.a->faults->Add({.kind = Fault::Kind::kFailAfter, .operation = StoreOperation::kPut, .key_pattern = kDoc});
  EXPECT_EQ(t.a->Push().files_pushed, 1);
  t.a->Write(kDoc, "two");
  t.a->faults->Add({.kind = Fault::Kind::kFailAfter, .operation = StoreOperation::kPut, .times = 3});
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_EQ(InBucket(kDoc), "two");
}

TEST_P(SyncEngine, APeersIdenticalRewriteIsNoReasonToRefuseAnEdit) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.bucket.Erase(kDoc);
  t.bucket.Plant(kDoc, "one");  // the same bytes; where ETags are opaque, another version
  t.a->Write(kDoc, "two");
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_EQ(InBucket(kDoc), "two");
}

// ---- what the simulation found (tests/simulation) ----

// From here on nothing that `checkout` asks of the store is answered; what it sends arrives all the same.
void LoseAllAnswers(Checkout& checkout) {
  checkout.faults->Add({.kind = Fault::Kind::kFailAfter, .times = -1});
}

TEST_P(SyncEngine, ARemovalTakesAnUploadWithItThatNobodyHeardTheEndOf) {
  t.a->Write(kDoc, "one");
  LoseAllAnswers(*t.a);
  EXPECT_THROW(t.a->Push(), StoreError);
  ASSERT_EQ(InBucket(kDoc), "one");
  t.a->faults->Clear();
  t.a->Remove(kDoc);
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_FALSE(InBucket(kDoc));
}

TEST_P(SyncEngine, ARemovalLeavesWhatAPeerMadeOfAnUploadThatNobodyHeardTheEndOf) {
  t.a->Write(kDoc, "one");
  LoseAllAnswers(*t.a);
  EXPECT_THROW(t.a->Push(), StoreError);
  t.a->faults->Clear();
  t.c->Pull();
  t.c->Write(kDoc, "two");
  t.c->Push();
  t.a->Remove(kDoc);
  const PushReport report = t.a->Push();
  ASSERT_THAT(report.conflicts, SizeIs(1));
  EXPECT_EQ(report.conflicts[0].kind, PushConflict::Kind::kRemoval);
  EXPECT_EQ(InBucket(kDoc), "two");
}

TEST_P(SyncEngine, AnUploadIsTheBaseOfTheNextEvenWhenItCouldNotBeAnnounced) {
  t.a->Write(kDoc, "one");
  t.a->faults->Add({.operation = StoreOperation::kPut, .key_pattern = "_index/*", .times = -1,
                    .error = StoreError::Kind::kUnreachable});
  EXPECT_THROW(t.a->Push(), StoreError);
  t.a->faults->Clear();
  t.a->Write(kDoc, "two");
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_EQ(InBucket(kDoc), "two");
  EXPECT_EQ(IndexOf("config").at(kDoc).sha256, Sha256Hex("two"));
}

TEST_P(SyncEngine, APeersNewerVersionIsPulledOverAnUploadThatOnlyHasToBeAnnounced) {
  t.a->Write(kDoc, "one");
  t.a->faults->Add({.operation = StoreOperation::kPut, .key_pattern = "_index/*", .times = -1,
                    .error = StoreError::Kind::kUnreachable});
  EXPECT_THROW(t.a->Push(), StoreError);
  t.a->faults->Clear();
  t.c->Pull();
  t.c->Write(kDoc, "two");
  t.c->Push();
  t.a->Pull();
  EXPECT_EQ(t.a->Read(kDoc), "two");
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  EXPECT_EQ(InBucket(kDoc), "two");
}

TEST_P(SyncEngine, WhatIsInItsShardButNotCommittedIsCommittedByTheNextPush) {
  const std::string run = "workflow-runs/w/workflow-run-1.yaml";
  t.c->Write(kDoc, "one");
  t.c->Push();
  t.c->Pull();
  t.a->Write(run, "status: running\n");
  t.a->faults->Add({.operation = StoreOperation::kPut, .key_pattern = std::string(kMetaKey), .times = -1,
                    .error = StoreError::Kind::kUnreachable});
  EXPECT_THROW(t.a->Push(), StoreError);
  t.a->faults->Clear();
  t.a->Pull();
  t.a->Push();
  t.c->Pull();
  EXPECT_EQ(t.c->Read(run), "status: running\n");
}

TEST_P(SyncEngine, ACrashBetweenTheRecordOfARemovalAndTheRemovalLeavesNoFileBehind) {
  t.a->Write(kDoc, "one");
  t.a->Push();
  t.a->cache->state().MarkDirty(kDoc, DirtyKind::kRemove, Sha256Hex("one"));
  t.a->Reopen();
  EXPECT_EQ(t.a->Push().files_removed, 1);
  EXPECT_FALSE(t.a->Read(kDoc));
  EXPECT_EQ(t.a->Push(/*walk=*/true).files_pushed, 0) << "the removed file came back";
  EXPECT_FALSE(InBucket(kDoc));
}

TEST_P(SyncEngine, ACrashBetweenTheRecordOfAWriteAndTheFileDoesNotKeepAPeersFileAway) {
  t.a->cache->state().MarkDirty(kDoc, DirtyKind::kWrite);
  t.a->Reopen();
  t.c->Write(kDoc, "theirs");
  t.c->Push();
  t.a->Pull();
  EXPECT_EQ(t.a->Read(kDoc), "theirs");
  EXPECT_THAT(t.a->Push().conflicts, IsEmpty());
  t.a->Pull();
  EXPECT_EQ(t.a->Read(kDoc), "theirs");
}

TEST_P(SyncEngine, AFileThatACrashedPullHadPutInPlaceIsNotNewHere) {
  t.c->Write(kDoc, "one");
  t.c->Push();
  const ETag etag = t.c->cache->state().FindBase(kDoc)->etag;
  t.a->cache->state().BeginPlacing({{.path = kDoc, .etag = etag, .size = 3, .sha256 = Sha256Hex("one"), .entry = {}}});
  WriteFileAtomically(t.world.files, t.a->root / kDoc, "one");
  t.a->Reopen();
  t.c->Remove(kDoc);
  t.c->Push();
  EXPECT_EQ(t.a->Push(/*walk=*/true).files_pushed, 0);
  EXPECT_FALSE(InBucket(kDoc)) << "a removed document came back";
  t.a->Pull();
  EXPECT_FALSE(t.a->Read(kDoc));
}

TEST_P(SyncEngine, WhatAPeerPutsBackAsItWasComesHereAgain) {
  const std::string shard = ShardKey(PartitionOf(kRaw));
  t.c->Write(kRaw, "one");
  t.c->Push();
  t.a->Pull();
  const std::string before = *t.bucket.Peek(shard);
  t.a->Remove(kRaw);
  t.a->Push();
  t.c->Pull();
  t.c->Write(kRaw, "one");
  t.c->Push();
  t.bucket.Plant(shard, before);  // in the same second
  t.a->Pull();
  EXPECT_EQ(t.a->Read(kRaw), "one");
}

TEST_P(SyncEngine, AMigrationThatDiedLeavesNoRemovalToBePublished) {
  t.c->Write(kDoc, "one");
  t.c->Write(kOther, "one");
  t.c->Push();
  t.a->Pull();
  const std::vector<std::string> moved = {kDoc};
  BeginMovingAway(t.a->cache->state(), moved);
  t.a->Remove(kDoc);
  t.a->Reopen();
  t.a->Remove(kOther);
  t.a->Push();
  EXPECT_TRUE(InBucket(kDoc));
  EXPECT_FALSE(InBucket(kOther));
  t.a->Pull();
  EXPECT_EQ(t.a->Read(kDoc), "one");
}

TEST_P(SyncEngine, APullThatDiesBesideAnotherLeavesNoFileThatLooksNew) {
  t.c->Write(kOther, "one");
  t.c->Push();
  bool died = false;
  t.a->faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (operation != StoreOperation::kGet || key != kOther || std::exchange(died, true)) return;
    t.c->Write(kDoc, "one");
    t.c->Push();
    const ETag etag = t.c->cache->state().FindBase(kDoc)->etag;
    t.a->cache->state().BeginPlacing({{.path = kDoc, .etag = etag, .size = 3, .sha256 = Sha256Hex("one"), .entry = {}}});
    WriteFileAtomically(t.world.files, t.a->root / kDoc, "one");
    t.c->Write(kDoc, "two");
    t.c->Push();
  });
  t.a->Pull();
  ASSERT_TRUE(died);
  t.a->Pull();
  EXPECT_EQ(t.a->Read(kDoc), "two");
}

TEST_P(SyncEngine, AnEntryThatComesAfterItsObjectWasRemovedByAPeerDoesNotStay) {
  t.c->Write(kOther, "one");
  t.c->Push();
  t.a->Pull();
  t.a->Write(kDoc, "one");
  bool met = false;
  t.a->faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (operation != StoreOperation::kPut || key != ShardKey("config") || std::exchange(met, true)) return;
    t.c->Pull();
    t.c->Remove(kDoc);
    t.c->Push();
  });
  t.a->Push();
  ASSERT_TRUE(met);
  EXPECT_FALSE(InBucket(kDoc));
  EXPECT_FALSE(IndexOf("config").contains(kDoc));
}

// ---- two processes of one checkout ----

// Another process of a's checkout.
std::unique_ptr<Checkout> SecondProcess(TwoCheckouts& t) {
  auto second = std::make_unique<Checkout>(t.world, t.bucket, t.a->root, "ann@a");
  second->store->Adopt(t.behaviour.ToCapabilities());
  return second;
}

TEST_P(SyncEngine, ARemovalThatAnotherProcessPublishedTakesNothingThatWasMadeThereSince) {
  t.a->Write("data/command/shell/0b0c0d0e-0000-4000-8000-000000000001/result/1/raw", "data");
  t.a->Write(kDoc, "one");
  t.a->Push();
  // While the first process uploads its data, the second removes the document with its own push and makes it again.
  t.a->Write(kRaw + std::string("2"), "more");
  t.a->Remove(kDoc);
  const auto second = SecondProcess(t);
  bool met = false;
  t.a->faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (operation != StoreOperation::kPut || key != kRaw + std::string("2") || std::exchange(met, true)) return;
    second->Push();
    second->Write(kDoc, "two");
    second->Push();
  });
  t.a->Push();
  ASSERT_TRUE(met);
  EXPECT_EQ(InBucket(kDoc), "two");
  EXPECT_EQ(t.a->Read(kDoc), "two");
}

// More files than are announced in one go: memory must not grow with their number, and nothing may be left out.
TEST(SyncEngineLarge, APushOfVeryManyFilesIsPublishedPieceByPiece) {
  TwoCheckouts t(ServerBehaviour::CephRgw());
  constexpr int kFiles = 5100;
  const std::string model = "data/command/shell/0b0c0d0e-0000-4000-8000-00000000000";
  for (int i = 0; i < kFiles; ++i) {
    const auto path = t.a->root / (model + std::to_string(i % 3)) / ("d" + std::to_string(i)) / "1/raw";
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << i;
  }
  t.a->Write(kDoc, "one");
  EXPECT_EQ(t.a->Push(true).files_pushed, kFiles + 1);
  std::size_t listed = 0;
  for (int i = 0; i < 3; ++i) {
    const auto shard = t.bucket.Peek(ShardKey(PartitionOf(model + std::to_string(i) + "/d0/1/raw")));
    ASSERT_TRUE(shard);
    listed += IndexShard::Parse(*shard)->Entries().size();
  }
  EXPECT_EQ(listed, static_cast<std::size_t>(kFiles));
  EXPECT_THAT(UnpublishedPaths(*t.a->cache), IsEmpty());
  EXPECT_EQ(t.a->Push(true).files_pushed, 0);
  EXPECT_EQ(t.c->Pull().files_pulled, kFiles + 1);
}

// Tells when a file gets its name.
class WatchedFiles final : public ForwardingFiles {
 public:
  using ForwardingFiles::ForwardingFiles;
  std::function<void(const std::filesystem::path&)> before_commit;

  std::unique_ptr<OutputFile> Create(const std::filesystem::path& target, unsigned mode) override {
    return std::make_unique<Output>(*this, files_.Create(target, mode), target);
  }

 private:
  class Output final : public OutputFile {
   public:
    Output(WatchedFiles& owner, std::unique_ptr<OutputFile> file, std::filesystem::path target)
        : owner_(owner), file_(std::move(file)), target_(std::move(target)) {}
    void Append(std::string_view bytes) override { file_->Append(bytes); }
    void Close(Durability durability) override { file_->Close(durability); }
    void Commit(Durability durability) override {
      if (owner_.before_commit) owner_.before_commit(target_);
      file_->Commit(durability);
    }
    bool CommitExclusive() override { return file_->CommitExclusive(); }
    const std::filesystem::path& temporary_path() const override { return file_->temporary_path(); }

   private:
    WatchedFiles& owner_;
    std::unique_ptr<OutputFile> file_;
    std::filesystem::path target_;
  };
};

TEST_P(SyncEngine, APushDoesNotDropTheRecordOfAFileThatAnotherProcessIsJustWriting) {
  WatchedFiles files(t.world.files);
  World world{t.world.clock, t.world.random, files, t.world.environment, t.world.executor, t.world.log};
  Cancellation cancellation;
  const Context context(world, cancellation);
  Cache writer(context, t.a->root);
  bool met = false;
  files.before_commit = [&](const std::filesystem::path&) {
    if (std::exchange(met, true)) return;
    try {
      t.a->Push();  // waits for the writer, which here can't go on meanwhile
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "cache_busy");
    }
  };
  writer.Write(context, kDoc, "one", Expected::Absent());
  ASSERT_TRUE(met);
  EXPECT_THAT(UnpublishedPaths(*t.a->cache), ElementsAre(kDoc));
  t.a->Push();
  EXPECT_EQ(InBucket(kDoc), "one");
}

}  // namespace
}  // namespace swamp

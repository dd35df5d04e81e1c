// Lazy hydration: what a lazy checkout leaves in the bucket is neither lost nor taken for a change.

#include "datastore/hydrate.h"

#include <gmock/gmock.h>

#include "datastore/two_checkouts.h"
#include "util/digest.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kFolder = "data/command/shell/0d4a1f7e-50f9-4f0e-8f0b-6f1f3d2a9c11/";

class LazyHydration : public ::testing::Test {
 protected:
  LazyHydration() { Become(true); }

  // The second checkout, as a new process with that strategy.
  void Become(bool lazy) {
    t.c->replica = std::make_unique<Replica>(*t.c->cache, *t.c->store,
                                             ReplicaOptions{.writer = "cat@c", .folders = AllFolders(), .lazy = lazy});
  }
  void Publish(const std::string& name, int version) {
    const std::string folder = kFolder + name + "/";
    t.a->Write(folder + std::to_string(version) + "/raw", Raw(name, version));
    t.a->Write(folder + std::to_string(version) + "/metadata.yaml", "version: " + std::to_string(version) + "\n");
    t.a->Write(folder + "latest", std::to_string(version));
    t.a->Push();
  }
  static std::string Raw(const std::string& name, int version) { return name + " " + std::to_string(version); }
  static std::string RawPath(const std::string& name, int version) { return kFolder + name + "/" + std::to_string(version) + "/raw"; }
  std::optional<std::string> Here(const std::string& name, int version) { return t.c->Read(RawPath(name, version)); }
  void HydrateOne(const std::string& path) { Hydrate(t.world.context, *t.c->replica, std::span(&path, 1)); }
  std::string WhyNot(const std::string& path) {
    try {
      HydrateOne(path);
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "content_unavailable");
      return error.message();
    }
    return "it was fetched";
  }
  int Gets() { return t.c->faults->calls(StoreOperation::kGet); }

  TwoCheckouts t;
};

TEST_F(LazyHydration, NoPushTakesWhatIsLeftOutForARemoval) {
  Publish("result", 1);
  Publish("result", 2);
  EXPECT_EQ(t.c->Pull().files_pulled, 3);  // metadata of both, the marker
  for (const bool walk : {false, true}) {
    const PushPreview preview = PreviewPush(t.world.context, *t.c->replica, {.walk = walk});
    EXPECT_THAT(preview.removed, IsEmpty());
    EXPECT_EQ(preview.total(), 0u);
    const PushReport report = t.c->Push(walk);
    EXPECT_EQ(report.files_pushed + report.files_removed, 0);
  }
  EXPECT_EQ(t.bucket.Peek(RawPath("result", 1)), Raw("result", 1));
  EXPECT_EQ(t.bucket.Peek(RawPath("result", 2)), Raw("result", 2));
  // Nor does a checkout that has everything take it for one.
  t.c->Write("config/models/command/shell/m.yaml", "x: 1\n");
  t.c->Push(true);
  t.a->Pull();
  EXPECT_EQ(t.a->Read(RawPath("result", 1)), Raw("result", 1));
}

TEST_F(LazyHydration, AllButTheContentComes) {
  Publish("result", 1);
  t.a->Write("config/models/command/shell/m.yaml", "x: 1\n");
  t.a->Write("outputs/command/shell/m/execute/raw", "a record\n");
  t.a->Push();
  EXPECT_EQ(t.c->Pull().files_pulled, 4);
  EXPECT_EQ(Here("result", 1), std::nullopt);
  EXPECT_EQ(t.c->Read(kFolder + "result/latest"), "1");
  EXPECT_EQ(t.c->Read("outputs/command/shell/m/execute/raw"), "a record\n");
  EXPECT_TRUE(IsLeftOut(*t.c->cache, RawPath("result", 1)));
  EXPECT_FALSE(IsLeftOut(*t.c->cache, RawPath("result", 2)));
  // And nothing is left to do.
  EXPECT_TRUE(t.c->Pull().unchanged);
  EXPECT_EQ(t.c->Pull(PullScope::kAll, PullEffort::kRestoreMissing).files_pulled, 0);
  Publish("result", 2);
  EXPECT_EQ(PullModelData(t.world.context, *t.c->replica, kFolder.substr(5, kFolder.size() - 6)).files_pulled, 2);
  EXPECT_EQ(Here("result", 1), std::nullopt);
}

TEST_F(LazyHydration, FetchesWhatIsAskedForOnce) {
  Publish("result", 1);
  Publish("other", 1);
  t.c->Pull();
  const int before = Gets();
  HydrateOne(RawPath("result", 1));
  EXPECT_EQ(Here("result", 1), Raw("result", 1));
  EXPECT_EQ(Here("other", 1), std::nullopt);
  HydrateOne(RawPath("result", 1));
  EXPECT_EQ(Gets(), before + 1);
  // It is like any other pulled file from now on.
  const auto base = t.c->cache->state().FindBase(RawPath("result", 1));
  ASSERT_TRUE(base);
  EXPECT_FALSE(base->etag.value.empty());
  EXPECT_EQ(PreviewPush(t.world.context, *t.c->replica, {.walk = true}).total(), 0u);
  Publish("result", 2);
  EXPECT_EQ(t.c->Pull().files_pulled, 2);
  EXPECT_EQ(Gets(), before + 1 + 5);  // meta, two shards, metadata, marker
}

TEST_F(LazyHydration, ALostCacheFileIsFetchedToo) {
  Become(false);
  Publish("result", 1);
  t.c->Pull();
  t.world.files.Remove(t.c->root / RawPath("result", 1));
  HydrateOne(RawPath("result", 1));
  EXPECT_EQ(Here("result", 1), Raw("result", 1));
}

TEST_F(LazyHydration, AStoreThatIsDownIsAnErrorThatNamesTheData) {
  Publish("result", 1);
  Publish("other", 1);
  t.c->Pull();
  t.c->faults->Add({.operation = StoreOperation::kGet, .key_pattern = "*result*", .times = -1, .error = StoreError::Kind::kUnreachable});
  EXPECT_THAT(WhyNot(RawPath("result", 1)), HasSubstr("result version 1"));
  EXPECT_EQ(Here("result", 1), std::nullopt);
  HydrateOne(RawPath("other", 1));
  EXPECT_EQ(Here("other", 1), Raw("other", 1));
  t.c->faults->Clear();
  HydrateOne(RawPath("result", 1));
  EXPECT_EQ(Here("result", 1), Raw("result", 1));
}

TEST_F(LazyHydration, AnObjectThatIsNotWhatTheIndexSaidIsRefused) {
  Publish("result", 1);
  t.c->Pull();
  t.bucket.Plant(RawPath("result", 1), "something else");
  EXPECT_THAT(WhyNot(RawPath("result", 1)), HasSubstr("not what the index says"));
  EXPECT_EQ(Here("result", 1), std::nullopt);
  Become(false);
  EXPECT_EQ(t.c->Pull().problems.size(), 1u);
  EXPECT_EQ(Here("result", 1), std::nullopt);
}

TEST_F(LazyHydration, FromLazyToFullTheRestComesWithTheNextPull) {
  Publish("result", 1);
  Publish("result", 2);
  t.c->Pull();
  HydrateOne(RawPath("result", 2));
  Become(false);
  EXPECT_EQ(t.c->Pull(PullScope::kConfig).files_pulled, 0);
  EXPECT_EQ(t.c->Pull().files_pulled, 1);  // though nothing is new in the bucket
  EXPECT_EQ(Here("result", 1), Raw("result", 1));
  EXPECT_TRUE(t.c->Pull().unchanged);
  const int before = Gets();
  Publish("result", 3);
  t.c->Pull();
  EXPECT_EQ(Gets(), before + 6);  // meta, two shards, raw, metadata, marker: nothing twice
}

TEST_F(LazyHydration, OneModelsRestComesWithThePullOfItsData) {
  Publish("result", 1);
  t.c->Pull();
  Become(false);
  EXPECT_EQ(PullModelData(t.world.context, *t.c->replica, kFolder.substr(5, kFolder.size() - 6)).files_pulled, 1);
  EXPECT_EQ(Here("result", 1), Raw("result", 1));
}

TEST_F(LazyHydration, FromFullToLazyWhatIsHereStays) {
  Become(false);
  Publish("result", 1);
  t.c->Pull();
  Become(true);
  Publish("result", 2);
  t.c->Pull();
  EXPECT_EQ(Here("result", 1), Raw("result", 1));
  EXPECT_EQ(Here("result", 2), std::nullopt);
  EXPECT_EQ(t.c->Pull(PullScope::kAll, PullEffort::kEverything).files_pulled, 1);
  EXPECT_EQ(Here("result", 2), Raw("result", 2));
}

TEST_F(LazyHydration, APeersRemovalTakesWhatIsLeftOutWithIt) {
  Publish("result", 1);
  t.c->Pull();
  for (const char* file : {"1/metadata.yaml", "1/raw", "latest"}) t.a->Remove(kFolder + "result/" + file);
  t.a->Push();
  t.c->Pull();
  EXPECT_EQ(t.c->cache->state().FindBase(RawPath("result", 1)), std::nullopt);
  HydrateOne(RawPath("result", 1));
  EXPECT_EQ(Here("result", 1), std::nullopt);
  EXPECT_EQ(t.c->Push(true).files_pushed, 0);
  EXPECT_EQ(t.bucket.Peek(RawPath("result", 1)), std::nullopt);
}

TEST_F(LazyHydration, WhatWasCollectedMeanwhileStaysAbsent) {
  Publish("result", 1);
  t.c->Pull();
  t.a->Remove(RawPath("result", 1));
  t.a->Push();
  HydrateOne(RawPath("result", 1));
  EXPECT_EQ(Here("result", 1), std::nullopt);
}

TEST_F(LazyHydration, WhatIsLeftOutCanBeRemoved) {
  Publish("result", 1);
  t.c->Pull();
  t.c->Remove(RawPath("result", 1));
  EXPECT_EQ(t.c->Push().files_removed, 1);
  EXPECT_EQ(t.bucket.Peek(RawPath("result", 1)), std::nullopt);
  HydrateOne(RawPath("result", 1));
  EXPECT_EQ(Here("result", 1), std::nullopt);
  t.a->Pull();
  EXPECT_EQ(t.a->Read(RawPath("result", 1)), std::nullopt);
}

TEST_F(LazyHydration, AnIndexWithoutDigestsIsNoReasonToGuess) {
  Publish("result", 1);
  const std::string partition = PartitionOf(RawPath("result", 1));
  std::string shard = *t.bucket.Peek(ShardKey(partition));
  const std::string digest = Sha256Hex(Raw("result", 1));
  shard.replace(shard.find("\"sha256\":\"" + digest + "\""), 11 + digest.size(), "\"sha256\":\"\"");
  t.bucket.Plant(ShardKey(partition), shard);
  t.c->Pull();
  EXPECT_EQ(Here("result", 1), Raw("result", 1));
}

TEST_F(LazyHydration, ALostStateDatabaseIsMadeUpForWithoutTheContent) {
  Publish("result", 1);
  Publish("result", 2);
  t.c->Pull();
  HydrateOne(RawPath("result", 1));
  t.c->replica.reset();
  t.c->cache.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) t.world.files.Remove(t.c->root / (".datastore-state.db" + std::string(suffix)));
  t.c->Reopen();
  Become(true);
  const PullReport report = t.c->Pull();
  EXPECT_THAT(report.conflict_copies, IsEmpty());
  EXPECT_EQ(Here("result", 2), std::nullopt);
  EXPECT_EQ(Here("result", 1), Raw("result", 1));
  EXPECT_EQ(t.c->Push(true).files_pushed, 0);
  HydrateOne(RawPath("result", 2));
  EXPECT_EQ(Here("result", 2), Raw("result", 2));
}

}  // namespace
}  // namespace swamp

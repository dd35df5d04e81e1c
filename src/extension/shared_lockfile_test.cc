#include "extension/shared_lockfile.h"

#include <gtest/gtest.h>

#include "datastore/index.h"
#include "datastore/tombstone.h"
#include "extension/testing.h"
#include "objectstore/fault_store.h"
#include "objectstore/memory_store.h"
#include "util/no_http.h"
#include "util/test_world.h"

namespace swamp {
namespace {

// A checkout of its own repository folder and cache, on a bucket that it shares.
struct ManagedCheckout {
  ManagedCheckout(MemoryBucket& bucket, const std::filesystem::path& root)
      : repo{root / "repo", Marker::Parse("repoId: 5a3d0f52-0000-4000-8000-000000000001\n"
                                          "datastore:\n"
                                          "  type: '@swamp/s3-datastore'\n"
                                          "  managedConfig: true\n"
                                          "  config: {bucket: bucket, region: r, endpoint: 'http://localhost'}\n",
                                          "a test")} {
    world.environment = FixedEnvironment({{"SWAMP_HOME", root / "home"}}, root);
    const auto decorate = [this, &bucket](std::unique_ptr<ObjectStore>) {
      auto store = std::make_unique<FaultStore>(std::make_unique<MemoryStore>(bucket));
      faults = store.get();
      return store;
    };
    datastore = std::make_unique<Datastore>(world.context, repo, ResolveDatastore(world.context, repo),
                                            DatastoreParts{.http = http, .decorate_store = decorate, .trace_file = {}});
    datastore->WritableStore(world.context);
    lockfile = std::make_unique<SharedLockfile>(world.context, repo, *datastore);
  }

  void Set(const std::string& name) {
    lockfile->Change(
        world.context,
        [&](const Lockfile&) {
          LockfileDelta delta;
          delta.set[name] = {{"version", "2026.01.01.1"}};
          return delta;
        },
        [](const LockfileDelta&) {});
  }
  void Remove(const std::string& name) {
    lockfile->Change(
        world.context,
        [&](const Lockfile&) {
          LockfileDelta delta;
          delta.remove.insert(name);
          return delta;
        },
        [](const LockfileDelta&) {});
  }
  bool Has(const std::string& name) { return lockfile->Read(world.context).Find(name) != nullptr; }

  TestWorld world;
  NoHttp http;
  Repository repo;
  FaultStore* faults = nullptr;
  std::unique_ptr<Datastore> datastore;
  std::unique_ptr<SharedLockfile> lockfile;
};

TEST(SharedLockfile, PeersHearOfAnEntryWhosePublisherDiedBeforeItCouldAnnounceIt) {
  TestWorld server;
  TemporaryFolder folder;
  MemoryBucket bucket(server.clock);
  ManagedCheckout a(bucket, folder.path() / "a");
  ManagedCheckout c(bucket, folder.path() / "c");
  c.Set("@c/y");
  c.datastore->Pull(c.world.context, PullScope::kAll);

  // The write arrives, but nothing that follows it does.
  a.faults->SetObserver([&](StoreOperation operation, const std::string& key) {
    if (operation == StoreOperation::kPut && key == kLockfilePath) {
      a.faults->Add({.kind = Fault::Kind::kFailAfter, .times = -1});
    }
  });
  EXPECT_THROW(a.Set("@a/x"), UserError);
  a.faults->SetObserver({});
  a.faults->Clear();
  ASSERT_TRUE(a.lockfile->HasPendingRecord());
  server.clock.Advance(std::chrono::minutes(5));  // the lock that it could not give back goes stale

  a.lockfile->Republish(a.world.context);
  EXPECT_FALSE(a.lockfile->HasPendingRecord());
  c.datastore->Pull(c.world.context, PullScope::kAll);
  EXPECT_TRUE(c.Has("@a/x"));
  EXPECT_TRUE(c.Has("@c/y"));
}

// A migration to a namespace takes the lockfile away, and leaves a tombstone where the store can't delete conditionally.
TEST(SharedLockfile, OneThatIsGoneIsNotAnnounced) {
  TestWorld server;
  TemporaryFolder folder;
  MemoryBucket bucket(server.clock, ServerBehaviour::OldMinio());
  ManagedCheckout a(bucket, folder.path() / "a");
  a.Set("@c/y");
  a.faults->Add({.kind = Fault::Kind::kFailBefore, .operation = StoreOperation::kPut, .key_pattern = std::string(kLockfilePath), .times = -1});
  EXPECT_EQ(testing::CodeOf([&] { a.Remove("@c/y"); }), "managed_config_unpublished");
  a.faults->Clear();
  bucket.Plant(std::string(kLockfilePath), std::string(kTombstone));
  a.lockfile->Republish(a.world.context);
  EXPECT_FALSE(a.lockfile->HasPendingRecord());
  EXPECT_FALSE(a.Has("@c/y"));
  const auto shard = IndexShard::Parse(*bucket.Peek(ShardKey("config")));
  EXPECT_FALSE(shard->Find(std::string(kLockfilePath)));
}

}  // namespace
}  // namespace swamp

#pragma once

// A bucket in memory and checkouts of it, for tests of the sync engine.

#include <gtest/gtest.h>

#include "datastore/push.h"
#include "datastore/pull.h"
#include "objectstore/fault_store.h"
#include "objectstore/memory_store.h"
#include "objectstore/resolving_store.h"
#include "util/test_world.h"

namespace swamp {

inline std::vector<std::string> AllFolders() {
  std::vector<std::string> folders;
  for (const std::string_view folder : TierFolders()) folders.emplace_back(folder);
  return folders;
}

// One checkout: a cache on disk and a client of the bucket, with faults on demand below the retries.
struct Checkout {
  Checkout(TestWorld& test_world, MemoryBucket& bucket, const std::filesystem::path& cache_root,
           const std::string& name)
      : world(test_world), root(cache_root), writer(name) {
    auto memory = std::make_unique<MemoryStore>(bucket);
    auto fault_store = std::make_unique<FaultStore>(std::move(memory));
    faults = fault_store.get();
    store = std::make_unique<ResolvingStore>(std::move(fault_store));
    Reopen();
  }

  // As a new process of the same checkout.
  void Reopen() {
    replica.reset();
    cache = std::make_unique<Cache>(world.context, root);
    replica = std::make_unique<Replica>(*cache, *store,
                                        ReplicaOptions{.writer = writer, .folders = AllFolders()});
  }

  void Write(const std::string& path, const std::string& bytes) {
    ASSERT_EQ(cache->Write(world.context, path, bytes, Expected::Anything()), Cache::WriteOutcome::kWritten);
  }
  void Remove(const std::string& path) {
    ASSERT_EQ(cache->Remove(world.context, path, Expected::Anything()), Cache::WriteOutcome::kWritten);
  }
  PushReport Push(bool walk = false) { return swamp::Push(world.context, *replica, {.walk = walk}); }
  PullReport Pull(PullScope scope = PullScope::kAll, PullEffort effort = PullEffort::kWhatChanged) {
    return swamp::Pull(world.context, *replica, scope, effort);
  }
  std::optional<std::string> Read(const std::string& path) { return ReadFile(world.files, root / path); }

  TestWorld& world;
  std::filesystem::path root;
  std::string writer;
  FaultStore* faults = nullptr;
  std::unique_ptr<ResolvingStore> store;
  std::unique_ptr<Cache> cache;
  std::unique_ptr<Replica> replica;
};

struct TwoCheckouts {
  explicit TwoCheckouts(ServerBehaviour server = ServerBehaviour::Aws())
      : behaviour(server),
        bucket(world.clock, server),
        a(std::make_unique<Checkout>(world, bucket, folder.path() / "a", "ann@a")),
        c(std::make_unique<Checkout>(world, bucket, folder.path() / "c", "cat@c")) {
    a->store->Adopt(server.ToCapabilities());
    c->store->Adopt(server.ToCapabilities());
  }

  TestWorld world;
  TemporaryFolder folder;
  ServerBehaviour behaviour;
  MemoryBucket bucket;
  std::unique_ptr<Checkout> a;
  std::unique_ptr<Checkout> c;
};

}  // namespace swamp

#include "objectstore/memory_store.h"

#include "objectstore/object_store_suite.h"
#include "objectstore/probe.h"
#include "util/test_world.h"

namespace swamp {
namespace {

class MemoryUnderTest final : public StoreUnderTest {
 public:
  explicit MemoryUnderTest(ServerBehaviour behaviour)
      : behaviour_(behaviour), bucket_(world_.clock, behaviour) {}
  std::unique_ptr<ObjectStore> NewClient() override {
    auto store = std::make_unique<MemoryStore>(bucket_);
    store->Adopt(behaviour_.ToCapabilities());
    return store;
  }
  const Context& context() override { return world_.context; }

 private:
  TestWorld world_;
  ServerBehaviour behaviour_;
  MemoryBucket bucket_;
};

StoreMaker Maker(std::string name, ServerBehaviour behaviour) {
  return {std::move(name), [behaviour] { return std::make_unique<MemoryUnderTest>(behaviour); },
          ""};
}

ServerBehaviour OpaqueEtags() {
  ServerBehaviour behaviour;
  behaviour.opaque_etags = true;
  return behaviour;
}

INSTANTIATE_TEST_SUITE_P(Memory, ObjectStoreSuite,
                         testing::Values(Maker("Aws", ServerBehaviour::Aws()),
                                         Maker("AwsWithKms", OpaqueEtags()),
                                         Maker("CephRgw", ServerBehaviour::CephRgw()),
                                         Maker("OldMinio", ServerBehaviour::OldMinio()),
                                         Maker("Unsafe", ServerBehaviour::Unsafe())),
                         NameOfStore);

TEST(MemoryStore, TellsTheTimeByTheBucketsClock) {
  TestWorld world;
  ManualClock servers_clock(world.clock.Now() + std::chrono::hours(1));
  MemoryBucket bucket(servers_clock);
  MemoryStore store(bucket);
  store.Put(world.context, "key", Body::FromBytes("x"), Condition::Absent(), {});
  servers_clock.Advance(Duration(90'000));
  const auto state = store.Head(world.context, "key");
  EXPECT_EQ(state->store_now, servers_clock.Now());
  EXPECT_EQ(state->info.last_modified,
            std::chrono::floor<std::chrono::seconds>(servers_clock.Now() - Duration(90'000)));
}

TEST(MemoryStore, KeepsTheWriter) {
  TestWorld world;
  MemoryBucket bucket(world.clock);
  MemoryStore store(bucket);
  PutOptions options;
  options.writer = "ann@build7";
  store.Put(world.context, "key", Body::FromBytes("x"), Condition::Absent(), options);
  EXPECT_EQ(store.Head(world.context, "key")->writer, "ann@build7");
}

TEST(MemoryStore, AnUnsafeServerLosesAnUpdateThatComesBetweenLookAndWrite) {
  TestWorld world;
  MemoryBucket bucket(world.clock, ServerBehaviour::Unsafe());
  MemoryStore store(bucket);
  store.Adopt(ServerBehaviour::Unsafe().ToCapabilities());
  const ETag base = bucket.Plant("key", "base");
  bucket.SetRequestHook([&](std::string_view method, const std::string& key) {
    if (method == "PUT") bucket.Plant(key, "a peer's");
  });
  EXPECT_TRUE(store.Put(world.context, "key", Body::FromBytes("ours"), Condition::Matches(base), {})
                  .stored());
  EXPECT_EQ(bucket.Peek("key"), "ours");
}

}  // namespace
}  // namespace swamp

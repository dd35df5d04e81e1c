#include "objectstore/fault_store.h"

#include <gtest/gtest.h>

#include "objectstore/memory_store.h"
#include "util/test_world.h"

namespace swamp {
namespace {

class FaultStoreTest : public testing::Test {
 protected:
  TestWorld world;
  MemoryBucket bucket{world.clock};
  FaultStore store{std::make_unique<MemoryStore>(bucket)};
};

TEST_F(FaultStoreTest, HitsTheCallsThatFitAndNoOthers) {
  Fault fault;
  fault.operation = StoreOperation::kHead;
  fault.key_pattern = "config/*";
  fault.skip = 1;
  fault.times = 2;
  store.Add(fault);
  const auto fails = [&](const char* key) {
    try {
      store.Head(world.context, key);
      return false;
    } catch (const StoreError&) {
      return true;
    }
  };
  EXPECT_FALSE(fails("data/x"));
  EXPECT_FALSE(fails("config/x"));
  EXPECT_TRUE(fails("config/x"));
  EXPECT_FALSE(fails("data/x"));
  EXPECT_TRUE(fails("config/a/b"));
  EXPECT_FALSE(fails("config/x"));
  EXPECT_EQ(store.calls(StoreOperation::kHead), 6);
}

TEST_F(FaultStoreTest, FailingBeforeAndAfterDifferInWhatHappened) {
  const auto put = [&](Fault::Kind kind, const char* key) {
    Fault fault;
    fault.kind = kind;
    store.Add(fault);
    EXPECT_THROW(store.Put(world.context, key, Body::FromBytes("x"), Condition::Absent(), {}),
                 StoreError);
  };
  put(Fault::Kind::kFailBefore, "before");
  put(Fault::Kind::kFailAfter, "after");
  EXPECT_EQ(bucket.Peek("before"), std::nullopt);
  EXPECT_EQ(bucket.Peek("after"), "x");
}

// DS-10: what such a listing leaves out must not be taken for removed by anybody above.
TEST_F(FaultStoreTest, AListingCanLieAboutBeingComplete) {
  for (const char* key : {"a", "b", "c", "d"}) bucket.Plant(key, "x");
  Fault fault;
  fault.kind = Fault::Kind::kTruncate;
  store.Add(fault);
  EXPECT_EQ(ListAll(world.context, store, "").size(), 2U);
  EXPECT_EQ(ListAll(world.context, store, "").size(), 4U);
}

}  // namespace
}  // namespace swamp

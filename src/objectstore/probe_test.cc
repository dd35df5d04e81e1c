#include "objectstore/probe.h"

#include <gtest/gtest.h>

#include "objectstore/fault_store.h"
#include "objectstore/memory_store.h"
#include "util/test_world.h"

namespace swamp {
namespace {

struct Case {
  const char* name;
  ServerBehaviour behaviour;
};

class ProbeOf : public testing::TestWithParam<Case> {};

TEST_P(ProbeOf, FindsWhatTheServerDoesAndCleansUp) {
  TestWorld world;
  MemoryBucket bucket(world.clock, GetParam().behaviour);
  int requests = 0;
  bucket.SetRequestHook([&](std::string_view, const std::string& key) {
    ++requests;
    EXPECT_TRUE(key.starts_with(".datastore-probe-")) << key;
  });
  MemoryStore store(bucket);
  const Capabilities found = ProbeStore(world.context, store);
  EXPECT_EQ(found, GetParam().behaviour.ToCapabilities());
  EXPECT_EQ(store.capabilities(), found);
  EXPECT_EQ(bucket.size(), 0U);
  EXPECT_LE(requests, 12);
}

ServerBehaviour IgnoresReplace() {
  ServerBehaviour behaviour;
  behaviour.replace_condition = false;
  behaviour.multipart_condition = false;
  return behaviour;
}

ServerBehaviour KmsAndBare() {
  ServerBehaviour behaviour = ServerBehaviour::CephRgw();
  behaviour.opaque_etags = true;
  behaviour.delete_condition = true;
  return behaviour;
}

INSTANTIATE_TEST_SUITE_P(Servers, ProbeOf,
                         testing::Values(Case{"Aws", ServerBehaviour::Aws()},
                                         Case{"CephRgw", ServerBehaviour::CephRgw()},
                                         Case{"OldMinio", ServerBehaviour::OldMinio()},
                                         Case{"Unsafe", ServerBehaviour::Unsafe()},
                                         Case{"IgnoresReplace", IgnoresReplace()},
                                         Case{"OpaqueAndBare", KmsAndBare()}),
                         [](const auto& test) { return test.param.name; });

// A server that answers 501 to the header, as Swift gateways do.
class RefusesConditions final : public StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;
  PutResult Put(const Context& context, const std::string& key, const Body& body,
                const Condition& condition, const PutOptions& options) override {
    const Capabilities now = capabilities();
    if (condition.etag() ? now.conditional_replace : now.conditional_create) {
      throw StoreError(StoreError::Kind::kInvalid, "501 NotImplemented", "");
    }
    return StoreDecorator::Put(context, key, body, condition, options);
  }
  DeleteOutcome Delete(const Context& context, const std::string& key,
                       const ETag& expected) override {
    if (capabilities().conditional_delete)
      throw StoreError(StoreError::Kind::kInvalid, "501 NotImplemented", "");
    return StoreDecorator::Delete(context, key, expected);
  }
};

TEST(Probe, UnderstandsThatAServerDoesNotKnowTheHeaders) {
  TestWorld world;
  MemoryBucket bucket(world.clock, ServerBehaviour::Unsafe());
  RefusesConditions store(std::make_unique<MemoryStore>(bucket));
  const Capabilities found = ProbeStore(world.context, store);
  EXPECT_EQ(found, ServerBehaviour::Unsafe().ToCapabilities());
  EXPECT_EQ(bucket.size(), 0U);
}

Fault FaultAtPut(int skip, StoreError::Kind error) {
  Fault fault;
  fault.kind = Fault::Kind::kFailAfter;
  fault.operation = StoreOperation::kPut;
  fault.skip = skip;
  fault.error = error;
  return fault;
}

TEST(Probe, PassesErrorsOnAndCleansUp) {
  TestWorld world;
  MemoryBucket bucket(world.clock);
  // The probe of such a store makes six PUTs, each of which fails once.
  for (int skip = 0; skip < 6; ++skip) {
    FaultStore store(std::make_unique<MemoryStore>(bucket));
    Capabilities before;
    before.bare_etags = true;
    store.Adopt(before);
    store.Add(FaultAtPut(skip, StoreError::Kind::kDenied));
    EXPECT_THROW(ProbeStore(world.context, store), StoreError) << skip;
    EXPECT_EQ(store.capabilities(), before);
    EXPECT_EQ(bucket.size(), 0U) << skip;
  }
}

TEST(Probe, StartsOverAfterATransientError) {
  TestWorld world;
  MemoryBucket bucket(world.clock, ServerBehaviour::CephRgw());
  for (int skip = 0; skip < 6; ++skip) {
    FaultStore store(std::make_unique<MemoryStore>(bucket));
    store.Add(FaultAtPut(skip, StoreError::Kind::kUnknownOutcome));
    store.Add(FaultAtPut(skip + 2, StoreError::Kind::kThrottled));
    EXPECT_EQ(ProbeStore(world.context, store), ServerBehaviour::CephRgw().ToCapabilities())
        << skip;
    EXPECT_EQ(bucket.size(), 0U) << skip;
  }
}

TEST(Probe, GivesUpWhenErrorsGoOn) {
  TestWorld world;
  MemoryBucket bucket(world.clock);
  FaultStore store(std::make_unique<MemoryStore>(bucket));
  Fault fault;
  fault.times = -1;
  fault.error = StoreError::Kind::kUnreachable;
  store.Add(fault);
  EXPECT_THROW(ProbeStore(world.context, store), StoreError);
  EXPECT_EQ(store.calls(StoreOperation::kPut), 3);
}

}  // namespace
}  // namespace swamp

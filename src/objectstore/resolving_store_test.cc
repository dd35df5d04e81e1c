#include "objectstore/resolving_store.h"

#include <gtest/gtest.h>

#include "objectstore/fault_store.h"
#include "objectstore/memory_store.h"
#include "objectstore/object_store_suite.h"
#include "util/test_world.h"

namespace swamp {
namespace {

class ResolvingUnderTest final : public StoreUnderTest {
 public:
  std::unique_ptr<ObjectStore> NewClient() override {
    return std::make_unique<ResolvingStore>(std::make_unique<MemoryStore>(bucket_));
  }
  const Context& context() override { return world_.context; }

 private:
  TestWorld world_;
  MemoryBucket bucket_{world_.clock};
};

INSTANTIATE_TEST_SUITE_P(Resolving, ObjectStoreSuite,
                         testing::Values(StoreMaker{
                             "Memory", [] { return std::make_unique<ResolvingUnderTest>(); }, ""}),
                         NameOfStore);

class ResolvingStoreTest : public testing::TestWithParam<bool> {
 protected:
  ResolvingStoreTest() {
    auto faults = std::make_unique<FaultStore>(std::make_unique<MemoryStore>(bucket));
    wire = faults.get();
    store = std::make_unique<ResolvingStore>(std::move(faults));
  }
  static ServerBehaviour Behaviour() {
    ServerBehaviour behaviour;
    behaviour.opaque_etags = GetParam();
    return behaviour;
  }
  void Fail(Fault::Kind kind, StoreOperation operation, int times = 1,
            StoreError::Kind error = StoreError::Kind::kUnknownOutcome) {
    Fault fault;
    fault.kind = kind;
    fault.operation = operation;
    fault.times = times;
    fault.error = error;
    wire->Add(fault);
  }
  // Lets a peer act just before the `nth` call of `operation`.
  void BeforeCall(StoreOperation operation, int nth, std::function<void()> act) {
    wire->SetObserver([=, seen = 0](StoreOperation called, const std::string&) mutable {
      if (called == operation && ++seen == nth) act();
    });
  }
  PutResult Put(const std::string& bytes, const Condition& condition) {
    return store->Put(world.context, "key", Body::FromBytes(bytes), condition, {});
  }
  StoreError::Kind KindThrownBy(const std::function<void()>& work) {
    try {
      work();
    } catch (const StoreError& error) {
      return error.kind();
    }
    ADD_FAILURE() << "nothing was thrown";
    return StoreError::Kind::kInvalid;
  }

  TestWorld world;
  MemoryBucket bucket{world.clock, Behaviour()};
  FaultStore* wire = nullptr;
  std::unique_ptr<ResolvingStore> store;
};

INSTANTIATE_TEST_SUITE_P(Etags, ResolvingStoreTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Opaque" : "Md5"; });

// DS-04
TEST_P(ResolvingStoreTest, ACreateWhoseAnswerWasLostIsOurs) {
  Fail(Fault::Kind::kFailAfter, StoreOperation::kPut);
  const PutResult result = Put("ours", Condition::Absent());
  ASSERT_TRUE(result.stored());
  EXPECT_EQ(result.etag, store->Head(world.context, "key")->info.etag);
  EXPECT_EQ(wire->calls(StoreOperation::kPut), 1);
}

// DS-04
TEST_P(ResolvingStoreTest, AReplaceWhoseAnswerWasLostIsOurs) {
  const ETag base = bucket.Plant("key", "base");
  Fail(Fault::Kind::kFailAfter, StoreOperation::kPut);
  ASSERT_TRUE(Put("ours", Condition::Matches(base)).stored());
  EXPECT_EQ(bucket.Peek("key"), "ours");
}

// DS-04: the network library or a proxy sent the request twice.
TEST_P(ResolvingStoreTest, ARefusalAgainstOurOwnFirstCopyIsASuccess) {
  BeforeCall(StoreOperation::kPut, 1, [this] { bucket.Plant("key", "ours"); });
  EXPECT_TRUE(Put("ours", Condition::Absent()).stored());
}

TEST_P(ResolvingStoreTest, APeersBytesOfTheSameLengthAreARefusal) {
  const ETag base = bucket.Plant("key", "base");
  BeforeCall(StoreOperation::kPut, 1, [this] { bucket.Plant("key", "hers"); });
  EXPECT_FALSE(Put("ours", Condition::Matches(base)).stored());
  EXPECT_EQ(bucket.Peek("key"), "hers");
}

TEST_P(ResolvingStoreTest, AFailureBeforeItTookEffectIsSentAgain) {
  Fail(Fault::Kind::kFailBefore, StoreOperation::kPut, 2);
  const Time start = world.clock.Now();
  EXPECT_TRUE(Put("ours", Condition::Absent()).stored());
  EXPECT_EQ(wire->calls(StoreOperation::kPut), 3);
  // 500 ms and 1500 ms, each +-25 %.
  EXPECT_GE(world.clock.Now() - start, Duration(1500));
  EXPECT_LE(world.clock.Now() - start, Duration(2500));
}

TEST_P(ResolvingStoreTest, GivesUpAfterThreeAttempts) {
  Fail(Fault::Kind::kFailBefore, StoreOperation::kPut, -1);
  EXPECT_EQ(KindThrownBy([&] { Put("ours", Condition::Absent()); }),
            StoreError::Kind::kUnknownOutcome);
  EXPECT_EQ(wire->calls(StoreOperation::kPut), 3);
}

TEST_P(ResolvingStoreTest, AnOutcomeThatMayStillComeIsNeverReportedAsNeverSent) {
  Fail(Fault::Kind::kFailBefore, StoreOperation::kPut, 1);
  Fail(Fault::Kind::kFailBefore, StoreOperation::kPut, -1, StoreError::Kind::kUnreachable);
  EXPECT_EQ(KindThrownBy([&] { Put("ours", Condition::Absent()); }),
            StoreError::Kind::kUnknownOutcome);
}

TEST_P(ResolvingStoreTest, AnOutcomeThatCannotBeLookedUpStaysUnknown) {
  Fail(Fault::Kind::kFailAfter, StoreOperation::kPut);
  Fail(Fault::Kind::kFailBefore, StoreOperation::kHead, -1, StoreError::Kind::kUnreachable);
  EXPECT_EQ(KindThrownBy([&] { Put("ours", Condition::Absent()); }),
            StoreError::Kind::kUnknownOutcome);
  EXPECT_EQ(wire->calls(StoreOperation::kHead), 3);
}

TEST_P(ResolvingStoreTest, ALostAnswerAndThenAPeersWriteIsARefusal) {
  const ETag base = bucket.Plant("key", "base");
  Fail(Fault::Kind::kFailAfter, StoreOperation::kPut);
  BeforeCall(StoreOperation::kHead, 1, [this] { bucket.Plant("key", "a peer's later version"); });
  EXPECT_FALSE(Put("ours", Condition::Matches(base)).stored());
}

TEST_P(ResolvingStoreTest, APeersLongerVersionThatComesDuringTheLookIsARefusal) {
  const ETag base = bucket.Plant("key", "base");
  bucket.Plant("key", "hers");
  BeforeCall(StoreOperation::kGet, 1, [this] { bucket.Plant("key", "hers, and longer"); });
  EXPECT_FALSE(Put("ours", Condition::Matches(base)).stored());
  EXPECT_EQ(wire->calls(StoreOperation::kGet), 1);
}

TEST_P(ResolvingStoreTest, AReplaceOfWhatIsGoneIsARefusal) {
  const ETag base = bucket.Plant("key", "base");
  bucket.Erase("key");
  EXPECT_FALSE(Put("ours", Condition::Matches(base)).stored());
  Fail(Fault::Kind::kFailBefore, StoreOperation::kPut);
  EXPECT_FALSE(Put("ours", Condition::Matches(base)).stored());
  EXPECT_EQ(bucket.Peek("key"), std::nullopt);
}

// DS-66: 409 is an unknown outcome (see StoreError), here once before 200 and once before 412.
TEST_P(ResolvingStoreTest, AConflictIsTriedAgainAfterALook) {
  Fail(Fault::Kind::kFailBefore, StoreOperation::kPut);
  EXPECT_TRUE(Put("one", Condition::Absent()).stored());
  const ETag base = store->Head(world.context, "key")->info.etag;
  Fail(Fault::Kind::kFailBefore, StoreOperation::kPut);
  BeforeCall(StoreOperation::kPut, 2, [this] { bucket.Plant("key", "hers"); });
  EXPECT_FALSE(Put("two", Condition::Matches(base)).stored());
  EXPECT_EQ(bucket.Peek("key"), "hers");
}

TEST_P(ResolvingStoreTest, ARefusalWhileTheBaseIsThereIsSentAgain) {
  const ETag base = bucket.Plant("key", "base");
  Fail(Fault::Kind::kRefuse, StoreOperation::kPut);
  EXPECT_TRUE(Put("ours", Condition::Matches(base)).stored());
  const ETag ours = store->Head(world.context, "key")->info.etag;
  Fail(Fault::Kind::kRefuse, StoreOperation::kPut, -1);
  EXPECT_FALSE(Put("more", Condition::Matches(ours)).stored());
}

// DS-43
TEST_P(ResolvingStoreTest, DeniedIsFinalAndNeverAbsent) {
  for (const StoreOperation operation :
       {StoreOperation::kPut, StoreOperation::kHead, StoreOperation::kGet, StoreOperation::kDelete,
        StoreOperation::kList}) {
    Fail(Fault::Kind::kFailBefore, operation, -1, StoreError::Kind::kDenied);
  }
  StringSink sink;
  EXPECT_EQ(KindThrownBy([&] { Put("ours", Condition::Absent()); }), StoreError::Kind::kDenied);
  EXPECT_EQ(KindThrownBy([&] { store->Head(world.context, "key"); }), StoreError::Kind::kDenied);
  EXPECT_EQ(KindThrownBy([&] { store->Get(world.context, "key", {}, sink); }),
            StoreError::Kind::kDenied);
  EXPECT_EQ(KindThrownBy([&] { store->Delete(world.context, "key", {"e"}); }),
            StoreError::Kind::kDenied);
  EXPECT_EQ(KindThrownBy([&] { store->List(world.context, {}); }), StoreError::Kind::kDenied);
  EXPECT_EQ(wire->calls(StoreOperation::kPut) + wire->calls(StoreOperation::kHead), 2);
}

TEST_P(ResolvingStoreTest, ADeleteWhoseAnswerWasLostIsDeleted) {
  const ETag etag = bucket.Plant("key", "bytes");
  Fail(Fault::Kind::kFailAfter, StoreOperation::kDelete);
  EXPECT_EQ(store->Delete(world.context, "key", etag), DeleteOutcome::kDeleted);
  EXPECT_EQ(wire->calls(StoreOperation::kDelete), 1);
}

TEST_P(ResolvingStoreTest, ADeleteThatDidNotHappenIsSentAgain) {
  const ETag etag = bucket.Plant("key", "bytes");
  Fail(Fault::Kind::kFailBefore, StoreOperation::kDelete, 2);
  EXPECT_EQ(store->Delete(world.context, "key", etag), DeleteOutcome::kDeleted);
  EXPECT_EQ(bucket.Peek("key"), std::nullopt);
}

TEST_P(ResolvingStoreTest, ADeleteNeverTakesAPeersVersionInASecondAttempt) {
  const ETag etag = bucket.Plant("key", "bytes");
  Fail(Fault::Kind::kFailAfter, StoreOperation::kDelete);
  BeforeCall(StoreOperation::kHead, 1, [this] { bucket.Plant("key", "a peer made it again"); });
  EXPECT_EQ(store->Delete(world.context, "key", etag), DeleteOutcome::kRefused);
  EXPECT_EQ(bucket.Peek("key"), "a peer made it again");
}

TEST_P(ResolvingStoreTest, AGetThatBreaksOffStartsItsSinkAnew) {
  bucket.Plant("key", "0123456789");
  Fail(Fault::Kind::kTruncate, StoreOperation::kGet, 2);
  StringSink sink;
  EXPECT_TRUE(store->Get(world.context, "key", {}, sink).found());
  EXPECT_EQ(sink.bytes, "0123456789");
}

TEST_P(ResolvingStoreTest, CancellationEndsTheWaitBetweenAttempts) {
  Fail(Fault::Kind::kFailBefore, StoreOperation::kGet, -1);
  const Context limited = world.context.WithTimeout(Duration(1000));
  StringSink sink;
  EXPECT_THROW(store->Get(limited, "key", {}, sink), DeadlineExceeded);
}

}  // namespace
}  // namespace swamp

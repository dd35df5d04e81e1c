#include "datastore/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "datastore/tier_path.h"
#include "objectstore/fault_store.h"
#include "objectstore/memory_store.h"
#include "objectstore/resolving_store.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;

// Starts nothing: a holder whose heart doesn't beat by itself, as when its process is stopped.
class StoppedExecutor final : public Executor {
 public:
  void ForEach(const Context& context, std::size_t count, int,
               const std::function<void(const Context&, std::size_t)>& task) override {
    for (std::size_t i = 0; i < count; ++i) task(context, i);
  }
  std::unique_ptr<BackgroundTask> Start(const Context&, std::function<void(const Context&)>) override {
    return std::make_unique<BackgroundTask>();
  }
};

class RememberingLog final : public Log {
 public:
  void Write(LogLevel, std::string_view, std::string_view message) override { text += std::string(message) + "\n"; }
  std::string text;
};

struct Machine {
  Machine(ManualClock& clock, MemoryBucket& bucket, const std::string& name, const ServerBehaviour& server) {
    environment.host_name = name;
    environment.user_name = "ann";
    auto fault_store = std::make_unique<FaultStore>(std::make_unique<MemoryStore>(bucket));
    faults = fault_store.get();
    store = std::make_unique<ResolvingStore>(std::move(fault_store));
    store->Adopt(server.ToCapabilities());
    world = std::make_unique<World>(World{clock, random, files, environment, executor, log});
    context = std::make_unique<Context>(*world, cancellation);
  }
  std::unique_ptr<StoreLock> Acquire(Duration wait = std::chrono::seconds(60)) {
    return AcquireLock(*context, *store, std::string(kLockKey), {.wait = wait});
  }

  SystemRandom random;
  SystemFiles files{random};
  FixedEnvironment environment;
  StoppedExecutor executor;
  RememberingLog log;
  Cancellation cancellation;
  FaultStore* faults = nullptr;
  std::unique_ptr<ResolvingStore> store;
  std::unique_ptr<World> world;
  std::unique_ptr<Context> context;
};

class StoreLockTest : public ::testing::TestWithParam<std::string> {
 protected:
  static ServerBehaviour Server() { return GetParam() == "Aws" ? ServerBehaviour::Aws() : ServerBehaviour::CephRgw(); }

  std::optional<LockInfo> InBucket() {
    const auto body = bucket.Peek(std::string(kLockKey));
    return body ? std::optional(LockInfo::Parse(*body)) : std::nullopt;
  }

  ManualClock clock;
  MemoryBucket bucket{clock, Server()};
  Machine a{clock, bucket, "a", Server()};
  Machine b{clock, bucket, "b", Server()};
};

INSTANTIATE_TEST_SUITE_P(Servers, StoreLockTest, ::testing::Values("Aws", "Ceph"),
                         [](const ::testing::TestParamInfo<std::string>& param) { return param.param; });

TEST_P(StoreLockTest, IsHeldByOneAndNamesItsHolder) {
  const auto lock = a.Acquire();
  ASSERT_TRUE(InBucket());
  EXPECT_EQ(InBucket()->holder, "ann@a");
  try {
    b.Acquire(std::chrono::seconds(2));
    FAIL() << "two holders";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "lock_timeout");
    EXPECT_THAT(error.message(), HasSubstr("ann@a"));
    EXPECT_THAT(error.message(), HasSubstr("pid 1"));
  }
}

TEST_P(StoreLockTest, IsGoneWhenReleasedOrDestroyed) {
  a.Acquire()->Release(*a.context);
  EXPECT_FALSE(InBucket());
  a.Acquire().reset();
  EXPECT_FALSE(InBucket());
  EXPECT_TRUE(b.Acquire());
}

TEST_P(StoreLockTest, DS08_AStaleLockIsTakenOverOnceByItsEtagAndTheDeadHolderIsNamed) {
  bucket.Plant(std::string(kLockKey), R"({"holder":"dead@x","hostname":"x","pid":5,"ttlMs":30000,"nonce":"n"})");
  clock.Advance(std::chrono::minutes(10));
  const Duration before = clock.Elapsed();
  const auto lock = b.Acquire();
  EXPECT_LT(clock.Elapsed() - before, std::chrono::seconds(2));
  EXPECT_EQ(InBucket()->holder, "ann@b");
  EXPECT_THAT(b.log.text, HasSubstr("dead@x"));
}

TEST_P(StoreLockTest, MW15_DS36_ALockWhoseProcessHasEndedOnThisHostIsTakenOverAtOnce) {
  a.environment.process_id = 4711;
  const auto lock = a.Acquire();
  a.environment.process_id = 4712;
  EXPECT_THROW(a.Acquire(Duration(0)), UserError);
  a.environment.dead_process = 4711;
  EXPECT_NO_THROW(a.Acquire(Duration(0)));
  // On another host the same number is somebody else.
  const auto again = a.Acquire();
  b.environment.dead_process = 4712;
  EXPECT_THROW(b.Acquire(Duration(0)), UserError);
  // One that lives here with that number may be another by now: only the lock's own age counts.
  a.environment.dead_process = 0;
  clock.Advance(std::chrono::minutes(1));
  EXPECT_NO_THROW(a.Acquire(Duration(0)));
}

TEST_P(StoreLockTest, TakeoverNeedsOneTtlWithoutALifeSign) {
  bucket.Plant(std::string(kLockKey), R"({"holder":"x","ttlMs":30000,"nonce":"n"})");
  clock.Advance(std::chrono::seconds(28));
  EXPECT_THROW(b.Acquire(std::chrono::milliseconds(1)), UserError);
  clock.Advance(std::chrono::seconds(4));
  EXPECT_TRUE(b.Acquire(std::chrono::milliseconds(1)));
}

TEST_P(StoreLockTest, AnEmptyTornOrForeignBodyIsALockOfUnknownHolderThatGoesStale) {
  for (const char* body : {"", "{\"holder\":", "[1]", "\xff\xfe", R"({"ttlMs":999999999999})"}) {
    bucket.Plant(std::string(kLockKey), body);
    EXPECT_THROW(b.Acquire(std::chrono::milliseconds(1)), UserError) << body;
    clock.Advance(std::chrono::minutes(11));
    EXPECT_TRUE(b.Acquire(std::chrono::milliseconds(1))) << body;
  }
}

TEST_P(StoreLockTest, DS09_OnlyTheStoresClockCounts) {
  const auto lock = a.Acquire();
  // Another machine whose own clock is forty minutes ahead, or behind, sees the same age.
  ManualClock wrong;
  wrong.SetNow(clock.Now() + std::chrono::minutes(40));
  Machine c(wrong, bucket, "c", Server());
  EXPECT_THROW(c.Acquire(std::chrono::seconds(1)), UserError);
  wrong.SetNow(clock.Now() - std::chrono::minutes(40));
  EXPECT_THROW(c.Acquire(std::chrono::seconds(1)), UserError);
  EXPECT_EQ(InBucket()->holder, "ann@a");
}

TEST_P(StoreLockTest, DS30_AHolderThatSleptFindsOutBeforeItsNextWriteAndLeavesTheNewOwnersLock) {
  const auto lock = a.Acquire();
  clock.Advance(std::chrono::minutes(2));
  const auto other = b.Acquire();
  try {
    lock->EnsureHeld(*a.context);
    FAIL() << "a lost lock was taken for held";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "lock_lost");
  }
  lock->Release(*a.context);
  EXPECT_EQ(InBucket()->holder, "ann@b");
}

TEST_P(StoreLockTest, AHolderThatSleptAndWasNotReplacedGoesOn) {
  const auto lock = a.Acquire();
  clock.Advance(std::chrono::seconds(25));
  lock->EnsureHeld(*a.context);
  clock.Advance(std::chrono::seconds(25));
  EXPECT_THROW(b.Acquire(std::chrono::milliseconds(1)), UserError) << "the life sign was not written";
}

TEST_P(StoreLockTest, DS04_ALostAnswerToTheAcquiringPutIsNoForeignLock) {
  a.faults->Add({.kind = Fault::Kind::kFailAfter, .operation = StoreOperation::kPut});
  const auto lock = a.Acquire(std::chrono::milliseconds(1));
  EXPECT_EQ(InBucket()->holder, "ann@a");
  lock->EnsureHeld(*a.context);
}

TEST_P(StoreLockTest, DS28_AReleaseThatMeetsAPassingErrorIsTriedAgainAndNeverThrows) {
  for (const auto kind : {Fault::Kind::kFailBefore, Fault::Kind::kFailAfter}) {
    const auto lock = a.Acquire();
    a.faults->Add({.kind = kind, .operation = StoreOperation::kDelete});
    lock->Release(*a.context);
    EXPECT_FALSE(InBucket());
  }
  const auto lock = a.Acquire();
  a.faults->Add({.kind = Fault::Kind::kFailBefore, .times = -1});
  lock->Release(*a.context);
  EXPECT_THAT(a.log.text, HasSubstr("could not be removed"));
}

TEST_P(StoreLockTest, AnInterruptedCommandStillGivesItsLockBack) {
  const auto lock = a.Acquire();
  a.cancellation.Request(SIGINT);
  lock->Release(*a.context);
  EXPECT_FALSE(InBucket());
}

TEST_P(StoreLockTest, WaitingEndsWhenTheCommandIsInterrupted) {
  const auto lock = a.Acquire();
  b.cancellation.Request(SIGTERM);
  EXPECT_THROW(b.Acquire(), Cancelled);
}

TEST_P(StoreLockTest, BreakingOneTakesExactlyTheLockThatWasLookedAt) {
  const auto lock = a.Acquire();
  const auto broken = BreakLock(*b.context, *b.store, std::string(kLockKey));
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->holder, "ann@a");
  EXPECT_FALSE(InBucket());
  EXPECT_FALSE(BreakLock(*b.context, *b.store, std::string(kLockKey)));
  clock.Advance(std::chrono::minutes(1));
  EXPECT_THROW(lock->EnsureHeld(*a.context), UserError);
}

TEST(StoreLockRace, DS38_OfManyWaitersOneAtATimeIsInside) {
  // Real threads and real time, on a plain counter that only the lock protects.
  RealTimeWorld world;
  MemoryBucket bucket(world.clock, ServerBehaviour::CephRgw());
  std::atomic<int> inside = 0;
  int counter = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      ResolvingStore store(std::make_unique<MemoryStore>(bucket));
      store.Adopt(ServerBehaviour::CephRgw().ToCapabilities());
      const auto lock = AcquireLock(world.context, store, "lock", {.wait = std::chrono::seconds(60)});
      EXPECT_EQ(++inside, 1);
      ++counter;
      --inside;
    });
  }
  threads.clear();
  EXPECT_EQ(counter, 12);
}

}  // namespace
}  // namespace swamp

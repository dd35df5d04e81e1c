#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "util/time.h"

namespace swamp {

class Clock;
class Environment;
class Executor;
class Files;
class Log;
class Random;

// Everything outside the program's own memory, as one bundle of interfaces that a test can replace
// whole. Borrowed: main (or the test) owns the parts and outlives every Context.
struct World {
  Clock& clock;
  Random& random;
  Files& files;
  Environment& environment;
  Executor& executor;
  Log& log;
};

// Asks work to stop. One per command, and one per background task. Thread-safe.
class Cancellation {
 public:
  // `signal` tells why, as in 128 + signal; the first request counts.
  void Request(int signal);
  bool requested() const { return signal_.load(std::memory_order_acquire) != 0; }
  int signal() const { return signal_.load(std::memory_order_acquire); }
  // Waits for a request, at most `limit` of real time; says whether it came.
  bool WaitFor(Duration limit);

 private:
  std::atomic<int> signal_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

// What a call may use and how long it may take. Cheap to copy; copies share the cancellation.
// Thread-safe.
class Context {
 public:
  Context(World& world, Cancellation& cancellation) : world_(&world), cancellation_(&cancellation) {}

  Clock& clock() const { return world_->clock; }
  Random& random() const { return world_->random; }
  Files& files() const { return world_->files; }
  Environment& environment() const { return world_->environment; }
  Executor& executor() const { return world_->executor; }
  Log& log() const { return world_->log; }
  World& world() const { return *world_; }
  Cancellation& cancellation() const { return *cancellation_; }

  // A context that ends at the earlier of its own deadline and `timeout` from now.
  Context WithTimeout(Duration timeout) const;
  // A context for a task that is stopped apart; keeps the deadline.
  Context WithCancellation(Cancellation& cancellation) const;

  // Throws Cancelled or DeadlineExceeded when it is time to stop.
  void Check() const;
  // Time left until the deadline: never negative; nothing when there is no deadline.
  std::optional<Duration> Remaining() const;

 private:
  World* world_;
  Cancellation* cancellation_;
  std::optional<Duration> deadline_;  // in Clock::Elapsed
};

}  // namespace swamp

#pragma once

#include "util/time.h"

namespace swamp {

class Context;

// The only source of time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Civil time of this machine. It may be wrong, and it may jump.
  virtual Time Now() = 0;
  // Time since an arbitrary start; never goes back, and counts while the machine or the process sleeps.
  virtual Duration Elapsed() = 0;
  // Returns when `duration` has passed. Throws Cancelled or DeadlineExceeded as soon as `context` says so.
  virtual void Sleep(const Context& context, Duration duration) = 0;
};

class SystemClock final : public Clock {
 public:
  // `offset` is added to the machine's civil time: for tests of clocks that are wrong.
  explicit SystemClock(Duration offset = Duration(0)) : offset_(offset) {}
  Time Now() override;
  Duration Elapsed() override;
  void Sleep(const Context& context, Duration duration) override;

 private:
  Duration offset_;
};

}  // namespace swamp

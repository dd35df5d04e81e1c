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
  Time Now() override;
  Duration Elapsed() override;
  void Sleep(const Context& context, Duration duration) override;
};

}  // namespace swamp

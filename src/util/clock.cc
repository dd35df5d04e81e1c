#include "util/clock.h"

#include <algorithm>
#include <ctime>

#include "util/context.h"

namespace swamp {

Time SystemClock::Now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()) + offset_;
}

Duration SystemClock::Elapsed() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::floor<Duration>(std::chrono::nanoseconds(now.tv_nsec));
}

void SystemClock::Sleep(const Context& context, Duration duration) {
  const Duration wake = Elapsed() + duration;
  for (;;) {
    context.Check();
    Duration rest = wake - Elapsed();
    if (rest <= Duration(0)) return;
    if (const auto remaining = context.Remaining()) rest = std::min(rest, *remaining + Duration(1));
    context.cancellation().WaitFor(rest);
  }
}

}  // namespace swamp

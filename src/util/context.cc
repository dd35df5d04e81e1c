#include "util/context.h"

#include <algorithm>

#include "util/clock.h"
#include "util/error.h"

namespace swamp {

void Cancellation::Request(int signal) {
  int expected = 0;
  {
    const std::lock_guard lock(mutex_);
    signal_.compare_exchange_strong(expected, signal, std::memory_order_acq_rel);
  }
  changed_.notify_all();
}

bool Cancellation::WaitFor(Duration limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return requested(); });
}

Context Context::WithTimeout(Duration timeout) const {
  Context child = *this;
  const Duration deadline = clock().Elapsed() + timeout;
  child.deadline_ = deadline_ ? std::min(*deadline_, deadline) : deadline;
  return child;
}

Context Context::WithCancellation(Cancellation& cancellation) const {
  Context child = *this;
  child.cancellation_ = &cancellation;
  return child;
}

void Context::Check() const {
  if (cancellation_->requested()) throw Cancelled(cancellation_->signal());
  if (deadline_ && clock().Elapsed() >= *deadline_) throw DeadlineExceeded();
}

std::optional<Duration> Context::Remaining() const {
  if (!deadline_) return std::nullopt;
  return std::max(Duration(0), *deadline_ - clock().Elapsed());
}

}  // namespace swamp

#include "util/executor.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <thread>
#include <vector>

namespace swamp {
namespace {

class Thread final : public BackgroundTask {
 public:
  Thread(const Context& context, std::function<void(const Context&)> task)
      : thread_([this, context, task = std::move(task)] {
          try {
            task(context.WithCancellation(stop_));
          } catch (...) {  // NOLINT(bugprone-empty-catch): see Executor::Start
          }
        }) {}
  ~Thread() override {
    stop_.Request(SIGTERM);
    thread_.join();
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

 private:
  Cancellation stop_;
  std::thread thread_;
};

}  // namespace

void ThreadExecutor::ForEach(const Context& context, std::size_t count, int width,
                             const std::function<void(const Context&, std::size_t)>& task) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::exception_ptr first_failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < count && !failed; i = next++) {
      try {
        task(context, i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failed = true;
        if (!first_failure) first_failure = std::current_exception();
      }
    }
  };
  const std::size_t workers = std::min(count, static_cast<std::size_t>(std::max(width, 1)));
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  threads.clear();  // joins
  if (first_failure) std::rethrow_exception(first_failure);
}

std::unique_ptr<BackgroundTask> ThreadExecutor::Start(const Context& context,
                                                      std::function<void(const Context&)> task) {
  return std::make_unique<Thread>(context, std::move(task));
}

}  // namespace swamp

#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "util/context.h"

namespace swamp {

// A task that runs beside its owner. Destroying it asks the task to stop and waits for its end.
class BackgroundTask {
 public:
  virtual ~BackgroundTask() = default;
};

// Runs work concurrently. Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;

  // Calls `task(0)` ... `task(count - 1)`, at most `width` of them at once, in no order, and returns
  // when all have ended. When one throws, no further one is started and the first exception is thrown
  // on after those under way have ended. Tasks are called from several threads.
  virtual void ForEach(const Context& context, std::size_t count, int width,
                       const std::function<void(const Context&, std::size_t)>& task) = 0;

  // Starts `task` with a context of its own, which is cancelled when the result is destroyed. What the
  // task throws is dropped: it has to tell its owner by its own means.
  virtual std::unique_ptr<BackgroundTask> Start(const Context& context,
                                                std::function<void(const Context&)> task) = 0;
};

class ThreadExecutor final : public Executor {
 public:
  void ForEach(const Context& context, std::size_t count, int width,
               const std::function<void(const Context&, std::size_t)>& task) override;
  std::unique_ptr<BackgroundTask> Start(const Context& context,
                                        std::function<void(const Context&)> task) override;
};

}  // namespace swamp

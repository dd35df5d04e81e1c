#pragma once

// Worlds for tests: real files and threads, an environment without variables, no log.

#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <string>

#include "util/clock.h"
#include "util/context.h"
#include "util/environment.h"
#include "util/executor.h"
#include "util/files.h"
#include "util/log.h"
#include "util/random.h"

namespace swamp {

// A clock that stands still until it is told to move; sleeping moves it, at once. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start = Time(Duration(1'796'137'741'064))) : now_(start) {}

  Time Now() override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  Duration Elapsed() override {
    const std::lock_guard lock(mutex_);
    return elapsed_;
  }
  void Sleep(const Context& context, Duration duration) override {
    context.Check();
    Advance(duration);
    context.Check();
  }
  void Advance(Duration duration) {
    const std::lock_guard lock(mutex_);
    now_ += duration;
    elapsed_ += duration;
  }
  // A step of the civil clock, as by an administrator.
  void SetNow(Time now) {
    const std::lock_guard lock(mutex_);
    now_ = now;
  }

 private:
  std::mutex mutex_;
  Time now_;
  Duration elapsed_{0};
};

template <typename ClockType>
struct BasicTestWorld {
  ClockType clock;
  SystemRandom random;
  SystemFiles files{random};
  FixedEnvironment environment;
  ThreadExecutor executor;
  NullLog log;
  World world{clock, random, files, environment, executor, log};
  Cancellation cancellation;
  Context context{world, cancellation};
};

using TestWorld = BasicTestWorld<ManualClock>;
// For what really waits: other processes, sockets.
using RealTimeWorld = BasicTestWorld<SystemClock>;

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "swamp-test-XXXXXX").native();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("mkdtemp: no folder for a test");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace swamp

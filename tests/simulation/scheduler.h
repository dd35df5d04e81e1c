#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fiber.h"
#include "util/time.h"

namespace swamp::simulation {

// The simulation's own numbers: the same from a seed on every machine (SplitMix64, Steele et al. 2014).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 <= result < limit
  int Below(int limit) { return static_cast<int>(Next() % static_cast<std::uint64_t>(limit)); }
  bool Percent(int percent) { return Below(100) < percent; }

 private:
  std::uint64_t state_;
};

// A process of the simulated world ended here: unwinds its fiber. Deliberately no std::exception.
struct Crash {};

// One run of the program in a checkout.
struct Process {
  int checkout = 0;
  int number = 0;     // counts all processes of a run
  int command = 0;    // that it runs
  bool alive = true;
  // The main task is between the two halves of renewing its lock, which holds a mutex that the lock's
  // background task needs too.
  bool renewing_lock = false;

  // For calls that must not go on once the process is dead. Destructors run while it unwinds: theirs go on and do nothing.
  void ThrowIfDead() const;
};

// How a run mixes its tasks.
struct Mixing {
  int stay_percent = 0;        // how often the task that just ran goes on
  int most_latency_ms = 0;     // a step of a task takes up to this long
};

// Runs tasks one step at a time in an order that the seed decides, on a clock of its own.
class Scheduler {
 public:
  Scheduler(std::uint64_t seed, Mixing mixing) : dice_(seed), mixing_(mixing) {}

  // The run's clock.
  Duration now() const { return now_; }
  void Pass(Duration duration) { now_ += duration; }
  std::int64_t steps() const { return steps_; }
  Dice& dice() { return dice_; }

  using TaskId = std::size_t;
  TaskId Start(Process& process, bool background, std::function<void()> body, Duration delay = Duration(0));
  // Until every task has ended. Throws std::logic_error when `step_limit` is reached or all wait for ever.
  void Run(std::int64_t step_limit);

  // ---- for the running task ----
  bool running() const { return current_ != nullptr; }
  bool in_background() const { return current_ && current_->background; }
  Process& process() { return *current_->process; }
  // The running task goes on as another process.
  void SetProcess(Process& process) { current_->process = &process; }
  // Others may go on here.
  void GiveWay();
  void Sleep(Duration duration);
  void WaitFor(TaskId task);
  void Wake(TaskId task);
  bool done(TaskId task) const { return tasks_[task]->fiber.done(); }

 private:
  struct Task {
    Task(Process& owner, bool is_background, std::function<void()> body)
        : process(&owner), background(is_background), fiber(std::move(body)) {}
    Process* process;
    bool background;
    Duration wake{0};
    const Task* waits_for = nullptr;
    Fiber fiber;
  };

  bool Ready(const Task& task) const;
  Task* Choose();

  Dice dice_;
  Mixing mixing_;
  Duration now_{0};
  std::int64_t steps_ = 0;
  Task* current_ = nullptr;
  Task* last_ = nullptr;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<Task*> live_;
};

}  // namespace swamp::simulation

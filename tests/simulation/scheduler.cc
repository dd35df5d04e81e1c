#include "scheduler.h"

#include <algorithm>
#include <exception>
#include <stdexcept>

namespace swamp::simulation {

void Process::ThrowIfDead() const {
  if (!alive && std::uncaught_exceptions() == 0) throw Crash();
}

Scheduler::TaskId Scheduler::Start(Process& process, bool background, std::function<void()> body, Duration delay) {
  tasks_.push_back(std::make_unique<Task>(process, background, std::move(body)));
  tasks_.back()->wake = now_ + delay;
  live_.push_back(tasks_.back().get());
  return tasks_.size() - 1;
}

bool Scheduler::Ready(const Task& task) const {
  if (task.waits_for != nullptr && !task.waits_for->fiber.done()) return false;
  return !(task.background && task.process->renewing_lock);
}

Scheduler::Task* Scheduler::Choose() {
  if (last_ != nullptr && !last_->fiber.done() && Ready(*last_) && last_->wake <= now_ &&
      dice_.Percent(mixing_.stay_percent)) {
    return last_;
  }
  for (;;) {
    Task* chosen = nullptr;
    int fitting = 0;
    Duration soonest = Duration::max();
    for (Task* task : live_) {
      if (!Ready(*task)) continue;
      if (task->wake <= now_) {
        if (dice_.Below(++fitting) == 0) chosen = task;
      } else {
        soonest = std::min(soonest, task->wake);
      }
    }
    if (chosen != nullptr) return chosen;
    if (soonest == Duration::max()) throw std::logic_error("every task waits for another");
    now_ = soonest;
  }
}

void Scheduler::Run(std::int64_t step_limit) {
  while (!live_.empty()) {
    if (++steps_ > step_limit) throw std::logic_error("the run does not end");
    Task* task = Choose();
    current_ = task;
    task->fiber.Resume();
    current_ = nullptr;
    last_ = task;
    if (task->fiber.done()) std::erase(live_, task);
  }
}

void Scheduler::GiveWay() {
  if (mixing_.most_latency_ms > 0) current_->wake = now_ + Duration(dice_.Below(mixing_.most_latency_ms + 1));
  Fiber::GiveWay();
}

void Scheduler::Sleep(Duration duration) {
  current_->wake = now_ + duration;
  Fiber::GiveWay();
}

void Scheduler::WaitFor(TaskId task) {
  current_->waits_for = tasks_[task].get();
  while (!tasks_[task]->fiber.done()) Fiber::GiveWay();
  current_->waits_for = nullptr;
}

void Scheduler::Wake(TaskId task) { tasks_[task]->wake = now_; }

}  // namespace swamp::simulation

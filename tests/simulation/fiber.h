#pragma once

#include <functional>
#include <memory>

namespace swamp::simulation {

// A function with a stack of its own that runs when it is told to and stops where it gives way: all fibers share
// one thread, so that a run has exactly one order of events. It may give way within a catch block and while it unwinds.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  // Only of one that is done.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it gives way or is done. Not from within a fiber.
  void Resume();
  bool done() const;

  // Gives way to whoever resumed the running fiber.
  static void GiveWay();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swamp::simulation

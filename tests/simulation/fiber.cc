#include "fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define SWAMP_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SWAMP_FIBER_ASAN 1
#endif
#endif
#ifdef SWAMP_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace swamp::simulation {
namespace {

constexpr std::size_t kStackSize = 512 << 10;

// What the C++ runtime keeps for each thread, and we for each fiber: the exceptions being handled, and how many are
// under way (Itanium C++ ABI, 2.2.2).
struct ExceptionState {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

ExceptionState TakeExceptionState() {
  ExceptionState state;
  std::memcpy(static_cast<void*>(&state), abi::__cxa_get_globals(), sizeof state.caught + sizeof state.uncaught);
  return state;
}
void SetExceptionState(const ExceptionState& state) {
  std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), &state, sizeof state.caught + sizeof state.uncaught);
}

// Stacks are kept for the next run: mapping one costs more than a short run.
std::vector<void*>& FreeStacks() {
  static std::vector<void*> stacks;
  return stacks;
}
void* TakeStack() {
  if (!FreeStacks().empty()) {
    void* stack = FreeStacks().back();
    FreeStacks().pop_back();
    return stack;
  }
  void* stack = ::mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) throw std::bad_alloc();
  ::mprotect(stack, 4096, PROT_NONE);  // running over ends the program, not a neighbour
  return stack;
}


}  // namespace

struct Fiber::State {
  std::function<void()> body;
  void* stack = nullptr;
  bool done = false;
  ucontext_t here{};
  ucontext_t resumer{};
  ExceptionState exceptions;
  ExceptionState resumer_exceptions;
#ifdef SWAMP_FIBER_ASAN
  void* fake_stack = nullptr;
  const void* resumer_stack = nullptr;
  std::size_t resumer_stack_size = 0;
#endif

  static State* running;

  void SwitchToResumer() {
    exceptions = TakeExceptionState();
    SetExceptionState(resumer_exceptions);
    running = nullptr;
#ifdef SWAMP_FIBER_ASAN
    __sanitizer_start_switch_fiber(done ? nullptr : &fake_stack, resumer_stack, resumer_stack_size);
#endif
    ::swapcontext(&here, &resumer);
#ifdef SWAMP_FIBER_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, &resumer_stack, &resumer_stack_size);
#endif
  }

  static void Enter() {
    State* self = running;
#ifdef SWAMP_FIBER_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &self->resumer_stack, &self->resumer_stack_size);
#endif
    self->body();
    self->done = true;
    self->SwitchToResumer();
  }
};

Fiber::State* Fiber::State::running = nullptr;

Fiber::Fiber(std::function<void()> body) : state_(std::make_unique<State>()) {
  state_->body = std::move(body);
  state_->stack = TakeStack();
  ::getcontext(&state_->here);
  state_->here.uc_stack.ss_sp = state_->stack;
  state_->here.uc_stack.ss_size = kStackSize;
  state_->here.uc_link = nullptr;
  ::makecontext(&state_->here, &State::Enter, 0);
}

Fiber::~Fiber() { FreeStacks().push_back(state_->stack); }

bool Fiber::done() const { return state_->done; }

void Fiber::Resume() {
  State& fiber = *state_;
  fiber.resumer_exceptions = TakeExceptionState();
  SetExceptionState(fiber.exceptions);
  State::running = &fiber;
#ifdef SWAMP_FIBER_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, fiber.stack, kStackSize);
#endif
  ::swapcontext(&fiber.resumer, &fiber.here);
#ifdef SWAMP_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void Fiber::GiveWay() { State::running->SwitchToResumer(); }

}  // namespace swamp::simulation

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cel/arena.h"
#include "cel/failure.h"
#include "cel/mode.h"
#include "cel/value.h"

namespace swamp::cel {

struct Frame;

// One call of a function: what it is given, and what it may use to answer.
class Call {
 public:
  // `name`: of the function; it outlives the call.
  Call(Frame& frame, std::string_view name, std::span<const Value> arguments)
      : frame_(frame), name_(name), arguments_(arguments) {}

  // The receiver of a member call comes first.
  std::span<const Value> arguments() const { return arguments_; }
  const Value& operator[](std::size_t index) const { return arguments_[index]; }

  Mode mode() const;
  // For what the answer refers to; it lives until the evaluator evaluates again.
  Arena& arena() const;

  // Takes from the step budget what walking or making `weight` values, or 16 bytes for each, costs.
  // False: that was more than there is left, and the function is to give up at once with StepLimit().
  bool Charge(std::uint64_t weight);
  Value StepLimit() const;

  // Error values that point at the call.
  Value Error(std::string_view message) const;
  Value NoSuchOverload() const;

  // Strings made in the arena.
  Value Text(std::string_view text) const { return Value::String(arena().Copy(text)); }

  Frame& frame() const { return frame_; }

 private:
  Frame& frame_;
  std::string_view name_;
  std::span<const Value> arguments_;
};

}  // namespace swamp::cel

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/arena.h"
#include "cel/failure.h"
#include "cel/mode.h"
#include "cel/value.h"

namespace swamp::cel {

class Activation;
class RegexCache;
class TimeZones;
struct Op;
struct Variable;

// What one evaluation works with. Belongs to the evaluator; functions reach it through Call.
struct Frame {
  Arena& arena;
  const Activation* activation = nullptr;
  std::span<const Variable> variables;
  Value* values;  // of the variables, each missing until it is asked for
  Value* locals;  // what macros have bound
  std::int64_t steps;  // of the budget that are left; -1: used up, for good
  Mode mode;
  RegexCache& regexes;
  const TimeZones* zones;
  const Op* current = nullptr;  // the call that a function is answering

  // False: there are fewer left, and now none.
  bool Charge(std::uint64_t weight) {
    if (steps < 0 || weight > static_cast<std::uint64_t>(steps)) {
      steps = -1;
      return false;
    }
    steps -= static_cast<std::int64_t>(weight);
    return true;
  }
  // What making or reading so many bytes costs.
  bool ChargeBytes(std::size_t bytes) { return Charge(bytes / 16); }

  // Error values about the operation.
  Value Fail(const Op& op, FailureKind kind, std::string_view text = {}, std::initializer_list<Value> operands = {});
  Value Fail(std::uint32_t begin, std::uint32_t end, FailureKind kind, std::string_view text,
             std::span<const Value> operands);
  Value StepLimit(const Op& op) { return Fail(op, FailureKind::kStepLimit); }
};

}  // namespace swamp::cel

#pragma once

#include <cstdint>
#include <vector>

#include "cel/activation.h"
#include "cel/arena.h"
#include "cel/expression.h"
#include "cel/frame.h"
#include "cel/regex.h"
#include "cel/value.h"

namespace swamp::cel {

// A step is about one operation, one element looked at, or 16 bytes made or read; whoever reads the result
// looks at all of it. An evaluation that needs more than the budget fails, whatever it would have come to.
inline constexpr std::int64_t kDefaultSteps = 10'000'000;
// No budget is larger, which keeps every text well below 4 GiB.
inline constexpr std::int64_t kMostSteps = 100'000'000;

// Evaluates one expression, over and over if need be, without allocating anew each time. Not thread-safe:
// each thread has its own. The expression outlives it.
class Evaluator {
 public:
  explicit Evaluator(const Expression& expression, std::int64_t steps = kDefaultSteps);
  Evaluator(const Evaluator&) = delete;

  // An error value when the evaluation fails: see Expression::Explain. The value and what it refers to are
  // good until the next call, as long as the activation's data and the expression are there.
  Value Evaluate(const Activation& activation);

  // The same, but throws ExpressionError for a failure.
  Value EvaluateOrThrow(const Activation& activation);

  // For values that are to be made for the result, as ToValue(json) does.
  Arena& arena() { return arena_; }

 private:
  const Expression& expression_;
  std::int64_t steps_;
  Arena arena_;
  RegexCache regexes_;
  std::vector<Value> values_;  // of variables
  std::vector<Value> locals_;
  Frame frame_;
};

}  // namespace swamp::cel

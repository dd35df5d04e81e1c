#include "cel/evaluator.h"

#include <algorithm>

#include "cel/failure.h"
#include "cel/frame.h"
#include "cel/operations.h"

namespace swamp::cel {

Evaluator::Evaluator(const Expression& expression, std::int64_t steps)
    : expression_(expression),
      steps_(std::min(steps, kMostSteps)),
      values_(expression.variables().size()),
      locals_(expression.locals()),
      frame_{.arena = arena_,
             .variables = expression.variables(),
             .values = values_.data(),
             .locals = locals_.data(),
             .steps = 0,
             .mode = expression.environment().mode(),
             .regexes = regexes_,
             .zones = expression.environment().zones()} {}

Value Evaluator::Evaluate(const Activation& activation) {
  arena_.Reset();
  for (Value& value : values_) value = Value::Missing();
  frame_.activation = &activation;
  frame_.steps = steps_;
  const Value value = Run(expression_.root(), frame_);
  // || and && may have absorbed the failure, but the value would depend on how far the steps went.
  if (value.is_error() || frame_.Charge(ExtentOf(value).weight)) return value;
  return frame_.StepLimit(expression_.root());
}

Value Evaluator::EvaluateOrThrow(const Activation& activation) {
  const Value value = Evaluate(activation);
  if (value.is_error()) {
    throw ExpressionError(expression_.text(), expression_.Explain(value.as_error(), activation));
  }
  return value;
}

}  // namespace swamp::cel

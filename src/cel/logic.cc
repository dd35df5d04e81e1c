#include "cel/operations.h"

// Operators on bools.
namespace swamp::cel {

Value NoBool(const Op& op, std::string_view wanted, const Value& value, Frame& frame) {
  return value.is_error() ? value : frame.Fail(op, FailureKind::kNoBool, wanted, {value});
}

Value RunNot(const UnaryOp& op, Frame& frame) {
  const Value value = RunOperand(*op.operand, frame);
  if (value.is(Kind::kBool)) return Value::Bool(!value.as_bool());
  if (value.is_error()) return value;
  return frame.Fail(op, FailureKind::kNoSuchOverload, "!", {value});
}

// The operand that decides does so wherever it stands; else the first error counts.
Value RunLogic(const LogicOp& op, Frame& frame) {
  Value first_error = Value::Missing();
  for (const Op* operand : op.operands) {
    const Value value = RunOperand(*operand, frame);
    if (value.is(Kind::kBool)) {
      if (value.as_bool() != op.is_and) return value;
    } else if (first_error.is_missing()) {
      first_error = NoBool(*operand, op.is_and ? "&& takes bools" : "|| takes bools", value, frame);
    }
  }
  return first_error.is_missing() ? Value::Bool(op.is_and) : first_error;
}

Value RunConditional(const ConditionalOp& op, Frame& frame) {
  const Value condition = RunOperand(*op.condition, frame);
  if (condition.is_true()) return RunOperand(*op.then, frame);
  if (condition.is_false()) return RunOperand(*op.otherwise, frame);
  return NoBool(*op.condition, "the condition of ? : is a bool", condition, frame);
}

}  // namespace swamp::cel

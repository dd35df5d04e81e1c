#include <array>

#include "cel/activation.h"
#include "cel/environment.h"
#include "cel/limits.h"
#include "cel/operations.h"
#include "cel/regex.h"

// Variables and functions.
namespace swamp::cel {
namespace {

// Whatever a function does with a text takes time in proportion to its length.
bool ChargeTexts(std::span<const Value> arguments, Frame& frame) {
  std::size_t bytes = 0;
  for (const Value& argument : arguments) {
    if (argument.is(Kind::kString) || argument.is(Kind::kBytes)) bytes += argument.text().size();
  }
  return frame.ChargeBytes(bytes);
}

// Evaluates arguments into `values`; the first error among them, or missing.
Value RunArguments(std::span<const Op* const> arguments, Value* values, Frame& frame) {
  for (const Op* argument : arguments) {
    *values = RunOperand(*argument, frame);
    if (values->is_error()) return *values;
    ++values;
  }
  return Value::Missing();
}

template <std::size_t kMost>
Value RunCallWithAtMost(const CallOp& op, Frame& frame) {
  std::array<Value, kMost> storage;
  const Value error = RunArguments(op.arguments, storage.data(), frame);
  if (error.is_error()) return error;
  const std::span<const Value> arguments(storage.data(), op.arguments.size());
  if (!ChargeTexts(arguments, frame)) return frame.StepLimit(op);
  frame.current = &op;
  Call call(frame, op.overloads[0].name, arguments);
  for (const Candidate& candidate : op.candidates) {
    if (candidate.Takes(arguments)) return candidate.builtin->call(call);
  }
  return call.NoSuchOverload();
}

bool Fits(const Type& type, const Value& value) {
  switch (type.kind) {
    case TypeKind::kNull:
      return value.is(Kind::kNull);
    case TypeKind::kBool:
      return value.is(Kind::kBool);
    case TypeKind::kInt:
      return value.is(Kind::kInt);
    case TypeKind::kUint:
      return value.is(Kind::kUint);
    case TypeKind::kDouble:
      return value.is(Kind::kDouble);
    case TypeKind::kString:
      return value.is(Kind::kString);
    case TypeKind::kBytes:
      return value.is(Kind::kBytes);
    case TypeKind::kTimestamp:
      return value.is(Kind::kTimestamp);
    case TypeKind::kDuration:
      return value.is(Kind::kDuration);
    case TypeKind::kList:
      return value.is(Kind::kList);
    case TypeKind::kMap:
      return value.is(Kind::kMap);
    case TypeKind::kType:
      return value.is(Kind::kType);
    case TypeKind::kOpaque:
      return TypeNameOf(value) == type.name;
    default:
      return true;
  }
}

bool Accepts(const HostFunction& function, std::span<const Value> arguments) {
  if (function.parameters.size() != arguments.size()) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!Fits(*function.parameters[i], arguments[i])) return false;
  }
  return true;
}

}  // namespace

Value ResolveVariable(const VariableOp& op, Frame& frame) {
  const Variable& variable = frame.variables[op.index];
  Value value = frame.activation->Resolve(variable, frame.arena);
  if (value.is_missing()) value = frame.Fail(op, FailureKind::kUnknownVariable, variable.name);
  frame.values[op.index] = value;
  return value;
}

Value RunCall(const CallOp& op, Frame& frame) {
  if (op.arguments.size() <= 3) return RunCallWithAtMost<3>(op, frame);
  return RunCallWithAtMost<kMaxArguments + 1>(op, frame);
}

Value RunHostCall(const HostCallOp& op, Frame& frame) {
  std::array<Value, kMaxArguments> storage;
  const Value error = RunArguments(op.arguments, storage.data(), frame);
  if (error.is_error()) return error;
  const std::span<const Value> arguments(storage.data(), op.arguments.size());
  if (!frame.Charge(1)) return frame.StepLimit(op);
  frame.current = &op;
  Call call(frame, op.name, arguments);
  for (const HostFunction* overload : op.overloads) {
    if (overload->call && Accepts(*overload, arguments)) return overload->call(call);
  }
  return call.NoSuchOverload();
}

Value RunMatches(const MatchesOp& op, Frame& frame) {
  const Value subject = RunOperand(*op.subject, frame);
  if (subject.is(Kind::kString)) {
    if (!frame.Charge(MatchSteps(*op.regex, subject.text()))) return frame.StepLimit(op);
    return Value::Bool(MatchesRegex(*op.regex, subject.text()));
  }
  if (subject.is_error()) return subject;
  return frame.Fail(op, FailureKind::kNoSuchOverload, "matches", {subject, Value::String(op.pattern)});
}

}  // namespace swamp::cel

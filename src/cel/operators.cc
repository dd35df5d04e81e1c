#include <cmath>

#include "cel/collections.h"
#include "cel/compare.h"
#include "cel/operations.h"
#include "cel/text_search.h"
#include "cel/time_text.h"

// Arithmetic and relations.
namespace swamp::cel {
namespace {

// The operators take their operands by value, which is in registers; `link` says which operator it is and
// where. What is rare is kept out of the functions for the usual, which then need no registers saved.

std::uint32_t EndOf(const Link& link) { return link.at + static_cast<std::uint32_t>(TextOf(link.op).size()); }

[[gnu::noinline]] Value Fail(const Link& link, Frame& frame, std::string_view message) {
  return frame.Fail(link.at, EndOf(link), FailureKind::kMessage, message, {});
}

[[gnu::noinline]] Value NoSuchOverload(const Link& link, Value a, Value b, Frame& frame) {
  if (a.is_error()) return a;
  if (b.is_error()) return b;
  const Value both[] = {a, b};
  return frame.Fail(link.at, EndOf(link), FailureKind::kNoSuchOverload, TextOf(link.op), both);
}

Value StepLimit(const Link& link, Frame& frame) {
  return frame.Fail(link.at, EndOf(link), FailureKind::kStepLimit, {}, {});
}

template <class Number>
std::string_view OverflowMessage() {
  return std::is_signed_v<Number> ? "integer overflow" : "unsigned integer overflow";
}

// The result in `out`; false: there is none, and `message` says why.
template <class Number>
bool Whole(Operator op, Number a, Number b, Number& out, std::string_view& message) {
  message = OverflowMessage<Number>();
  switch (op) {
    case Operator::kAdd:
      return !__builtin_add_overflow(a, b, &out);
    case Operator::kSubtract:
      return !__builtin_sub_overflow(a, b, &out);
    case Operator::kMultiply:
      return !__builtin_mul_overflow(a, b, &out);
    default:
      break;
  }
  if (b == 0) {
    message = op == Operator::kDivide ? "division by zero" : "modulus by zero";
    return false;
  }
  if constexpr (std::is_signed_v<Number>) {
    // The one quotient that there is no int for; its remainder is 0.
    if (b == -1) {
      if (op == Operator::kDivide) return !__builtin_sub_overflow(0, a, &out);
      out = 0;
      return true;
    }
  }
  out = op == Operator::kDivide ? a / b : a % b;
  return true;
}

Value Real(const Link& link, double a, double b, Frame& frame) {
  switch (link.op) {
    case Operator::kAdd:
      return Value::Double(a + b);
    case Operator::kSubtract:
      return Value::Double(a - b);
    case Operator::kMultiply:
      return Value::Double(a * b);
    case Operator::kDivide:
      return Value::Double(a / b);
    default:
      // Remainders of doubles are the dialect's, so that numbers from data can have them.
      if (frame.mode == Mode::kDialect) return Value::Double(std::fmod(a, b));
      return NoSuchOverload(link, Value::Double(a), Value::Double(b), frame);
  }
}

Value Concatenate(const Link& link, Value a, Value b, Frame& frame) {
  const std::string_view left = a.text();
  const std::string_view right = b.text();
  if (!frame.ChargeBytes(left.size() + right.size())) return StepLimit(link, frame);
  const std::string_view joined = frame.arena.Concatenate(left, right);
  return a.is(Kind::kString) ? Value::String(joined) : Value::Bytes(joined);
}

Value ConcatenateLists(const Link& link, Value a, Value b, Frame& frame) {
  const List& left = a.as_list();
  const List& right = b.as_list();
  if (right.size() == 0) return a;
  if (left.size() == 0) return b;
  if (!frame.Charge(left.size() + right.size())) return StepLimit(link, frame);
  const auto elements = frame.arena.NewArray<Value>(left.size() + right.size());
  for (std::size_t i = 0; i < left.size(); ++i) elements[i] = left.At(i, frame.arena);
  for (std::size_t i = 0; i < right.size(); ++i) elements[left.size() + i] = right.At(i, frame.arena);
  const Op place{OpKind::kArithmetic, link.at, EndOf(link)};
  return WithinLimits(place, frame, frame.arena.New<ArrayList>(std::span<const Value>(elements)));
}

Value Time(const Link& link, Value a, Value b, Frame& frame) {
  const bool add = link.op == Operator::kAdd;
  if (!add && link.op != Operator::kSubtract) return NoSuchOverload(link, a, b, frame);
  if (a.is(Kind::kTimestamp) && b.is(Kind::kDuration)) {
    std::int64_t nanos = b.as_duration();
    if (!add && __builtin_sub_overflow(0, nanos, &nanos)) return Fail(link, frame, "timestamp out of range");
    const auto sum = Add(a.as_time(), nanos);
    return sum ? Value::Time(*sum) : Fail(link, frame, "timestamp out of range: years go from 1 to 9999");
  }
  if (add && a.is(Kind::kDuration) && b.is(Kind::kTimestamp)) return Time(link, b, a, frame);
  if (!add && a.is(Kind::kTimestamp) && b.is(Kind::kTimestamp)) {
    const auto difference = Difference(a.as_time(), b.as_time());
    return difference ? Value::Duration(*difference) : Fail(link, frame, "duration out of range");
  }
  if (a.is(Kind::kDuration) && b.is(Kind::kDuration)) {
    std::int64_t nanos = 0;
    const bool overflow = add ? __builtin_add_overflow(a.as_duration(), b.as_duration(), &nanos)
                              : __builtin_sub_overflow(a.as_duration(), b.as_duration(), &nanos);
    return overflow ? Fail(link, frame, "duration out of range") : Value::Duration(nanos);
  }
  return NoSuchOverload(link, a, b, frame);
}

// All but numbers of one kind.
[[gnu::noinline]] Value OtherArithmetic(const Link& link, Value a, Value b, Frame& frame) {
  if (frame.mode == Mode::kDialect) {
    if (a.is(Kind::kDouble) && b.is(Kind::kInt)) return Real(link, a.as_double(), static_cast<double>(b.as_int()), frame);
    if (a.is(Kind::kInt) && b.is(Kind::kDouble)) return Real(link, static_cast<double>(a.as_int()), b.as_double(), frame);
  }
  if (a.is(Kind::kTimestamp) || a.is(Kind::kDuration)) return Time(link, a, b, frame);
  if (link.op == Operator::kAdd && a.kind() == b.kind()) {
    if (a.is(Kind::kBytes)) return Concatenate(link, a, b, frame);
    if (a.is(Kind::kList)) return ConcatenateLists(link, a, b, frame);
  }
  return NoSuchOverload(link, a, b, frame);
}

Value Arithmetic(const Link& link, Value a, Value b, Frame& frame) {
  if (a.kind() != b.kind()) return OtherArithmetic(link, a, b, frame);
  std::string_view message;
  switch (a.kind()) {
    case Kind::kString:
      if (link.op == Operator::kAdd) return Concatenate(link, a, b, frame);
      return NoSuchOverload(link, a, b, frame);
    case Kind::kDouble:
      return Real(link, a.as_double(), b.as_double(), frame);
    case Kind::kInt: {
      std::int64_t number = 0;
      if (Whole(link.op, a.as_int(), b.as_int(), number, message)) return Value::Int(number);
      return Fail(link, frame, message);
    }
    case Kind::kUint: {
      std::uint64_t number = 0;
      if (Whole(link.op, a.as_uint(), b.as_uint(), number, message)) return Value::Uint(number);
      return Fail(link, frame, message);
    }
    default:
      return OtherArithmetic(link, a, b, frame);
  }
}

bool ChargeComparison(const Value& a, const Value& b, Frame& frame) {
  return frame.Charge(std::min(ExtentOf(a).weight, ExtentOf(b).weight));
}

Value Order(const Link& link, Value a, Value b, Frame& frame) {
  const std::optional<std::partial_ordering> order = Compare(a, b, frame.mode);
  if (!order) return NoSuchOverload(link, a, b, frame);
  switch (link.op) {
    case Operator::kLess:
      return Value::Bool(*order < 0);
    case Operator::kLessEqual:
      return Value::Bool(*order <= 0);
    case Operator::kGreater:
      return Value::Bool(*order > 0);
    default:
      return Value::Bool(*order >= 0);
  }
}

[[gnu::noinline]] Value In(const Link& link, Value element, Value collection, Frame& frame) {
  if (element.is_error()) return element;
  if (collection.is(Kind::kMap)) {
    if (element.is(Kind::kString) && !frame.ChargeBytes(element.text().size())) return StepLimit(link, frame);
    const Value found = collection.as_map().Find(element, frame.arena);
    return found.is_error() ? found : Value::Bool(!found.is_missing());
  }
  if (!collection.is(Kind::kList)) return NoSuchOverload(link, element, collection, frame);
  const List& list = collection.as_list();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value other = list.At(i, frame.arena);
    if (!ChargeComparison(element, other, frame)) return StepLimit(link, frame);
    if (Equal(element, other, frame.mode, frame.arena)) return Value::Bool(true);
  }
  return Value::Bool(false);
}

[[gnu::noinline]] Value OtherRelation(const Link& link, Value a, Value b, Frame& frame) {
  if (a.is_error()) return a;
  if (b.is_error()) return b;
  if (!ChargeComparison(a, b, frame)) return StepLimit(link, frame);
  if (link.op != Operator::kEqual && link.op != Operator::kNotEqual) return Order(link, a, b, frame);
  return Value::Bool(Equal(a, b, frame.mode, frame.arena) == (link.op == Operator::kEqual));
}

template <class Number>
Value Holds(Operator op, Number a, Number b) {
  switch (op) {
    case Operator::kEqual:
      return Value::Bool(a == b);
    case Operator::kNotEqual:
      return Value::Bool(a != b);
    case Operator::kLess:
      return Value::Bool(a < b);
    case Operator::kLessEqual:
      return Value::Bool(a <= b);
    case Operator::kGreater:
      return Value::Bool(a > b);
    default:
      return Value::Bool(a >= b);
  }
}

constexpr std::size_t kShortText = 256;

// Whether the int is the same number as a double.
bool IsExact(std::int64_t number) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;
  return number >= -kLargest && number <= kLargest;
}

// The usual ones by short ways that cost no steps, the others by the long one.
Value Relation(const Link& link, Value a, Value b, Frame& frame) {
  if (link.op == Operator::kIn) return In(link, a, b, frame);
  if (a.is(Kind::kDouble)) {
    if (b.is(Kind::kDouble)) return Holds(link.op, a.as_double(), b.as_double());
    if (b.is(Kind::kInt) && IsExact(b.as_int())) return Holds(link.op, a.as_double(), static_cast<double>(b.as_int()));
  } else if (a.is(Kind::kInt)) {
    if (b.is(Kind::kInt)) return Holds(link.op, a.as_int(), b.as_int());
  } else if (a.is(Kind::kString) && b.is(Kind::kString) && a.text().size() <= kShortText) {
    if (link.op == Operator::kEqual) return Value::Bool(SameText(a.text(), b.text()));
    if (link.op == Operator::kNotEqual) return Value::Bool(!SameText(a.text(), b.text()));
  }
  return OtherRelation(link, a, b, frame);
}

}  // namespace

Value RunArithmetic(const ChainOp& op, Frame& frame) {
  const Value left = RunOperand(*op.first, frame);
  const Link& link = op.links.front();
  return Arithmetic(link, left, RunOperand(*link.operand, frame), frame);
}

Value RunRelation(const ChainOp& op, Frame& frame) {
  const Value left = RunOperand(*op.first, frame);
  const Link& link = op.links.front();
  return Relation(link, left, RunOperand(*link.operand, frame), frame);
}

Value RunArithmeticChain(const ChainOp& op, Frame& frame) {
  Value value = RunOperand(*op.first, frame);
  for (const Link& link : op.links) {
    value = Arithmetic(link, value, RunOperand(*link.operand, frame), frame);
    if (value.is_error()) return value;
  }
  return value;
}

Value RunRelationChain(const ChainOp& op, Frame& frame) {
  Value value = RunOperand(*op.first, frame);
  for (const Link& link : op.links) {
    value = Relation(link, value, RunOperand(*link.operand, frame), frame);
    if (value.is_error()) return value;
  }
  return value;
}

Value RunNegate(const UnaryOp& op, Frame& frame) {
  const Value value = RunOperand(*op.operand, frame);
  switch (value.kind()) {
    case Kind::kInt: {
      std::int64_t negative = 0;
      if (!__builtin_sub_overflow(0, value.as_int(), &negative)) return Value::Int(negative);
      return frame.Fail(op, FailureKind::kMessage, "integer overflow");
    }
    case Kind::kDouble:
      return Value::Double(-value.as_double());
    case Kind::kError:
      return value;
    default:
      return frame.Fail(op, FailureKind::kNoSuchOverload, "-", {value});
  }
}

}  // namespace swamp::cel

#include "cel/collections.h"
#include "cel/numbers.h"
#include "cel/operations.h"

// Fields, elements and optionals.
namespace swamp::cel {
namespace {

Value NoSuchKey(const Op& op, Frame& frame, const Value& map, const Value& key) {
  return frame.Fail(op, FailureKind::kNoSuchKey, {}, {map, key});
}

// The number that a list index is: an int, or a uint or double of the same value.
std::optional<std::int64_t> WholeIndex(const Value& index) {
  const std::optional<Value> number = index.is_number() ? NormalizedKey(index) : std::nullopt;
  if (!number || !number->is(Kind::kInt)) return std::nullopt;
  return number->as_int();
}

// operand[index]: missing when there is nothing there, an error when there can't be.
Value Element(const IndexOp& op, const Value& operand, const Value& index, Frame& frame) {
  if (operand.is(Kind::kMap)) {
    if (index.is(Kind::kString) && !frame.ChargeBytes(index.text().size())) return frame.StepLimit(op);
    return operand.as_map().Find(index, frame.arena);
  }
  if (!operand.is(Kind::kList)) return frame.Fail(op, FailureKind::kNoSuchOverload, "[]", {operand, index});
  const std::optional<std::int64_t> number = WholeIndex(index);
  if (!number) return frame.Fail(op, FailureKind::kNoSuchOverload, "[]", {operand, index});
  const List& list = operand.as_list();
  if (*number < 0 || static_cast<std::uint64_t>(*number) >= list.size()) return Value::Missing();
  return list.At(static_cast<std::size_t>(*number), frame.arena);
}

Value NothingThere(const IndexOp& op, const Value& operand, const Value& index, Frame& frame) {
  if (operand.is(Kind::kMap)) return NoSuchKey(op, frame, operand, index);
  return frame.Fail(op, FailureKind::kIndexOutOfRange, {},
                    {index, Value::Int(static_cast<std::int64_t>(operand.as_list().size()))});
}

// What `found` in an optional chain is: an optional with it, or without when it is missing.
Value Wrapped(Frame& frame, const Value& found) {
  if (found.is_error()) return found;
  return found.is_missing() ? Value::Optional(nullptr) : Some(frame, found);
}

// What is asked for fields: what an optional holds, or the value itself.
struct Holder {
  Value value;
  bool optional;  // it came from one, so the answer is to be one
};

Holder HolderOf(const Value& operand) {
  if (!operand.is(Kind::kOptional)) return {operand, false};
  const Value* const content = operand.as_optional();
  return {content != nullptr ? *content : Value::Missing(), true};
}

Value SelectField(const SelectOp& op, const Value& operand, Frame& frame) {
  const Holder holder = HolderOf(operand);
  const bool presence = op.access == SelectOp::Access::kPresence;
  if (holder.value.is_missing()) return presence ? Value::Bool(false) : Value::Optional(nullptr);
  if (!holder.value.is(Kind::kMap)) {
    // The dialect takes null, and for .? everything without fields, as having none of them.
    if (frame.mode == Mode::kDialect) {
      if (presence && holder.value.is(Kind::kNull)) return Value::Bool(false);
      if (op.access == SelectOp::Access::kOptional) return Value::Optional(nullptr);
    }
    return frame.Fail(op, FailureKind::kNoFields, op.field, {holder.value});
  }
  const Value found = holder.value.as_map().FindField(op.field, frame.arena);
  if (found.is_error()) return found;
  if (presence) return Value::Bool(!found.is_missing());
  if (holder.optional || op.access == SelectOp::Access::kOptional) return Wrapped(frame, found);
  return found.is_missing() ? NoSuchKey(op, frame, holder.value, Value::String(op.field)) : found;
}

}  // namespace

Value RunSelect(const SelectOp& op, Frame& frame) {
  const Value operand = RunOperand(*op.operand, frame);
  if (operand.is_error()) return operand;
  // The short way for what nearly always is asked.
  if (operand.is(Kind::kMap) && op.access == SelectOp::Access::kValue) {
    if (const ArrayMap* const map = operand.as_map().as_array()) {
      if (const Value* const found = map->FindEntry(op.field, op.hash)) return *found;
    }
  }
  return SelectField(op, operand, frame);
}

Value RunIndex(const IndexOp& op, Frame& frame) {
  const Value operand = RunOperand(*op.operand, frame);
  if (operand.is_error()) return operand;
  const Value index = RunOperand(*op.index, frame);
  if (index.is_error()) return index;
  const Holder holder = HolderOf(operand);
  if (holder.value.is_missing()) return Value::Optional(nullptr);
  if (op.optional && frame.mode == Mode::kDialect && !holder.value.is(Kind::kMap) && !holder.value.is(Kind::kList)) {
    return Value::Optional(nullptr);
  }
  const Value found = Element(op, holder.value, index, frame);
  if (holder.optional || op.optional) return Wrapped(frame, found);
  return found.is_missing() ? NothingThere(op, holder.value, index, frame) : found;
}

Value RunOptionalOr(const OptionalOrOp& op, Frame& frame) {
  const Value optional = RunOperand(*op.optional, frame);
  if (optional.is_error()) return optional;
  if (!optional.is(Kind::kOptional)) {
    return frame.Fail(op, FailureKind::kNoSuchOverload, op.value ? "orValue" : "or", {optional});
  }
  const Value* const content = optional.as_optional();
  if (content != nullptr) return op.value ? *content : optional;
  const Value alternative = RunOperand(*op.alternative, frame);
  if (op.value || alternative.is_error() || alternative.is(Kind::kOptional)) return alternative;
  return frame.Fail(op, FailureKind::kNoSuchOverload, "or", {optional, alternative});
}

Value RunOptionalMap(const OptionalMapOp& op, Frame& frame) {
  const std::string_view name = op.flat ? "optFlatMap" : "optMap";
  const Value optional = RunOperand(*op.optional, frame);
  if (optional.is_error()) return optional;
  if (!optional.is(Kind::kOptional)) return frame.Fail(op, FailureKind::kNoSuchOverload, name, {optional});
  if (optional.as_optional() == nullptr) return optional;
  frame.locals[op.slot] = *optional.as_optional();
  const Value mapped = RunOperand(*op.body, frame);
  if (mapped.is_error()) return mapped;
  if (!op.flat) return Some(frame, mapped);
  if (mapped.is(Kind::kOptional)) return mapped;
  return frame.Fail(op, FailureKind::kNoSuchOverload, name, {optional, mapped});
}

}  // namespace swamp::cel

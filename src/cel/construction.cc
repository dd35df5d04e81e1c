#include "cel/collections.h"
#include "cel/limits.h"
#include "cel/operations.h"

// Lists, maps and what macros bind.
namespace swamp::cel {
namespace {

// What stands for an optional entry: its content, missing when it has none, or an error.
Value Unwrapped(const Op& op, const Value& value, Frame& frame) {
  if (value.is_error()) return value;
  if (!value.is(Kind::kOptional)) {
    return frame.Fail(op, FailureKind::kMessage, "an optional entry takes an optional");
  }
  return value.as_optional() != nullptr ? *value.as_optional() : Value::Missing();
}

}  // namespace

Value RunList(const ListOp& op, Frame& frame) {
  if (!frame.Charge(op.elements.size())) return frame.StepLimit(op);
  const auto values = frame.arena.NewArray<Value>(op.elements.size());
  std::size_t count = 0;
  for (const ListOp::Element& element : op.elements) {
    Value value = RunOperand(*element.value, frame);
    if (element.optional) value = Unwrapped(*element.value, value, frame);
    if (value.is_error()) return value;
    if (!value.is_missing()) values[count++] = value;
  }
  return WithinLimits(op, frame, frame.arena.New<ArrayList>(std::span<const Value>(values.first(count))));
}

Value RunMap(const MapOp& op, Frame& frame) {
  if (!frame.Charge(op.entries.size())) return frame.StepLimit(op);
  MapBuilder builder(frame.arena, op.entries.size());
  for (const MapOp::Entry& entry : op.entries) {
    const Value key = RunOperand(*entry.key, frame);
    if (key.is_error()) return key;
    Value value = RunOperand(*entry.value, frame);
    if (entry.optional) value = Unwrapped(*entry.value, value, frame);
    if (value.is_error()) return value;
    if (value.is_missing()) continue;
    const Value error = AddEntry(*entry.key, frame, builder, {key, value});
    if (error.is_error()) return error;
  }
  return WithinLimits(op, frame, builder.Build());
}

Value RunScope(const ScopeOp& op, Frame& frame) {
  for (std::size_t i = 0; i < op.definitions.size(); ++i) {
    frame.locals[op.first_slot + i] = RunOperand(*op.definitions[i], frame);
  }
  return RunOperand(*op.body, frame);
}

Value WithinLimits(const Op& op, Frame& frame, const List* list) {
  if (list->extent().depth > kMaxValueDepth) return frame.Fail(op, FailureKind::kMessage, "the list is nested too deeply");
  if (list->extent().weight > kMaxValueWeight) return frame.Fail(op, FailureKind::kMessage, "the list is too large");
  return Value::Of(list);
}

Value WithinLimits(const Op& op, Frame& frame, const Map* map) {
  if (map->extent().depth > kMaxValueDepth) return frame.Fail(op, FailureKind::kMessage, "the map is nested too deeply");
  if (map->extent().weight > kMaxValueWeight) return frame.Fail(op, FailureKind::kMessage, "the map is too large");
  return Value::Of(map);
}

Value AddEntry(const Op& op, Frame& frame, MapBuilder& builder, const MapEntry& entry) {
  Value key = entry.key;
  if (key.is(Kind::kString) && !frame.ChargeBytes(key.text().size())) return frame.StepLimit(op);
  if (key.is(Kind::kDouble) && frame.mode == Mode::kDialect) key = NormalizedKey(key).value_or(key);
  switch (builder.Add(key, entry.value)) {
    case MapBuilder::Added::kYes:
      return Value::Missing();
    case MapBuilder::Added::kDuplicate:
      return frame.Fail(op, FailureKind::kMessage, "the map has this key already");
    case MapBuilder::Added::kBadKey:
      break;
  }
  return frame.Fail(op, FailureKind::kMessage, "unsupported key type: keys are strings, ints, uints and bools");
}

Value Some(Frame& frame, const Value& content) { return Value::Optional(frame.arena.New<Value>(content)); }

}  // namespace swamp::cel

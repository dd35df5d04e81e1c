#include <vector>

#include "cel/collections.h"
#include "cel/operations.h"
#include "cel/sorting.h"

// The macros that go over a list or a map.
namespace swamp::cel {
namespace {

// Sets the variables of one turn after another.
class Range {
 public:
  Range(const ComprehensionOp& op, const Value& value, Frame& frame)
      : frame_(frame),
        list_(value.is(Kind::kList) ? &value.as_list() : nullptr),
        map_(value.is(Kind::kMap) ? &value.as_map() : nullptr),
        elements_(list_ != nullptr ? list_->elements() : nullptr),
        size_(list_ != nullptr ? list_->size() : map_->size()),
        first_(frame.locals + op.first_slot),
        second_(op.second_slot != ComprehensionOp::kNoSlot ? frame.locals + op.second_slot : nullptr) {}

  std::size_t size() const { return size_; }

  void Set(std::size_t index) {
    if (second_ == nullptr && elements_ != nullptr) {
      *first_ = elements_[index];
    } else {
      SetOther(index);
    }
  }

 private:
  void SetOther(std::size_t index) {
    if (second_ == nullptr) {
      *first_ = list_ != nullptr ? list_->At(index, frame_.arena) : map_->KeyAt(index, frame_.arena);
    } else if (list_ != nullptr) {
      *first_ = Value::Int(static_cast<std::int64_t>(index));
      *second_ = list_->At(index, frame_.arena);
    } else {
      *first_ = map_->KeyAt(index, frame_.arena);
      *second_ = map_->ValueAt(index, frame_.arena);
    }
  }

  Frame& frame_;
  const List* list_;
  const Map* map_;
  const Value* elements_;
  std::size_t size_;
  Value* first_;
  Value* second_;
};

constexpr std::string_view kPredicate = "the predicate gives a bool";

// all and exists: && and || over the elements, errors absorbed in the same way.
Value RunQuantifier(const ComprehensionOp& op, Range& range, Frame& frame) {
  const bool all = op.macro == Macro::kAll;
  Value first_error = Value::Missing();
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!frame.Charge(op.cost)) return frame.StepLimit(op);
    range.Set(i);
    const Value value = RunOperand(*op.filter, frame);
    if (value.is(Kind::kBool)) {
      if (value.as_bool() != all) return value;
    } else if (first_error.is_missing()) {
      first_error = NoBool(*op.filter, kPredicate, value, frame);
    }
  }
  return first_error.is_missing() ? Value::Bool(all) : first_error;
}

Value RunExistsOne(const ComprehensionOp& op, Range& range, Frame& frame) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!frame.Charge(op.cost)) return frame.StepLimit(op);
    range.Set(i);
    const Value value = RunOperand(*op.filter, frame);
    if (!value.is(Kind::kBool)) return NoBool(*op.filter, kPredicate, value, frame);
    if (value.as_bool()) ++found;
  }
  return Value::Bool(found == 1);
}

// Calls `take(value)` with what each turn that the filter lets through comes to. Stops at the first error,
// of the turns or given by `take`, and returns it; else returns missing.
template <class Take>
Value ForEachTurn(const ComprehensionOp& op, Range& range, Frame& frame, const Take& take) {
  for (std::size_t i = 0; i < range.size(); ++i) {
    if (!frame.Charge(op.cost)) return frame.StepLimit(op);
    range.Set(i);
    if (op.filter != nullptr) {
      const Value kept = RunOperand(*op.filter, frame);
      if (!kept.is(Kind::kBool)) return NoBool(*op.filter, kPredicate, kept, frame);
      if (!kept.as_bool()) continue;
    }
    const Value value = op.transform != nullptr ? RunOperand(*op.transform, frame) : frame.locals[op.first_slot];
    if (value.is_error()) return value;
    const Value error = take(value);
    if (error.is_error()) return error;
  }
  return Value::Missing();
}

// map, filter, transformList.
Value RunToList(const ComprehensionOp& op, Range& range, Frame& frame) {
  if (!frame.Charge(range.size())) return frame.StepLimit(op);
  const auto values = frame.arena.NewArray<Value>(range.size());
  std::size_t count = 0;
  const Value error = ForEachTurn(op, range, frame, [&](const Value& value) {
    values[count++] = value;
    return Value::Missing();
  });
  if (error.is_error()) return error;
  return WithinLimits(op, frame, frame.arena.New<ArrayList>(std::span<const Value>(values.first(count))));
}

// transformMap: the keys, or indexes of a list, with new values.
Value RunToMap(const ComprehensionOp& op, Range& range, Frame& frame) {
  if (!frame.Charge(range.size())) return frame.StepLimit(op);
  MapBuilder builder(frame.arena, range.size());
  const Value error = ForEachTurn(op, range, frame, [&](const Value& value) {
    return AddEntry(op, frame, builder, {frame.locals[op.first_slot], value});
  });
  return error.is_error() ? error : WithinLimits(op, frame, builder.Build());
}

// transformMapEntry: the entries of all maps that the turns give.
Value RunEntries(const ComprehensionOp& op, Range& range, Frame& frame) {
  std::vector<MapEntry> entries;
  Value error = ForEachTurn(op, range, frame, [&](const Value& value) {
    if (!value.is(Kind::kMap)) {
      return frame.Fail(*op.transform, FailureKind::kMessage, "transformMapEntry takes entries, as in {k: v}");
    }
    const Map& map = value.as_map();
    if (!frame.Charge(map.size())) return frame.StepLimit(op);
    for (std::size_t i = 0; i < map.size(); ++i) {
      entries.push_back({map.KeyAt(i, frame.arena), map.ValueAt(i, frame.arena)});
    }
    return Value::Missing();
  });
  if (error.is_error()) return error;
  MapBuilder builder(frame.arena, entries.size());
  for (const MapEntry& entry : entries) {
    error = AddEntry(op, frame, builder, entry);
    if (error.is_error()) return error;
  }
  return WithinLimits(op, frame, builder.Build());
}

Value RunSortBy(const ComprehensionOp& op, Range& range, Frame& frame) {
  std::vector<Value> elements;
  std::vector<Value> keys;
  const Value error = ForEachTurn(op, range, frame, [&](const Value& key) {
    elements.push_back(frame.locals[op.first_slot]);
    keys.push_back(key);
    return Value::Missing();
  });
  return error.is_error() ? error : SortedBy(frame, op, elements, keys);
}

}  // namespace

Value RunComprehension(const ComprehensionOp& op, Frame& frame) {
  const Value value = RunOperand(*op.range, frame);
  if (value.is_error()) return value;
  if (!value.is(Kind::kList) && !value.is(Kind::kMap)) {
    return frame.Fail(op, FailureKind::kMessage,
                      frame.arena.Copy("only a list or a map can be gone over, not a value of type " + std::string(TypeNameOf(value))));
  }
  Range range(op, value, frame);
  switch (op.macro) {
    case Macro::kAll:
    case Macro::kExists:
      return RunQuantifier(op, range, frame);
    case Macro::kExistsOne:
      return RunExistsOne(op, range, frame);
    case Macro::kMap:
      return RunToList(op, range, frame);
    case Macro::kToMap:
      return RunToMap(op, range, frame);
    case Macro::kEntries:
      return RunEntries(op, range, frame);
    case Macro::kSortBy:
      return RunSortBy(op, range, frame);
  }
  return Value::Null();
}

}  // namespace swamp::cel

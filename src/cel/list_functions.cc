#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cel/collections.h"
#include "cel/compare.h"
#include "cel/functions.h"
#include "cel/sorting.h"

// The list extension of the language; sortBy is a macro.
namespace swamp::cel::functions {
namespace {

Value ListOf(Call& call, const std::vector<Value>& elements) {
  return Value::Of(call.arena().New<ArrayList>(call.arena().CopyArray<Value>(elements)));
}

// All elements of call[0]; nothing when there aren't steps enough.
std::optional<std::vector<Value>> Elements(Call& call) {
  const List& list = call[0].as_list();
  if (!call.Charge(list.size())) return std::nullopt;
  std::vector<Value> elements;
  elements.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) elements.push_back(list.At(i, call.arena()));
  return elements;
}

void FlattenInto(std::vector<Value>& flat, const List& list, std::int64_t depth, Arena& arena) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value element = list.At(i, arena);
    if (element.is(Kind::kList) && depth > 0) {
      FlattenInto(flat, element.as_list(), depth - 1, arena);
    } else {
      flat.push_back(element);
    }
  }
}

Value Some(Call& call, const Value& value) { return Value::Optional(call.arena().New<Value>(value)); }

}  // namespace

Value Distinct(Call& call) {
  const auto elements = Elements(call);
  if (!elements) return call.StepLimit();
  std::vector<Value> kept;
  for (const Value& element : *elements) {
    // Each is compared with all before it.
    if (!call.Charge(kept.size() * ExtentOf(element).weight)) return call.StepLimit();
    const auto same = [&](const Value& other) { return Equal(element, other, call.mode(), call.arena()); };
    if (std::none_of(kept.begin(), kept.end(), same)) kept.push_back(element);
  }
  return ListOf(call, kept);
}

Value First(Call& call) {
  const List& list = call[0].as_list();
  return list.size() == 0 ? Value::Optional(nullptr) : Some(call, list.At(0, call.arena()));
}

Value Last(Call& call) {
  const List& list = call[0].as_list();
  return list.size() == 0 ? Value::Optional(nullptr) : Some(call, list.At(list.size() - 1, call.arena()));
}

Value Flatten(Call& call) {
  const std::int64_t depth = call.arguments().size() > 1 ? call[1].as_int() : 1;
  if (depth < 0) return call.Error("flatten takes a depth of 0 or more");
  if (!call.Charge(ExtentOf(call[0]).weight)) return call.StepLimit();
  std::vector<Value> flat;
  FlattenInto(flat, call[0].as_list(), depth, call.arena());
  return ListOf(call, flat);
}

Value Range(Call& call) {
  const std::int64_t size = std::max<std::int64_t>(call[0].as_int(), 0);
  if (!call.Charge(static_cast<std::uint64_t>(size))) return call.StepLimit();
  const auto numbers = call.arena().NewArray<Value>(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = Value::Int(static_cast<std::int64_t>(i));
  return Value::Of(call.arena().New<ArrayList>(std::span<const Value>(numbers)));
}

Value ReverseList(Call& call) {
  auto elements = Elements(call);
  if (!elements) return call.StepLimit();
  std::ranges::reverse(*elements);
  return ListOf(call, *elements);
}

Value Slice(Call& call) {
  const List& list = call[0].as_list();
  const std::int64_t start = call[1].as_int();
  const std::int64_t end = call[2].as_int();
  if (start < 0 || end < start || static_cast<std::uint64_t>(end) > list.size()) {
    return call.Error(fmt::format("index out of range: {} to {} in a list of {}", start, end, list.size()));
  }
  if (!call.Charge(static_cast<std::uint64_t>(end - start))) return call.StepLimit();
  std::vector<Value> elements;
  for (std::int64_t i = start; i < end; ++i) elements.push_back(list.At(static_cast<std::size_t>(i), call.arena()));
  return ListOf(call, elements);
}

Value Sort(Call& call) {
  const auto elements = Elements(call);
  if (!elements) return call.StepLimit();
  return SortedBy(call.frame(), *call.frame().current, *elements, *elements);
}

}  // namespace swamp::cel::functions

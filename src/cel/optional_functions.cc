#include <vector>

#include "cel/collections.h"
#include "cel/functions.h"

// The optionals extension; or, orValue, optMap and optFlatMap evaluate lazily and are macros.
namespace swamp::cel::functions {
namespace {

// What a field has when nobody has set it.
bool IsZero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.as_bool();
    case Kind::kInt:
      return value.as_int() == 0;
    case Kind::kUint:
      return value.as_uint() == 0;
    case Kind::kDouble:
      return value.as_double() == 0;
    case Kind::kString:
    case Kind::kBytes:
      return value.text().empty();
    case Kind::kList:
      return value.as_list().size() == 0;
    case Kind::kMap:
      return value.as_map().size() == 0;
    case Kind::kTimestamp:
      return value.as_time() == Timestamp{0, 0};
    case Kind::kDuration:
      return value.as_duration() == 0;
    case Kind::kOptional:
      return value.as_optional() == nullptr;
    default:
      return false;
  }
}

}  // namespace

Value HasValue(Call& call) { return Value::Bool(call[0].as_optional() != nullptr); }

Value OptionalNone(Call&) { return Value::Optional(nullptr); }

Value OptionalOf(Call& call) { return Value::Optional(call.arena().New<Value>(call[0])); }

Value OptionalOfNonZero(Call& call) { return IsZero(call[0]) ? Value::Optional(nullptr) : OptionalOf(call); }

Value OptionalValue(Call& call) {
  const Value* const content = call[0].as_optional();
  return content != nullptr ? *content : call.Error("the optional has no value");
}

Value Unwrap(Call& call) {
  const List& list = call[0].as_list();
  if (!call.Charge(list.size())) return call.StepLimit();
  std::vector<Value> contents;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value element = list.At(i, call.arena());
    if (element.is_error()) return element;
    if (!element.is(Kind::kOptional)) return call.NoSuchOverload();
    if (element.as_optional() != nullptr) contents.push_back(*element.as_optional());
  }
  return Value::Of(call.arena().New<ArrayList>(call.arena().CopyArray<Value>(contents)));
}

}  // namespace swamp::cel::functions

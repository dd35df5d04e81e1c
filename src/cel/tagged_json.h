#pragma once

#include "cel/arena.h"
#include "cel/value.h"
#include "util/json.h"

namespace swamp::cel {

// Values with their kinds, in the JSON form of `cel.expr.Value` that the language's conformance cases use:
// {"int64_value": "7"}, {"list_value": {"values": [...]}}, {"map_value": {"entries": [{"key": ..., "value":
// ...}]}}, times and durations as {"object_value": {"@type": "type.googleapis.com/google.protobuf.Timestamp",
// "value": "..."}}. Of our own: {"optional_value": {"value": ...}}, without `value` for an empty one, and
// {"opaque_value": {"type": "net.IP", "value": "..."}}.

enum class OptionalForm {
  kTagged,
  kContent,  // what it holds, or null
};

// `value` is no error.
Json EncodeTagged(const Value& value, OptionalForm optionals = OptionalForm::kTagged);

// Throws UserError `json_invalid` for what is no value; messages and enums are none, nor are opaque values.
Value DecodeTagged(const Json& json, Arena& arena);

}  // namespace swamp::cel

#pragma once

#include "cel/arena.h"
#include "cel/value.h"
#include "util/json.h"

namespace swamp::cel {

// JSON as expressions see it, made in `arena`, with no reference left to `json`. All numbers are doubles.
Value FromJson(const Json& json, Arena& arena);

// A value as JSON, after "JSON Data Conversion" in the language definition: whole numbers of magnitude up to
// 2^53 - 1 are numbers without a fraction whatever their kind, greater ints and uints are texts, infinities
// and NaN are the texts "Infinity", "-Infinity" and "NaN", bytes are base64, times and durations their
// texts. Beyond the definition: keys of maps become texts, types their names, opaque values what string()
// gives, and an optional becomes its content or null. `value` is no error; one inside it becomes null.
Json ToJson(const Value& value);

}  // namespace swamp::cel

#pragma once

#include <string>
#include <vector>

#include "util/json.h"

namespace swamp {

// What a value does not fulfil of a schema, one line a problem with the place in front:
// "run is required", "env.PATH has to be a string".
//
// Understands the part of JSON Schema 2020-12 (https://json-schema.org) that model types use: type, enum, const, properties,
// required, additionalProperties, propertyNames, items, minLength, maxLength,
// minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minItems, maxItems, uniqueItems,
// anyOf, oneOf, allOf, not, nullable types. What it does not know it does not enforce.
struct SchemaCheck {
  bool allow_missing = false;  // `required` is not looked at, at the top
};
std::vector<std::string> CheckSchema(const Json& schema, const Json& value, const std::string& place = {},
                                     SchemaCheck check = {});

// Whether a value is of a type of JSON Schema; a number without a fraction is an integer. An unknown type admits everything.
bool HasJsonType(const Json& value, const std::string& type);

// Top-level strings turned into what the schema asks for, where they have that form: "5" into 5, "true" into true,
// "[1]" into a list; "3.7" into 3 where a whole number is asked for. Anything else stays, and the check says what is wrong.
Json CoerceBySchema(const Json& schema, Json value);

}  // namespace swamp

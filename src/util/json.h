#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace swamp {

// JSON that keeps the order of its keys.
using Json = nlohmann::ordered_json;

// Reads one JSON document (RFC 8259). `what` names the source in the error: UserError `code` with line
// and column, also for nesting deeper than 200.
Json ParseJson(std::string_view text, std::string_view what, std::string_view code = "json_invalid");
// The same without an error: nothing when it is no JSON.
std::optional<Json> TryParseJson(std::string_view text);

// Two-space indent and a final newline; bytes that are no UTF-8 become U+FFFD.
std::string PrettyJson(const Json& value);
// One line, no newline.
std::string CompactJson(const Json& value);

// `object[key]` when object is an object and the member a string; else nothing. Likewise below.
std::optional<std::string> StringMember(const Json& object, std::string_view key);
std::optional<std::int64_t> IntegerMember(const Json& object, std::string_view key);

}  // namespace swamp

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "util/json.h"

namespace swamp {

// Reads one YAML document into JSON values by the core schema of YAML 1.2 (https://yaml.org/spec/1.2.2/):
// so `yes` and `2026-01-02` are strings. Integers beyond 64 bits become doubles; an empty document is
// null. Throws UserError `code` that names `what`, line and column; also for keys that aren't scalars,
// duplicate keys, more than one document, nesting deeper than 200, and aliases that expand to over a
// million values.
Json ParseYaml(std::string_view text, std::string_view what, std::string_view code = "yaml_invalid");

enum class YamlQuotes { kSingle, kDouble };

// Block style, two spaces, lists indented below their key, ends with a newline. Strings are quoted only
// where a YAML 1.1 or 1.2 reader could take them for something else.
std::string EmitYaml(const Json& value, YamlQuotes quotes = YamlQuotes::kSingle);

// Changes one key of a document whose root is a map (or empty), and leaves every other byte, comments
// included, as it is. `path` leads through maps; missing ones are made. An unchanged value changes no byte.
std::string SetYamlKey(std::string_view text, std::span<const std::string> path, const Json& value,
                       YamlQuotes quotes = YamlQuotes::kSingle);
// A key that isn't there changes nothing.
std::string RemoveYamlKey(std::string_view text, std::span<const std::string> path);

}  // namespace swamp

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "util/json.h"

namespace swamp {

// A model: a type with a name and arguments. What stands in `models/<type>/<name>.yaml`.
struct Definition {
  std::string type;                         // normalised
  std::optional<std::string> type_version;  // of the type when the file was written
  std::string id;                           // uuid
  std::string name;
  std::int64_t version = 1;  // the user's own counter
  Json tags = Json::object();
  Json global_arguments = Json::object();
  Json methods = Json::object();
  Json other = Json::object();  // inputs, checks, reports, resources, and keys that this program doesn't know

  // `type_of_folder` counts when the document has no `type`. Throws UserError validation_failed that lists every problem of
  // the document, or yaml_invalid with line and column.
  static Definition Parse(std::string_view yaml, const std::string& what, const std::string& type_of_folder);
  std::string ToYaml() const;

  // `methods.<name>.arguments`, or an empty map.
  Json ArgumentsOf(const std::string& method) const;
};

// Names that new definitions may have: [a-z0-9][a-z0-9_-]*, or scoped "@a/b[/c...]"; at most 64 bytes.
// Throws UserError validation_failed.
void CheckNewDefinitionName(const std::string& name);

// What is wrong with a name that a file has: read ones are allowed more than new ones.
std::optional<std::string> WhyUnreadableName(const std::string& name);
// "@a/b[/c...]", each part of a-z, 0-9, - and _; at most 64 bytes.
bool IsScopedName(std::string_view name);

// "models/<type>/<name>.yaml", or "<id>.yaml" for names that are no file names.
std::string DefinitionPath(const Definition& definition);

// Whether any string in the value holds a "${{ ... }}".
bool HasExpressions(const Json& value);

}  // namespace swamp

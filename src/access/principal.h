#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "util/json.h"

namespace swamp {

// Who asks: "user:ann", "worker:w1".
struct Principal {
  std::string kind;
  std::string id;
  bool operator==(const Principal&) const = default;

  std::string text() const { return kind + ":" + id; }
  Json ToJson() const { return {{"kind", kind}, {"id", id}}; }
  // Throws UserError validation_failed naming the forms.
  static Principal Parse(std::string_view text);
  // Nothing: it is none.
  static std::optional<Principal> FromJson(const Json& json);
};
// Whoever uses the command line.
Principal LocalUser();

// Whom a grant is for: "user:ann", "group:ops", "idp-group:admins".
struct Subject {
  std::string kind;
  std::string name;
  bool operator==(const Subject&) const = default;

  std::string text() const { return kind + ":" + name; }
  Json ToJson() const { return {{"kind", kind}, {"name", name}}; }
  static Subject Parse(std::string_view text);
  static std::optional<Subject> FromJson(const Json& json);
};

// What a grant is about: "model:web", "model:prod-*", "access:*". The pattern is a name, or a beginning of names and one "*"
// at its end.
struct Resource {
  std::string kind;  // "workflow", "model", "data", "access"
  std::string pattern;
  bool operator==(const Resource&) const = default;

  std::string text() const { return kind + ":" + pattern; }
  Json ToJson() const { return {{"kind", kind}, {"pattern", pattern}}; }
  static Resource Parse(std::string_view text);
  static std::optional<Resource> FromJson(const Json& json);
  // `name` is taken as it is: a "*" in it is a character.
  bool Matches(std::string_view name) const;
};

// "run", "read", "write", "admin".
bool IsAction(std::string_view word);
// Throws UserError validation_failed with the actions that there are.
void CheckAction(std::string_view word);

}  // namespace swamp

#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "util/context.h"
#include "util/error.h"
#include "util/json.h"

namespace swamp {

// ---- what a user types ----

struct InputSources {
  // Each --input: `k=v` (a string; dots in k nest), `k=@path` (the file's text; @scope/name stays as it is,
  // `\@x` is "@x"), `k:json=v`, or, as the only one, a whole object in JSON.
  std::vector<std::string> flags;
  std::optional<std::string> file;            // --input-file: a map in YAML
  std::optional<std::string> standard_input;  // --stdin: what was piped in
};

// The sets of inputs, one for each run: one, or as many as standard input has (an object in JSON, a list of
// them, one a line, or a map in YAML). --input goes over --input-file or each item; a whole object in --input makes
// the file unread. Relative paths count from the working directory.
// Throws UserError usage, json_invalid, yaml_invalid.
std::vector<Json> ReadInputSets(const Context& context, const InputSources& sources);

// As ReadInputSets, for commands that take one set only: usage when there are more.
Json ReadInputs(const Context& context, const InputSources& sources);

// `over` into `base`: maps are merged key by key, anything else is replaced.
void DeepMerge(Json& base, const Json& over);

// ---- what a definition or a workflow asks for ----

// The `inputs` of a definition or a workflow. Without `properties` the map itself is the table of properties.
// Enforced are required, type, enum, minItems, maxItems, uniqueItems, items, nested objects and
// additionalProperties; other keywords are kept and ignored.
class InputsSchema {
 public:
  // Null or an empty map: nothing is declared, and everything passes.
  explicit InputsSchema(const Json& json);

  bool empty() const { return schema_.empty(); }
  // Name to property.
  const Json& properties() const { return properties_; }
  bool Declares(const std::string& key) const { return properties_.contains(key); }
  std::vector<std::string> required() const;

  // Strings at the top turned into what the schema asks for, where they have that form.
  Json Coerce(Json inputs) const;
  // With the defaults of what isn't given (or null). At the top only; nested maps are taken whole.
  Json WithDefaults(Json inputs) const;
  // Every problem, a line each: "x is required", "x must be a number".
  // `demanded`: of those at the top that are required, the ones that something reads; null: all.
  std::vector<std::string> Problems(const Json& inputs, const std::set<std::string>* demanded = nullptr) const;

  // All three in this order: what a run works with. Throws UserError input_validation_failed with every problem.
  Json Apply(Json inputs, const std::set<std::string>* demanded = nullptr) const;

 private:
  Json schema_;  // in the long form
  Json properties_ = Json::object();
};

// What is wrong with a schema itself; empty for a good one.
std::vector<std::string> InputsSchemaProblems(const Json& json);

// UserError input_validation_failed that lists the problems.
UserError InputsInvalid(const std::vector<std::string>& problems);

}  // namespace swamp

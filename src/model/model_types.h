#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/run_method.h"
#include "util/json.h"

namespace swamp {

enum class MethodKind { kCreate, kRead, kUpdate, kDelete, kList, kAction };

struct MethodSpec {
  std::string name;
  std::string description;
  Json arguments;  // JSON Schema of an object; without `properties` an open map
  std::optional<MethodKind> declared_kind = std::nullopt;
  MethodFunction execute = {};  // none: only described here
  bool rollback_on_failure = false;  // its data is there for others only when it has succeeded

  // As declared, else by the name ("patch" is an update); nothing: it has none.
  std::optional<MethodKind> kind() const;
  // Whether it may change something: everything but read and list.
  bool mutates() const;
};
std::string NameOf(MethodKind kind);

// A check that runs before a method that changes something.
struct CheckSpec {
  std::string name;
  std::string description;
  std::vector<std::string> labels = {};
  std::vector<std::string> applies_to = {};  // methods; empty: all
  // What is wrong, given the model's global arguments; empty: it passes. May throw, which is a fault found.
  std::function<std::vector<std::string>(const Json& global_arguments)> run;

  bool AppliesTo(const std::string& method) const;
};

// How global arguments that an older version of the type was given become those of `to_version`.
struct UpgradeSpec {
  std::string to_version;
  std::string description;
  std::function<Json(Json global_arguments)> apply;
};

// What a model can be: the type's name, its version, and the methods that its models have. Immutable.
struct ModelType {
  std::string name;  // normalised
  std::string version;
  Json global_arguments;  // JSON Schema; null: the type takes none
  std::vector<MethodSpec> methods;
  Json data_output_specs = Json::array();
  bool internal = false;  // hidden from searches
  std::vector<CheckSpec> checks = {};
  std::vector<std::string> reports = {};
  std::vector<UpgradeSpec> upgrades = {};  // ascending; the last leads to `version`

  const MethodSpec* FindMethod(const std::string& method) const;
  // Throws UserError unknown_method with those that there are.
  const MethodSpec& RequireMethod(const std::string& method) const;
};

// `Acme::Shell ` -> "acme/shell": trimmed, lower case, "::", blanks and "." as "/", no doubled, leading or trailing
// slashes. Throws UserError usage for an empty name, path_escape for one that leads out of its folder.
std::string NormalizeTypeName(const std::string& raw);

// CalVer: "2026.02.09.1", a real day and a number. Both versions are valid; negative, zero or positive.
bool IsTypeVersion(const std::string& version);
int CompareTypeVersions(const std::string& a, const std::string& b);

// The fields of a schema that are marked `sensitive`, as paths: {"tls", "key"}. Nested objects are looked into, also
// where they are optional; lists and open maps aren't.
std::vector<std::vector<std::string>> SensitivePaths(const Json& schema);

// The types that this program knows. Filled by main.cc; constant while a command runs.
class ModelTypes {
 public:
  // Throws UserError model_type_invalid: a name that is there, a version that is none, upgrades out of order.
  void Add(ModelType type);
  const ModelType* Find(const std::string& name) const;
  // Throws UserError unknown_model_type with the nearest names and how to search.
  const ModelType& Require(const std::string& raw_name) const;
  std::vector<const ModelType*> All() const;

 private:
  std::vector<std::unique_ptr<ModelType>> types_;
};

// command/shell: runs a command with the system's shell.
ModelType ShellModelType();

// Methods as commands print them: name, description, arguments.
Json DescribeMethods(const ModelType& type);
Json DescribeMethod(const MethodSpec& method);
// The type as `model type describe` prints it. Compact: specs as names, schemas as names and types.
Json DescribeType(const ModelType& type, bool compact);

}  // namespace swamp

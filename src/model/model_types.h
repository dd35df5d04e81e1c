#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "util/json.h"

namespace swamp {

struct MethodSpec {
  std::string name;
  std::string description;
  Json arguments;  // JSON Schema of an object
};

// What a model can be: the type's name, its version, and the methods that its models have. Immutable.
struct ModelType {
  std::string name;  // normalised
  std::string version;
  Json global_arguments;  // JSON Schema; null: the type takes none
  std::vector<MethodSpec> methods;
  Json data_output_specs = Json::array();
  bool internal = false;  // hidden from searches

  const MethodSpec* FindMethod(const std::string& method) const;
};

// `Acme::Shell ` -> "acme/shell": trimmed, lower case, "::", blanks and "." as "/", no doubled, leading or trailing
// slashes. Throws UserError usage for an empty name, path_escape for one that leads out of its folder.
std::string NormalizeTypeName(const std::string& raw);

// The types that this program knows. Filled by main.cc; constant while a command runs.
class ModelTypes {
 public:
  void Add(ModelType type) { types_.push_back(std::make_unique<ModelType>(std::move(type))); }
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

}  // namespace swamp

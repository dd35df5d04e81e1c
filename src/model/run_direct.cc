#include "model/run_direct.h"

#include <fmt/format.h>

#include "model/definition_secrets.h"
#include "util/json_schema.h"
#include "util/log.h"
#include "util/random.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr Duration kCreationWait{10'000};

std::vector<std::string> PropertiesOf(const Json& schema) {
  std::vector<std::string> names;
  if (!schema.is_object() || !schema.contains("properties")) return names;
  for (const auto& [name, property] : schema["properties"].items()) names.push_back(name);
  return names;
}

bool Has(const Json& schema, const std::string& key) {
  return schema.is_object() && schema.contains("properties") && schema["properties"].contains(key);
}

bool IsOpenMap(const Json& schema) { return !schema.is_object() || !schema.contains("properties"); }

Json CheckedGlobals(const ModelType& type, Json arguments) {
  if (arguments.empty()) return arguments;
  arguments = CoerceBySchema(type.global_arguments, std::move(arguments));
  if (!HasExpressions(arguments)) {
    const auto problems = CheckSchema(type.global_arguments, arguments, "globalArguments", {.allow_missing = true});
    if (!problems.empty()) {
      throw UserError("validation_failed", fmt::format("the arguments do not fit {}: {}", type.name, Join(problems, "; ")));
    }
  }
  CheckLiteralSecrets(type, arguments);
  return arguments;
}

// Nothing, or a definition of this name; of another type it is an error.
std::optional<StoredDefinition> FindNamed(Definitions& definitions, const ModelType& type, const std::string& name) {
  auto found = definitions.Find(name);
  if (!found || found->definition.name != name) return std::nullopt;
  if (found->definition.type != type.name) {
    throw UserError("validation_failed",
                    fmt::format("the model {} is of the type {}, not {}", name, found->definition.type, type.name),
                    "Choose another name.");
  }
  return found;
}

}  // namespace

std::string AutomaticDefinitionPath(const Definition& definition) {
  return std::string(kAutoDefinitionsFolder) + DefinitionPath(definition).substr(std::string_view("models").size());
}

bool PublishNewDefinition(const Context& context, Datastore& datastore, const std::string& path) {
  if (!datastore.synced()) return true;
  for (const PushConflict& conflict : datastore.Push(context, {.only = {path}}).conflicts) {
    if (conflict.path != path) continue;
    if (!conflict.local_copy.empty()) context.files().Remove(conflict.local_copy);
    return false;
  }
  return true;
}

RoutedInputs RouteInputs(const ModelType& type, const MethodSpec& method, const Json& inputs) {
  RoutedInputs routed;
  std::vector<std::string> unknown;
  for (const auto& [key, value] : inputs.items()) {
    if (Has(method.arguments, key)) {
      routed.method[key] = value;
    } else if (Has(type.global_arguments, key)) {
      routed.global[key] = value;
    } else if (IsOpenMap(method.arguments)) {
      routed.method[key] = value;
    } else {
      unknown.push_back(Printable(key, 60));
    }
  }
  if (!unknown.empty()) {
    std::vector<std::string> valid = PropertiesOf(method.arguments);
    for (const std::string& name : PropertiesOf(type.global_arguments)) valid.push_back(name);
    throw UserError("validation_failed",
                    fmt::format("{} {} not known to {} of {}", Join(unknown, ", "), unknown.size() == 1 ? "is" : "are",
                                method.name, type.name),
                    fmt::format("Valid: {}.", Join(valid, ", ")));
  }
  return routed;
}

DirectModel FindOrCreateDirect(const Context& context, Datastore& datastore, Definitions& definitions, RunFiles& files,
                               const ModelType& type, const std::string& name, const Json& global_arguments) {
  const Json given = CheckedGlobals(type, global_arguments);
  const std::filesystem::path lock_path = files.PathOf(std::string(kAutoDefinitionsFolder)) / ".auto-definition-create" /
                                          (ReplaceAll(name, "/", "--") + ".lock");
  CheckNewDefinitionName(name);
  context.files().CreateFolders(lock_path.parent_path());
  const auto lock = context.files().Lock(context, lock_path, kCreationWait);
  if (!lock) {
    throw UserError("lock_timeout", fmt::format("another command has been making the model {} for 10 seconds", name),
                    "Try again.");
  }
  DirectModel model;
  if (auto found = FindNamed(definitions, type, name)) {
    model.stored = std::move(*found);
  } else {
    Definition definition{.type = type.name, .type_version = type.version, .id = context.random().Uuid(), .name = name};
    definition.global_arguments = given;
    const std::string path = AutomaticDefinitionPath(definition);
    const std::string yaml = definition.ToYaml();
    model.created = files.Create(path, yaml) && PublishNewDefinition(context, datastore, path);
    if (model.created) {
      model.stored = {std::move(definition), {path, yaml, {}}, true};
      return model;
    }
    // Somebody else's is there by now.
    auto theirs = FindNamed(definitions, type, name);
    if (!theirs) {
      throw UserError("model_exists", fmt::format("{} is there already, but is no model {}", path, name),
                      "Choose another name.");
    }
    model.stored = std::move(*theirs);
  }
  if (given.empty() || given == model.stored.definition.global_arguments) return model;
  model.stored.definition.global_arguments = given;
  if (!model.stored.automatic) {
    model.for_this_run = true;
    return model;
  }
  model.stored.document.bytes = SetYamlKey(model.stored.document.bytes, std::vector<std::string>{"globalArguments"}, given);
  files.Write(model.stored.document.path, model.stored.document.bytes);
  model.updated = true;
  return model;
}

}  // namespace swamp

#include "model/edit_models.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/definitions_tier.h"
#include "datastore/edit_document.h"
#include "model/control_plane_types.h"
#include "model/definition_secrets.h"
#include "model/definition_validation.h"
#include "model/inputs.h"
#include "model/run_direct.h"
#include "util/json_schema.h"
#include "util/random.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

UserError ModelExists(const std::string& name, const std::string& where) {
  return {"model_exists", fmt::format("Model already exists: {}", name),
          fmt::format("It is {}. Choose another name, or change it with `swamp model edit {}`.", where, name)};
}

Json GlobalArgumentsOf(const ModelType& type, const CreateModelRequest& request) {
  Json arguments = Json::object();
  for (const auto& [key, value] : request.global_arguments) arguments[key] = value;
  std::vector<std::string> problems;
  if (type.global_arguments.is_null()) {
    for (const auto& [key, value] : arguments.items()) {
      problems.push_back(fmt::format("{} is not known: {} takes no global arguments", Printable(key, 60), type.name));
    }
  } else {
    arguments = CoerceBySchema(type.global_arguments, std::move(arguments));
    arguments = InputsSchema(type.global_arguments).WithDefaults(std::move(arguments));
    // What an expression will give is known only at a run.
    if (!HasExpressions(arguments)) problems = CheckSchema(type.global_arguments, arguments);
  }
  if (!problems.empty()) {
    throw UserError("validation_failed", fmt::format("the arguments do not fit {}: {}", type.name, Join(problems, "; ")));
  }
  CheckLiteralSecrets(type, arguments);
  return arguments;
}

// The new text as a definition that may take the current one's place.
Definition ParseReplacement(const StoredDefinition& current, std::string& text) {
  const std::string what = "the new text of " + current.document.path;
  const Json json = ParseYaml(text, what);
  if (!json.is_object()) throw UserError("validation_failed", what + " is not a map of keys to values");
  // A document without them keeps what identifies the model.
  text = WithKeysKept(std::move(text), json,
                      {{"name", current.definition.name}, {"id", current.definition.id}, {"type", current.definition.type}});
  Definition next = Definition::Parse(text, what, current.definition.type);
  if (next.id != current.definition.id) {
    throw UserError("validation_failed",
                    fmt::format("the id of {} cannot change (it is {}, the new text has {})", current.definition.name,
                                current.definition.id, next.id),
                    "To make another model: swamp model create.");
  }
  if (next.type != current.definition.type) {
    throw UserError("validation_failed",
                    fmt::format("the type of {} cannot change (it is {}, the new text has {})",
                                current.definition.name, current.definition.type, next.type),
                    "To make a model of another type: swamp model create.");
  }
  if (next.name != current.definition.name) CheckNewDefinitionName(next.name);
  return next;
}

// `tier`: where the definition is.
StoredDefinition Update(const Context& context, Definitions definitions, ConfigTier& tier, const ModelTypes& types,
                        const UpdateModelRequest& request) {
  CheckModelText(types, request.current, request.text);
  std::string text = request.text;
  Definition next = ParseReplacement(request.current, text);
  const Document& old = request.current.document;
  const bool automatic = request.current.automatic;
  const bool renamed = next.name != request.current.definition.name;
  const std::string path = !renamed ? old.path : automatic ? AutomaticDefinitionPath(next) : DefinitionPath(next);

  const std::unique_ptr<ConfigChange> change = tier.Begin(context);
  if (renamed) {
    if (const auto twin = definitions.Find(next.name); twin && twin->definition.name == next.name) {
      throw ModelExists(next.name, twin->document.path);
    }
  }
  try {
    ReplaceOrMove(context, tier, *change, old, path, text);
    change->Publish();
  } catch (const DocumentExists&) {
    throw ModelExists(next.name, path);
  }
  return {std::move(next), {path, text, {}}, automatic};
}

}  // namespace

StoredDefinition CreateModel(const Context& context, ConfigTier& config, const ModelTypes& types,
                             const CreateModelRequest& request) {
  RefuseControlPlaneType(request.type, "created");
  const ModelType& type = types.Require(request.type);
  CheckNewDefinitionName(request.name);
  Definition definition{.type = type.name, .type_version = type.version, .id = context.random().Uuid(), .name = request.name};
  definition.global_arguments = GlobalArgumentsOf(type, request);

  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  Definitions definitions(context, config);
  if (const auto twin = definitions.Find(definition.name); twin && twin->definition.name == definition.name) {
    throw ModelExists(definition.name, twin->document.path);
  }
  const std::string path = DefinitionPath(definition);
  const std::string yaml = definition.ToYaml();
  try {
    change->Create(path, yaml);
    change->Publish();
  } catch (const DocumentExists& exists) {
    throw ModelExists(definition.name, exists.peer().empty() ? path : path + ", created by " + exists.peer());
  }
  return {std::move(definition), {path, yaml, {}}};
}

void CheckModelText(const ModelTypes& types, const StoredDefinition& current, const std::string& text) {
  RefuseControlPlaneType(current.definition.type, "edited");
  std::string copy = text;
  const Definition next = ParseReplacement(current, copy);
  const ModelType* type = types.Find(next.type);
  if (type == nullptr) return;
  std::vector<std::string> problems = GlobalArgumentProblems(*type, next);
  for (std::string& problem : MethodArgumentProblems(*type, next, std::nullopt)) problems.push_back(std::move(problem));
  if (next.other.contains("inputs")) {
    for (std::string& problem : InputsSchemaProblems(next.other["inputs"])) problems.push_back(std::move(problem));
  }
  if (problems.empty()) {
    CheckLiteralSecrets(*type, next.global_arguments);
    return;
  }
  throw UserError("validation_failed", fmt::format("{} would not be valid: {}", next.name, Join(problems, "; ")));
}

StoredDefinition UpdateModel(const Context& context, ConfigTier& config, const ModelTypes& types,
                             const UpdateModelRequest& request) {
  return Update(context, Definitions(context, config), config, types, request);
}

StoredDefinition UpdateAutomaticModel(const Context& context, const Repository& repo, Datastore& datastore, ConfigTier& config,
                                      const ModelTypes& types, const UpdateModelRequest& request) {
  const Definition& current = request.current.definition;
  CheckModelText(types, request.current, request.text);
  std::unique_ptr<StoreLock> lock;
  try {
    lock = datastore.LockModel(context, current.type + "/" + current.id);
  } catch (const StoreError& error) {
    if (!error.transient()) throw;  // the edit stays here, and its push settles the matter
  }
  const std::unique_ptr<ConfigTier> tier = OpenAutoDefinitionsTier(repo, datastore);
  StoredDefinition updated = Update(context, Definitions(context, config, &datastore), *tier, types, request);
  if (lock) lock->Release(context);
  return updated;
}

DeletedModel DeleteModel(const Context& context, ConfigTier& config, EvaluatedDefinitions* evaluated,
                         const std::string& name_or_id, bool force) {
  Definitions definitions(context, config);
  DeletedModel deleted;
  std::optional<Definition> definition;
  Document document;
  try {
    StoredDefinition stored = definitions.RequireForChange(name_or_id);
    deleted = {stored.definition.id, stored.definition.name, stored.definition.type, stored.document.path};
    document = std::move(stored.document);
    definition = std::move(stored.definition);
  } catch (const UserError& error) {
    const auto file = force && error.code() != "model_not_found" && error.code() != "ambiguous_id"
                          ? definitions.FindFile(name_or_id)
                          : std::nullopt;
    if (!file) throw;
    deleted = {"", name_or_id, TypeOfPath(file->path), file->path};
    document = *file;
  }
  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  change->Remove(document.path, document.version);
  // Before the publish, which then brings both to everybody.
  if (evaluated != nullptr && definition) deleted.evaluated_deleted = evaluated->Remove(context, *definition);
  change->Publish();
  return deleted;
}

}  // namespace swamp

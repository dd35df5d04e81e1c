// swamp model create, get, search, edit, delete, validate.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/editor.h"
#include "cli/expression_wiring.h"
#include "cli/model_run.h"
#include "cli/render/table.h"
#include "datastore/definitions_tier.h"
#include "model/definition_secrets.h"
#include "model/definition_validation.h"
#include "model/edit_models.h"
#include "model/run_delete.h"
#include "util/environment.h"
#include "util/text.h"
#include "vault/secrets.h"

namespace swamp {
namespace {

Json TypeParts(const ModelTypes& types, const std::string& type_name, const char* schema_key) {
  Json json = Json::object();
  if (const ModelType* type = types.Find(type_name)) {
    json["typeVersion"] = type->version;
    if (!type->global_arguments.is_null()) json[schema_key] = type->global_arguments;
    json["methods"] = DescribeMethods(*type);
  }
  return json;
}

std::string MethodNames(const ModelTypes& types, const std::string& type_name) {
  std::vector<std::string> names;
  if (const ModelType* type = types.Find(type_name)) {
    for (const MethodSpec& method : type->methods) names.push_back(method.name);
  }
  return Join(names, ", ");
}

Rendered RenderCreated(Session& session, const StoredDefinition& created) {
  const Definition& definition = created.definition;
  const std::string path = session.config().Locate(created.document.path).string();
  Json json = {{"id", definition.id}, {"type", definition.type}, {"name", definition.name}, {"path", path}};
  Json parts = TypeParts(session.model_types(), definition.type, "globalArguments");
  json["version"] = definition.type_version.value_or("");
  parts.erase("typeVersion");
  for (const auto& [key, value] : parts.items()) json[key] = value;
  return {json, fmt::format("Created {} ({})\n{}\nMethods: {}\n", definition.name, definition.type, path,
                            MethodNames(session.model_types(), definition.type))};
}

Rendered RenderDefinition(Session& session, const StoredDefinition& stored, const std::string& path) {
  const Definition& definition = stored.definition;
  const ModelType* type = session.model_types().Find(definition.type);
  const Json arguments =
      type != nullptr ? WithoutLiteralSecrets(*type, definition.global_arguments) : definition.global_arguments;
  Json json = {{"id", definition.id},
               {"name", definition.name},
               {"type", definition.type},
               {"version", definition.version},
               {"tags", definition.tags},
               {"globalArguments", arguments}};
  if (stored.automatic) json["autoCreated"] = true;
  const Json parts = TypeParts(session.model_types(), definition.type, "globalArgumentsSchema");
  for (const auto& [key, value] : parts.items()) json[key] = value;
  json["path"] = path;
  if (definition.type_version) json["definitionTypeVersion"] = *definition.type_version;
  for (const char* key : {"inputs", "checks", "reports", "resources"}) {
    if (definition.other.contains(key)) json[key] = definition.other[key];
  }
  std::string text = LabelledLines({{"Name", definition.name},
                                    {"Type", definition.type},
                                    {"Id", definition.id},
                                    {"Version", std::to_string(definition.version)},
                                    {"Path", json["path"].get<std::string>()},
                                    {"Methods", MethodNames(session.model_types(), definition.type)}});
  if (!definition.tags.empty()) text += LabelledLines({{"Tags", CompactJson(definition.tags)}});
  if (!arguments.empty()) text += LabelledLines({{"Arguments", CompactJson(arguments)}});
  return {std::move(json), std::move(text)};
}

Rendered RenderSearch(const std::string& query, const std::vector<StoredDefinition>& found) {
  Json results = Json::array();
  Table table({"NAME", "TYPE", "ID"});
  for (const StoredDefinition& one : found) {
    results.push_back({{"id", one.definition.id}, {"name", one.definition.name}, {"type", one.definition.type}});
    table.Add({one.definition.name, one.definition.type, one.definition.id});
  }
  return {{{"query", query}, {"results", results}},
          found.empty() ? std::string(query.empty() ? "There are no models yet.\n" : "No model matches.\n")
                        : table.Render()};
}

Rendered RenderValidation(const std::vector<ModelValidation>& validations, bool single) {
  Json models = Json::array();
  std::string text;
  int passed = 0;
  int warnings = 0;
  for (const ModelValidation& one : validations) {
    Json checks = Json::array();
    text += fmt::format("{} ({})\n", one.name, one.type);
    for (const ModelValidation::Check& check : one.checks) {
      Json json = {{"name", check.name}, {"passed", check.problems.empty()}};
      if (!check.problems.empty()) json["error"] = Join(check.problems, "; ");
      checks.push_back(std::move(json));
      text += fmt::format("  {} {}\n", check.problems.empty() ? "ok    " : "FAILED", check.name);
      for (const std::string& problem : check.problems) text += fmt::format("           {}\n", problem);
    }
    Json json_warnings = Json::array();
    for (const ModelValidation::Warning& warning : one.warnings) {
      Json json = {{"name", warning.name}, {"message", warning.message}};
      for (const EnvUse& use : warning.env_uses) json["envVars"].push_back({{"path", use.place}, {"envVar", use.name}});
      json_warnings.push_back(std::move(json));
      text += fmt::format("  note   {}: {}\n", warning.name, warning.message);
    }
    passed += one.passed() ? 1 : 0;
    warnings += static_cast<int>(one.warnings.size());
    models.push_back({{"modelId", one.id},
                      {"modelName", one.name},
                      {"type", one.type},
                      {"validations", checks},
                      {"warnings", json_warnings},
                      {"passed", one.passed()}});
  }
  if (single) return {models.front(), text};
  const int failed = static_cast<int>(validations.size()) - passed;
  text += fmt::format("{} passed, {} failed\n", passed, failed);
  return {{{"models", models},
           {"totalPassed", passed},
           {"totalFailed", failed},
           {"totalWarnings", warnings},
           {"passed", failed == 0}},
          text};
}

void AddCreate(CLI::App& group, Session& session) {
  struct Options {
    CreateModelRequest request;
    std::vector<std::string> global_args;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "create", "Create a model definition");
  command->add_option("type", options->request.type, "Model type, such as command/shell")->required();
  command->add_option("name", options->request.name, "Name, unique in the repository")->required();
  command->add_option("--global-arg", options->global_args, "Global argument key=value (repeatable)")
      ->type_name("<key=value>")
      ->take_all()
      ->allow_extra_args(false);
  command->callback([&session, options] {
    for (const std::string& argument : options->global_args) {
      const std::size_t equals = argument.find('=');
      if (equals == std::string::npos || equals == 0) {
        throw UserError("usage", fmt::format("--global-arg \"{}\" is not of the form key=value", Printable(argument, 80)));
      }
      options->request.global_arguments.emplace_back(argument.substr(0, equals), argument.substr(equals + 1));
    }
    session.Print(RenderCreated(session, CreateModel(session.context(), session.config(), session.model_types(),
                                                     options->request)));
  });
}

void AddGet(CLI::App& group, Session& session) {
  struct Options {
    std::string model;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "get", "Show a model definition");
  command->add_option("model_id_or_name", options->model, "Name or id")->required();
  command->add_flag("--refresh", options->refresh, "Bring the configuration up to date first");
  command->callback([&session, options] {
    if (options->refresh) session.config().Refresh(session.context());
    Definitions definitions(session.context(), session.config(), &session.datastore());
    const StoredDefinition stored = definitions.Require(options->model);
    session.Print(RenderDefinition(session, stored, definitions.Locate(stored).string()));
  });
}

void AddSearch(CLI::App& group, Session& session, const char* name, bool hidden) {
  struct Options {
    std::string query;
    bool all = false;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, name, "Find models by name, type or id");
  if (hidden) command->group("");
  command->add_option("query", options->query, "Part of a name, a type or an id");
  command->add_flag("--all", options->all, "Also models of internal types");
  command->add_flag("--refresh", options->refresh, "Bring the configuration up to date first");
  command->callback([&session, options] {
    if (options->refresh) session.config().Refresh(session.context());
    std::vector<StoredDefinition> found;
    for (StoredDefinition& one : Definitions(session.context(), session.config()).All()) {
      const ModelType* type = session.model_types().Find(one.definition.type);
      if (type != nullptr && type->internal && !options->all) continue;
      const bool matches = ContainsIgnoringCase(one.definition.name, options->query) ||
                           ContainsIgnoringCase(one.definition.type, options->query) ||
                           ContainsIgnoringCase(one.definition.id, options->query);
      if (matches) found.push_back(std::move(one));
    }
    std::stable_sort(found.begin(), found.end(), [](const StoredDefinition& a, const StoredDefinition& b) {
      return a.definition.name < b.definition.name;
    });
    session.Print(RenderSearch(options->query, found));
  });
}

void RunEdit(Session& session, const std::string& name, const std::string& file) {
  const Context& context = session.context();
  ConfigTier& config = session.config();
  Definitions definitions(context, config, &session.datastore());
  StoredDefinition current = definitions.RequireForChange(name);
  const auto reload = [&]() -> const Document& {
    config.Refresh(context);
    if (current.automatic) OpenAutoDefinitionsTier(session.repo(), session.datastore())->Refresh(context);
    current = definitions.Require(name);
    return current.document;
  };
  const auto [text, editor] =
      ReadNewText(session, file, "Pipe the new definition in, or name it with --file.", reload,
                  [&](const std::string& t) { CheckModelText(session.model_types(), current, t); });
  StoredDefinition now = current;
  if (text) {
    const UpdateModelRequest request{.current = current, .text = *text};
    now = current.automatic ? UpdateAutomaticModel(context, session.repo(), session.datastore(), config, session.model_types(), request)
                            : UpdateModel(context, config, session.model_types(), request);
  }
  const std::string& new_name = now.definition.name;
  Json json = DescribeEdit(definitions.Locate(now), editor, new_name, current.definition.type);
  json["editType"] = "definition";
  session.Print({json, text ? fmt::format("Updated {}\n", new_name) : fmt::format("{} is unchanged\n", new_name)});
}

void AddEdit(CLI::App& group, Session& session) {
  struct Options {
    std::string model;
    std::string file;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "edit", "Change a model definition in an editor or from standard input");
  command->add_option("model_id_or_name", options->model, "Name or id")->required();
  command->add_option("--file", options->file, "Take the new definition from this file")->type_name("<file>");
  command->callback([&session, options] { RunEdit(session, options->model, options->file); });
}

void AddDelete(CLI::App& group, Session& session) {
  struct Options {
    std::string model;
    Confirmation confirmation;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "delete", "Delete a model definition");
  command->add_option("model_id_or_name", options->model, "Name or id")->required();
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options] {
    if (!session.Confirm(fmt::format("Delete the model {}?", Printable(options->model, 80)),
                         options->confirmation.given())) {
      session.Print({{{"cancelled", true}}, "Nothing was deleted.\n"});
      return;
    }
    const ExpressionWiring wiring(session);
    const DeletedModelParts parts = DeleteModelWithData(session.context(), ServicesOf(session, wiring), options->model,
                                                        options->confirmation.force);
    const DeletedModel& deleted = parts.definition;
    session.Print({{{"deleted",
                     {{"id", deleted.id},
                      {"name", deleted.name},
                      {"type", deleted.type},
                      {"inputPath", parts.path.string()}}},
                    {"resourceDeleted", parts.resource_deleted},
                    {"outputsDeleted", parts.outputs_deleted},
                    {"evaluatedInputDeleted", deleted.evaluated_deleted},
                    {"dataDeleted", parts.data_deleted},
                    {"expiredDataAutoCollected", parts.expired_data_collected}},
                   fmt::format("Deleted {} ({})\n", deleted.name, deleted.type)});
  });
}

void AddValidate(CLI::App& group, Session& session) {
  struct Options {
    std::string model;
    ValidateModelRequest request;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "validate", "Check one model definition, or all");
  command->add_option("model_id_or_name", options->model, "Name or id; all when left out");
  command->add_option("--label", options->request.labels, "Only checks with this label (repeatable)")->type_name("<label>");
  command->add_option("--method", options->request.method, "Only this method's arguments and checks")->type_name("<method>");
  command->callback([&session, options] {
    Definitions definitions(session.context(), session.config(), &session.datastore());
    const ExpressionWiring wiring(session, ExpressionWiring::Data::kHere);
    Redactor redactor;
    SecretReader secrets(session.context(), session.config(), session.repo(), redactor);
    ExpressionHost host = wiring.host();
    // Checks see what they would see at a run.
    host.vault_get = [&](const std::string& vault, const std::string& key) {
      return secrets.Read(vault, key, "expression:vault-resolve");
    };
    std::vector<ModelValidation> validations;
    const auto validate = [&](const StoredDefinition& one) {
      validations.push_back(
          ValidateModel(session.context(), definitions, session.model_types(), host, one, options->request));
    };
    if (!options->model.empty()) {
      const StoredDefinition stored = definitions.Require(options->model);
      const ModelType* type = session.model_types().Find(stored.definition.type);
      if (type != nullptr && options->request.method) type->RequireMethod(*options->request.method);
      validate(stored);
    } else {
      for (const StoredDefinition& one : definitions.All()) validate(one);
      if (validations.empty()) throw UserError("validation_failed", "there are no models to validate");
    }
    session.Print(RenderValidation(validations, !options->model.empty()));
    for (const ModelValidation& one : validations) {
      if (!one.passed()) throw ExitQuietly{1};
    }
  });
}

}  // namespace

void AddModelCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "model", "Models: what they are and what they can do");
  AddCreate(*group, session);
  AddGet(*group, session);
  AddSearch(*group, session, "search", false);
  AddSearch(*group, session, "list", true);
  AddEdit(*group, session);
  AddDelete(*group, session);
  AddValidate(*group, session);
  AddModelEvaluate(*group, session);
  AddModelMethod(*group, session);
  AddModelOutput(*group, session);
  AddModelCancel(*group, session);
  AddModelType(*group, session);
}

}  // namespace swamp

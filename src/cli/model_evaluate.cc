// swamp model evaluate; swamp model type search, describe.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/expression_wiring.h"
#include "cli/picker.h"
#include "cli/render/table.h"
#include "model/definition_secrets.h"
#include "model/evaluate_models.h"
#include "util/text.h"

namespace swamp {
namespace {

Json DescribeEvaluated(const ModelTypes& types, const EvaluatedModel& one) {
  const Definition& stored = one.evaluated.stored;
  const ModelType* type = types.Find(stored.type);
  Json json = {{"id", stored.id},
               {"name", stored.name},
               {"type", stored.type},
               {"hadExpressions", one.evaluated.had_expressions},
               {"outputPath", one.path.string()},
               {"globalArguments", type != nullptr ? WithoutLiteralSecrets(*type, stored.global_arguments)
                                                   : stored.global_arguments}};
  for (const Unresolved& unresolved : one.evaluated.unresolved) {
    json["unresolved"].push_back(
        {{"path", unresolved.place}, {"expression", unresolved.expression}, {"error", unresolved.message}});
  }
  return json;
}

Rendered RenderEvaluated(const ModelTypes& types, const std::vector<EvaluatedModel>& models, bool single) {
  Json items = Json::array();
  Table table({"NAME", "EXPRESSIONS", "EVALUATED COPY"});
  std::size_t with_expressions = 0;
  for (const EvaluatedModel& one : models) {
    items.push_back(DescribeEvaluated(types, one));
    with_expressions += one.evaluated.had_expressions ? 1 : 0;
    const std::string left = one.evaluated.unresolved.empty()
                                 ? std::string(one.evaluated.had_expressions ? "evaluated" : "none")
                                 : fmt::format("{} left", one.evaluated.unresolved.size());
    table.Add({one.evaluated.stored.name, left, one.path.string()});
  }
  if (single) {
    const Definition& stored = models.front().evaluated.stored;
    std::string text = fmt::format("Evaluated {} ({})\n{}\n", stored.name, stored.type, models.front().path.string());
    if (!stored.global_arguments.empty()) text += PrettyJson(items.front()["globalArguments"]);
    return {items.front(), std::move(text)};
  }
  const std::size_t total = items.size();
  return {{{"items", std::move(items)}, {"total", total}, {"evaluated", with_expressions}},
          total == 0 ? "There are no models yet.\n" : table.Render()};
}

Rendered RenderType(const ModelType& type, bool compact) {
  Json json = DescribeType(type, compact);
  std::string text = LabelledLines({{"Type", type.name}, {"Version", type.version}});
  const auto arguments = [](const Json& schema) {
    std::vector<std::string> names;
    if (!schema.is_object() || !schema.contains("properties")) return std::string("none");
    for (const auto& [key, property] : schema["properties"].items()) {
      const Json required = schema.value("required", Json::array());
      const bool needed = std::find(required.begin(), required.end(), Json(key)) != required.end();
      names.push_back(key + (needed ? "" : "?"));
    }
    return names.empty() ? std::string("none") : Join(names, ", ");
  };
  if (!type.global_arguments.is_null()) {
    text += LabelledLines({{"Global arguments", arguments(type.global_arguments)}});
  }
  Table methods({"METHOD", "KIND", "ARGUMENTS", "DESCRIPTION"});
  for (const MethodSpec& method : type.methods) {
    methods.Add({method.name, method.kind() ? NameOf(*method.kind()) : "-", arguments(method.arguments),
                 method.description});
  }
  text += "\n" + methods.Render();
  if (type.data_output_specs.empty()) return {std::move(json), std::move(text)};
  Table data({"DATA", "KIND", "LIFETIME", "DESCRIPTION"});
  for (const Json& spec : type.data_output_specs) {
    data.Add({spec.value("specName", ""), spec.value("kind", ""), spec.value("lifetime", ""),
              spec.value("description", "")});
  }
  return {std::move(json), text + "\n" + data.Render()};
}

void AddTypeDescribe(CLI::App& group, Session& session, const char* name, bool hidden) {
  struct Options {
    std::string type;
    bool compact = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, name, "Show what models of a type can do and hold");
  if (hidden) command->group("");
  command->add_option("type", options->type, "Model type, such as command/shell")->required();
  command->add_flag("--compact", options->compact, "Names and types only");
  command->callback([&session, options] {
    session.Print(RenderType(session.model_types().Require(options->type), options->compact));
  });
}

}  // namespace

void AddModelEvaluate(CLI::App& group, Session& session) {
  struct Options {
    std::string model;
    bool all = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "evaluate", "Evaluate the expressions of a definition, or of all");
  command->add_option("model_id_or_name", options->model, "Name or id");
  command->add_flag("--all", options->all, "Every definition");
  command->callback([&session, options] {
    if (options->all != options->model.empty()) {
      throw UserError("usage", options->all ? "give a model or --all, not both" : "give a model, or --all");
    }
    const Context& context = session.context();
    Definitions definitions(context, session.config(), &session.datastore());
    std::vector<StoredDefinition> models;
    if (options->all) {
      models = definitions.All();
      std::stable_sort(models.begin(), models.end(), [](const StoredDefinition& a, const StoredDefinition& b) {
        return a.definition.name < b.definition.name;
      });
    } else {
      models.push_back(definitions.Require(options->model));
    }
    const ExpressionWiring wiring(session, ExpressionWiring::Data::kHere);
    session.Print(RenderEvaluated(session.model_types(),
                                  EvaluateModels(context, definitions, session.datastore(), wiring.host(), models),
                                  !options->all));
  });
}

void AddModelType(CLI::App& group, Session& session) {
  CLI::App* type = AddGroup(group, "type", "Model types");
  auto query = std::make_shared<std::string>();
  CLI::App* search = AddRepoCommand(*type, session, "search", "Find model types");
  search->add_option("query", *query, "Part of a type's name");
  search->callback([&session, query] {
    Json results = Json::array();
    std::vector<const ModelType*> found;
    Table table({"TYPE", "VERSION"});
    for (const ModelType* one : session.model_types().All()) {
      if (one->internal || !ContainsIgnoringCase(one->name, *query)) continue;
      results.push_back({{"raw", one->name}, {"normalized", one->name}});
      table.Add({one->name, one->version});
      found.push_back(one);
    }
    PrintOrPick(session, {{{"query", *query}, {"results", results}}, found.empty() ? "No type matches.\n" : table.Render()},
                found.size(), [&](std::size_t row) { session.Print(RenderType(*found[row], false)); });
  });
  AddTypeDescribe(*type, session, "describe", false);
  AddTypeDescribe(*type, session, "get", true);
}

}  // namespace swamp

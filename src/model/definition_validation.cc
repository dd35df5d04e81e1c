#include "model/definition_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/definition_secrets.h"
#include "model/definition_upgrade.h"
#include "model/evaluate.h"
#include "model/inputs.h"
#include "util/json_schema.h"
#include "util/text.h"

namespace swamp {
namespace {

// Names at the top of an expression.
const std::vector<std::string>& KnownVariables() {
  static const std::vector<std::string> names = {"inputs", "self", "model", "env", "run", "workflowRunId", "steps",
                                                 "webhook"};
  return names;
}

// With the spaces that functions live in.
constexpr std::array<std::string_view, 10> kRoots = {"inputs", "self", "model", "env",   "run",
                                                     "steps",  "data", "vault", "file", "webhook"};

std::string DidYouMean(const std::string& word, const std::vector<std::string>& names) {
  const auto near = NearestWords(word, names);
  return near.empty() ? std::string() : fmt::format(" (did you mean {}?)", near.front());
}

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  if (!object.is_object()) return keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsWordChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// What stands between `open` and `close` looks as if it was meant to be evaluated: "inputs.a", "vault.get(...)".
bool LooksMeant(std::string_view inner) {
  inner = Trim(inner);
  return std::any_of(kRoots.begin(), kRoots.end(), [&](std::string_view root) {
    if (!inner.starts_with(root) || inner.size() <= root.size() + 1) return false;
    const char next = inner[root.size()];
    return next == '[' || (next == '.' && IsWordChar(inner[root.size() + 1]));
  });
}

// "{{ inputs.a }}" and "${ inputs.a }", which stay text. A shell's ${HOME} and other templates are left alone.
void FindMistypedBraces(const std::string& place, const std::string& text, std::vector<std::string>& problems) {
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const bool dollar = at > 0 && text[at - 1] == '$';
    const bool twice = text.compare(at, 2, "{{") == 0;
    if (dollar == twice) {
      if (twice) ++at;
      continue;
    }
    const std::size_t begin = at + (twice ? 2 : 1);
    const std::size_t end = text.find(twice ? "}}" : "}", begin);
    if (end == std::string::npos) return;
    const std::string inner(Trim(std::string_view(text).substr(begin, end - begin)));
    if (!LooksMeant(inner)) continue;
    const std::string written = text.substr(at - (dollar ? 1 : 0), end + (twice ? 2 : 1) - at + (dollar ? 1 : 0));
    problems.push_back(fmt::format("{}: {} is text; an expression is written ${{{{ {} }}}}", place, Printable(written, 100),
                                   Printable(inner, 100)));
    at = end;
  }
}

void ForEachText(const Json& value, const std::string& place,
                 const std::function<void(const std::string&, const std::string&)>& visit) {
  if (value.is_string()) visit(place, value.get_ref<const std::string&>());
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) ForEachText(member, place.empty() ? key : place + "." + key, visit);
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) ForEachText(value[i], fmt::format("{}[{}]", place, i), visit);
  }
}

// Follows a path of names such as model.web.resource.result.main.attributes.exitCode as far as it is known.
class PathChecker {
 public:
  PathChecker(Definitions& definitions, const ModelTypes& types) : definitions_(definitions), types_(types) {}

  std::optional<std::string> Problem(const std::vector<std::string>& path) {
    if (!Contains(KnownVariables(), path[0])) {
      return fmt::format("{} is not known{}", path[0], DidYouMean(path[0], KnownVariables()));
    }
    if (path[0] != "model" || path.size() < 2) return std::nullopt;
    if (path[1].find(':') != std::string::npos) return OtherProblem(path);
    const auto found = definitions_.Find(path[1]);
    if (!found) {
      return fmt::format("there is no model {}{}", Printable(path[1], 80), DidYouMean(path[1], definitions_.Names()));
    }
    if (path.size() < 3) return std::nullopt;
    if (!Contains(ModelFields(), path[2])) return NoSuch("a model", path[2], ModelFields());
    const ModelType* type = types_.Find(found->definition.type);
    if (path[2] == "input" || path[2] == "definition") return DefinitionProblem(found->definition, type, path);
    if (type == nullptr || path[2] == "execution") return std::nullopt;
    return DataProblem(*type, path);
  }

 private:
  static const std::vector<std::string>& ModelFields() {
    static const std::vector<std::string> fields = {"input", "definition", "resource", "file", "execution"};
    return fields;
  }

  // Of "ns:name" and "*:name": what that namespace has is known when it is asked.
  static std::optional<std::string> OtherProblem(const std::vector<std::string>& path) {
    if (path.size() < 3 || Contains(ModelFields(), path[2])) return std::nullopt;
    return NoSuch("a model", path[2], ModelFields());
  }

  static std::string NoSuch(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
    return fmt::format("{} has no {}; it has {}", what, Printable(name, 80), known.empty() ? "none" : Join(known, ", "));
  }

  static std::optional<std::string> DefinitionProblem(const Definition& definition, const ModelType* type,
                                                      const std::vector<std::string>& path) {
    static const std::vector<std::string> kFields = {"id", "name", "version", "tags", "globalArguments", "inputs"};
    if (path.size() > 3 && !Contains(kFields, path[3])) return NoSuch("a definition", path[3], kFields);
    if (path.size() <= 4 || path[3] != "globalArguments" || definition.global_arguments.contains(path[4])) {
      return std::nullopt;
    }
    if (type != nullptr && type->global_arguments.is_object() && type->global_arguments.contains("properties") &&
        type->global_arguments["properties"].contains(path[4])) {
      return std::nullopt;
    }
    return NoSuch("globalArguments of " + definition.name, path[4], KeysOf(definition.global_arguments));
  }

  static std::optional<std::string> DataProblem(const ModelType& type, const std::vector<std::string>& path) {
    if (path.size() < 4) return std::nullopt;
    const Json* spec = nullptr;
    std::vector<std::string> specs;
    for (const Json& one : type.data_output_specs) {
      if (one.value("kind", "") != path[2]) continue;
      specs.push_back(one.value("specName", ""));
      if (specs.back() == path[3]) spec = &one;
    }
    if (spec == nullptr) return NoSuch(fmt::format("the type {}, as {},", type.name, path[2]), path[3], specs);
    if (path.size() < 6) return std::nullopt;  // the instance in between may be anything
    static const std::vector<std::string> kFileFields = {"id", "version", "createdAt", "path", "size", "contentType"};
    static const std::vector<std::string> kRecordFields = {
        "id",        "name",         "version",     "isLatest", "createdAt", "namespace",   "attributes",    "tags",
        "modelName", "modelId",      "modelType",   "specName", "dataType",  "contentType", "lifetime",      "ownerType",
        "streaming", "size",         "content",     "ownerRef", "source",    "workflowRunId", "workflowName", "jobName",
        "stepName"};
    const auto& fields = path[2] == "file" ? kFileFields : kRecordFields;
    if (!Contains(fields, path[5])) return NoSuch("a record", path[5], fields);
    if (path.size() < 7 || path[2] == "file" || (path[5] != "attributes" && path[5] != "content")) return std::nullopt;
    const Json schema = spec->value("schema", Json::object());
    const bool closed = schema.contains("properties") && schema.value("additionalProperties", Json(false)) == Json(false);
    if (!closed || schema["properties"].contains(path[6])) return std::nullopt;
    return NoSuch("attributes of " + path[3], path[6], KeysOf(schema["properties"]));
  }

  Definitions& definitions_;
  const ModelTypes& types_;
};

// The parts of a definition that expressions may stand in, with their place.
std::vector<std::pair<std::string, const Json*>> PartsOf(const Definition& definition) {
  std::vector<std::pair<std::string, const Json*>> parts = {{"tags", &definition.tags},
                                                            {"globalArguments", &definition.global_arguments},
                                                            {"methods", &definition.methods}};
  for (const char* key : {"checks", "reports", "resources"}) {
    if (definition.other.contains(key)) parts.emplace_back(key, &definition.other[key]);
  }
  return parts;
}

std::vector<std::string> NamesAt(const Json& checks, const char* key, std::vector<std::string>& problems) {
  std::vector<std::string> names;
  if (!checks.is_object() || !checks.contains(key) || checks[key].is_null()) return names;
  if (!checks[key].is_array()) {
    problems.push_back(fmt::format("checks.{} has to be a list of names", key));
    return names;
  }
  for (const Json& one : checks[key]) {
    if (one.is_string()) names.push_back(one.get<std::string>());
  }
  return names;
}

std::vector<std::string> CheckSelectionProblems(const ModelType& type, const Json& checks) {
  std::vector<std::string> problems;
  std::vector<std::string> known;
  for (const CheckSpec& check : type.checks) known.push_back(check.name);
  const auto required = NamesAt(checks, "require", problems);
  const auto skipped = NamesAt(checks, "skip", problems);
  for (const auto& [key, names] : {std::pair("require", required), std::pair("skip", skipped)}) {
    for (const std::string& name : names) {
      if (Contains(known, name)) continue;
      problems.push_back(fmt::format("checks.{}: {} is no check of {} (checks: {})", key, Printable(name, 60), type.name,
                                     known.empty() ? "none" : Join(known, ", ")));
    }
  }
  for (const std::string& name : required) {
    if (Contains(skipped, name)) problems.push_back(fmt::format("{} is both required and skipped", Printable(name, 60)));
  }
  for (const CheckSpec& check : type.checks) {
    for (const std::string& method : check.applies_to) {
      if (type.FindMethod(method) == nullptr) {
        problems.push_back(fmt::format("the check {} applies to {}, which is no method", check.name, method));
      }
    }
  }
  return problems;
}

// The checks of the type, on global arguments as a run has them.
class CheckRunner {
 public:
  CheckRunner(const Context& context, Definitions& definitions, const ExpressionHost& host, const ModelType& type,
              const Definition& definition)
      : secrets_(context.random()) {
    ModelEvaluator evaluator(definitions, host, &secrets_);
    const EvaluatedDefinition evaluated =
        evaluator.Evaluate(definition, {.inputs = DefaultInputs(definition)}, MethodToRun{.name = {}});
    arguments_ = secrets_.Reveal(CoerceBySchema(type.global_arguments, evaluated.global_arguments));
    // As at a run: what can't be evaluated isn't there.
    for (const Unresolved& one : evaluated.unresolved) {
      for (const auto& [key, value] : evaluated.global_arguments.items()) {
        const std::string place = "globalArguments." + key;
        if (FindUnresolved({one}, place) == nullptr) continue;
        arguments_.erase(key);
        missing_.push_back(Printable(Redacted(fmt::format("{} has no value here: {}", one.place, one.message))));
      }
    }
  }

  // Global arguments that checks can't see, and why. Without a value.
  const std::vector<std::string>& missing() const { return missing_; }

  std::vector<std::string> Run(const CheckSpec& check) const {
    std::vector<std::string> problems;
    try {
      problems = check.run(arguments_);
    } catch (const Cancelled&) {
      throw;
    } catch (const std::exception& error) {
      problems = {error.what()};
    }
    for (std::string& problem : problems) problem = Printable(Redacted(std::move(problem)));
    return problems;
  }

 private:
  std::string Redacted(std::string text) const {
    constexpr std::size_t kShortest = 3;
    for (const SecretTokens::Secret* secret : secrets_.All()) {
      if (secret->value.size() >= kShortest) text = ReplaceAll(std::move(text), secret->value, "***");
    }
    return text;
  }

  SecretTokens secrets_;
  Json arguments_;
  std::vector<std::string> missing_;
};

void RunChecks(const Context& context, Definitions& definitions, const ExpressionHost& host, const ModelType& type,
               const Definition& definition, const ValidateModelRequest& request, ModelValidation& validation) {
  std::vector<std::string> ignored;
  const Json selection = definition.other.contains("checks") ? definition.other["checks"] : Json();
  const auto skipped = NamesAt(selection, "skip", ignored);
  std::optional<CheckRunner> runner;
  for (const CheckSpec& check : type.checks) {
    const bool labelled = request.labels.empty() || std::any_of(check.labels.begin(), check.labels.end(), [&](const auto& label) {
                            return Contains(request.labels, label);
                          });
    if (!labelled || !check.run || Contains(skipped, check.name)) continue;
    if (request.method && !check.AppliesTo(*request.method)) continue;
    if (!runner) runner.emplace(context, definitions, host, type, definition);
    std::vector<std::string> problems = runner->Run(check);
    if (!problems.empty() && !runner->missing().empty()) {
      // It may be wrong only about what it can't see.
      validation.warnings.push_back({"Check: " + check.name, "could not be checked: " + Join(runner->missing(), "; ")});
      continue;
    }
    validation.checks.push_back({"Check: " + check.name, std::move(problems)});
  }
}

void AddWarnings(const ModelType* type, const Definition& definition, ModelValidation& validation) {
  std::vector<EnvUse> uses;
  for (const auto& [place, value] : PartsOf(definition)) {
    for (EnvUse& use : FindEnvUses(*value, place)) uses.push_back(std::move(use));
  }
  if (!uses.empty()) {
    std::vector<std::string> names;
    for (const EnvUse& use : uses) {
      if (!Contains(names, use.name)) names.push_back(use.name);
    }
    validation.warnings.push_back(
        {"Environment variables",
         fmt::format("{} of the environment: their values differ from machine to machine and are not hidden",
                     Join(names, ", ")),
         std::move(uses)});
  }
  if (type == nullptr) {
    validation.warnings.push_back(
        {"Model type", fmt::format("the type {} is not known here, so arguments were not checked", definition.type)});
    return;
  }
  if (const auto warning = PlanUpgrade(*type, definition).warning) validation.warnings.push_back({"Type version", *warning});
}

}  // namespace

std::vector<std::string> GlobalArgumentProblems(const ModelType& type, const Definition& definition) {
  if (HasExpressions(definition.global_arguments)) return {};
  if (type.global_arguments.is_null()) {
    std::vector<std::string> problems;
    for (const auto& [key, value] : definition.global_arguments.items()) {
      problems.push_back(fmt::format("{} is not known: {} takes no global arguments", Printable(key, 60), type.name));
    }
    return problems;
  }
  return CheckSchema(type.global_arguments, definition.global_arguments, "globalArguments", {.allow_missing = true});
}

std::vector<std::string> MethodArgumentProblems(const ModelType& type, const Definition& definition,
                                                const std::optional<std::string>& only) {
  std::vector<std::string> problems;
  for (const auto& [method, body] : definition.methods.items()) {
    if (only && method != *only) continue;
    const MethodSpec* spec = type.FindMethod(method);
    if (spec == nullptr) {
      std::vector<std::string> known;
      for (const MethodSpec& one : type.methods) known.push_back(one.name);
      problems.push_back(fmt::format("methods.{} is not known (methods of {}: {})", Printable(method, 60), type.name,
                                     Join(known, ", ")));
      continue;
    }
    const Json arguments = definition.ArgumentsOf(method);
    if (!body.is_object() || !body.contains("arguments") || HasExpressions(arguments)) continue;
    for (std::string& problem : CheckSchema(spec->arguments, arguments, "methods." + method + ".arguments")) {
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

std::vector<std::string> ExpressionProblems(Definitions& definitions, const ModelTypes& types,
                                            const Definition& definition) {
  std::vector<std::string> problems;
  PathChecker paths(definitions, types);
  const auto check = [&](const std::string& place, const std::string& text) {
    FindMistypedBraces(place, text, problems);
    for (const EmbeddedExpression& expression : FindExpressions(text)) {
      try {
        const ExpressionUse use = FindUse(expression.code);
        for (const std::string& name : use.unknown_functions) {
          problems.push_back(fmt::format("{}: there is no function {}", place, Printable(name, 60)));
        }
        for (const auto& path : use.paths) {
          if (const auto problem = paths.Problem(path)) problems.push_back(place + ": " + *problem);
        }
      } catch (const IoError&) {
        throw;
      } catch (const UserError& error) {
        problems.push_back(fmt::format("{}: {}", place, error.message()));
      }
    }
  };
  for (const auto& [place, value] : PartsOf(definition)) ForEachText(*value, place, check);
  return problems;
}

bool ModelValidation::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.problems.empty(); });
}

ModelValidation ValidateModel(const Context& context, Definitions& definitions, const ModelTypes& types,
                              const ExpressionHost& host, const StoredDefinition& stored,
                              const ValidateModelRequest& request) {
  const Definition& definition = stored.definition;
  ModelValidation validation{.id = definition.id, .name = definition.name, .type = definition.type};
  std::vector<std::string> schema_problems;
  if (definition.other.contains("inputs")) schema_problems = InputsSchemaProblems(definition.other["inputs"]);
  validation.checks.push_back({"Definition schema", std::move(schema_problems)});
  const ModelType* type = types.Find(definition.type);
  if (type != nullptr && !definition.global_arguments.empty()) {
    auto problems = GlobalArgumentProblems(*type, definition);
    for (const std::string& place : LiteralSecrets(*type, definition.global_arguments)) {
      problems.push_back(place + " is a secret and must not stand here: use ${{ vault.get('<vault>', '<key>') }}");
    }
    validation.checks.push_back({"Global arguments", std::move(problems)});
  }
  if (type != nullptr && !definition.methods.empty()) {
    validation.checks.push_back({"Method arguments", MethodArgumentProblems(*type, definition, request.method)});
  }
  auto expression_problems = ExpressionProblems(definitions, types, definition);
  const auto parts = PartsOf(definition);
  const bool has_expressions =
      std::any_of(parts.begin(), parts.end(), [](const auto& part) { return HasExpressions(*part.second); });
  if (has_expressions || !expression_problems.empty()) {
    validation.checks.push_back({"Expression paths", std::move(expression_problems)});
  }
  if (type != nullptr && definition.other.contains("checks")) {
    validation.checks.push_back({"Check selection", CheckSelectionProblems(*type, definition.other["checks"])});
  }
  AddWarnings(type, definition, validation);
  if (type != nullptr) RunChecks(context, definitions, host, *type, definition, request, validation);
  return validation;
}

}  // namespace swamp

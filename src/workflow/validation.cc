#include "workflow/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/expressions.h"
#include "model/inputs.h"
#include "util/text.h"

namespace swamp {
namespace {

// What stands in a task as text that is known before a run; nothing: an expression.
std::optional<std::string> Literal(const Json& task, const char* key) {
  const auto text = StringMember(task, key);
  if (!text || !FindExpressions(*text).empty()) return std::nullopt;
  return text;
}

bool IsOpen(const Json& task, const char* key) { return task.contains(key) && task[key].is_string(); }

std::set<std::string> KeysOf(const Json& object, const char* key) {
  std::set<std::string> keys;
  if (!object.is_object() || !object.contains(key) || !object[key].is_object()) return keys;
  for (const auto& [name, value] : object[key].items()) keys.insert(name);
  return keys;
}

// What a schema asks for and has no default of.
std::vector<std::string> RequiredOf(const Json& schema) {
  std::vector<std::string> required;
  if (!schema.is_object() || !schema.contains("required") || !schema["required"].is_array()) return required;
  for (const Json& name : schema["required"]) {
    if (!name.is_string()) continue;
    const Json property = schema.value("properties", Json::object()).value(name.get<std::string>(), Json());
    if (!property.is_object() || !property.contains("default")) required.push_back(name.get<std::string>());
  }
  return required;
}

bool IsClosed(const Json& schema) {
  return schema.is_object() && schema.contains("properties") &&
         schema.value("additionalProperties", Json(false)) == Json(false);
}

class StepChecker {
 public:
  StepChecker(Definitions& definitions, const ModelTypes& types, Workflows& workflows, const Workflow& workflow)
      : definitions_(definitions), types_(types), workflows_(workflows), workflow_(workflow) {
    const InputsSchema inputs(workflow.json.value("inputs", Json()));
    for (const auto& [name, property] : inputs.properties().items()) workflow_inputs_.insert(name);
  }

  std::vector<WorkflowCheck> Run() {
    for (const Job& job : workflow_.jobs) {
      for (const Step& step : job.steps) {
        place_ = fmt::format("job \"{}\", step \"{}\"", Printable(job.name, 80), Printable(step.name, 80));
        if (step.task_type() == "model_method") CheckModelStep(step.task);
        if (step.task_type() == "workflow") CheckWorkflowStep(step.task);
      }
    }
    return {models_, inputs_};
  }

 private:
  std::string Told(const std::string& text) const { return place_ + ": " + text; }

  void CheckModelStep(const Json& task) {
    const bool direct = task.contains("modelType") && !task["modelType"].is_null();
    const auto name = Literal(task, direct ? "modelName" : "modelIdOrName");
    std::optional<StoredDefinition> stored;
    try {
      if (name) stored = definitions_.Find(*name);
    } catch (const IoError&) {
      throw;
    } catch (const UserError& error) {
      models_.problems.push_back(Told(error.message()));
      return;
    }
    const ModelType* type = direct ? DirectType(task, stored) : TypeOf(name, stored);
    if (type == nullptr) return;
    const auto method_name = Literal(task, "methodName");
    if (!method_name) return;
    const MethodSpec* method = type->FindMethod(*method_name);
    if (method == nullptr) {
      std::vector<std::string> names;
      for (const MethodSpec& one : type->methods) names.push_back(one.name);
      models_.problems.push_back(Told(fmt::format("{} has no method {}; it has {}", type->name, Printable(*method_name, 60),
                                                  names.empty() ? "none" : Join(names, ", "))));
      return;
    }
    if (IsOpen(task, "inputs") || IsOpen(task, "globalArgs")) return;  // known only at a run
    CheckArguments(task, *type, *method, stored ? &stored->definition : nullptr, direct);
  }

  const ModelType* TypeOf(const std::optional<std::string>& name, const std::optional<StoredDefinition>& stored) {
    if (!name) return nullptr;
    if (!stored) {
      models_.warnings.push_back(Told(fmt::format("there is no model {} yet", Printable(*name, 80))));
      return nullptr;
    }
    const ModelType* type = types_.Find(stored->definition.type);
    if (type == nullptr) {
      models_.problems.push_back(Told(fmt::format("the type {} of the model {} is not known here",
                                                  Printable(stored->definition.type, 80), Printable(*name, 80))));
    }
    return type;
  }

  const ModelType* DirectType(const Json& task, const std::optional<StoredDefinition>& stored) {
    const auto type_name = Literal(task, "modelType");
    if (!type_name) return nullptr;
    try {
      const ModelType& type = types_.Require(*type_name);
      if (!stored || stored->definition.type == type.name) return &type;
      models_.problems.push_back(Told(fmt::format("the model {} is there already and is a {}, not a {}",
                                                  Printable(stored->definition.name, 80),
                                                  Printable(stored->definition.type, 80), type.name)));
    } catch (const UserError& error) {
      models_.problems.push_back(Told(error.message()));
    }
    return nullptr;
  }

  void CheckArguments(const Json& task, const ModelType& type, const MethodSpec& method, const Definition* definition,
                      bool direct) {
    const std::set<std::string> given = KeysOf(task, "inputs");
    const std::set<std::string> global = KeysOf(task, "globalArgs");
    const Json defined = definition != nullptr ? definition->ArgumentsOf(method.name) : Json::object();
    for (const std::string& name : RequiredOf(method.arguments)) {
      if (!given.contains(name) && !defined.contains(name)) {
        inputs_.problems.push_back(Told(fmt::format("{} of {} needs the input {}", method.name, type.name, name)));
      }
    }
    if (direct) CheckDirectArguments(type, method, definition, given, global, task.contains("globalArgs"));
    if (definition != nullptr) CheckReferencedInputs(*definition, method.name, given, direct ? global : std::set<std::string>());
  }

  void CheckDirectArguments(const ModelType& type, const MethodSpec& method, const Definition* definition,
                            const std::set<std::string>& given, const std::set<std::string>& global, bool has_global) {
    const std::set<std::string> of_method = KeysOf(method.arguments, "properties");
    const std::set<std::string> of_type = KeysOf(type.global_arguments, "properties");
    for (const std::string& name : RequiredOf(type.global_arguments)) {
      const bool there = (has_global ? global : given).contains(name) ||
                         (definition != nullptr && definition->global_arguments.contains(name));
      if (!there) inputs_.problems.push_back(Told(fmt::format("{} needs the global argument {}", type.name, name)));
    }
    if (!IsClosed(method.arguments)) return;
    for (const std::string& name : given) {
      if (of_method.contains(name) || (!has_global && of_type.contains(name))) continue;
      std::vector<std::string> valid(of_method.begin(), of_method.end());
      if (!has_global) valid.insert(valid.end(), of_type.begin(), of_type.end());
      inputs_.problems.push_back(Told(fmt::format("{} takes no input {}; it takes {}", method.name, Printable(name, 60),
                                                  valid.empty() ? "none" : Join(valid, ", "))));
    }
  }

  // `inputs.x` in the definition: of the step's inputs, over the workflow's, over the definition's own defaults.
  void CheckReferencedInputs(const Definition& definition, const std::string& method, const std::set<std::string>& given,
                             const std::set<std::string>& global) {
    std::set<std::string> wanted;
    const auto look = [&](const Json& arguments, const std::set<std::string>& overridden) {
      for (const auto& [key, value] : arguments.items()) {
        if (overridden.contains(key)) continue;
        ForEachExpressionText(value, key, [&](const std::string&, const std::string& text) { CollectInputs(text, wanted); });
      }
    };
    look(definition.global_arguments, global);
    look(definition.ArgumentsOf(method), given);
    const InputsSchema own(definition.other.value("inputs", Json()));
    for (const std::string& name : wanted) {
      if (given.contains(name) || workflow_inputs_.contains(name)) continue;
      if (own.Declares(name) && own.properties()[name].is_object() && own.properties()[name].contains("default")) continue;
      inputs_.problems.push_back(Told(fmt::format("the model {} reads inputs.{}, which neither the step nor the workflow gives",
                                                  definition.name, Printable(name, 60))));
    }
  }

  static void CollectInputs(const std::string& text, std::set<std::string>& wanted) {
    for (const EmbeddedExpression& expression : FindExpressions(text)) {
      try {
        for (const std::vector<std::string>& path : FindUse(expression.code).paths) {
          if (path.size() > 1 && path[0] == "inputs") wanted.insert(path[1]);
        }
      } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): `model validate` tells what is no expression
      }
    }
  }

  void CheckWorkflowStep(const Json& task) {
    const auto name = Literal(task, "workflowIdOrName");
    if (!name) return;
    std::optional<StoredWorkflow> nested;
    try {
      nested = workflows_.Find(*name);
    } catch (const IoError&) {
      throw;
    } catch (const UserError& error) {
      models_.problems.push_back(Told(error.message()));
      return;
    }
    if (!nested) return;  // looked up at the run
    if (nested->workflow.id == workflow_.id) {
      models_.problems.push_back(Told("the workflow runs itself"));
      return;
    }
    if (IsOpen(task, "inputs")) return;
    const std::set<std::string> given = KeysOf(task, "inputs");
    const InputsSchema schema(nested->workflow.json.value("inputs", Json()));
    for (const std::string& input : schema.required()) {
      const Json property = schema.properties().value(input, Json());
      const bool has_default = property.is_object() && property.contains("default");
      if (given.contains(input) || has_default) continue;
      inputs_.problems.push_back(Told(fmt::format("the workflow {} needs the input {}", nested->workflow.name, input)));
    }
  }

  Definitions& definitions_;
  const ModelTypes& types_;
  Workflows& workflows_;
  const Workflow& workflow_;
  std::set<std::string> workflow_inputs_;
  std::string place_;
  WorkflowCheck models_{.name = "Models and methods"};
  WorkflowCheck inputs_{.name = "Step inputs"};
};

}  // namespace

bool WorkflowValidation::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const WorkflowCheck& check) { return check.problems.empty(); });
}

std::size_t WorkflowValidation::warnings() const {
  std::size_t count = 0;
  for (const WorkflowCheck& check : checks) count += check.warnings.size();
  return count;
}

WorkflowValidation ValidateWorkflow(Definitions& definitions, const ModelTypes& types, Workflows& workflows,
                                    const Workflow& workflow) {
  WorkflowValidation validation{.id = workflow.id, .name = workflow.name, .checks = {{.name = "Schema validation"}}};
  for (WorkflowCheck& check : CheckStructure(workflow)) validation.checks.push_back(std::move(check));
  for (WorkflowCheck& check : StepChecker(definitions, types, workflows, workflow).Run()) {
    validation.checks.push_back(std::move(check));
  }
  return validation;
}

WorkflowValidation BrokenValidation(const BrokenWorkflow& broken) {
  return {.id = {},
          .name = WorkflowNameOfPath(broken.path),
          .checks = {{.name = "Schema validation", .problems = {broken.error.message()}}}};
}

}  // namespace swamp

#include <fmt/format.h>

#include <algorithm>

#include "model/definition_upgrade.h"
#include "model/inputs.h"
#include "model/run_steps.h"
#include "util/text.h"

namespace swamp {
namespace {

void AddAll(Redactor& redactor, const Json& value) {
  if (value.is_string()) {
    redactor.Add(value.get_ref<const std::string&>());
  } else if (value.is_structured()) {
    for (const Json& one : value) AddAll(redactor, one);
  } else if (!value.is_null() && !value.is_boolean()) {
    redactor.Add(CompactJson(value));
  }
}

// Arguments that a schema marks as sensitive are secrets, wherever they come from.
void RegisterSensitive(Redactor& redactor, const Json& schema, const Json& arguments) {
  for (const std::vector<std::string>& path : SensitivePaths(schema)) {
    const Json* value = &arguments;
    for (const std::string& part : path) {
      value = value->is_object() && value->contains(part) ? &(*value)[part] : nullptr;
      if (value == nullptr) break;
    }
    if (value != nullptr) AddAll(redactor, *value);
  }
}

}  // namespace

bool DeclaresArgument(const Json& schema, const std::string& key) {
  return schema.is_object() && schema.contains("properties") && schema["properties"].contains(key);
}

std::vector<std::string> ArgumentsOf(const Json& schema) {
  std::vector<std::string> names;
  if (IsOpenMap(schema)) return names;
  for (const auto& [name, property] : schema["properties"].items()) names.push_back(name);
  return names;
}

void MethodRunner::PrepareArguments(Attempt& attempt) {
  std::vector<std::string> problems;
  attempt.global_arguments = GlobalArguments(attempt, problems);
  Json arguments = Json::object();
  if (!IsOpenMap(method_->arguments)) {
    for (const auto& [key, value] : attempt.global_arguments.items()) {
      if (DeclaresArgument(method_->arguments, key)) arguments[key] = value;
    }
  }
  for (const auto& [key, value] : attempt.evaluated.arguments.items()) arguments[key] = value;
  for (const auto& [key, value] : attempt.overrides.items()) arguments[key] = value;
  const std::vector<std::string> unresolved = TakeUnresolved(attempt, arguments);
  // An argument that an expression failed to give is not missing as well.
  attempt.arguments = Fit(attempt, method_->arguments, std::move(arguments), "", {.allow_missing = !unresolved.empty()}, problems);
  if (!unresolved.empty() && problems.empty()) throw UserError("expression_failed", Join(unresolved, "; "));
  problems.insert(problems.end(), unresolved.begin(), unresolved.end());
  RegisterSensitive(attempt.redactor, method_->arguments, attempt.tokens->Reveal(attempt.arguments));
  if (!problems.empty()) {
    throw UserError("validation_failed",
                    fmt::format("the arguments do not fit {} of {}: {}", method_->name, type_->name, Join(problems, "; ")));
  }
  Json shown = attempt.evaluated.stored.ArgumentsOf(method_->name);
  for (const auto& [key, value] : attempt.overridden.items()) shown[key] = value;
  attempt.result.method_arguments = attempt.redactor.Redact(Coerced(method_->arguments, std::move(shown)));
  attempt.result.global_arguments = attempt.redactor.Redact(attempt.evaluated.stored.global_arguments);
}

std::vector<std::string> MethodRunner::TakeUnresolved(const Attempt& attempt, Json& arguments) const {
  std::vector<std::string> messages;
  const auto tell = [&](const std::string& place) {
    const Unresolved* unresolved = FindUnresolved(attempt.unresolved, place);
    if (unresolved != nullptr) messages.push_back(UnresolvedError(*unresolved).message());
    return unresolved != nullptr;
  };
  std::vector<std::string> given;
  for (const auto& [key, value] : arguments.items()) given.push_back(key);
  for (const std::string& key : given) {
    if (tell(PlaceOf(key))) arguments.erase(key);
  }
  // A global argument that failed would have filled the method's own of that name.
  for (const std::string& key : ArgumentsOf(method_->arguments)) {
    if (std::find(given.begin(), given.end(), key) == given.end()) tell("globalArguments." + key);
  }
  return messages;
}

Json MethodRunner::Coerced(const Json& schema, Json value) {
  return IsOpenMap(schema) ? value : CoerceBySchema(schema, std::move(value));
}

Json MethodRunner::GlobalArguments(Attempt& attempt, std::vector<std::string>& problems) {
  Json live = attempt.evaluated.global_arguments.is_object() ? attempt.evaluated.global_arguments : Json::object();
  const UpgradePlan plan = PlanUpgrade(*type_, definition());
  if (plan.warning) Warn(*plan.warning);
  if (!plan.steps.empty()) {
    live = UpgradeArguments(plan, std::move(live));
    SaveUpgraded(calm_, services_.config, *type_, model_.stored, plan);
  }
  if (type_->global_arguments.is_null()) {
    for (const auto& [key, value] : live.items()) {
      problems.push_back(fmt::format("globalArguments.{} is not known: {} takes no global arguments", Printable(key, 60), type_->name));
    }
    return Json::object();
  }
  for (const Unresolved& one : attempt.unresolved) {
    for (const std::string& key : ArgumentsOf(type_->global_arguments)) {
      if (FindUnresolved({one}, "globalArguments." + key) != nullptr) live.erase(key);
    }
  }
  Json fitted = Fit(attempt, type_->global_arguments, std::move(live), "globalArguments", {.allow_missing = true}, problems);
  RegisterSensitive(attempt.redactor, type_->global_arguments, attempt.tokens->Reveal(fitted));
  return fitted;
}

Json MethodRunner::Fit(Attempt& attempt, const Json& schema, Json value, const std::string& place, SchemaCheck check,
         std::vector<std::string>& problems) {
  if (IsOpenMap(schema)) return value;
  const Json revealed = CoerceBySchema(schema, attempt.tokens->Reveal(value));
  for (std::string& problem : CheckSchema(schema, revealed, place, check)) {
    problems.push_back(std::move(problem));
  }
  Json fitted = Json::object();
  for (const auto& [key, one] : revealed.items()) {
    fitted[key] = attempt.tokens->AnyIn(value[key]) && !one.is_number() && !one.is_boolean() ? value[key] : one;
  }
  return fitted;
}

}  // namespace swamp

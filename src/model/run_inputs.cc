#include <fmt/format.h>

#include <set>

#include "model/inputs.h"
#include "model/run_data.h"
#include "model/run_steps.h"
#include "util/environment.h"
#include "util/text.h"

namespace swamp {
namespace {

bool NamesASecret(const std::string& variable) {
  for (const char* word : {"SECRET", "TOKEN", "PASSWORD", "PRIVATE_KEY"}) {
    if (ContainsIgnoringCase(variable, word)) return true;
  }
  return false;
}

}  // namespace

void MethodRunner::Prepare(Attempt& attempt, const Json& inputs) {
  attempt.tokens = std::make_unique<SecretTokens>(context_.random());
  attempt.vaults = std::make_unique<SecretReader>(calm_, services_.config, services_.repo, attempt.redactor);
  attempt.host = services_.expressions;
  const std::string caller = fmt::format("model:{}/{}", definition().name, method_->name);
  attempt.host.vault_get = [vaults = attempt.vaults.get(), caller](const std::string& vault, const std::string& key) {
    return vaults->Read(vault, key, caller);
  };
  AddEphemeralData(attempt.host, definitions_, ephemeral_);
  EvaluationScope scope;
  Tell("validating_inputs");
  SplitInputs(attempt, inputs, scope);
  Tell("evaluating_expressions", {{"lastEvaluated", request_.last_evaluated}});
  ModelEvaluator evaluator(definitions_, attempt.host, attempt.tokens.get());
  MethodToRun to_run{method_->name};
  for (const auto& [key, value] : attempt.overridden.items()) to_run.replaced.insert(key);
  if (request_.last_evaluated) {
    UseLastEvaluated(attempt, evaluator, scope);
  } else {
    attempt.evaluated = evaluator.Evaluate(definition(), scope, to_run);
    const Definition& stored = attempt.evaluated.stored;
    // Mostly it is as the last run has left it.
    if (files_.Read(EvaluatedDefinitions::TierPathOf(stored)) != stored.ToYaml()) evaluated_copies_.Write(calm_, stored);
  }
  attempt.unresolved = attempt.evaluated.unresolved;
  EvaluateTyped(attempt, evaluator, scope);
  for (const std::string& place : attempt.evaluated.literal_places) {
    Warn(fmt::format("{} has the form of an expression but came in as data: it stays as it is", place));
  }
  WarnOfEnvironment(attempt);
}

void MethodRunner::SplitInputs(Attempt& attempt, const Json& inputs, EvaluationScope& scope) {
  const Json given = direct_ ? RouteInputs(*type_, *method_, inputs).method : inputs;
  Json declared = Json::object();
  const InputsSchema schema(definition().other.contains("inputs") ? definition().other["inputs"] : Json());
  std::vector<std::string> unknown;
  for (const auto& [key, value] : given.items()) {
    if (schema.Declares(key)) {
      declared[key] = value;
    } else if (DeclaresArgument(method_->arguments, key) || IsOpenMap(method_->arguments)) {
      attempt.overridden[key] = value;
    } else {
      unknown.push_back(Printable(key, 60));
    }
  }
  if (!unknown.empty()) {
    std::vector<std::string> valid = ArgumentsOf(method_->arguments);
    for (const auto& [name, property] : schema.properties().items()) valid.push_back(name);
    throw UserError("validation_failed",
                    fmt::format("{} {} no input of {} and no argument of {}", Join(unknown, ", "),
                                unknown.size() == 1 ? "is" : "are", definition().name, method_->name),
                    fmt::format("Valid: {}.", Join(valid, ", ")));
  }
  // MW-09: only what this method's arguments read is demanded.
  const std::set<std::string> demanded = InputsReadBy(definition(), method_->name);
  scope.inputs = schema.Apply(std::move(declared), &demanded);
}

void MethodRunner::UseLastEvaluated(Attempt& attempt, ModelEvaluator& evaluator, const EvaluationScope& scope) {
  auto stored = evaluated_copies_.Read(calm_, definition());
  if (!stored) {
    throw UserError("no_evaluated_definition", fmt::format("{} has never been evaluated", definition().name),
                    fmt::format("Run it without --last-evaluated, or: swamp model evaluate {}.", definition().name));
  }
  const auto expressions = evaluator.EvaluatorFor(&definition(), scope);
  const auto resolve = [&](const Json& tree, const std::string& place, const Json& source) {
    EvaluatedTree live = expressions->EvaluateStored(tree, place, source);
    attempt.evaluated.unresolved.insert(attempt.evaluated.unresolved.end(), live.unresolved.begin(), live.unresolved.end());
    return live.live;
  };
  const Json source = {{"globalArguments", definition().global_arguments}, {"methods", definition().methods}};
  attempt.evaluated.global_arguments = resolve(stored->global_arguments, "globalArguments", source);
  attempt.evaluated.arguments =
      resolve(stored->ArgumentsOf(method_->name), fmt::format("methods.{}.arguments", method_->name), source);
  attempt.evaluated.stored = std::move(*stored);
}

void MethodRunner::EvaluateTyped(Attempt& attempt, ModelEvaluator& evaluator, const EvaluationScope& scope) {
  const auto expressions = evaluator.EvaluatorFor(&definition(), scope);
  for (const auto& [key, value] : attempt.overridden.items()) {
    const bool typed = request_.typed_inputs.contains(key) && request_.typed_inputs[key] == value;
    const std::string place = PlaceOf(key);
    std::erase_if(attempt.unresolved, [&](const Unresolved& one) { return one.place.starts_with(place); });
    if (!typed || !HasExpressions(value)) {
      if (HasExpressions(value)) attempt.evaluated.literal_places.push_back(key);
      attempt.overrides[key] = value;
      continue;
    }
    EvaluatedTree tree = expressions->EvaluateTree(value, place, EvaluationPass::kRun);
    attempt.unresolved.insert(attempt.unresolved.end(), tree.unresolved.begin(), tree.unresolved.end());
    for (const EnvUse& use : FindEnvUses(value, place)) attempt.evaluated.env_uses.push_back(use);
    attempt.overrides[key] = tree.live;
  }
}

std::string MethodRunner::PlaceOf(const std::string& argument) const {
  return fmt::format("methods.{}.arguments.{}", method_->name, argument);
}

void MethodRunner::WarnOfEnvironment(Attempt& attempt) {
  std::set<std::string> names;
  for (const EnvUse& use : attempt.evaluated.env_uses) {
    names.insert(use.name);
    if (!NamesASecret(use.name)) continue;
    if (const auto value = context_.environment().Get(use.name)) attempt.redactor.Add(*value);
  }
  if (names.empty()) return;
  const std::string message =
      fmt::format("{} uses the environment ({}): its values are no secrets here and may be stored with the data",
                  definition().name, fmt::join(names, ", "));
  Warn(message);
  Tell("env_var_warning", {{"modelName", definition().name}, {"envVars", names}, {"message", message}});
}

}  // namespace swamp

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/definitions.h"
#include "model/expressions.h"

namespace swamp {

// What the expressions of a definition see besides the host.
struct EvaluationScope {
  Json inputs = Json::object();                // effective ones: see InputsSchema::Apply
  Json self = Json::object();                  // goes over the definition's own: forEach items
  std::map<std::string, LazyValue> variables = {};  // run, steps, workflowRunId ...
};

struct EvaluatedDefinition {
  Definition stored;  // the copy to keep: values filled in, vault.get and env as text
  bool had_expressions = false;
  Json global_arguments;              // with tokens for secrets, when evaluated for a method
  Json arguments = Json::object();    // of the method, likewise
  std::vector<Unresolved> unresolved;  // places: "globalArguments.a", "methods.run.arguments.b"
  std::vector<std::string> literal_places;
  std::vector<EnvUse> env_uses;  // what of the environment the values hold
};

// The method that a definition is evaluated for: its arguments and the global ones then have no expression left
// but those that failed.
struct MethodToRun {
  std::string name;
  std::set<std::string> replaced = {};  // arguments that something else takes the place of: their secrets aren't read
};

// Evaluates definitions, and of other models what they refer to, when they refer to it: whatever order that takes.
// A model's own inputs have their defaults when another refers to it. Used by one thread, for one command or step.
class ModelEvaluator {
 public:
  // All outlive it. `secrets`: null where no method runs.
  ModelEvaluator(Definitions& definitions, const ExpressionHost& host, SecretTokens* secrets = nullptr);
  ~ModelEvaluator();

  // Leniently: what fails stays text and is listed. Cycles are shown as a chain.
  EvaluatedDefinition Evaluate(const Definition& definition, const EvaluationScope& scope,
                               const std::optional<MethodToRun>& method = std::nullopt);

  // Other expressions in the same scope: of a step, of a guard, of inputs that a user typed. `definition`: what `self` is;
  // null: only scope.self. It must not outlive what this was made with.
  std::unique_ptr<ExpressionEvaluator> EvaluatorFor(const Definition* definition, const EvaluationScope& scope);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// The inputs that the method's arguments read, also through self.globalArguments: what a run of it may demand.
std::set<std::string> InputsReadBy(const Definition& definition, const std::string& method);

// The `inputs` that a definition's expressions see when nobody gives any.
Json DefaultInputs(const Definition& definition);

}  // namespace swamp

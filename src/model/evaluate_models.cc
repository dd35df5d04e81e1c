#include "model/evaluate_models.h"

#include <fmt/format.h>

#include "model/evaluated_definitions.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

// Faults that no run will mend.
std::vector<std::string> Faults(const EvaluatedDefinition& evaluated) {
  std::vector<std::string> faults;
  for (const Unresolved& one : evaluated.unresolved) {
    if (one.reason == Unresolved::Reason::kFailed) continue;
    faults.push_back(fmt::format("{} of {}: {}", Printable(one.place, 200), evaluated.stored.name, one.message));
  }
  return faults;
}

void Warn(const Context& context, const EvaluatedDefinition& evaluated) {
  for (const Unresolved& one : evaluated.unresolved) {
    context.log().Warn("model", fmt::format("{} of {} stays as it is: {}", Printable(one.place, 200),
                                            evaluated.stored.name, one.message));
  }
  for (const std::string& place : evaluated.literal_places) {
    context.log().Warn("model", fmt::format("{} of {}: the value looks like an expression and is taken as text",
                                            Printable(place, 200), evaluated.stored.name));
  }
}

}  // namespace

std::vector<EvaluatedModel> EvaluateModels(const Context& context, Definitions& definitions, Datastore& datastore,
                                           const ExpressionHost& host, const std::vector<StoredDefinition>& models) {
  std::vector<EvaluatedModel> result;
  std::vector<std::string> faults;
  EvaluatedDefinitions copies(datastore);
  for (const StoredDefinition& model : models) {
    context.Check();
    ModelEvaluator evaluator(definitions, host);
    EvaluatedDefinition evaluated = evaluator.Evaluate(model.definition, {.inputs = DefaultInputs(model.definition)});
    if (auto found = Faults(evaluated); !found.empty()) {
      std::move(found.begin(), found.end(), std::back_inserter(faults));
      continue;
    }
    Warn(context, evaluated);
    std::filesystem::path path = copies.Write(context, evaluated.stored);
    result.push_back({std::move(evaluated), std::move(path)});
  }
  if (!result.empty()) copies.Publish(context);
  if (!faults.empty()) {
    throw UserError("expression_failed", Join(faults, "\n"), "`swamp model validate` shows every fault.");
  }
  return result;
}

}  // namespace swamp

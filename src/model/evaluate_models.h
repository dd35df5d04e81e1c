#pragma once

#include <filesystem>
#include <vector>

#include "datastore/datastore.h"
#include "model/evaluate.h"

namespace swamp {

struct EvaluatedModel {
  EvaluatedDefinition evaluated;
  std::filesystem::path path;  // of the copy
};

// What `model evaluate` does: evaluates each definition with the defaults of its inputs, keeps the copies and publishes
// them. What can't be known without a run stays as it is, with a warning for what fails.
// Throws expression_failed for an expression that is none or depends on itself; the other copies are written before.
std::vector<EvaluatedModel> EvaluateModels(const Context& context, Definitions& definitions, Datastore& datastore,
                                           const ExpressionHost& host, const std::vector<StoredDefinition>& models);

}  // namespace swamp

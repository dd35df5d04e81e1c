#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/definitions.h"
#include "model/model_types.h"

namespace swamp {

// What a method run has to do with global arguments that were written for another version of the type. A file says
// for which in `typeVersion`; one without is taken as it is, with a warning.
struct UpgradePlan {
  std::vector<const UpgradeSpec*> steps;  // in order; empty: nothing to do
  std::optional<std::string> warning;
};
UpgradePlan PlanUpgrade(const ModelType& type, const Definition& definition);

// The arguments after every step. Throws UserError upgrade_failed naming the version that can't be reached.
Json UpgradeArguments(const UpgradePlan& plan, Json global_arguments);

// The definition as it is to be on disk, with its expressions and comments: global arguments and typeVersion new, all
// else the same. Published like an edit. Throws upgrade_failed, literal_sensitive_global_arg, config_conflict.
StoredDefinition SaveUpgraded(const Context& context, ConfigTier& config, const ModelType& type,
                              const StoredDefinition& stored, const UpgradePlan& plan);

}  // namespace swamp

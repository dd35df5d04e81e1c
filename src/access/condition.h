#pragma once

#include <optional>
#include <string>

#include "util/json.h"

namespace swamp {

// Conditions of grants: CEL expressions over the resource's fields and `principal{sub, groups, collectives}`.

// What one evaluation may cost; a condition that needs more has failed.
inline constexpr std::int64_t kConditionSteps = 100'000;

// Throws UserError validation_failed for what is no expression, or longer than 4096 bytes.
void CheckCondition(const std::string& condition);

struct ConditionOutcome {
  std::optional<bool> holds;  // nothing: it failed, and counts as whatever keeps access closed
  std::string why;            // it failed
};
// `variables`: the fields by their names, and "principal".
ConditionOutcome EvaluateCondition(const std::string& condition, const Json& variables);

}  // namespace swamp

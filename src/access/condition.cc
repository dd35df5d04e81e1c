#include "access/condition.h"

#include <fmt/format.h>

#include "cel/activation.h"
#include "cel/collections.h"
#include "cel/environment.h"
#include "cel/evaluator.h"
#include "cel/expression.h"
#include "cel/issue.h"
#include "cel/json_values.h"

namespace swamp {
namespace {

constexpr std::size_t kLongest = 4096;

const cel::Environment& ConditionEnvironment() {
  static const cel::Environment environment(cel::Mode::kDialect);
  return environment;
}

}  // namespace

void CheckCondition(const std::string& condition) {
  if (condition.size() > kLongest) {
    throw UserError("validation_failed", fmt::format("the condition has {} bytes, more than {}", condition.size(), kLongest));
  }
  try {
    const cel::Expression expression(condition, ConditionEnvironment());
  } catch (const cel::ExpressionError& error) {
    throw UserError("validation_failed", "the condition can't be used: " + error.message(),
                    "`swamp cel eval` tries one out.");
  }
}

ConditionOutcome EvaluateCondition(const std::string& condition, const Json& variables) {
  try {
    if (condition.size() > kLongest) return {std::nullopt, "it is too long"};
    const cel::Expression expression(condition, ConditionEnvironment());
    cel::Arena arena;
    cel::MapBuilder map(arena, variables.size());
    for (const auto& [name, value] : variables.items()) map.Add(cel::Value::String(name), cel::FromJson(value, arena));
    cel::Evaluator evaluator(expression, kConditionSteps);
    const cel::Value value = evaluator.EvaluateOrThrow(cel::MapActivation(*map.Build()));
    if (value.kind() == cel::Kind::kBool) return {value.as_bool(), {}};
    return {std::nullopt, "its value is neither true nor false"};
  } catch (const std::exception& error) {  // whatever it is, access stays closed
    return {std::nullopt, error.what()};
  }
}

}  // namespace swamp

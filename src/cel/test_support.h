#pragma once

// For tests: evaluates an expression in one line.

#include <string>
#include <string_view>

#include "cel/eval_service.h"
#include "cel/issue.h"
#include "util/json.h"

namespace swamp::cel {

// The value as compact tagged JSON, or "error: <message>".
inline std::string Tagged(std::string_view text, Mode mode, Json variables = Json::object(),
                          Json typed_variables = Json::object(), const TimeZones* zones = nullptr) {
  try {
    const EvalRequest request{.expression = std::string(text),
                              .mode = mode,
                              .container = {},
                              .variables = std::move(variables),
                              .typed_variables = std::move(typed_variables),
                              .steps = kDefaultSteps};
    return CompactJson(Evaluate(request, ResultForm::kTagged, zones));
  } catch (const ExpressionError& error) {
    return "error: " + error.issue().message;
  }
}

// The value as compact plain JSON, or "error: <message>".
inline std::string Plain(std::string_view text, Mode mode, Json variables = Json::object(),
                         std::int64_t steps = kDefaultSteps) {
  try {
    const EvalRequest request{.expression = std::string(text),
                              .mode = mode,
                              .container = {},
                              .variables = std::move(variables),
                              .typed_variables = Json::object(),
                              .steps = steps};
    return CompactJson(Evaluate(request, ResultForm::kPlain, nullptr));
  } catch (const ExpressionError& error) {
    return "error: " + error.issue().message;
  }
}

inline std::string Strict(std::string_view text, Json variables = Json::object()) {
  return Plain(text, Mode::kStrict, std::move(variables));
}

inline std::string Dialect(std::string_view text, Json variables = Json::object()) {
  return Plain(text, Mode::kDialect, std::move(variables));
}

}  // namespace swamp::cel

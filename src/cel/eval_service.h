#pragma once

#include <string>
#include <string_view>

#include "cel/evaluator.h"
#include "cel/mode.h"
#include "util/json.h"

namespace swamp::cel {

class TimeZones;

// One expression with all it needs: what `swamp cel eval` is asked.
struct EvalRequest {
  std::string expression;
  Mode mode = Mode::kDialect;
  std::string container;           // see Environment
  Json variables = Json::object();        // name to plain JSON
  Json typed_variables = Json::object();  // name to tagged value (tagged_json.h); wins over `variables`
  std::int64_t steps = kDefaultSteps;
};

// Variables as users write them: plain JSON, except that those under the key `typedVars` are tagged values.
// Adds them to the request. Throws UserError `json_invalid`, naming `what`, when it is no object.
void AddVariables(const Json& variables, std::string_view what, EvalRequest& request);

enum class ResultForm { kPlain, kTagged };  // json_values.h, tagged_json.h

// The value of the expression. In the dialect an optional left over becomes its content or null.
// Throws ExpressionError, and UserError `json_invalid` for variables that are none.
Json Evaluate(const EvalRequest& request, ResultForm form, const TimeZones* zones);

// Answers one line of a tool: {"expr", "vars"?, "typedVars"?, "mode"?: "strict"|"dialect", "container"?} with
// {"value": <tagged>} or {"error": {"message", "line", "column"}}, one line without its end. Line and column
// are 0 when the request itself is wrong. "typedVars" may stand inside "vars" too. `mode`: that of requests that name none.
std::string AnswerEvalLine(std::string_view line, Mode mode, const TimeZones* zones);

}  // namespace swamp::cel

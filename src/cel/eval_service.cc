#include "cel/eval_service.h"

#include <fmt/format.h>

#include "cel/collections.h"
#include "cel/environment.h"
#include "cel/expression.h"
#include "cel/json_values.h"
#include "cel/tagged_json.h"
#include "util/text.h"

namespace swamp::cel {
namespace {

constexpr std::string_view kTypedVariables = "typedVars";

const Json& ObjectOf(const Json& json, std::string_view name) {
  if (json.is_object()) return json;
  throw UserError("json_invalid", fmt::format("{} is not an object of variables", name));
}

EvalRequest ReadRequest(std::string_view line, Mode mode) {
  const Json json = ParseJson(line, "the request");
  const std::optional<std::string> expression = StringMember(json, "expr");
  if (!expression) throw UserError("json_invalid", "the request has no text \"expr\"");
  EvalRequest request;
  request.expression = *expression;
  request.mode = mode;
  if (json.contains("mode")) {
    const std::string name = StringMember(json, "mode").value_or("");
    if (name != "strict" && name != "dialect") {
      throw UserError("json_invalid", "the \"mode\" of a request is \"strict\" or \"dialect\"");
    }
    request.mode = name == "strict" ? Mode::kStrict : Mode::kDialect;
  }
  request.container = StringMember(json, "container").value_or("");
  if (json.contains("vars")) AddVariables(json["vars"], "\"vars\"", request);
  if (json.contains(kTypedVariables)) AddVariables({{kTypedVariables, json[kTypedVariables]}}, "the request", request);
  return request;
}

Json ErrorAnswer(std::string_view message, Position position) {
  return {{"error", {{"message", message}, {"line", position.line}, {"column", position.column}}}};
}

}  // namespace

void AddVariables(const Json& variables, std::string_view what, EvalRequest& request) {
  for (const auto& [name, value] : ObjectOf(variables, what).items()) {
    if (name == kTypedVariables) {
      request.typed_variables.update(ObjectOf(value, "\"typedVars\""));
    } else {
      request.variables[name] = value;
    }
  }
}

Json Evaluate(const EvalRequest& request, ResultForm form, const TimeZones* zones) {
  const Json& plain = ObjectOf(request.variables, "vars");
  const Json& typed = ObjectOf(request.typed_variables, "typedVars");
  Environment environment(request.mode, request.container, zones);
  Arena arena;
  MapBuilder variables(arena, plain.size() + typed.size());
  for (const auto& [name, value] : typed.items()) {
    environment.AddVariable(name);
    variables.Add(Value::String(name), DecodeTagged(value, arena));
  }
  for (const auto& [name, value] : plain.items()) {
    environment.AddVariable(name);
    variables.Add(Value::String(name), FromJson(value, arena));  // not when it is there already
  }
  const Expression expression(request.expression, environment);
  Evaluator evaluator(expression, request.steps);
  const Value value = evaluator.EvaluateOrThrow(MapActivation(*variables.Build()));
  if (form == ResultForm::kPlain) return ToJson(value);
  return EncodeTagged(value, request.mode == Mode::kDialect ? OptionalForm::kContent : OptionalForm::kTagged);
}

std::string AnswerEvalLine(std::string_view line, Mode mode, const TimeZones* zones) {
  const Json answer = [&]() -> Json {
    try {
      return {{"value", Evaluate(ReadRequest(line, mode), ResultForm::kTagged, zones)}};
    } catch (const ExpressionError& error) {
      return ErrorAnswer(error.issue().message, error.position());
    } catch (const UserError& error) {
      return ErrorAnswer(error.message(), {0, 0});
    }
  }();
  return CompactJson(answer);
}

}  // namespace swamp::cel

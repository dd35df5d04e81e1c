// Checks, analyses and evaluates any text in both modes, with a few variables to work on and few steps. The
// first byte chooses the mode; whatever happens must happen twice in the same way.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cel/analysis.h"
#include "cel/evaluator.h"
#include "cel/failure.h"
#include "cel/json_values.h"
#include "cel/tagged_json.h"

namespace {

using namespace swamp;
using namespace swamp::cel;

const Json& Variables() {
  static const Json kVariables = Json::parse(R"({"i": 7, "d": 1.5, "s": "tä x", "b": true, "n": null,
      "l": [1, "two", [3], {"k": 4}], "m": {"a": 1, "b": {"c": [1, 2]}, "k1": 1, "k2": 2, "k3": 3, "k4": 4, "k5": 5,
      "k6": 6, "k7": 7}})");
  return kVariables;
}

std::string Outcome(std::string_view text, Mode mode) {
  Environment environment(mode);
  environment.AddVariable("i");
  environment.AddVariable("m.b.c");
  environment.AddFunction({.name = "data.latest",
                           .parameters = {types::Dyn()},
                           .result = types::Dyn(),
                           .call = [](Call& call) { return call[0]; }});
  Arena arena;
  const MapActivation activation(FromJson(Variables(), arena).as_map());
  try {
    const Expression expression(text, environment);
    expression.TypeErrors();
    FindReferences(expression);
    FindConditions(expression);
    Evaluator evaluator(expression, 20'000);
    const Value value = evaluator.Evaluate(activation);
    if (value.is_error()) return RenderIssue(text, expression.Explain(value.as_error(), activation));
    if (ExtentOf(value).weight > 100'000) return "large";
    ToJson(value);
    return EncodeTagged(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const ExpressionError& error) {
    return error.message();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Mode mode = data[0] % 2 == 0 ? Mode::kStrict : Mode::kDialect;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string outcome = Outcome(text, mode);
  if (outcome != Outcome(text, mode)) {
    std::fprintf(stderr, "two outcomes, the first: %s\n", outcome.c_str());
    std::abort();
  }
  return 0;
}

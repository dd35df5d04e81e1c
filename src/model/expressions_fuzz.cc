#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/expressions.h"
#include "util/test_world.h"

// Whatever a document holds: no expression is found outside of it, a vault is asked only for calls that were found, no
// secret shows in what is kept, and what has no expression stays as it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::size_t end = 0;
  bool any_call = false;
  const auto expressions = swamp::FindExpressions(text);
  for (const auto& expression : expressions) {
    if (expression.begin < end || expression.end > text.size() || expression.code.empty()) __builtin_trap();
    end = expression.end;
    any_call |= !swamp::PrepareCode(expression.code).vault_calls.empty();
    swamp::HyphenHint(expression.code);
  }
  swamp::SystemRandom random;
  swamp::SecretTokens secrets(random);
  swamp::ExpressionHost host;
  host.vault_get = [&](const std::string&, const std::string&) {
    if (!any_call) __builtin_trap();
    return std::string("\x01the secret\x02");
  };
  swamp::ExpressionEvaluator evaluator(host, {{"inputs", swamp::Json{{"a", 1}, {"b", "x"}}}}, &secrets);
  const auto result = evaluator.EvaluateTree(swamp::Json(text), "", swamp::EvaluationPass::kRun);
  const std::string live = swamp::TextOfValue(result.live);
  if (text.find("the secret") == std::string::npos && live.find("\x01the secret") != std::string::npos) __builtin_trap();
  if (expressions.empty() && result.live != swamp::Json(text)) __builtin_trap();
  return 0;
}

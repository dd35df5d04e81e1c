#include <gtest/gtest.h>

#include "cel/test_support.h"

// What sets the dialect apart from the strict language, and where the two agree on purpose.
namespace swamp::cel {
namespace {

const Json kData = {{"inputs",
                     {{"n", 7},
                      {"zero", 0},
                      {"half", 3.5},
                      {"s", "x"},
                      {"list", {1, 2, 3}},
                      {"map", {{"a", 1}, {"empty", nullptr}}}}}};

std::string D(std::string_view text) { return Dialect(text, kData); }
std::string S(std::string_view text) { return Strict(text, kData); }

TEST(Dialect, MixesIntsWithNumbersFromData) {
  EXPECT_EQ(Tagged("7 / 2", Mode::kDialect, kData), R"({"int64_value":"3"})");
  EXPECT_EQ(Tagged("inputs.n / 2", Mode::kDialect, kData), R"({"double_value":3.5})");
  EXPECT_EQ(Tagged("1 + inputs.n", Mode::kDialect, kData), R"({"double_value":8.0})");
  EXPECT_EQ(Tagged("2 * 3.5", Mode::kDialect, kData), R"({"double_value":7.0})");
  EXPECT_EQ(D("inputs.n % 2"), "1");
  EXPECT_EQ(D("inputs.n / 0"), "\"Infinity\"") << "only ints have an error for it";
  EXPECT_EQ(D("inputs.n * 2.0 == 14 && 2 * 3.5 == 7 && inputs.n + 0.5 > 7"), "true");
  EXPECT_EQ(S("inputs.n / 2"), "error: no such overload: double / int");
  EXPECT_EQ(S("1 + inputs.n"), "error: no such overload: int + double");
  EXPECT_EQ(S("inputs.n % 2.0"), "error: no such overload: double % double");
  EXPECT_EQ(D("inputs.n + 2u"), "error: no such overload: double + uint");
}

TEST(Dialect, ComparesNumbersFromDataWithLiteralsButNotLiteralsOfTwoKinds) {
  EXPECT_EQ(D("inputs.n == 7"), "true");
  EXPECT_EQ(D("7 == inputs.n"), "true");
  EXPECT_EQ(D("inputs.n in [7]"), "true");
  EXPECT_EQ(D("inputs.list == [1, 2, 3]"), "true");
  EXPECT_EQ(D("inputs.list[inputs.zero]"), "1");
  EXPECT_EQ(D("7 == 7.0"), "error: no such overload: int == double");
  EXPECT_EQ(D("[1] == [1.0]"), "error: no such overload: list(int) == list(double)");
  EXPECT_EQ(D("1 == 'a'"), "error: no such overload: int == string");
  EXPECT_EQ(D("inputs.n == 'a'"), "false");
  EXPECT_EQ(D("7 < 7.5"), "true");
  EXPECT_EQ(S("7 == 7.0"), "true");
  EXPECT_EQ(S("1 == 'a'"), "false");
}

TEST(Dialect, TakesWholeNumbersFromDataForKeys) {
  EXPECT_EQ(D("{inputs.n: 'x'}"), R"({"7":"x"})");
  EXPECT_EQ(D("{inputs.half: 'x'}"), "error: unsupported key type: keys are strings, ints, uints and bools");
  EXPECT_EQ(S("{inputs.n: 'x'}"), "error: unsupported key type: keys are strings, ints, uints and bools");
}

TEST(Dialect, RefusesWhatIsCertainlyOfAWrongTypeBeforeItEvaluates) {
  EXPECT_EQ(D("\"a\" + 1"), "error: no such overload: string + int");
  EXPECT_EQ(D("true || \"a\" + 1 == \"x\""), "error: no such overload: string + int");
  EXPECT_EQ(D("inputs.n == 7 ? 1 : \"a\""), "error: both branches of ? : must be of one type, found int and string");
  EXPECT_EQ(D("true ? null : \"a\""), "error: both branches of ? : must be of one type, found null_type and string");
  EXPECT_EQ(D("true ? inputs.n : \"a\""), "7") << "what data is, nobody knows beforehand";
  EXPECT_EQ(D("1 ? 2 : 3"), "error: the condition of ? : is a bool, found int");
  EXPECT_EQ(D("true && 'x'"), "error: && takes bools, found string");
  EXPECT_EQ(D("!1"), "error: no such overload: !int");
  EXPECT_EQ(D("inputs.n && true"), "error: && takes bools, found double");
  EXPECT_EQ(D("inputs.n ? 1 : 2"), "error: the condition of ? : is a bool, found double");
  EXPECT_EQ(S("true || \"a\" + 1 == \"x\""), "true");
  EXPECT_EQ(S("false ? 1 : \"a\""), "\"a\"");
}

TEST(Dialect, AsksForUndeclaredVariablesOnlyWhenTheirValueIsNeeded) {
  EXPECT_EQ(D("nosuch"), "error: Unknown variable: nosuch");
  EXPECT_EQ(D("nosuch.x"), "error: Unknown variable: nosuch");
  EXPECT_EQ(D("false && nosuch"), "false");
  EXPECT_EQ(D("has(nosuch.x)"), "error: Unknown variable: nosuch");
}

TEST(Dialect, TellsAbsentFromNull) {
  EXPECT_EQ(D("has(inputs.q)"), "false");
  EXPECT_EQ(D("has(inputs.map.empty)"), "true");
  EXPECT_EQ(D("has(inputs.q.r)").substr(0, 21), "error: no such key: q");
  EXPECT_EQ(D("has(inputs.?q.r)"), "false");
  EXPECT_EQ(D("has(inputs.map.empty.x)"), "false");
  EXPECT_EQ(D("inputs.map.empty.x"), "error: no such field: x (a value of type null_type has no fields)");
  EXPECT_EQ(D("inputs.q").substr(0, 21), "error: no such key: q");
  EXPECT_EQ(D("inputs.list[5]"), "error: index out of range: 5 in a list of 3 elements");
}

TEST(Dialect, TurnsAnOptionalLeftOverIntoItsValueOrNull) {
  EXPECT_EQ(D("inputs.?n"), "7");
  EXPECT_EQ(D("inputs.?q"), "null");
  EXPECT_EQ(D("inputs.?q.?r"), "null");
  EXPECT_EQ(D("inputs.?map.?empty.?x"), "null");
  EXPECT_EQ(D("inputs.?s.?x"), "null");
  EXPECT_EQ(D("inputs.list[?9]"), "null");
  EXPECT_EQ(D("inputs.?q.orValue(5)"), "5");
  EXPECT_EQ(D("[inputs.?n, inputs.?q]"), "[7,null]");
  EXPECT_EQ(D("inputs.?n.hasValue()"), "true");
  EXPECT_EQ(Tagged("inputs.?n", Mode::kDialect, kData), R"({"double_value":7.0})");
  EXPECT_EQ(Tagged("inputs.?n", Mode::kStrict, kData), R"({"optional_value":{"value":{"double_value":7.0}}})");
}

TEST(Dialect, HasExactlyTheFunctionsThatItLists) {
  for (const char* text :
       {"size('a')", "string(1)", "int('1')", "uint(1)", "double(1)", "bool('true')", "bytes('a')", "dyn(1)", "type(1)",
        "timestamp(0)", "duration('1s')", "has(inputs.n)", "cel.bind(x, 1, x)", "optional.of(1)", "optional.none()",
        "optional.of(1).or(optional.none())", "optional.of(1).orValue(2)", "optional.of(1).hasValue()",
        "optional.of(1).value()", "'a'.startsWith('a')", "'a'.endsWith('a')", "'a'.contains('a')", "'a'.matches('a')",
        "'a'.size()", "'a'.indexOf('a')", "'a'.lastIndexOf('a')", "'a'.substring(0)", "'a'.substring(0, 1)",
        "'a'.split('')", "['a'].join()", "['a'].join('-')", "'a'.lowerAscii()", "'a'.upperAscii()", "'a'.trim()",
        "[1].all(x, true)", "[1].exists(x, true)", "[1].exists_one(x, true)", "[1].map(x, x)", "[1].map(x, true, x)",
        "[1].filter(x, true)", "b'{}'.json()", "b'a'.hex()", "b'a'.string()", "b'a'.base64()", "b'a'.at(0)", "b'a'.size()",
        "timestamp(0).getFullYear()", "timestamp(0).getHours('+01:00')", "duration('1s').getSeconds()"}) {
    EXPECT_NE(D(text).substr(0, 6), "error:") << text << ": " << D(text);
  }
  for (const char* text :
       {"lists.range(3)", "'%d'.format([1])", "'a'.replace('a', 'b')", "'a'.charAt(0)", "[1].sum()", "[1].sort()",
        "[1].reverse()", "'a'.reverse()", "{'a': 1}.keys()", "now()", "math.abs(1)", "math.greatest(1, 2)", "[1].distinct()",
        "[1].slice(0, 1)", "[[1]].flatten()", "base64.encode(b'a')", "strings.quote('a')", "ip('1.1.1.1')",
        "cel.block([1], cel.index(0))"}) {
    EXPECT_EQ(D(text).substr(0, 23), "error: unknown function") << text << ": " << D(text);
  }
}

TEST(Dialect, WritesNumbersAsPeopleDo) {
  EXPECT_EQ(D("string(inputs.n)"), "\"7\"");
  EXPECT_EQ(D("string(inputs.half)"), "\"3.5\"");
  EXPECT_EQ(D("inputs.n"), "7");
  EXPECT_EQ(D("'n=' + string(inputs.n)"), "\"n=7\"");
}

}  // namespace
}  // namespace swamp::cel

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/environment.h"
#include "cel/evaluator.h"
#include "cel/json_values.h"
#include "cel/test_support.h"

// Faults that other implementations had, by their number in the list of known faults; here as far as the
// language alone shows them.
namespace swamp::cel {
namespace {

const Json kNumbers = {{"inputs", {{"n", 7}, {"zero", 0}, {"d", 9007199254740992}, {"big", 9223372036854775808.0}}}};

std::string D(std::string_view text) { return Dialect(text, kNumbers); }

TEST(KnownFaults, CL01_IntsAndDoublesCompareByValue) {
  EXPECT_EQ(D("inputs.zero == 0"), "true");
  EXPECT_EQ(D("inputs.n / 100"), "0.07");
  EXPECT_EQ(D("inputs.n * 2"), "14");
  EXPECT_EQ(D("100 - inputs.n"), "93");
  EXPECT_EQ(D("inputs.d == 9007199254740993"), "false");
  EXPECT_EQ(D("inputs.d == 9007199254740992"), "true");
  EXPECT_EQ(D("inputs.d < 9007199254740993"), "true");
  EXPECT_EQ(D("inputs.big > 9223372036854775807"), "true");
  EXPECT_EQ(D("9223372036854775807 < inputs.big"), "true");
  EXPECT_EQ(D("cel.bind(nan, inputs.zero / inputs.zero, nan == nan || nan == 0 || nan < 0 || nan >= 0)"), "false")
      << "NaN equals nothing";
}

TEST(KnownFaults, CL01_ListsAndMapsAgreeOnWhatTheyHold) {
  for (const char* number : {"9007199254740992", "9007199254740993", "7", "8"}) {
    const std::string in_list = D(std::string(number) + " in [inputs.d, inputs.n]");
    EXPECT_EQ(in_list, D(std::string(number) + " in {9007199254740992: 1, 7: 1}")) << number;
    EXPECT_EQ(in_list, D("dyn({" + std::string(number) + ": 1}).exists(k, k == inputs.d || k == inputs.n)")) << number;
  }
  EXPECT_EQ(D("inputs.n in {7: 'x'}"), "true");
  EXPECT_EQ(D("dyn({7: 'x'})[inputs.n]"), "\"x\"");
}

TEST(KnownFaults, CL03_TimesAndDurationsStayInRange) {
  for (const Mode mode : {Mode::kStrict, Mode::kDialect}) {
    EXPECT_EQ(Plain(R"(timestamp("9999-12-31T23:59:59Z") + duration("1s"))", mode),
              "error: timestamp out of range: years go from 1 to 9999");
    EXPECT_EQ(Plain(R"(duration("10000000000000s"))", mode),
              "error: \"10000000000000s\" is no duration in range, as 1h30m is");
    EXPECT_EQ(Plain(R"(timestamp("2024-02-30T00:00:00Z"))", mode),
              "error: \"2024-02-30T00:00:00Z\" is no timestamp in range, as 2024-01-31T12:00:00Z is");
    EXPECT_EQ(Plain(R"(string(duration("1h")) == "3600s")", mode), "true");
    EXPECT_EQ(Plain(R"(timestamp("2024-03-01T00:00:00Z").getDayOfYear())", mode), "60");
    EXPECT_EQ(Plain(R"(timestamp("2024-03-01T00:00:00Z").getMonth())", mode), "2");
    EXPECT_EQ(Plain(R"(timestamp("2024-03-01T00:00:00Z").getDayOfMonth())", mode), "0");
    EXPECT_EQ(Plain(R"(timestamp("2024-03-01T00:00:00Z").getDate())", mode), "1");
    EXPECT_EQ(Plain(R"(timestamp("2024-03-01T00:00:00Z").getDate("-01:00"))", mode), "29");
    EXPECT_EQ(Plain(R"(timestamp("2024-01-01T00:00:00Z").getDayOfYear("-00:01"))", mode), "364");
  }
}

TEST(KnownFaults, CL04_NumberConversionsNeitherWrapNorGuess) {
  for (const Mode mode : {Mode::kStrict, Mode::kDialect}) {
    for (const char* text : {"int(1e30)", "int(\"9223372036854775808\")", "uint(-1)", "int(double(\"NaN\"))",
                             "9223372036854775807 + 1", "1 / 0", "5 % 0", "-9223372036854775808 / -1",
                             "-(-9223372036854775808)", "9223372036854775808"}) {
      EXPECT_EQ(Plain(text, mode).substr(0, 6), "error:") << text;
    }
    EXPECT_EQ(Tagged("-9223372036854775808", mode), R"({"int64_value":"-9223372036854775808"})");
    EXPECT_EQ(Tagged("-9223372036854775808 % -1", mode), R"({"int64_value":"0"})");
    EXPECT_EQ(Tagged("double(6)", mode), R"({"double_value":6.0})");
    EXPECT_EQ(Tagged("int(\"7\")", mode), R"({"int64_value":"7"})");
    EXPECT_EQ(Tagged("string(1.0)", mode), R"({"string_value":"1"})");
    EXPECT_EQ(Tagged("int(-1.5) == -1", mode), R"({"bool_value":true})");
  }
}

TEST(KnownFaults, CL06_MacrosAndLogicSeeTheRightElements) {
  for (const Mode mode : {Mode::kStrict, Mode::kDialect}) {
    EXPECT_EQ(Plain("[1, 0].exists(i, 4 / i == 4)", mode), "true");
    EXPECT_EQ(Plain("[0, 1].exists(i, 4 / i == 4)", mode), "true");
    EXPECT_EQ(Plain("[0, 2].exists(i, 4 / i == 4)", mode), "error: division by zero");
    EXPECT_EQ(Plain("[0, 2].all(i, 4 / i > 5)", mode), "false");
    EXPECT_EQ(Plain("[0, 2].all(i, 4 / i > 1)", mode), "error: division by zero");
    EXPECT_EQ(Plain("[1, 2, 1].exists_one(i, i == 1)", mode), "false");
    EXPECT_EQ(Plain("[1, 2, 3].exists_one(i, i == 1)", mode), "true");
    EXPECT_EQ(Plain("[1, 0].exists_one(i, 4 / i == 4)", mode), "error: division by zero");
    EXPECT_EQ(Plain("false && (1/0 > 0)", mode), "false");
    EXPECT_EQ(Plain("(1/0 > 0) && false", mode), "false");
    EXPECT_EQ(Plain("true || (1/0 > 0)", mode), "true");
    EXPECT_EQ(Plain("(1/0 > 0) || true", mode), "true");
    EXPECT_EQ(Plain("(1/0 > 0) || false", mode), "error: division by zero");
    EXPECT_EQ(Plain("optional.of(1).or(optional.of(1/0)).value()", mode), "1");
    EXPECT_EQ(Plain("optional.of(1).orValue(1/0)", mode), "1");
    EXPECT_EQ(Plain("optional.none().orValue(1/0)", mode), "error: division by zero");
  }
}

TEST(KnownFaults, CL06_OrDoesNotRunWhatItDoesNotNeed) {
  Environment environment(Mode::kDialect);
  int calls = 0;
  environment.AddFunction({.name = "f", .parameters = {}, .result = types::Dyn(), .call = [&](Call&) {
                             ++calls;
                             return Value::Bool(true);
                           }});
  for (const char* text : {"optional.of(1).or(f()).value() == 1", "optional.of(1).orValue(f()) == 1", "true || f()",
                           "!(false && f())", "true ? true : f()", "[1, 2].exists(i, i == 1 || f())"}) {
    const Expression expression(text, environment);
    Evaluator evaluator(expression);
    calls = 0;
    evaluator.EvaluateOrThrow(EmptyActivation());
    EXPECT_EQ(calls, 0) << text;
  }
}

TEST(KnownFaults, CL07_ListsAndMapsMayBeOfMixedKinds) {
  EXPECT_EQ(D("{'name': inputs.n, 'kind': 'x', 'port': 22}"), R"({"name":7,"kind":"x","port":22})");
  EXPECT_EQ(D("[1, \"a\", true]"), R"([1,"a",true])");
}

TEST(KnownFaults, CL09_ExpressionsMaySpanLinesAndErrorsKnowTheirPlace) {
  EXPECT_EQ(D("\ninputs.n\n  + 1\n"), "8");
  EXPECT_EQ(D("\r\n\tinputs.n // a remark\r\n  + 1\r\n"), "8");
  EXPECT_EQ(D("[\n  inputs.n,\n  'x'\n]\n"), R"([7,"x"])");
  const Json answer = Json::parse(AnswerEvalLine(R"({"expr": "\n1 +\n  * 2"})", Mode::kDialect, nullptr));
  EXPECT_EQ(answer["error"]["line"], 3);
  EXPECT_EQ(answer["error"]["column"], 3);
}

TEST(KnownFaults, CL10_NamesWithHyphensAreReachedByBracketsAndTheHyphenIsAMinus) {
  const Json variables = {{"inputs", {{"my-key", 1}, {"a", 5}}}, {"b", 3}};
  EXPECT_EQ(Dialect("inputs[\"my-key\"]", variables), "1");
  EXPECT_EQ(Dialect("inputs.`my-key`", variables), "1");
  EXPECT_EQ(Dialect("inputs.a-b", variables), "2");
  EXPECT_EQ(Dialect("inputs.my-key", variables), "error: no such key: my");
}

TEST(KnownFaults, CL10_ArgumentsOfHostFunctionsMayBeAnyText) {
  Environment environment(Mode::kDialect);
  environment.AddFunction({.name = "vault.get", .parameters = {types::String(), types::String()}, .result = types::Dyn(),
                           .call = [](Call& call) {
                             return call.Text(fmt::format("{}/{}", call[0].text(), call[1].text()));
                           }});
  const Expression expression("vault.get(\"team-1password\", \"a key, with comma\") + vault.get(\"my vault\", 'k')", environment);
  Evaluator evaluator(expression);
  EXPECT_EQ(ToJson(evaluator.EvaluateOrThrow(EmptyActivation())), "team-1password/a key, with commamy vault/k");
}

TEST(KnownFaults, CL13_ATextWithBracesIsOneText) { EXPECT_EQ(D(R"("}" + "}")"), "\"}}\""); }

}  // namespace
}  // namespace swamp::cel

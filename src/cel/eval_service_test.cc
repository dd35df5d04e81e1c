#include "cel/eval_service.h"

#include <gtest/gtest.h>

#include "cel/issue.h"
#include "util/error.h"

namespace swamp::cel {
namespace {

std::string Answer(std::string_view line) { return AnswerEvalLine(line, Mode::kDialect, nullptr); }

TEST(EvalService, AnswersARequestWithATaggedValue) {
  EXPECT_EQ(Answer(R"({"expr": "1 + 2"})"), R"({"value":{"int64_value":"3"}})");
  EXPECT_EQ(Answer(R"({"expr": "n / 2", "vars": {"n": 7}})"), R"({"value":{"double_value":3.5}})");
  EXPECT_EQ(Answer(R"({"expr": "n / 2", "typedVars": {"n": {"int64_value": "7"}}})"), R"({"value":{"int64_value":"3"}})");
  EXPECT_EQ(Answer(R"({"expr": "n", "vars": {"n": 1}, "typedVars": {"n": {"uint64_value": "2"}}})"), R"({"value":{"uint64_value":"2"}})");
}

TEST(EvalService, TakesTaggedValuesBesideThePlainOnesToo) {
  EXPECT_EQ(Answer(R"({"expr": "n + m", "vars": {"m": 0.5, "typedVars": {"n": {"int64_value": "7"}}}})"),
            R"({"value":{"double_value":7.5}})");
  EXPECT_EQ(Answer(R"({"expr": "m", "vars": {"typedVars": 1}})"),
            R"({"error":{"message":"\"typedVars\" is not an object of variables","line":0,"column":0}})");
}

TEST(EvalService, SpeaksTheModeThatTheRequestNames) {
  EXPECT_EQ(Answer(R"({"expr": "7 == 7.0", "mode": "strict"})"), R"({"value":{"bool_value":true}})");
  EXPECT_EQ(Answer(R"({"expr": "7 == 7.0", "mode": "dialect"})"),
            R"({"error":{"message":"no such overload: int == double","line":1,"column":3}})");
  EXPECT_EQ(AnswerEvalLine(R"({"expr": "7 == 7.0"})", Mode::kStrict, nullptr), R"({"value":{"bool_value":true}})");
}

TEST(EvalService, LooksForNamesInTheContainerFirst) {
  EXPECT_EQ(Answer(R"({"expr": "y", "container": "x", "vars": {"y": "outer", "x.y": "inner"}})"), R"({"value":{"string_value":"inner"}})");
  EXPECT_EQ(Answer(R"({"expr": ".y", "container": "x", "vars": {"y": "outer", "x.y": "inner"}})"), R"({"value":{"string_value":"outer"}})");
  EXPECT_EQ(Answer(R"({"expr": "a.b.c", "vars": {"a.b": {"c": 1}, "a": {"b": {"c": 2}}}})"), R"({"value":{"double_value":1.0}})");
}

TEST(EvalService, SaysWhereAnExpressionIsWrong) {
  EXPECT_EQ(Answer(R"({"expr": "1 +\n  nme", "vars": {"name": 1}})"),
            R"({"error":{"message":"Unknown variable: nme. Did you mean name?","line":2,"column":3}})");
  EXPECT_EQ(Answer(R"({"expr": "1 +"})"),
            R"({"error":{"message":"the expression ends too early: expected a value, a name or (","line":1,"column":4}})");
}

TEST(EvalService, AnswersRequestsThatAreNone) {
  for (const char* line : {"", "1", "[]", "{}", R"({"expr": 1})", R"({"expr": "1", "mode": "loose"})",
                           R"({"expr": "1", "mode": 1})", R"({"expr": "1", "vars": []})",
                           R"({"expr": "1", "typedVars": {"a": 1}})", R"({"expr": "1", "typedVars": 1})"}) {
    EXPECT_NE(Answer(line).find(R"("line":0,"column":0}})"), std::string::npos) << line << " -> " << Answer(line);
  }
}

TEST(EvalService, AnswersOnOneLineWhateverTheValueHolds) {
  EXPECT_EQ(Answer(R"({"expr": "'a\\nb\\u0000'"})"), R"({"value":{"string_value":"a\nb\u0000"}})");
}

TEST(EvalService, ThrowsForItsOtherCallers) {
  EXPECT_THROW(Evaluate({.expression = "1 / 0"}, ResultForm::kPlain, nullptr), ExpressionError);
  EXPECT_THROW(Evaluate({.expression = "1", .variables = Json::array()}, ResultForm::kPlain, nullptr), UserError);
}

}  // namespace
}  // namespace swamp::cel

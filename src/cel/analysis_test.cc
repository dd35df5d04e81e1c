#include "cel/analysis.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cel/json_values.h"

namespace swamp::cel {
namespace {

using testing::ElementsAre;

class AnalysisTest : public testing::Test {
 protected:
  AnalysisTest() {
    environment_.AddFunction({.name = "data.latest",
                              .parameters = {types::String(), types::String()},
                              .result = types::Dyn(),
                              .call = [](Call&) { return Value::Null(); }});
  }

  static std::string Shown(const Reference& reference) {
    std::string text(reference.variable);
    for (const std::string_view part : reference.path) text += "/" + std::string(part);
    return text;
  }

  std::vector<std::string> Variables(std::string_view text) {
    const Expression expression(text, environment_);
    std::vector<std::string> shown;
    for (const Reference& reference : FindReferences(expression).variables) shown.push_back(Shown(reference));
    return shown;
  }

  std::vector<std::string> Functions(std::string_view text) {
    const Expression expression(text, environment_);
    std::vector<std::string> shown;
    for (const FunctionReference& function : FindReferences(expression).functions) {
      std::string call(function.name);
      for (const auto& argument : function.arguments) call += argument ? " " + ToJson(*argument).dump() : " ?";
      shown.push_back(call + (function.host ? " host" : ""));
    }
    return shown;
  }

  std::vector<std::string> Conditions(std::string_view text) {
    static constexpr const char* kTests[] = {"==", "!=", "<", "<=", ">", ">=", "startsWith"};
    const Expression expression(text, environment_);
    std::vector<std::string> shown;
    for (const Condition& condition : FindConditions(expression)) {
      shown.push_back(fmt::format("{} {} {}", Shown(condition.operand), kTests[static_cast<std::size_t>(condition.test)],
                                  ToJson(condition.literal).dump()));
    }
    return shown;
  }

  Environment environment_{Mode::kDialect};
};

TEST_F(AnalysisTest, NamesVariablesWithThePathsThatTheTextFixes) {
  EXPECT_THAT(Variables("inputs.a[\"b-c\"].d + model.x.resource"), ElementsAre("inputs/a/b-c/d", "model/x/resource"));
  EXPECT_THAT(Variables("inputs.list[i].name"), ElementsAre("inputs/list", "i"));
  EXPECT_THAT(Variables("has(self.a.b) || self.?c[?'d'].orValue(1) == 1"), ElementsAre("self/a/b", "self/c/d"));
  EXPECT_THAT(Variables("f.size() + 'a'.size()"), ElementsAre("f"));
}

TEST_F(AnalysisTest, LeavesOutWhatMacrosBind) {
  EXPECT_THAT(Variables("xs.map(x, x.y + z)"), ElementsAre("xs", "z"));
  EXPECT_THAT(Variables("cel.bind(a, b, a + c)"), ElementsAre("b", "c"));
  EXPECT_THAT(Variables("x + [1].map(x, x)[0]"), ElementsAre("x"));
}

TEST_F(AnalysisTest, NamesFunctionsWithTheirLiteralArguments) {
  EXPECT_THAT(Functions("data.latest('m1', name).attributes.x.matches('a') && size('b') > 0"),
              ElementsAre("matches ? \"a\"", "data.latest \"m1\" ? host", "size \"b\""));
}

TEST_F(AnalysisTest, FindsConditionsThatMustHold) {
  EXPECT_THAT(Conditions("modelType == 'command/shell' && size > 100"),
              ElementsAre("modelType == \"command/shell\"", "size > 100"));
  EXPECT_THAT(Conditions("100 < size && ('x' == name && tags.env != 'prod')"),
              ElementsAre("size > 100", "name == \"x\"", "tags/env != \"prod\""));
  EXPECT_THAT(Conditions("name.startsWith('web-') && tags[\"k\"] == 'v' && isLatest == true"),
              ElementsAre("name startsWith \"web-\"", "tags/k == \"v\"", "isLatest == true"));
}

TEST_F(AnalysisTest, LeavesOutWhatMayFailToHold) {
  EXPECT_THAT(Conditions("a == 1 || b == 2"), ElementsAre());
  EXPECT_THAT(Conditions("!(a == 1)"), ElementsAre());
  EXPECT_THAT(Conditions("a == b && c == 'x' + d && xs.exists(x, x == 1)"), ElementsAre());
  EXPECT_THAT(Conditions("a == 1 == b"), ElementsAre());
  EXPECT_THAT(Conditions("a.?b.hasValue() == true && has(a.c) == true"), ElementsAre());
  EXPECT_THAT(Conditions("a == [1]"), ElementsAre());
}

}  // namespace
}  // namespace swamp::cel

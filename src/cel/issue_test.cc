#include "cel/issue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace swamp::cel {
namespace {

TEST(Issue, ShowsTheLineWithCaretsUnderWhatIsMeant) {
  EXPECT_EQ(RenderIssue("inputs.nmae == \"x\"", {"no such key: nmae", 7, 11}),
            "no such key: nmae (line 1, column 8)\n"
            "  inputs.nmae == \"x\"\n"
            "         ^^^^");
  EXPECT_EQ(RenderIssue("a +\n  béé + c\n+ d", {"no", 12, 13}),
            "no (line 2, column 7)\n"
            "    béé + c\n"
            "        ^");
}

TEST(Issue, PointsBehindTheEndWhenSomethingIsMissingThere) {
  EXPECT_EQ(RenderIssue("1 +", {"too early", 3, 3}), "too early (line 1, column 4)\n  1 +\n     ^");
  EXPECT_EQ(RenderIssue("", {"too early", 0, 0}), "too early (line 1, column 1)\n  \n  ^");
}

TEST(Issue, MakesTabsAndControlCharactersPlain) {
  EXPECT_EQ(RenderIssue("\ta\x1b$", {"no", 3, 4}), "no (line 1, column 4)\n  \\ta\\x1b$\n         ^");
}

TEST(Issue, CutsLongLinesAroundTheIssue) {
  EXPECT_EQ(RenderIssue(fmt::format("{:a>200}+{:b>200}", "", ""), {"no", 200, 201}),
            fmt::format("no (line 1, column 201)\n  ...{:a>60}+{:b>40}...\n  {:63}^", "", "", ""));
}

TEST(Issue, StopsTheCaretsAtTheEndOfTheLine) {
  EXPECT_EQ(RenderIssue("f(a,\nb)", {"no", 0, 7}), "no (line 1, column 1)\n  f(a,\n  ^^^^");
}

TEST(ExpressionError, TellsItsPlace) {
  const ExpressionError error("a\n  b", {"wrong", 4, 5});
  EXPECT_EQ(error.code(), "expression_failed");
  EXPECT_EQ(error.message(), "Invalid expression: wrong (line 2, column 3)");
  EXPECT_EQ(error.excerpt(), "    b\n    ^");
  EXPECT_EQ(error.position().column, 3U);
}

}  // namespace
}  // namespace swamp::cel

#include "cel/printer.h"

#include <gtest/gtest.h>

#include "cel/parser.h"

namespace swamp::cel {
namespace {

TEST(Printer, WritesWhatReadsBackAsTheSameTree) {
  for (const char* text : {
           "1 + 2 * -3 - (4 - 5)",
           "-(-5)",
           "-(5).x",
           "-(5.x)",
           "--a",
           "!(a || b) && !c",
           "(a ? b : c) ? d : (e ? f : g)",
           "(a + b).c[d + e].?f[?g].h(i)",
           "[1, ?a, [?b]]",
           "{'a': 1, ?\"b\": c, 3u: 1e300, true: -0.0}",
           "a.b.C{x: 1, ?`y z`: 2}",
           ".a.b(.c)",
           "x.`a-b`.all(i, v, i in [v])",
           "b'\\xff\\x00a\"' + b\"\"",
           "'\\u0000\\n\\U0001F62C'",
           "1e999 + -1e999 + 1e-5 + 123456789012345680.0",
           "-9223372036854775808",
           "a < b == (c < d)",
           "(a in b) in c",
       }) {
    SCOPED_TRACE(text);
    const SyntaxTree tree = Parse(text);
    const std::string printed = Print(tree.root());
    const SyntaxTree again = Parse(printed);
    EXPECT_TRUE(SameTree(tree.root(), again.root())) << printed;
    EXPECT_EQ(Print(again.root()), printed);
  }
}

TEST(Printer, WritesNoMoreParenthesesThanItNeeds) {
  EXPECT_EQ(Print(Parse("((a)) + ((b * (c)))").root()), "a + b * c");
  EXPECT_EQ(Print(Parse("(a && b) || (c)").root()), "a && b || c");
  EXPECT_EQ(Print(Parse("(a.b)[(c)]").root()), "a.b[c]");
}

TEST(Printer, QuotesTextsAndBytes) {
  EXPECT_EQ(QuoteText("a\"\\\n\x01é"), "\"a\\\"\\\\\\n\\x01é\"");
  EXPECT_EQ(QuoteBytes("a\xff"), "b\"a\\xff\"");
}

}  // namespace
}  // namespace swamp::cel

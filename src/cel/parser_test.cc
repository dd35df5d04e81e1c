#include "cel/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cel/issue.h"
#include "cel/limits.h"
#include "cel/printer.h"

namespace swamp::cel {
namespace {

// "line:column message" of the error, or how the text reads when there is none.
std::string Read(std::string_view text) {
  try {
    return Print(Parse(text).root());
  } catch (const ExpressionError& error) {
    return std::to_string(error.position().line) + ":" + std::to_string(error.position().column) + " " +
           error.issue().message;
  }
}

std::string Repeat(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Parser, BindsOperatorsByPrecedenceFromLeftToRight) {
  EXPECT_EQ(Read("a||b&&c==d+e*-f"), "a || b && c == d + e * -f");
  EXPECT_EQ(Read("((a||b)&&c)==d"), "((a || b) && c) == d");
  EXPECT_EQ(Read("a-(b-c)-d"), "a - (b - c) - d");
  EXPECT_EQ(Read("!a.b[c](d)"), "1:8 expected an operator or the end, found (");
  EXPECT_EQ(Read("a?b:c?d:e"), "a ? b : c ? d : e");
  EXPECT_EQ(Read("(a?b:c)?d:e"), "(a ? b : c) ? d : e");
}

TEST(Parser, KeepsOneNodeForOperatorsOfOnePrecedenceInARow) {
  const SyntaxTree tree = Parse("a + b - c");
  EXPECT_EQ(tree.root().kind, NodeKind::kChain);
  EXPECT_EQ(tree.root().count, 3U);
  EXPECT_EQ(tree.root().first->next->link, Operator::kAdd);
  EXPECT_EQ(tree.root().first->next->next->link, Operator::kSubtract);
}

TEST(Parser, TakesASignForPartOfTheNumberBehindIt) {
  EXPECT_TRUE(Parse("-9223372036854775808").root().value.is(Kind::kInt));
  EXPECT_EQ(Parse("-5.size()").root().kind, NodeKind::kMemberCall);
  EXPECT_EQ(Parse("-(5)").root().kind, NodeKind::kNegate);
  EXPECT_EQ(Read("9223372036854775808"),
            "1:1 the number is out of the range of an int; a double is written with a point");
}

TEST(Parser, KnowsWhereEachNodeIs) {
  const SyntaxTree tree = Parse("a.b\n  + foo(1)");
  const Node& call = *tree.root().first->next;
  EXPECT_EQ(tree.text().substr(call.begin, call.end - call.begin), "foo(1)");
  EXPECT_EQ(tree.text()[call.link_at], '+');
  EXPECT_EQ(PositionAt(tree.text(), call.begin).line, 2U);
  EXPECT_EQ(PositionAt(tree.text(), call.begin).column, 5U);
}

TEST(Parser, TakesReservedWordsAsFieldsButNotAsNames) {
  EXPECT_EQ(Read("a.namespace.in_"), "a.namespace.in_");
  EXPECT_EQ(Read("namespace"), "1:1 namespace is a reserved word and can't be a name");
  EXPECT_EQ(Read("a.in"), "1:3 expected the name of a field, found in");
  EXPECT_EQ(Read("a.`my-key`"), "a.`my-key`");
}

TEST(Parser, SaysWhatItFoundAndWhatItExpected) {
  EXPECT_EQ(Read(""), "1:1 the expression ends too early: expected a value, a name or (");
  EXPECT_EQ(Read("1 +"), "1:4 the expression ends too early: expected a value, a name or (");
  EXPECT_EQ(Read("f(1,"), "1:5 the expression ends too early: expected a value, a name or (");
  EXPECT_EQ(Read("f(1,)"), "1:5 expected a value, a name or (, found )");
  EXPECT_EQ(Read("[1 2]"), "1:4 expected an operator, a comma or ], found 2");
  EXPECT_EQ(Read("{'a' 1}"), "1:6 expected an operator or : and the value of the entry, found 1");
  EXPECT_EQ(Read("a ? b"), "1:6 the expression ends too early: expected a : and what the condition gives when it is false");
  EXPECT_EQ(Read("a = 1"), "1:3 found =; a comparison is written ==");
  EXPECT_EQ(Read("a & b"), "1:3 found &; \"and\" is written &&");
  EXPECT_EQ(Read("a;"), "1:2 found ;, which no expression holds outside of a text");
  EXPECT_EQ(Read("\"a\nb\""),
            "1:1 the text doesn't end on its line; write \\n for a line break, or use three quotes");
  EXPECT_EQ(Read("x +\n  €"), "2:3 found €, which no expression holds outside of a text");
}

TEST(Parser, AllowsATrailingCommaInLiteralsOnly) {
  EXPECT_EQ(Read("[1, 2,]"), "[1, 2]");
  EXPECT_EQ(Read("{'a': 1,}"), "{\"a\": 1}");
  EXPECT_EQ(Read("[,]"), "1:2 expected a value, a name or (, found ,");
}

TEST(Parser, SkipsBlanksAndComments) {
  EXPECT_EQ(Read(" a // first\n\t+ // second\r\n b\f"), "a + b");
  EXPECT_EQ(Read("a // to the end"), "a");
}

TEST(Parser, HoldsNestingTo250) {
  for (const auto& [open, close] : {std::pair{"(", ")"}, {"[", "]"}, {"f(", ")"}, {"{'a':", "}"}}) {
    EXPECT_EQ(Read(Repeat(open, kMaxNesting) + "1" + Repeat(close, kMaxNesting)).find("nested"), std::string::npos)
        << open;
    EXPECT_THAT(Read(Repeat(open, kMaxNesting + 1) + "1" + Repeat(close, kMaxNesting + 1)),
                testing::HasSubstr("the expression is nested deeper than 250 levels"))
        << open;
    EXPECT_THAT(Read(Repeat(open, 100'000)), testing::HasSubstr("nested deeper")) << open;
  }
  EXPECT_THAT(Read(Repeat("!", 100'000) + "a"), testing::HasSubstr("nested deeper"));
  EXPECT_THAT(Read(Repeat("a ? b : ", 100'000) + "c"), testing::HasSubstr("nested deeper"));
  EXPECT_THAT(Read("a" + Repeat(".b", 100'000)), testing::HasSubstr("piles up more than"));
  EXPECT_THAT(Read("a" + Repeat("[0]", 100'000)), testing::HasSubstr("piles up more than"));
}

TEST(Parser, TakesLongRowsOfOperators) {
  const SyntaxTree tree = Parse("1" + Repeat(" + 1", 100'000));
  EXPECT_EQ(tree.root().count, 100'001U);
  EXPECT_EQ(tree.root().height, 2);
}

TEST(Parser, HoldsLiteralsTo1000EntriesAndCallsTo32Arguments) {
  EXPECT_EQ(Parse("[" + Repeat("1,", 1000) + "]").root().count, 1000U);
  EXPECT_THAT(Read("[" + Repeat("1,", 1001) + "]"), testing::HasSubstr("a list of more than 1000 elements"));
  EXPECT_EQ(Parse("{" + Repeat("1:1,", 1000) + "}").root().count, 2000U);
  EXPECT_THAT(Read("{" + Repeat("1:1,", 1001) + "}"), testing::HasSubstr("a map of more than 1000 entries"));
  EXPECT_EQ(Parse("f(1" + Repeat(",1", 31) + ")").root().count, 32U);
  EXPECT_THAT(Read("f(1" + Repeat(",1", 32) + ")"), testing::HasSubstr("a call with more than 32 arguments"));
  EXPECT_THAT(Read(std::string(kMaxTextBytes + 1, ' ')), testing::HasSubstr("longer than 1048576 bytes"));
}

}  // namespace
}  // namespace swamp::cel

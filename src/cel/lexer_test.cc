#include "cel/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cel/issue.h"

namespace swamp::cel {
namespace {

std::vector<std::string> Tokens(const std::string& text) {
  Lexer lexer(text);
  std::vector<std::string> tokens;
  for (lexer.Advance(); lexer.token().kind != TokenKind::kEnd; lexer.Advance()) {
    tokens.emplace_back(lexer.TextOf(lexer.token()));
  }
  return tokens;
}

TokenKind FirstKind(const std::string& text) {
  Lexer lexer(text);
  lexer.Advance();
  return lexer.token().kind;
}

TEST(Lexer, CutsAtTheLongestToken) {
  EXPECT_THAT(Tokens("a<=b<c!=!d.?e"), testing::ElementsAre("a", "<=", "b", "<", "c", "!=", "!", "d", ".?", "e"));
  EXPECT_THAT(Tokens("1.5e-3.x 5.x 1..2 .5"), testing::ElementsAre("1.5e-3", ".", "x", "5", ".", "x", "1", ".", ".2", ".5"));
  EXPECT_THAT(Tokens("0x1fU 12u 0xg"), testing::ElementsAre("0x1fU", "12u", "0", "xg"));
}

TEST(Lexer, TellsPrefixesOfTextsFromNames) {
  EXPECT_EQ(FirstKind("r'a'"), TokenKind::kString);
  EXPECT_EQ(FirstKind("B\"a\""), TokenKind::kBytes);
  EXPECT_EQ(FirstKind("bR'a'"), TokenKind::kBytes);
  EXPECT_EQ(FirstKind("rb'a'"), TokenKind::kIdentifier);
  EXPECT_EQ(FirstKind("x'a'"), TokenKind::kIdentifier);
}

TEST(Lexer, KnowsTheWordsOfTheLanguage) {
  EXPECT_EQ(FirstKind("in"), TokenKind::kOperator);
  EXPECT_EQ(FirstKind("inn"), TokenKind::kIdentifier);
  EXPECT_EQ(FirstKind("true"), TokenKind::kTrue);
  EXPECT_EQ(FirstKind("nullable"), TokenKind::kIdentifier);
}

TEST(Lexer, EndsTextsWhereTheirQuotesDo) {
  EXPECT_THAT(Tokens(R"('a\'b' '''a'b''c''' "" """""" r'\')"),
              testing::ElementsAre(R"('a\'b')", "'''a'b''c'''", "\"\"", "\"\"\"\"\"\"", R"(r'\')"));
  EXPECT_THROW(Tokens("'a"), ExpressionError);
  EXPECT_THROW(Tokens("'''a''"), ExpressionError);
  EXPECT_THROW(Tokens("'a\\"), ExpressionError);
}

TEST(Lexer, TakesANulForACharacterThatNoExpressionHolds) {
  EXPECT_THROW(Tokens(std::string("a\0b", 3)), ExpressionError);
  EXPECT_THAT(Tokens(std::string("'\0'", 3)), testing::SizeIs(1));
}

}  // namespace
}  // namespace swamp::cel

#include "cel/literal.h"

#include <gtest/gtest.h>

#include "cel/issue.h"
#include "cel/parser.h"

namespace swamp::cel {
namespace {

// The text or bytes of a literal, or "error: <message>".
std::string Text(std::string_view literal) {
  try {
    const SyntaxTree tree = Parse(literal);
    return std::string(tree.root().value.text());
  } catch (const ExpressionError& error) {
    return "error: " + error.issue().message;
  }
}

TEST(Literal, ReadsEveryEscapeOnce) {
  EXPECT_EQ(Text(R"("\a\b\f\n\r\t\v\\\?\"\'\`")"), "\a\b\f\n\r\t\v\\?\"'`");
  EXPECT_EQ(Text(R"("\x41\X42\103")"), "ABC");
  EXPECT_EQ(Text(R"("\u0100\uFFFB")"), "\u0100\ufffb");
  EXPECT_EQ(Text(R"("\U0001F62C\U00088888")"), "\U0001F62C\U00088888");
  EXPECT_EQ(Text(R"("\uD83D\uDE2C")"), "\U0001F62C");
}

TEST(Literal, LeavesRawTextsAsTheyAre) {
  EXPECT_EQ(Text(R"(r"\u0100\n")"), R"(\u0100\n)");
  EXPECT_EQ(Text(R"(br'\xff')"), R"(\xff)");
}

TEST(Literal, TakesNumericEscapesForCharactersInTextsAndForBytesInBytes) {
  EXPECT_EQ(Text(R"("\xff\377")"), "\u00ff\u00ff");
  EXPECT_EQ(Text(R"(b"\xff\377")"), "\xff\xff");
  EXPECT_EQ(Text("b'ÿ'"), "\u00ff");
}

TEST(Literal, RefusesWhatIsNoEscape) {
  EXPECT_EQ(Text(R"("\q")"), "error: unknown escape; a backslash itself is written \\\\");
  EXPECT_EQ(Text(R"("\x4")"), "error: expected 2 hex digits in this escape");
  EXPECT_EQ(Text(R"("\u12g4")"), "error: expected 4 hex digits in this escape");
  EXPECT_EQ(Text(R"("\400")"), "error: unknown escape; a backslash itself is written \\\\");
  EXPECT_EQ(Text(R"("\uD83D")"), "error: this escape stands for no Unicode character");
  EXPECT_EQ(Text(R"("\U00110000")"), "error: this escape stands for no Unicode character");
  EXPECT_EQ(Text(R"(b"\u0041")"),
            "error: bytes have no \\u or \\U escapes; write \\x and two hex digits for each byte");
  EXPECT_EQ(Text("'\xff'"), "error: the text is no valid UTF-8");
}

TEST(Literal, ReadsNumbersOfEachKind) {
  EXPECT_EQ(Parse("0x7fffffffffffffff").root().value.as_int(), INT64_MAX);
  EXPECT_EQ(Parse("-0x8000000000000000").root().value.as_int(), INT64_MIN);
  EXPECT_EQ(Parse("18446744073709551615u").root().value.as_uint(), UINT64_MAX);
  EXPECT_EQ(Parse("1e-324").root().value.as_double(), 0.0);
  EXPECT_THROW(Parse("18446744073709551616u"), ExpressionError);
  EXPECT_THROW(Parse("-9223372036854775809"), ExpressionError);
}

}  // namespace
}  // namespace swamp::cel

#include <gtest/gtest.h>

#include "cel/test_support.h"

namespace swamp::cel {
namespace {

TEST(StringFunctions, CountPositionsInCharacters) {
  EXPECT_EQ(Strict("'©αT'.charAt(1)"), "\"α\"");
  EXPECT_EQ(Strict("'©αT'.charAt(3)"), "\"\"");
  EXPECT_EQ(Strict("'ta©o©αT'.indexOf('©', 3)"), "4");
  EXPECT_EQ(Strict("'ta©o©αT'.lastIndexOf('©', 3)"), "2");
  EXPECT_EQ(Strict("'ta©o©αT'.substring(2, 6)"), "\"©o©α\"");
  EXPECT_EQ(Strict("'ta©'.reverse()"), "\"©at\"");
}

TEST(StringFunctions, RefusePositionsOutOfRange) {
  EXPECT_EQ(Strict("'abc'.charAt(4)"), "error: index out of range: 4 in a text of 3 characters");
  EXPECT_EQ(Strict("'abc'.substring(-1)"), "error: index out of range: -1 in a text of 3 characters");
  EXPECT_EQ(Strict("'abc'.substring(2, 1)"), "error: invalid substring range: start 2, end 1");
  EXPECT_EQ(Strict("'abc'.substring(9223372036854775807)"),
            "error: index out of range: 9223372036854775807 in a text of 3 characters");
  EXPECT_EQ(Strict("'abc'.indexOf('a', 4)"), "error: index out of range: 4 in a text of 3 characters");
  EXPECT_EQ(Strict("'abc'.indexOf('', 3)"), "3");
}

TEST(StringFunctions, SplitAndJoinUndoEachOther) {
  EXPECT_EQ(Strict("'a,b,,c'.split(',')"), R"(["a","b","","c"])");
  EXPECT_EQ(Strict("'a,b,,c'.split(',').join(',')"), "\"a,b,,c\"");
  EXPECT_EQ(Strict("'a,b,c'.split(',', 2)"), R"(["a","b,c"])");
  EXPECT_EQ(Strict("'a,b,c'.split(',', 0)"), "[]");
  EXPECT_EQ(Strict("'aé'.split('')"), R"(["a","é"])");
  EXPECT_EQ(Strict("'aéb'.split('', 2)"), R"(["a","éb"])");
  EXPECT_EQ(Strict("''.split('')"), "[]");
  EXPECT_EQ(Strict("''.split(',')"), R"([""])");
  EXPECT_EQ(Strict("dyn([1]).join()"), "error: join takes a list of strings");
}

TEST(StringFunctions, ReplaceStopsAtItsLimit) {
  EXPECT_EQ(Strict("'aXbXc'.replace('X', '-')"), "\"a-b-c\"");
  EXPECT_EQ(Strict("'aXbXc'.replace('X', '-', 1)"), "\"a-bXc\"");
  EXPECT_EQ(Strict("'aXbXc'.replace('X', '-', 0)"), "\"aXbXc\"");
  EXPECT_EQ(Strict("'aé'.replace('', '-')"), "\"-a-é-\"");
  EXPECT_EQ(Strict("''.replace('', '-')"), "\"-\"");
}

TEST(StringFunctions, ChangeTheCaseOfAsciiOnly) {
  EXPECT_EQ(Strict("'TacoCÆt'.lowerAscii() + 'tacoCαt'.upperAscii()"), "\"tacocÆtTACOCαT\"");
}

TEST(StringFunctions, TrimTakesWhiteSpaceOfUnicode) {
  EXPECT_EQ(Strict(R"(' \t\u00a0\u2003 a b \u3000\n'.trim())"), "\"a b\"");
  EXPECT_EQ(Strict(R"('\u200b'.trim().size())"), "1");
}

TEST(StringFunctions, QuoteMakesALiteral) {
  EXPECT_EQ(Strict(R"(strings.quote("a\"\n\\"))"), R"("\"a\\\"\\n\\\\\"")");
}

}  // namespace
}  // namespace swamp::cel

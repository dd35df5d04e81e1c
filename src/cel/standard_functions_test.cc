#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cel/test_support.h"

namespace swamp::cel {
namespace {

TEST(StandardFunctions, SizeCountsCharactersBytesAndEntries) {
  EXPECT_EQ(Strict("size('aé😀')"), "3");
  EXPECT_EQ(Strict("b'aé'.size()"), "3");
  EXPECT_EQ(Strict("[1, 2].size() + size({'a': 1})"), "3");
  EXPECT_EQ(Strict("size(1)"), "error: no such overload: size(int)");
}

TEST(StandardFunctions, ConversionsSayWhatTheyCouldNotRead) {
  EXPECT_EQ(Strict("int('0x7')"), "error: \"0x7\" is no int");
  EXPECT_EQ(Strict("double('1.5x')"), "error: \"1.5x\" is no double");
  EXPECT_EQ(Strict("bool('yes')"), "error: \"yes\" is no bool");
  EXPECT_EQ(Strict("uint(-1.5)"), "error: the number is out of the range of a uint");
  EXPECT_EQ(Strict("int(18446744073709551615u)"), "error: the number is out of the range of an int");
  EXPECT_EQ(Strict("string(b'\\xff')"), "error: the bytes are no valid UTF-8");
  EXPECT_EQ(Strict("string(null)"), "error: no such overload: string(null_type)");
}

TEST(StandardFunctions, StringWritesEveryKindThatHasAText) {
  EXPECT_EQ(Strict("[true, 1, 2u, 1.5, 'a', b'b', duration('90s'), timestamp(0)].map(x, string(x))"),
            R"(["true","1","2","1.5","a","b","90s","1970-01-01T00:00:00Z"])");
}

TEST(StandardFunctions, MatchesLooksAnywhereInTheText) {
  EXPECT_EQ(Strict("'abc'.matches('b')"), "true");
  EXPECT_EQ(Strict("'abc'.matches('^b')"), "false");
  EXPECT_EQ(Strict("matches('abc', 'a' + '.c$')"), "true");
  EXPECT_EQ(Strict("'a'.matches('(')").substr(0, 34), "error: invalid regular expression:");
  EXPECT_EQ(Strict("'a'.matches('(' + ')')"), "true");
  EXPECT_EQ(Strict("1.matches('a')"), "error: no such overload: matches(int, string)");
}

TEST(StandardFunctions, MatchesTakesLinearTimeOnPatternsThatBacktrackElsewhere) {
  EXPECT_EQ(Strict("x.matches('^(a+)+$')", {{"x", fmt::format("{:a>100000}b", "")}}), "false");
  EXPECT_EQ(Strict("x.matches('((a{100}){100}){100}')", {{"x", "a"}}).substr(0, 34), "error: invalid regular expression:");
}

TEST(StandardFunctions, TypeNamesTheKindOfAValue) {
  EXPECT_EQ(Strict("[type(1), type(1u), type(1.0), type(null), type([]), type({}), type(b''), type(type(1))]"),
            R"(["int","uint","double","null_type","list","map","bytes","type"])");
  EXPECT_EQ(Strict("type(duration('1s')) == google.protobuf.Duration"), "true");
  EXPECT_EQ(Strict("type(optional.none()) == optional_type"), "true");
}

}  // namespace
}  // namespace swamp::cel

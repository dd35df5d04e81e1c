#include "cel/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace swamp::cel {
namespace {

TEST(FormatDouble, WritesTheShortestTextThatReadsBack) {
  for (const auto& [number, text] : {std::pair{7.0, "7"},
                                     {-0.0, "0"},
                                     {0.1, "0.1"},
                                     {-4.5e-3, "-0.0045"},
                                     {123.456, "123.456"},
                                     {1e15, "1000000000000000"},
                                     {1e20, "100000000000000000000"},
                                     {1e21, "1e+21"},
                                     {1.5e300, "1.5e+300"},
                                     {1e-6, "0.000001"},
                                     {1e-7, "1e-7"},
                                     {5e-324, "5e-324"},
                                     {9007199254740993.0, "9007199254740992"}}) {
    EXPECT_EQ(FormatDouble(number), text);
    EXPECT_EQ(ParseDouble(text), number);
  }
  EXPECT_EQ(FormatDouble(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(FormatDouble(-std::numeric_limits<double>::infinity()), "-Inf");
  EXPECT_EQ(FormatDouble(std::nan("")), "NaN");
}

TEST(ParseDouble, ReadsWholeTextsOnly) {
  EXPECT_EQ(ParseDouble("-84.32e7"), -843200000.0);
  EXPECT_EQ(ParseDouble("+1.5"), 1.5);
  EXPECT_EQ(ParseDouble("Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParseDouble("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*ParseDouble("NaN")));
  for (const char* text : {"", "+", "1.5x", " 1", "1 ", "0x10", "1e", "+-1", "nan(1)", "e5"}) {
    EXPECT_FALSE(ParseDouble(text)) << text;
  }
}

TEST(ParseDouble, TellsTooLargeFromTooSmall) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ParseDouble("1e999"), infinity);
  EXPECT_EQ(ParseDouble("-1e999"), -infinity);
  EXPECT_EQ(ParseDouble("1e-999"), 0.0);
  EXPECT_EQ(ParseDouble("0.000001e-999999999999999999999"), 0.0);
  EXPECT_EQ(ParseDouble("1e999999999999999999999"), infinity);
  EXPECT_EQ(ParseDouble("0." + std::string(400, '0') + "1e1000"), infinity);
  EXPECT_EQ(ParseDouble("1" + std::string(400, '0') + "e-1000"), 0.0);
}

TEST(ParseInt, StopsAtTheEndsOfItsRange) {
  EXPECT_EQ(ParseInt("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(ParseInt("+7"), 7);
  EXPECT_FALSE(ParseInt("9223372036854775808"));
  EXPECT_FALSE(ParseInt("1.0"));
  EXPECT_FALSE(ParseInt("+-7"));
  EXPECT_EQ(ParseUint("18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(ParseUint("-1"));
}

TEST(ToInt, LeavesOutTheEndsThatADoubleCantTellFromTheirNeighbours) {
  EXPECT_EQ(ToInt(-1.9), -1);
  EXPECT_FALSE(ToInt(0x1p63));
  EXPECT_FALSE(ToInt(-0x1p63));
  EXPECT_FALSE(ToInt(std::nan("")));
  EXPECT_EQ(ToUint(-0.5), 0U);
  EXPECT_FALSE(ToUint(-1.0));
  EXPECT_FALSE(ToUint(0x1p64));
}

TEST(CompareExactly, ComparesByValueBeyondWhatADoubleCanHold) {
  EXPECT_TRUE(CompareExactly(std::int64_t{9007199254740993}, 9007199254740992.0) > 0);
  EXPECT_TRUE(CompareExactly(INT64_MAX, 0x1p63) < 0);
  EXPECT_TRUE(CompareExactly(INT64_MIN, -0x1p63) == 0);
  EXPECT_TRUE(CompareExactly(std::int64_t{-1}, -1.5) > 0);
  EXPECT_TRUE(CompareExactly(std::int64_t{1}, 1.5) < 0);
  EXPECT_TRUE(CompareExactly(UINT64_MAX, 0x1p64) < 0);
  EXPECT_TRUE(CompareExactly(std::uint64_t{0}, -0.5) > 0);
  EXPECT_TRUE(CompareExactly(std::int64_t{-1}, std::uint64_t{0}) < 0);
  EXPECT_EQ(CompareExactly(std::int64_t{0}, std::nan("")), std::partial_ordering::unordered);
}

}  // namespace
}  // namespace swamp::cel

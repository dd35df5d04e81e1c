#include <gtest/gtest.h>

#include "cel/test_support.h"

namespace swamp::cel {
namespace {

TEST(MathFunctions, GreatestAndLeastKeepTheKindOfTheWinner) {
  EXPECT_EQ(Tagged("math.greatest(1, 2.5, 2u)", Mode::kStrict), R"({"double_value":2.5})");
  EXPECT_EQ(Tagged("math.least([1, 1.0, 1u])", Mode::kStrict), R"({"int64_value":"1"})") << "the first of equal ones";
  EXPECT_EQ(Strict("math.greatest([])"), "error: there is no least or greatest of no numbers");
  EXPECT_EQ(Strict("math.greatest('a')"), "error: no such overload: math.greatest(string)");
  EXPECT_EQ(Strict("math.least(9223372036854775807, 9223372036854775808.0) == 9223372036854775807"), "true");
}

TEST(MathFunctions, RoundHalvesAwayFromZero) {
  EXPECT_EQ(Strict("[math.round(-1.5), math.round(2.5), math.floor(-1.2), math.ceil(-1.2), math.trunc(-1.9)]"),
            "[-2,3,-2,-1,-1]");
}

TEST(MathFunctions, StopAtTheEndsOfTheInts) {
  EXPECT_EQ(Strict("math.abs(-9223372036854775808)"), "error: integer overflow");
  EXPECT_EQ(Strict("math.bitShiftRight(-1024, 3)"), "\"2305843009213693824\"") << "the sign is a bit like the others";
  EXPECT_EQ(Strict("math.bitShiftLeft(1, 64)"), "0");
  EXPECT_EQ(Strict("math.bitShiftLeft(1, -1)"), "error: negative offset: bits are shifted by 0 or more");
  EXPECT_EQ(Strict("math.sqrt(81)"), "9");
  EXPECT_EQ(Strict("math.isNaN(math.sqrt(-1.0))"), "true");
}

}  // namespace
}  // namespace swamp::cel

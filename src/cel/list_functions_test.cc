#include <gtest/gtest.h>

#include "cel/test_support.h"

namespace swamp::cel {
namespace {

TEST(ListFunctions, SortByOrderOfTheElementsOrOfAKey) {
  EXPECT_EQ(Strict("[3, 1.5, 2u].sort()").substr(0, 6), "error:") << "keys are of one kind";
  EXPECT_EQ(Strict("[3, 1, 2].sort()"), "[1,2,3]");
  EXPECT_EQ(Strict("['b', 'a'].sort()"), R"(["a","b"])");
  EXPECT_EQ(Strict("[].sort()"), "[]");
  EXPECT_EQ(Strict("[[1], [2]].sort()"), "error: no such overload: sort(list, list)");
  EXPECT_EQ(Strict("['ccc', 'a', 'bb', 'd'].sortBy(s, s.size())"), R"(["a","d","bb","ccc"])") << "equal ones as they were";
  EXPECT_EQ(Strict("[1.0, 0.0 / 0.0, -1.0].sort()"), R"([-1,1,"NaN"])");
  EXPECT_EQ(Strict("[1, 2].sortBy(x, 1 / (x - 1))"), "error: division by zero");
}

TEST(ListFunctions, CutAndTurn) {
  EXPECT_EQ(Strict("[1, 2, 3, 4].slice(1, 3)"), "[2,3]");
  EXPECT_EQ(Strict("[1].slice(0, 2)"), "error: index out of range: 0 to 2 in a list of 1");
  EXPECT_EQ(Strict("[1, 2].reverse()"), "[2,1]");
  EXPECT_EQ(Strict("[1, 1.0, 2u, 'a', 'a'].distinct()"), R"([1,2,"a"])");
  EXPECT_EQ(Strict("[1, [2, [3]]].flatten()"), "[1,2,[3]]");
  EXPECT_EQ(Strict("[1, [2, [3]]].flatten(5)"), "[1,2,3]");
  EXPECT_EQ(Strict("lists.range(3)"), "[0,1,2]");
  EXPECT_EQ(Strict("lists.range(-3)"), "[]");
  EXPECT_EQ(Strict("[1, 2].first().value() + [1, 2].last().value()"), "3");
  EXPECT_EQ(Strict("[].first().hasValue()"), "false");
}

TEST(OptionalFunctions, TellZeroFromNothing) {
  EXPECT_EQ(Strict("[null, 0, 0u, 0.0, '', b'', [], {}, false, duration('0')].exists(x, optional.ofNonZeroValue(x).hasValue())"),
            "false");
  EXPECT_EQ(Strict("optional.ofNonZeroValue(1).value()"), "1");
  EXPECT_EQ(Strict("optional.none().value()"), "error: the optional has no value");
  EXPECT_EQ(Strict("optional.unwrap([optional.of(1), optional.none()])"), "[1]");
  EXPECT_EQ(Strict("[optional.of(1), optional.none()].unwrapOpt()"), "[1]");
}

}  // namespace
}  // namespace swamp::cel

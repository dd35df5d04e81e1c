#include <gtest/gtest.h>

#include "cel/test_support.h"

namespace swamp::cel {
namespace {

TEST(Format, FillsEachClauseByItsConversion) {
  EXPECT_EQ(Strict("'%s %d %.2f %e %x %X %o %b %%'.format(['a', -5, 1.005, 2, 255, b'\\xab', 8, true])"),
            "\"a -5 1.00 2.000000e+00 ff AB 10 1 %\"");
  EXPECT_EQ(Strict("'%x %b'.format([-255, -9223372036854775808])"),
            "\"-ff -1000000000000000000000000000000000000000000000000000000000000000\"");
  EXPECT_EQ(Strict("'%.0f %.0f'.format([1.5, 2.5])"), "\"2 2\"");
}

TEST(Format, WritesListsAndMapsInAFixedOrder) {
  EXPECT_EQ(Strict("'%s'.format([{'b': [1, null], 1: b'\\xff\\xfe', true: duration('1s')}])"),
            "\"{1: \ufffd, b: [1, null], true: 1s}\"");
}

TEST(Format, SaysWhatIsWrongWithAClause) {
  EXPECT_EQ(Strict("'%a'.format([1])"), "error: unrecognized formatting clause: %a");
  EXPECT_EQ(Strict("'%s %s'.format([1])"), "error: index 1 out of range: there are fewer arguments than formatting clauses");
  EXPECT_EQ(Strict("'%d'.format(['x'])"), "error: a value of type string can't be formatted as a decimal number");
  EXPECT_EQ(Strict("'%.f'.format([1.0])"), "error: a formatting clause has a point without digits behind it");
  EXPECT_EQ(Strict("'%.1001f'.format([1.0])"), "error: a formatting clause asks for more than 1000 digits");
  EXPECT_EQ(Strict("'%'.format([1])"), "error: a formatting clause is cut off: expected one of s d f e x X o b");
  EXPECT_EQ(Strict("'%€'.format([1])"), "error: unrecognized formatting clause: %€");
}

}  // namespace
}  // namespace swamp::cel

#include "datastore/marker_version.h"

#include <gtest/gtest.h>

namespace swamp {
namespace {

TEST(MarkerVersion, IsTheNumberInTheBody) {
  EXPECT_EQ(MarkerVersion("12"), 12U);
  EXPECT_EQ(MarkerVersion(" 7\n"), 7U);
  EXPECT_EQ(MarkerVersion("18446744073709551615"), 18446744073709551615U);
}

TEST(MarkerVersion, IsBelowEveryVersionWhenTheBodyNamesNone) {
  for (const char* body : {"", "\n", "v3", "12abc", "-1", "+1", "1.5", "18446744073709551616"})
    EXPECT_EQ(MarkerVersion(body), 0U) << body;
}

}  // namespace
}  // namespace swamp

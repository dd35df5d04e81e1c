#include "cel/time_text.h"

#include <gtest/gtest.h>

namespace swamp::cel {
namespace {

std::string Reformatted(std::string_view text) {
  const auto time = ParseTimestamp(text);
  return time ? FormatTimestamp(*time) : "none";
}

std::string ReformattedDuration(std::string_view text) {
  const auto nanos = ParseDuration(text);
  return nanos ? FormatDuration(*nanos) : "none";
}

TEST(Timestamp, ReadsRfc3339AndWritesItInUtc) {
  EXPECT_EQ(Reformatted("2009-02-13T23:31:30Z"), "2009-02-13T23:31:30Z");
  EXPECT_EQ(Reformatted("2009-02-13T23:31:30.120+02:30"), "2009-02-13T21:01:30.12Z");
  EXPECT_EQ(Reformatted("9999-12-31T23:59:59.999999999Z"), "9999-12-31T23:59:59.999999999Z");
  EXPECT_EQ(Reformatted("0001-01-01T00:00:00Z"), "0001-01-01T00:00:00Z");
  EXPECT_EQ(Reformatted("2024-02-29T00:00:00Z"), "2024-02-29T00:00:00Z");
}

TEST(Timestamp, RefusesWhatIsNoTime) {
  for (const char* text :
       {"2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z",
        "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00",
        "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00.1234567890Z", "2024-01-01T00:00:00+0100",
        "2024-01-01T00:00:00Zx", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01", ""}) {
    EXPECT_EQ(Reformatted(text), "none") << text;
  }
}

TEST(Duration, ReadsNumbersWithUnits) {
  EXPECT_EQ(ReformattedDuration("1h30m"), "5400s");
  EXPECT_EQ(ReformattedDuration("-1.5s"), "-1.5s");
  EXPECT_EQ(ReformattedDuration("0"), "0s");
  EXPECT_EQ(ReformattedDuration("1.5h"), "5400s");
  EXPECT_EQ(ReformattedDuration("10ms7us3ns"), "0.010007003s");
  EXPECT_EQ(ReformattedDuration("3\u00b5s"), "0.000003s");
  EXPECT_EQ(ReformattedDuration("0.0000000019s"), "0.000000001s");
  EXPECT_EQ(ReformattedDuration("-9223372036.854775808s"), "-9223372036.854775808s");
  EXPECT_EQ(ReformattedDuration("0.123456789012345678901234567890s"), "0.123456789s");
}

TEST(Duration, RefusesWhatIsNoneOrOutOfRange) {
  for (const char* text : {"", "-", "1", "s", "1x", "1h 30m", ".s", "1.s.", "9223372036.854775808s", "10000000000000s",
                           "-320000000000s", "99999999999999999999s"}) {
    EXPECT_EQ(ReformattedDuration(text), "none") << text;
  }
}

TEST(Add, StaysWithinTheRangeOfTimes) {
  const Timestamp last = *ParseTimestamp("9999-12-31T23:59:59.999999999Z");
  EXPECT_FALSE(Add(last, 1));
  EXPECT_EQ(FormatTimestamp(*Add(last, -kNanosPerSecond)), "9999-12-31T23:59:58.999999999Z");
  const Timestamp first = *ParseTimestamp("0001-01-01T00:00:00Z");
  EXPECT_FALSE(Add(first, -1));
  EXPECT_FALSE(Difference(last, first));
  EXPECT_EQ(Difference(*Add(first, 5), first), 5);
}

}  // namespace
}  // namespace swamp::cel

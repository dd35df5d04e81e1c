#include <gtest/gtest.h>

#include <filesystem>

#include "cel/test_support.h"
#include "cel/time_zone.h"
#include "util/files.h"
#include "util/random.h"

namespace swamp::cel {
namespace {

TEST(TimeFunctions, ReadTheClockAndTheCalendar) {
  const Json variables = {{"t", "2024-02-29T23:31:30.123456789Z"}};
  EXPECT_EQ(Strict("[timestamp(t)].map(x, [x.getFullYear(), x.getMonth(), x.getDate(), x.getDayOfMonth(), "
                   "x.getDayOfWeek(), x.getDayOfYear(), x.getHours(), x.getMinutes(), x.getSeconds(), "
                   "x.getMilliseconds()])[0]",
                   variables),
            "[2024,1,29,28,4,59,23,31,30,123]");
  EXPECT_EQ(Strict("timestamp(t).getDate('+00:30')", variables), "1");
  EXPECT_EQ(Strict("timestamp(t).getHours('-09:30')", variables), "14");
  EXPECT_EQ(Strict("timestamp('0001-01-01T00:00:00Z').getFullYear('-01:00')"), "0");
}

TEST(TimeFunctions, CountWholeUnitsOfDurations) {
  EXPECT_EQ(Strict("[duration('-3730s')].map(d, [d.getHours(), d.getMinutes(), d.getSeconds()])[0]"), "[-1,-62,-3730]");
  EXPECT_EQ(Strict("duration('1.5s').getMilliseconds()"), "500");
}

TEST(TimeFunctions, KnowOnlyFixedZonesWithoutADatabase) {
  EXPECT_EQ(Strict("timestamp(0).getHours('UTC')"), "0");
  EXPECT_EQ(Strict("timestamp(0).getHours('Europe/Berlin')"), "error: unknown time zone: \"Europe/Berlin\"");
  for (const char* zone : {"25:00", "+1:00", "+01:60", "+0100", ""}) {
    EXPECT_EQ(Strict("timestamp(0).getHours(z)", {{"z", zone}}).substr(0, 25), "error: unknown time zone:") << zone;
  }
}

TEST(TimeFunctions, KnowTheZonesOfTheSystem) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/Australia/Sydney")) GTEST_SKIP() << "no time zone database here";
  SystemRandom random;
  SystemFiles files(random);
  const TimeZones zones(files);
  EXPECT_EQ(Tagged("timestamp('2009-02-13T23:31:30Z').getDate('Australia/Sydney')", Mode::kDialect, Json::object(),
                   Json::object(), &zones),
            R"({"int64_value":"14"})");
}

TEST(TimeFunctions, AddAndSubtract) {
  EXPECT_EQ(Strict("timestamp('2024-01-01T00:00:00Z') - duration('1ns')"), "\"2023-12-31T23:59:59.999999999Z\"");
  EXPECT_EQ(Strict("duration('1h') + timestamp(0)"), "\"1970-01-01T01:00:00Z\"");
  EXPECT_EQ(Strict("timestamp(10) - timestamp(4)"), "\"6s\"");
  EXPECT_EQ(Strict("duration('1h') - duration('30m') < duration('31m')"), "true");
  EXPECT_EQ(Strict("timestamp(0) + timestamp(0)"), "error: no such overload: google.protobuf.Timestamp + google.protobuf.Timestamp");
  EXPECT_EQ(Strict("duration('9223372036s') + duration('1s')"), "error: duration out of range");
  EXPECT_EQ(Strict("timestamp(253402300800)"), "error: the time is out of range: years go from 1 to 9999");
}

}  // namespace
}  // namespace swamp::cel

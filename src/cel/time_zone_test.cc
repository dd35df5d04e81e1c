#include "cel/time_zone.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cel/time_text.h"
#include "util/files.h"
#include "util/random.h"

namespace swamp::cel {
namespace {

std::int64_t At(std::string_view text) { return ParseTimestamp(text)->seconds; }

std::string Big(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// A file with the given changes (time, offset) and footer; the offset before all is -5 h.
std::string File(const std::vector<std::pair<std::int64_t, std::int32_t>>& changes, std::string_view footer) {
  const auto header = [](std::size_t times, std::size_t types) {
    return "TZif2" + std::string(15, '\0') + Big(0, 4) + Big(0, 4) + Big(0, 4) + Big(times, 4) + Big(types, 4) + Big(4, 4);
  };
  const auto type = [](std::int32_t offset) { return Big(static_cast<std::uint32_t>(offset), 4) + Big(0, 2); };
  std::string file = header(0, 1) + type(0) + "UTC" + '\0';
  file += header(changes.size(), changes.size() + 1);
  for (const auto& [time, offset] : changes) file += Big(static_cast<std::uint64_t>(time), 8);
  for (std::size_t i = 0; i < changes.size(); ++i) file += static_cast<char>(i + 1);
  file += type(-5 * 3600);
  for (const auto& [time, offset] : changes) file += type(offset);
  return file + "ABC" + '\0' + "\n" + std::string(footer) + "\n";
}

TEST(TimeZone, TakesTheOffsetOfTheLastChangeBefore) {
  const auto zone = TimeZone::FromFile(File({{100, 3600}, {200, 7200}}, ""));
  ASSERT_TRUE(zone);
  EXPECT_EQ(zone->OffsetAt(99), -5 * 3600);
  EXPECT_EQ(zone->OffsetAt(100), 3600);
  EXPECT_EQ(zone->OffsetAt(199), 3600);
  EXPECT_EQ(zone->OffsetAt(INT32_MAX), 7200);
}

TEST(TimeZone, FollowsTheRuleBehindTheLastChange) {
  const auto zone = TimeZone::FromFile(File({{100, 3600}}, "CET-1CEST,M3.5.0,M10.5.0/3"));
  ASSERT_TRUE(zone);
  EXPECT_EQ(zone->OffsetAt(At("2050-03-27T00:59:59Z")), 3600);
  EXPECT_EQ(zone->OffsetAt(At("2050-03-27T01:00:00Z")), 7200);
  EXPECT_EQ(zone->OffsetAt(At("2050-10-30T00:59:59Z")), 7200);
  EXPECT_EQ(zone->OffsetAt(At("2050-10-30T01:00:00Z")), 3600);
}

TEST(TimeZone, FollowsRulesOfTheSouthAndOfOddOffsets) {
  const auto south = TimeZone::FromFile(File({}, "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"));
  ASSERT_TRUE(south);
  EXPECT_EQ(south->OffsetAt(At("2050-01-15T00:00:00Z")), 11 * 3600);
  EXPECT_EQ(south->OffsetAt(At("2050-07-15T00:00:00Z")), 10 * 3600 + 1800);
  const auto west = TimeZone::FromFile(File({}, "<-03>3<-02>,J60/-1,300/167"));
  ASSERT_TRUE(west);
  EXPECT_EQ(west->OffsetAt(At("2050-01-15T00:00:00Z")), -3 * 3600);
  EXPECT_EQ(west->OffsetAt(At("2050-06-15T00:00:00Z")), -2 * 3600);
}

TEST(TimeZone, RefusesFilesThatAreNone) {
  const std::string good = File({{100, 3600}}, "UTC0");
  EXPECT_TRUE(TimeZone::FromFile(good));
  EXPECT_FALSE(TimeZone::FromFile(""));
  EXPECT_FALSE(TimeZone::FromFile("TZif"));
  EXPECT_FALSE(TimeZone::FromFile(File({{200, 0}, {100, 0}}, "")));
  for (std::size_t size = 0; size < good.size() - 7; ++size) EXPECT_FALSE(TimeZone::FromFile(good.substr(0, size))) << size;
}

class SystemZones : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/usr/share/zoneinfo/Europe/Berlin")) GTEST_SKIP() << "no time zone database here";
  }
  SystemRandom random_;
  SystemFiles files_{random_};
  TimeZones zones_{files_};
};

TEST_F(SystemZones, AreFoundByName) {
  const TimeZone* const berlin = zones_.Find("Europe/Berlin");
  ASSERT_NE(berlin, nullptr);
  EXPECT_EQ(berlin, zones_.Find("Europe/Berlin")) << "read once";
  EXPECT_EQ(berlin->OffsetAt(At("2024-01-15T12:00:00Z")), 3600);
  EXPECT_EQ(berlin->OffsetAt(At("2024-07-15T12:00:00Z")), 7200);
  EXPECT_EQ(berlin->OffsetAt(At("2999-07-15T12:00:00Z")), 7200);
}

TEST_F(SystemZones, AreLookedForNowhereElse) {
  for (const char* name : {"", "Europe", "Nowhere/Else", "../../../etc/passwd", "/etc/passwd", "Europe/../UTC", "a b"}) {
    EXPECT_EQ(zones_.Find(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace swamp::cel

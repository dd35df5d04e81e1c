#include "extension/registry.h"

#include <gtest/gtest.h>

namespace swamp {
namespace {

TEST(RegistryEntry, ReadsWhatIsThere) {
  const RegistryEntry entry = ReadRegistryEntry(Json::parse(
      R"({"description":"d","latestVersion":"2026.01.01.1","latestRc":null,"latestBeta":"2026.02.01.1",)"
      R"("deprecatedAt":"t","deprecationReason":"old","supersededBy":"@c/y","yankedAt":null})"));
  EXPECT_EQ(entry.description, "d");
  EXPECT_EQ(entry.latest.at(Channel::kStable).text(), "2026.01.01.1");
  EXPECT_FALSE(entry.latest.contains(Channel::kRc));
  EXPECT_EQ(entry.latest.at(Channel::kBeta).text(), "2026.02.01.1");
  EXPECT_EQ(entry.deprecated, "old");
  EXPECT_EQ(entry.superseded_by, "@c/y");
  EXPECT_FALSE(entry.withdrawn);
}

TEST(RegistryEntry, TakesWhatItCannotReadForNothing) {
  const RegistryEntry entry =
      ReadRegistryEntry(Json::parse(R"({"latestVersion":7,"latestBeta":"newest","yankedAt":"t"})"));
  EXPECT_TRUE(entry.latest.empty());
  EXPECT_EQ(entry.withdrawn, "");
  EXPECT_TRUE(ReadRegistryEntry(Json::object()).latest.empty());
}

}  // namespace
}  // namespace swamp

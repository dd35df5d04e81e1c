#include "extension/folder_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

TEST(ArchiveName, IsReadBackAsItIsWritten) {
  const Version version = *Version::Parse("2026.01.31.1");
  for (const Channel channel : kAllChannels) {
    const auto parsed = ParseArchiveName(ArchiveName(version, channel));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->first, version);
    EXPECT_EQ(parsed->second, channel);
  }
  EXPECT_EQ(ArchiveName(version, Channel::kStable), "2026.01.31.1.tar.gz");
  EXPECT_EQ(ArchiveName(version, Channel::kRc), "2026.01.31.1-rc.tar.gz");
  for (const char* name :
       {"2026.01.31.1", "x.tar.gz", "2026.01.31.tar.gz", "2026.01.31.1-nightly.tar.gz", ".tar.gz",
        "2026.01.31.1.tar.gz.sha256"}) {
    EXPECT_FALSE(ParseArchiveName(name)) << name;
  }
}

TEST(ListFolderVersions, TakesChecksumsAloneOrAsSha256sumPrintsThem) {
  testing::TempWorld world;
  const std::string hex(64, 'a');
  for (const auto& [version, line] : {std::pair<std::string, std::string>{"2026.01.01.1", hex},
                                      {"2026.01.02.1", hex + "  2026.01.02.1.tar.gz\n"},
                                      {"2026.01.03.1", "\n" + std::string(64, 'A') + " *x\r\n"},
                                      {"2026.01.04.1", std::string(63, 'a')},
                                      {"2026.01.05.1", ""}}) {
    world.Write("x/" + version + ".tar.gz", "archive");
    world.Write("x/" + version + ".tar.gz.sha256", line);
  }
  std::vector<std::string> found;
  for (const FolderVersion& version : ListFolderVersions(world.context(), world.root / "x")) {
    EXPECT_EQ(version.checksum, hex);
    found.push_back(version.version.text());
  }
  EXPECT_THAT(found, ::testing::ElementsAre("2026.01.03.1", "2026.01.02.1", "2026.01.01.1"));
}

TEST(ListFolderVersions, ShowsAVersionOnItsMostStableChannelOnce) {
  testing::TempWorld world;
  for (const char* name : {"2026.01.01.1-beta.tar.gz", "2026.01.01.1-rc.tar.gz"}) {
    world.Write(std::string("x/") + name, "archive");
    world.Write(std::string("x/") + name + ".sha256", std::string(64, 'a'));
  }
  const auto versions = ListFolderVersions(world.context(), world.root / "x");
  ASSERT_EQ(versions.size(), 1U);
  EXPECT_EQ(versions[0].channel, Channel::kRc);
}

}  // namespace
}  // namespace swamp

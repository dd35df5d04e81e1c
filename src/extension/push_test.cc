#include "extension/push.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using testing::Checkout;
using testing::CodeOf;
using ::testing::ElementsAre;

class PushTest : public ::testing::Test {
 protected:
  PushTest() { WriteArchive("2026.01.01.1"); }
  void WriteArchive(const std::string& version) {
    t_.world.Write(
        "new.tar.gz",
        testing::ExtensionArchive({{"manifest.yaml", "manifestVersion: 1\nname: '@c/x'\nversion: " +
                                                         version + "\nmodels: [a.ts]\n"},
                                   {"models/a.ts", "a"}}));
  }
  PushResult PushIt(Channel channel = Channel::kStable, bool dry_run = false) {
    return Push(t_.context(), t_.registry, {t_.world.root / "new.tar.gz", channel, dry_run});
  }
  Checkout t_;
};

TEST_F(PushTest, PublishesForOthersToPull) {
  const PushResult result = PushIt();
  EXPECT_EQ(result.checksum, Sha256Hex(t_.world.Read("new.tar.gz")));
  EXPECT_TRUE(result.published);
  t_.Pull("@c/x");
  EXPECT_THAT(t_.Entries(), ElementsAre("@c/x 2026.01.01.1"));
  EXPECT_EQ((*t_.installed.lockfile.Find("@c/x"))["checksum"], result.checksum);
}

TEST_F(PushTest, NeverReplacesAVersionOfAnyChannel) {
  PushIt(Channel::kBeta);
  EXPECT_EQ(CodeOf([&] { PushIt(); }), "version_exists");
  EXPECT_EQ(CodeOf([&] { PushIt(Channel::kStable, true); }), "version_exists");
}

TEST_F(PushTest, ADryRunPublishesNothing) {
  EXPECT_FALSE(PushIt(Channel::kStable, true).published);
  EXPECT_EQ(CodeOf([&] { t_.Pull("@c/x"); }), "extension_not_found");
}

TEST_F(PushTest, ChecksTheArchiveFirst) {
  WriteArchive("2026.1.1.1");
  EXPECT_EQ(CodeOf([&] { PushIt(); }), "manifest_invalid");
  t_.world.Write("new.tar.gz", "no archive");
  EXPECT_EQ(CodeOf([&] { PushIt(); }), "archive_invalid");
  t_.world.files.Remove(t_.world.root / "new.tar.gz");
  EXPECT_EQ(CodeOf([&] { PushIt(); }), "path_not_found");
}

}  // namespace
}  // namespace swamp

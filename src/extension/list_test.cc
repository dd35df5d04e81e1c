#include "extension/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using testing::Checkout;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "name installed" or "name recorded" of each.
std::vector<std::string> Shown(Checkout& t) {
  std::vector<std::string> lines;
  for (const ListedExtension& extension : ListExtensions(t.context(), t.site, t.installed)) {
    lines.push_back(extension.name + (extension.installed ? " installed" : " recorded"));
  }
  return lines;
}

TEST(ListExtensions, MarksWhatAnotherCheckoutRecorded) {
  Checkout t;
  EXPECT_THAT(Shown(t), IsEmpty());
  t.Publish("@c/x", "2026.01.01.1");
  t.Publish("@c/y", "2026.01.01.1");
  t.Pull("@c/x");
  t.Pull("@c/y");
  std::filesystem::remove_all(t.site.pulled_root / "@c/y");
  LockfileDelta delta;
  delta.set["@swamp/s3-datastore"] = Json{{"version", "2026.01.01.1"}};
  delta.set["odd name"] = Json{{"version", "?"}};
  t.installed.lockfile.Apply(delta);
  EXPECT_THAT(Shown(t), ElementsAre("@c/x installed", "@c/y recorded",
                                    "@swamp/s3-datastore installed", "odd name recorded"));
}

TEST(ListExtensions, CountsAnEditedTreeAsInstalledAndAnIncompleteOneNot) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  t.world.Write(Checkout::InTree("@c/x/models/a.ts"), "edited");
  EXPECT_THAT(Shown(t), ElementsAre("@c/x installed"));
  t.world.files.Remove(t.world.root / Checkout::InTree("@c/x/models/a.ts"));
  EXPECT_THAT(Shown(t), ElementsAre("@c/x recorded"));
}

TEST(ListExtensions, DoesNotCountAnotherVersionAsInstalled) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  LockfileDelta delta;
  delta.set["@c/x"] = *t.installed.lockfile.Find("@c/x");
  delta.set["@c/x"]["version"] = "2026.01.02.1";
  delta.set["@c/x"]["checksum"] = std::string(64, 'c');
  t.installed.lockfile.Apply(delta);
  EXPECT_THAT(Shown(t), ElementsAre("@c/x recorded"));
}

}  // namespace
}  // namespace swamp

#include "extension/update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using testing::Checkout;
using testing::CodeOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;

using Status = UpdateItem::Status;

UpdateResult UpdateAll(Checkout& t, const UpdateRequest& request = {}) {
  return Update(t.context(), t.site, t.installed, t.registry, request);
}

TEST(Update, PullsTheNewestOfTheEntrysChannel) {
  Checkout t;
  t.Publish("@c/beta", "2026.01.01.1", {}, "", "-beta");
  t.Pull("@c/beta", [](PullRequest& request) { request.channel = Channel::kBeta; });
  t.Publish("@c/same", "2026.01.01.1");
  t.Pull("@c/same");
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  t.Publish("@c/x", "2026.01.02.1");
  t.Publish("@c/x", "2026.01.03.1", {}, "", "-rc");
  t.Publish("@c/beta", "2026.01.02.1", {}, "", "-beta");
  t.Publish("@c/beta", "2026.01.09.1");

  UpdateRequest check;
  check.check_only = true;
  const UpdateResult looked = UpdateAll(t, check);
  EXPECT_EQ(looked.extensions[2].status, Status::kUpdateAvailable);
  EXPECT_EQ(looked.extensions[2].latest_version, "2026.01.02.1");
  EXPECT_THAT(t.Entries(),
              ElementsAre("@c/beta 2026.01.01.1", "@c/same 2026.01.01.1", "@c/x 2026.01.01.1"));

  const UpdateResult result = UpdateAll(t);
  EXPECT_EQ(result.updated, 2U);
  EXPECT_EQ(result.up_to_date, 1U);
  EXPECT_THAT(t.Entries(),
              ElementsAre("@c/beta 2026.01.02.1", "@c/same 2026.01.01.1", "@c/x 2026.01.02.1"));
  EXPECT_EQ((*t.installed.lockfile.Find("@c/beta"))["channel"], "beta");
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/models/a.ts")), "// @c/x 2026.01.02.1\n");
}

TEST(EX22, AnnouncesNoOlderVersion) {
  Checkout t;
  t.Publish("@c/x", "2026.05.10.2");
  t.Pull("@c/x");
  t.Publish("@c/x", "2026.05.9.12");
  EXPECT_EQ(UpdateAll(t).extensions[0].status, Status::kUpToDate);
  t.world.Write("registry/@c/x/status.yaml", "yanked: [{version: 2026.05.10.2}]\n");
  const UpdateResult result = UpdateAll(t);
  EXPECT_EQ(result.extensions[0].status, Status::kUpToDate);
  EXPECT_EQ(result.extensions[0].latest_version, "2026.05.10.2");
  EXPECT_THAT(t.Entries(), ElementsAre("@c/x 2026.05.10.2"));
}

TEST(EX14, ReportsEditedFilesAndUpdatesTheOthers) {
  Checkout t;
  for (const char* name : {"@c/a", "@c/b"}) {
    t.Publish(name, "2026.01.01.1");
    t.Pull(name);
    t.Publish(name, "2026.01.02.1");
  }
  t.world.Write(Checkout::InTree("@c/a/models/a.ts"), "edited");
  const UpdateResult result = UpdateAll(t);
  EXPECT_EQ(result.extensions[0].status, Status::kFailed);
  EXPECT_EQ(result.extensions[0].error->code, "extension_edited");
  EXPECT_THAT(result.extensions[0].error->message, HasSubstr("@c/a/models/a.ts"));
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/a/models/a.ts")), "edited");
  EXPECT_THAT(t.Entries(), ElementsAre("@c/a 2026.01.01.1", "@c/b 2026.01.02.1"));
  UpdateRequest forced;
  forced.force = true;
  EXPECT_EQ(UpdateAll(t, forced).updated, 1U);
}

TEST(EX27, KeepsEachFailureInItsItem) {
  Checkout t;
  for (const char* name : {"@c/a", "@c/b"}) {
    t.Publish(name, "2026.01.01.1");
    t.Pull(name);
  }
  std::filesystem::remove_all(t.world.root / "registry/@c/a");
  t.Publish("@c/b", "2026.01.02.1");
  const UpdateResult result = UpdateAll(t);
  EXPECT_EQ(result.extensions[0].error->code, "extension_not_found");
  EXPECT_EQ(result.extensions[1].status, Status::kUpdated);
  EXPECT_EQ(result.failed, 1U);
}

TEST(Update, TellsOfADeprecatedExtension) {
  Checkout t;
  t.Publish("@c/a", "2026.01.01.1");
  t.Pull("@c/a");
  t.world.Write("registry/@c/a/status.yaml", "deprecated: {reason: old, supersededBy: '@c/b'}\n");
  const auto items = CheckForUpdates(t.context(), t.site, t.installed, t.registry, std::nullopt);
  EXPECT_EQ(items[0].deprecated, "old");
  EXPECT_EQ(items[0].superseded_by, "@c/b");
}

TEST(Update, NamesWhatIsNotInstalled) {
  Checkout t;
  t.Publish("@c/alpha", "2026.01.01.1");
  t.Pull("@c/alpha");
  UpdateRequest request;
  request.only = ExtensionName::Parse("@c/alpa");
  EXPECT_EQ(CodeOf([&] { UpdateAll(t, request); }), "extension_not_installed");
  EXPECT_THAT(MessageOf([&] { UpdateAll(t, request); }), HasSubstr("Did you mean @c/alpha?"));
}

TEST(EX28, LeavesBuiltInExtensionsAlone) {
  Checkout t;
  LockfileDelta delta;
  delta.set["@swamp/s3-datastore"] = Json{{"version", "2026.01.01.1"}};
  t.installed.lockfile.Apply(delta);
  EXPECT_THAT(UpdateAll(t).extensions, IsEmpty());
  EXPECT_THAT(t.registry.asked, IsEmpty());
}

}  // namespace
}  // namespace swamp

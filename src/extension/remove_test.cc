#include "extension/remove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using ::testing::AllOf;
using testing::Checkout;
using testing::CodeOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using testing::MessageOf;
using ::testing::Pair;
using ::testing::SizeIs;

RemoveResult RemoveIt(Checkout& t, const std::string& name, bool force = false) {
  return Remove(t.context(), t.site, t.installed, {*ExtensionName::Parse(name), force, {}});
}

TEST(Remove, TakesFilesBundlesFoldersAndTheEntry) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1",
            {{"models/a.ts", "x"}, {"models/sub/b.ts", "x"}, {"bundles/a.js", "b"}});
  t.Pull("@c/x");
  t.world.Write("repo/.swamp/bundles/" + BundleNamespace(".swamp/pulled-extensions/@c/x/models") +
                    "/rebuilt.js",
                "b");
  const RemoveResult result = RemoveIt(t, "@c/x");
  EXPECT_EQ(result.removed.version, "2026.01.01.1");
  EXPECT_THAT(result.removed.files, SizeIs(5));
  EXPECT_THAT(result.removed.edited, IsEmpty());
  EXPECT_EQ(result.folders_removed, 5U) << "@c, x, models, sub, and that of the bundles";
  EXPECT_FALSE(t.world.Exists(Checkout::InTree("@c")));
  EXPECT_FALSE(t.world.Exists("repo/.swamp/bundles"));
  EXPECT_THAT(t.Entries(), IsEmpty());
}

// What an earlier command left can't be published, so that the lockfile isn't known.
class OfflineSet final : public InstalledSet {
 public:
  Lockfile Read(const Context&) override { return {}; }
  Lockfile Change(const Context&, const Decide&, const ApplyLocally&) override {
    throw UserError("managed_config_unpublished", "the change of the extension lockfile is made here but not published: down");
  }
  void Republish(const Context&) override {}
};

TEST(Remove, SaysThatNothingWasRemovedWhereItCannotSeeWhatIsInstalled) {
  Checkout t;
  OfflineSet offline;
  const auto remove = [&] { Remove(t.context(), t.site, offline, {*ExtensionName::Parse("@c/x"), false, {}}); };
  EXPECT_EQ(CodeOf(remove), "managed_lockfile_unavailable");
  EXPECT_THAT(MessageOf(remove), HasSubstr("nothing was removed"));
}

TEST(EX17, RefusesWhatAnotherExtensionDependsOn) {
  Checkout t;
  t.Publish("@c/b", "2026.01.01.1");
  t.Publish("@c/a", "2026.01.01.1", {}, "dependencies: ['@c/b']\n");
  t.Pull("@c/a");
  EXPECT_EQ(CodeOf([&] { RemoveIt(t, "@c/b"); }), "extension_in_use");
  EXPECT_THAT(MessageOf([&] { RemoveIt(t, "@c/b"); }), HasSubstr("@c/b is needed by @c/a"));
  // Also when the dependent is recorded by another checkout and has no files here.
  std::filesystem::remove_all(t.site.pulled_root / "@c/a");
  EXPECT_EQ(CodeOf([&] { RemoveIt(t, "@c/b"); }), "extension_in_use");
  EXPECT_THAT(t.Entries(), SizeIs(2));
  RemoveIt(t, "@c/a");
  RemoveIt(t, "@c/b");
  EXPECT_THAT(t.Entries(), IsEmpty());
  EXPECT_FALSE(t.world.Exists(Checkout::InTree("@c")));
}

TEST(EX17, CanBeForced) {
  Checkout t;
  t.Publish("@c/b", "2026.01.01.1");
  t.Publish("@c/a", "2026.01.01.1", {}, "dependencies: ['@c/b']\n");
  t.Pull("@c/a");
  RemoveIt(t, "@c/b", true);
  EXPECT_THAT(t.Entries(), ElementsAre("@c/a 2026.01.01.1"));
}

TEST(EX17, LeavesAndNamesEditedAndUnknownFiles) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1", {{"models/a.ts", "a"}, {"models/b.ts", "b"}});
  t.Pull("@c/x");
  t.world.Write(Checkout::InTree("@c/x/models/a.ts"), "edited");
  t.world.Write(Checkout::InTree("@c/x/notes.txt"), "mine");
  const RemoveResult result = RemoveIt(t, "@c/x");
  EXPECT_THAT(result.removed.edited, ElementsAre(".swamp/pulled-extensions/@c/x/models/a.ts"));
  EXPECT_THAT(result.removed.unknown, ElementsAre(".swamp/pulled-extensions/@c/x/notes.txt"));
  EXPECT_THAT(t.Sources(),
              ElementsAre(Pair("@c/x/models/a.ts", "edited"), Pair("@c/x/notes.txt", "mine")));
  EXPECT_FALSE(t.world.Exists(Checkout::InTree("@c/x/" + std::string(kReceiptName))));
  EXPECT_THAT(t.Entries(), IsEmpty());
}

TEST(Remove, TakesEditedFilesWhenForced) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  t.world.Write(Checkout::InTree("@c/x/models/a.ts"), "edited");
  RemoveIt(t, "@c/x", true);
  EXPECT_THAT(t.Sources(), IsEmpty());
}

TEST(EX12, LeavesTheNeighboursByteForByte) {
  Checkout t;
  t.Publish("@c/aws", "2026.01.01.1", {{"models/a.ts", ""}, {"models/_lib/aws.ts", "aws"}});
  t.Publish("@c/aws/iam", "2026.01.01.1", {{"models/a.ts", ""}, {"models/_lib/aws.ts", "iam"}});
  t.Publish("@c/awsome", "2026.01.01.1");
  for (const char* name : {"@c/aws", "@c/aws/iam", "@c/awsome"}) t.Pull(name);
  const auto iam = t.world.Tree(Checkout::InTree("@c/aws/iam"));
  const auto awsome = t.world.Tree(Checkout::InTree("@c/awsome"));
  const RemoveResult result = RemoveIt(t, "@c/aws");
  EXPECT_THAT(result.removed.unknown, IsEmpty());
  EXPECT_EQ(t.world.Tree(Checkout::InTree("@c/aws/iam")), iam);
  EXPECT_EQ(t.world.Tree(Checkout::InTree("@c/awsome")), awsome);
  EXPECT_FALSE(t.world.Exists(Checkout::InTree("@c/aws/models")));
}

TEST(EX17, GivesAHintWhenTheEntryListsNoFiles) {
  Checkout t;
  LockfileDelta delta;
  delta.set["@c/x"] = Json{{"version", "2026.01.01.1"}};
  t.installed.lockfile.Apply(delta);
  t.world.Write(Checkout::InTree("@c/x/models/a.ts"), "?");
  const RemoveResult result = RemoveIt(t, "@c/x");
  EXPECT_THAT(result.removed.hint, AllOf(HasSubstr("doesn't say which files"),
                                         HasSubstr(".swamp/pulled-extensions/@c/x")));
  EXPECT_THAT(t.Sources(), ElementsAre(Pair("@c/x/models/a.ts", "?")));
  EXPECT_THAT(t.Entries(), IsEmpty());
}

TEST(EX01, RemovesNothingOutsideOfThePulledRoot) {
  for (const bool has_tree : {true, false}) {
    Checkout t;
    t.Publish("@c/x", "2026.01.01.1");
    t.Pull("@c/x");
    if (!has_tree) std::filesystem::remove_all(t.site.pulled_root / "@c");
    const std::vector<std::string> victims = {"victim/a.txt", "repo/victim/a.txt",
                                              "repo/src/main.ts", "repo/.swamp/data/d"};
    for (const std::string& victim : victims) t.world.Write(victim, "mine");
    LockfileDelta delta;
    delta.set["@c/x"] = *t.installed.lockfile.Find("@c/x");
    for (const char* path : {"../victim/a.txt", "/etc/x", "ok/../../b", "victim/a.txt",
                             "src/main.ts", ".swamp/data/d"}) {
      delta.set["@c/x"]["files"].push_back(path);
    }
    t.installed.lockfile.Apply(delta);
    const RemoveResult result = RemoveIt(t, "@c/x");
    EXPECT_THAT(result.removed.refused, SizeIs(6));
    for (const std::string& victim : victims) EXPECT_EQ(t.world.Read(victim), "mine") << victim;
    EXPECT_THAT(t.Entries(), IsEmpty());
  }
}

TEST(EX01, FollowsNoLinkOutOfThePulledRoot) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  std::filesystem::rename(t.site.pulled_root / "@c/x", t.world.root / "elsewhere");
  std::filesystem::create_directory_symlink(t.world.root / "elsewhere",
                                            t.site.pulled_root / "@c/x");
  const auto before = t.world.Tree("elsewhere");
  const RemoveResult result = RemoveIt(t, "@c/x");
  EXPECT_THAT(result.removed.files, IsEmpty());
  EXPECT_THAT(result.removed.refused, SizeIs(1));
  EXPECT_EQ(t.world.Tree("elsewhere"), before);
}

TEST(Remove, PreviewsBeforeAnythingChanges) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  std::size_t shown = 0;
  const RemoveResult result =
      Remove(t.context(), t.site, t.installed,
             {*ExtensionName::Parse("@c/x"), false, [&](const RemovalPreview& preview) {
                shown = preview.files.size();
                return false;
              }});
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(shown, 2U);
  EXPECT_THAT(t.Sources(), ElementsAre(Key("@c/x/models/a.ts")));
  EXPECT_THAT(t.Entries(), SizeIs(1));
}

TEST(Remove, NamesWhatIsNotInstalled) {
  Checkout t;
  EXPECT_EQ(CodeOf([&] { RemoveIt(t, "@c/x"); }), "extension_not_installed");
}

TEST(EX28, DropsABuiltInEntryWithoutTouchingFiles) {
  Checkout t;
  LockfileDelta delta;
  delta.set["@swamp/s3-datastore"] = Json{{"version", "2026.01.01.1"}};
  t.installed.lockfile.Apply(delta);
  EXPECT_THAT(RemoveIt(t, "@swamp/s3-datastore").removed.files, IsEmpty());
  EXPECT_THAT(t.Entries(), IsEmpty());
}

}  // namespace
}  // namespace swamp

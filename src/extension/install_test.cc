#include "extension/install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using testing::Checkout;
using testing::CodeOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

InstallResult InstallAll(Checkout& t, bool force = false) {
  return Install(t.context(), t.site, t.installed, t.registry, {std::nullopt, force});
}

// "name status" or "name failed code" of each.
std::vector<std::string> Shown(const InstallResult& result) {
  std::vector<std::string> lines;
  for (const InstallItem& item : result.entries) {
    const char* status = item.status == InstallItem::Status::kInstalled  ? "installed"
                         : item.status == InstallItem::Status::kUpToDate ? "up_to_date"
                                                                         : "failed";
    lines.push_back(item.name + " " + status + (item.error ? " " + item.error->code : ""));
  }
  return lines;
}

// What `git clone` of a repository gives: the lockfile without the files.
void ForgetFiles(Checkout& t) {
  std::filesystem::remove_all(t.site.swamp_folder);
  t.registry.asked.clear();
}

TEST(Install, RestoresAFreshClone) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1", {{"models/a.ts", "x"}, {"bundles/a.js", "b"}});
  t.Publish("@c/y", "2026.01.01.1");
  t.Pull("@c/x");
  t.Pull("@c/y");
  t.Publish("@c/x", "2026.01.02.1");
  const auto tree = t.world.Tree("repo");
  const std::string lockfile = t.installed.lockfile.Serialize();
  ForgetFiles(t);
  t.world.clock.Advance(Duration(1'000'000));
  const InstallResult result = InstallAll(t);
  EXPECT_THAT(Shown(result), ElementsAre("@c/x installed", "@c/y installed"));
  EXPECT_EQ(result.installed, 2U);
  EXPECT_EQ(t.world.Tree("repo"), tree);
  EXPECT_EQ(t.installed.lockfile.Serialize(), lockfile) << "EX-04";
  EXPECT_EQ(t.installed.changes, 2) << "only the pulls";
  EXPECT_EQ(t.installed.republished, 1);
  EXPECT_THAT(t.registry.asked, Contains("download @c/x 2026.01.01.1"));
  EXPECT_THAT(Shown(InstallAll(t)), ElementsAre("@c/x up_to_date", "@c/y up_to_date"));
}

TEST(EX03, VerifiesTheLockfilesChecksum) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  LockfileDelta delta;
  delta.set["@c/x"] = *t.installed.lockfile.Find("@c/x");
  delta.set["@c/x"]["checksum"] = std::string(64, 'b');
  t.installed.lockfile.Apply(delta);
  ForgetFiles(t);
  EXPECT_THAT(Shown(InstallAll(t)), ElementsAre("@c/x failed checksum_mismatch"));
  EXPECT_THAT(t.Sources(), IsEmpty());
}

TEST(EX25, OneWithdrawnVersionDoesNotStopTheOthers) {
  Checkout t;
  for (const char* name : {"@c/a", "@c/b", "@c/c", "@c/d", "@c/e"}) {
    t.Publish(name, "2026.01.01.1");
    t.Pull(name);
  }
  t.world.Write("registry/@c/c/status.yaml", "yanked: [{version: 2026.01.01.1}]\n");
  ForgetFiles(t);
  const InstallResult result = InstallAll(t);
  EXPECT_THAT(Shown(result),
              ElementsAre("@c/a installed", "@c/b installed", "@c/c failed version_withdrawn",
                          "@c/d installed", "@c/e installed"));
  EXPECT_EQ(result.failed, 1U);
  EXPECT_THAT(result.entries[2].error->hint, HasSubstr("swamp extension update @c/c"));
  EXPECT_THAT(t.Entries(), Contains("@c/c 2026.01.01.1"));
}

TEST(EX14, RestoresMissingFilesBesideEditedOnes) {
  for (const bool with_receipt : {true, false}) {
    Checkout t;
    t.Publish("@c/x", "2026.01.01.1", {{"models/a.ts", "a"}, {"models/b.ts", "b"}});
    t.Pull("@c/x");
    t.world.Write(Checkout::InTree("@c/x/models/a.ts"), "edited");
    t.world.files.Remove(t.world.root / Checkout::InTree("@c/x/models/b.ts"));
    if (!with_receipt) t.world.files.Remove(t.site.pulled_root / "@c/x" / kReceiptName);
    InstallResult result = InstallAll(t);
    EXPECT_THAT(Shown(result), ElementsAre("@c/x installed"));
    EXPECT_THAT(result.entries[0].edited, ElementsAre(".swamp/pulled-extensions/@c/x/models/a.ts"));
    EXPECT_THAT(t.Sources(),
                ElementsAre(Pair("@c/x/models/a.ts", "edited"), Pair("@c/x/models/b.ts", "b")));
    result = InstallAll(t);
    EXPECT_THAT(Shown(result), ElementsAre("@c/x up_to_date"));
    EXPECT_THAT(result.entries[0].edited, SizeIs(1));
    InstallAll(t, true);
    EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/models/a.ts")), "a");
  }
}

TEST(EX14, DoesNotGoToAPeersNewerVersionOverEditedFiles) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  const auto old_tree = t.world.Tree("repo");
  t.Publish("@c/x", "2026.01.02.1");
  t.Pull("@c/x");
  const Lockfile peers = t.installed.lockfile;
  // This checkout still has the older version; first unedited, then edited.
  t.Pull("@c/x@2026.01.01.1");
  t.installed.lockfile = peers;
  EXPECT_THAT(Shown(InstallAll(t)), ElementsAre("@c/x installed"));
  t.Pull("@c/x@2026.01.01.1");
  t.world.Write(Checkout::InTree("@c/x/models/a.ts"), "edited");
  t.installed.lockfile = peers;
  EXPECT_THAT(Shown(InstallAll(t)), ElementsAre("@c/x failed extension_edited"));
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/models/a.ts")), "edited");
}

TEST(EX01, ReportsPathsThatLeadOutAndTouchesNothingThere) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  t.world.Write("repo/victim/a.txt", "mine");
  t.world.Write("victim/a.txt", "mine");
  LockfileDelta delta;
  delta.set["@c/x"] = *t.installed.lockfile.Find("@c/x");
  for (const char* path : {"../victim/a.txt", "/etc/x", "ok/../../b", "victim/a.txt"}) {
    delta.set["@c/x"]["files"].push_back(path);
  }
  t.installed.lockfile.Apply(delta);
  ForgetFiles(t);
  const InstallResult result = InstallAll(t);
  EXPECT_THAT(Shown(result), ElementsAre("@c/x installed"));
  EXPECT_THAT(result.entries[0].refused, SizeIs(4));
  EXPECT_EQ(t.world.Read("repo/victim/a.txt"), "mine");
  EXPECT_EQ(t.world.Read("victim/a.txt"), "mine");
}

TEST(EX27, WarnsOfAnEmptyLockfile) {
  Checkout t;
  const InstallResult result = InstallAll(t);
  EXPECT_THAT(result.warning, HasSubstr("lists no extensions"));
  EXPECT_THAT(result.entries, IsEmpty());
}

TEST(EX28, KeepsTheBuiltInEntryWithoutFiles) {
  Checkout t;
  LockfileDelta delta;
  delta.set["@swamp/s3-datastore"] =
      Json{{"version", "2026.01.01.1"}, {"files", Json::array({"x"})}};
  t.installed.lockfile.Apply(delta);
  EXPECT_THAT(Shown(InstallAll(t)), ElementsAre("@swamp/s3-datastore up_to_date"));
  EXPECT_THAT(t.registry.asked, IsEmpty());
  EXPECT_THAT(t.Entries(), ElementsAre("@swamp/s3-datastore 2026.01.01.1"));
}

TEST(Install, GoesOnWhenAChangeStillCannotBePublished) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  ForgetFiles(t);
  t.installed.unpublished = true;
  const InstallResult result = InstallAll(t);
  EXPECT_THAT(Shown(result), ElementsAre("@c/x installed"));
  EXPECT_EQ(result.unpublished->code, "managed_config_unpublished");
}

TEST(Install, NamesTheRegistryThatAnEntryCameFrom) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  ForgetFiles(t);
  std::filesystem::remove_all(t.world.root / "registry/@c");
  LockfileDelta delta;
  delta.set["@c/x"] = *t.installed.lockfile.Find("@c/x");
  delta.set["@c/x"]["serverUrl"] = "https://other.example";
  t.installed.lockfile.Apply(delta);
  const InstallResult result = InstallAll(t);
  EXPECT_THAT(Shown(result), ElementsAre("@c/x failed version_not_found"));
  EXPECT_THAT(result.entries[0].error->hint, HasSubstr("set SWAMP_CLUB_URL to that"));
}

TEST(Install, FailsForOneEntryThatMakesNoSense) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  LockfileDelta delta;
  delta.set["nonsense"] = Json{{"version", "2026.01.01.1"}};
  delta.set["@c/z"] = Json{{"version", "newest"}};
  t.installed.lockfile.Apply(delta);
  EXPECT_THAT(Shown(InstallAll(t)), ElementsAre("@c/x up_to_date", "@c/z failed lockfile_invalid",
                                                "nonsense failed lockfile_invalid"));
}

TEST(EX16, MovesFilesOfTheFlatLayoutOnceTheirReplacementIsInstalled) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1", {{"models/a.ts", "x"}});
  t.Pull("@c/x");
  ForgetFiles(t);
  t.world.Write(Checkout::InTree("models/a.ts"), "x");
  t.world.Write(Checkout::InTree("models/mine.ts"), "mine");
  LockfileDelta delta;
  delta.set["@c/x"] = *t.installed.lockfile.Find("@c/x");
  delta.set["@c/x"]["files"] = {".swamp/pulled-extensions/models/a.ts"};
  t.installed.lockfile.Apply(delta);
  std::filesystem::rename(t.world.root / "registry", t.world.root / "away");
  EXPECT_EQ(InstallAll(t).failed, 1U);
  EXPECT_THAT(t.Sources(), ElementsAre(Pair("models/a.ts", "x"), Pair("models/mine.ts", "mine")))
      << "without a registry everything stays";
  std::filesystem::rename(t.world.root / "away", t.world.root / "registry");
  const InstallResult result = InstallAll(t);
  EXPECT_EQ(result.migrated, 1U);
  EXPECT_THAT(t.Sources(),
              ElementsAre(Pair("@c/x/models/a.ts", "x"), Pair("models/mine.ts", "mine")));
  EXPECT_THAT(Shown(InstallAll(t)), ElementsAre("@c/x up_to_date"));
}

bool Ensure(Checkout& t, const std::string& name) {
  return EnsureInstalled(t.context(), t.site, t.installed, t.registry, *ExtensionName::Parse(name));
}

TEST(EX03, TheFirstUseInstallsThePinnedVersion) {
  Checkout t;
  t.Publish("@swamp/x", "2026.01.01.1");
  t.Pull("@swamp/x");
  t.Publish("@swamp/x", "2026.01.01.2");
  ForgetFiles(t);
  EXPECT_TRUE(Ensure(t, "@swamp/x"));
  EXPECT_EQ(t.world.Read(Checkout::InTree("@swamp/x/models/a.ts")), "// @swamp/x 2026.01.01.1\n");
  EXPECT_THAT(t.Entries(), ElementsAre("@swamp/x 2026.01.01.1"));
  t.registry.asked.clear();
  EXPECT_FALSE(Ensure(t, "@swamp/x"));
  EXPECT_THAT(t.registry.asked, IsEmpty());
  EXPECT_FALSE(Ensure(t, "@swamp/s3-datastore"));
}

TEST(EX03, AWrongChecksumInTheLockfileRefusesTheFirstUse) {
  Checkout t;
  t.Publish("@swamp/x", "2026.01.01.1");
  t.Pull("@swamp/x");
  LockfileDelta delta;
  delta.set["@swamp/x"] = *t.installed.lockfile.Find("@swamp/x");
  delta.set["@swamp/x"]["checksum"] = std::string(64, 'b');
  t.installed.lockfile.Apply(delta);
  ForgetFiles(t);
  EXPECT_EQ(CodeOf([&] { Ensure(t, "@swamp/x"); }), "checksum_mismatch");
  EXPECT_THAT(t.Sources(), IsEmpty());
}

TEST(EX03, RequestsNothingOfAnUntrustedCollective) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  ForgetFiles(t);
  for (const char* name : {"@c/x", "@c/not-in-the-lockfile"}) {
    EXPECT_EQ(CodeOf([&] { Ensure(t, name); }), "extension_untrusted") << name;
    EXPECT_THAT(MessageOf([&] { Ensure(t, name); }), HasSubstr("swamp extension trust add c"));
  }
  EXPECT_THAT(t.registry.asked, IsEmpty());
  EXPECT_THAT(t.Sources(), IsEmpty());
}

TEST(EX03, TheFirstUseTakesNoUntrustedDependencyAlong) {
  Checkout t;
  t.Publish("@swamp/x", "2026.01.01.1", {}, "dependencies: ['@c/y']\n");
  t.Publish("@c/y", "2026.01.01.1");
  EXPECT_EQ(CodeOf([&] { Ensure(t, "@swamp/x"); }), "extension_untrusted");
  EXPECT_THAT(t.registry.asked, Not(Contains(HasSubstr("@c/y"))));
  EXPECT_THAT(t.Sources(), IsEmpty());
  t.Publish("@swamp/z", "2026.05.01.1", {}, "", "-beta");
  EXPECT_EQ(CodeOf([&] { Ensure(t, "@swamp/z"); }), "version_not_found") << "stable only";
}

}  // namespace
}  // namespace swamp

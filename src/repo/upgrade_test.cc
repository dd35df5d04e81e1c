#include "repo/upgrade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repo/init.h"
#include "repo/marker.h"
#include "repo/test_repo.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kOld = "20260206.200442.0";
constexpr const char* kNew = "20261202.000000.0";

class UpgradeRepositoryTest : public ::testing::Test {
 protected:
  UpgradeRepositoryTest() { InitRepository(repo_.context, {.tools = {"claude"}, .program = "/usr/bin/swamp"}, kOld); }

  UpgradeResult Upgrade(UpgradeRequest request = {}, const std::string& version = kNew) {
    request.program = "/usr/bin/swamp";
    return UpgradeRepository(repo_.context, request, version);
  }
  void Append(const std::string& path, const std::string& text) { repo_.Write(path, repo_.Read(path) + text); }

  TestRepo repo_;
};

TEST_F(UpgradeRepositoryTest, RenewsTheVersionAndLeavesTheRestOfTheMarker) {
  Append(".swamp.yaml", "# ours\nunknown: 'yes'   # kept\ndatastore: {type: filesystem, path: /srv/x}\n");
  const std::string id = Marker::Load(repo_.world.files, repo_.root)->String("repoId").value();
  const UpgradeResult result = Upgrade();
  EXPECT_EQ(result.previous_version, kOld);
  EXPECT_EQ(result.version, kNew);
  EXPECT_THAT(result.tools, ElementsAre("claude"));
  EXPECT_THAT(result.changed_files, ElementsAre(".swamp.yaml"));
  EXPECT_EQ(result.gitignore, GitignoreAction::kUnchanged);
  const std::string text = repo_.Read(".swamp.yaml");
  EXPECT_THAT(text, HasSubstr("# ours\nunknown: 'yes'   # kept\ndatastore: {type: filesystem, path: /srv/x}\n"));
  EXPECT_THAT(text, HasSubstr("repoId: " + id));
  EXPECT_THAT(text, HasSubstr("swampVersion: " + std::string(kNew)));
  EXPECT_THAT(text, HasSubstr("upgradedAt: "));
}

TEST_F(UpgradeRepositoryTest, ASecondOneChangesNoByte) {
  Upgrade({.tools = {"cursor", "claude"}});
  const auto before = repo_.AllFiles();
  repo_.world.clock.Advance(std::chrono::hours(1));
  const UpgradeResult result = Upgrade();
  EXPECT_EQ(repo_.AllFiles(), before);
  EXPECT_THAT(result.changed_files, IsEmpty());
  EXPECT_EQ(result.upgraded_at, "");
}

TEST_F(UpgradeRepositoryTest, ToolsAreReplacedAndTheFilesOfDroppedOnesAreLeftAndNamed) {
  const UpgradeResult result = Upgrade({.tools = {"codex"}});
  EXPECT_THAT(result.added_tools, ElementsAre("codex"));
  EXPECT_THAT(result.removed_tools, ElementsAre("claude"));
  EXPECT_THAT(result.files_left, ElementsAre("CLAUDE.md", ".claude/settings.local.json"));
  EXPECT_TRUE(repo_.Exists("CLAUDE.md"));
  EXPECT_THAT(result.changed_files, Contains("AGENTS.md"));
  // A file that another tool still uses is not called left over.
  EXPECT_THAT(Upgrade({.tools = {"opencode"}}).files_left, IsEmpty());
  EXPECT_THAT(Upgrade({.tools = {"none"}}).tools, IsEmpty());
  EXPECT_EQ(ErrorOf([&] { Upgrade({.tools = {"claud"}}); }).code(), "usage");
}

TEST_F(UpgradeRepositoryTest, AMarkerOfANewerProgramIsLeftUnlessForced) {
  Upgrade({}, "20270101.000000.0");
  const auto before = repo_.AllFiles();
  EXPECT_EQ(ErrorOf([&] { Upgrade(); }).code(), "repository_newer");
  EXPECT_EQ(repo_.AllFiles(), before);
  EXPECT_EQ(Upgrade({.force = true}).previous_version, "20270101.000000.0");
}

TEST_F(UpgradeRepositoryTest, ADryRunSaysWhatWouldChangeAndChangesNothing) {
  repo_.Write(".swamp/definitions/command/shell/m1.yaml", "name: m1\n");
  const auto before = repo_.AllFiles();
  const UpgradeResult would = Upgrade({.tools = {"kiro"}, .dry_run = true});
  EXPECT_EQ(repo_.AllFiles(), before);
  EXPECT_EQ(Upgrade({.tools = {"kiro"}}).changed_files, would.changed_files);
  EXPECT_THAT(would.changed_files, Contains("models/command/shell/m1.yaml"));
}

TEST_F(UpgradeRepositoryTest, GitignoreIsTakenOverOnlyWhenAskedAndThenRemembered) {
  repo_.Write(".swamp.yaml", "swampVersion: 1.0.0\nrepoId: x\ntools: []\n");
  repo_.Write(".gitignore", "build/\n");
  EXPECT_EQ(Upgrade().gitignore, GitignoreAction::kSkipped);
  EXPECT_EQ(repo_.Read(".gitignore"), "build/\n");
  EXPECT_EQ(Upgrade({.include_gitignore = true}).gitignore, GitignoreAction::kUpdated);
  EXPECT_EQ(Upgrade().gitignore, GitignoreAction::kUnchanged);
}

TEST_F(UpgradeRepositoryTest, OldMarkersGetWhatTheyLack) {
  repo_.Write(".swamp.yaml", "swampVersion: 1.0.0\ntool: cursor\n");
  EXPECT_THAT(Upgrade().tools, ElementsAre("cursor"));
  const auto marker = Marker::Load(repo_.world.files, repo_.root);
  EXPECT_NE(marker->String("repoId").value_or(""), "");
  EXPECT_FALSE(marker->json().contains("tool"));
  EXPECT_THAT(marker->Tools(), ElementsAre("cursor"));
}

TEST_F(UpgradeRepositoryTest, OlderLayoutsMoveAndNothingIsOverwritten) {
  repo_.Write(".swamp/definitions/command/shell/m1.yaml", "name: m1\n");
  repo_.Write(".swamp/definitions/command/shell/m2.yaml", "name: old\n");
  repo_.Write("models/command/shell/m2.yaml", "name: new\n");
  repo_.Write(".swamp/workflows/workflow-w1.yaml", "name: w1\n");
  repo_.Write("workflows/workflow-w1.yaml", "name: w1\n");
  repo_.Write(".swamp/vault/local_encryption/v1.yaml", "name: v1\n");
  const UpgradeResult result = Upgrade();
  EXPECT_THAT(result.conflicts, ElementsAre(".swamp/definitions/command/shell/m2.yaml"));
  EXPECT_EQ(repo_.Read("models/command/shell/m1.yaml"), "name: m1\n");
  EXPECT_EQ(repo_.Read("models/command/shell/m2.yaml"), "name: new\n");
  EXPECT_EQ(repo_.Read(".swamp/definitions/command/shell/m2.yaml"), "name: old\n");
  EXPECT_FALSE(repo_.Exists(".swamp/workflows"));
  EXPECT_EQ(repo_.Read("vaults/local_encryption/v1.yaml"), "name: v1\n");
}

TEST_F(UpgradeRepositoryTest, LinksOfAnOldIndexGoAndTheUsersStay) {
  fs::create_directories(repo_.root / ".swamp/old");
  repo_.Write(".swamp/old/m1.yaml", "name: m1\n");
  repo_.Write("elsewhere.yaml", "name: m2\n");
  fs::create_symlink("../.swamp/old/m1.yaml", repo_.root / "models/m1.yaml");
  fs::create_symlink("../elsewhere.yaml", repo_.root / "models/m2.yaml");
  Upgrade();
  EXPECT_FALSE(fs::is_symlink(repo_.root / "models/m1.yaml"));
  EXPECT_TRUE(fs::is_symlink(repo_.root / "models/m2.yaml"));
  EXPECT_TRUE(repo_.Exists(".swamp/old/m1.yaml"));
}

TEST_F(UpgradeRepositoryTest, ALatestThatIsALinkBecomesTheNumber) {
  repo_.Write(".swamp/data/command/shell/id/result/3/raw", "x");
  fs::create_symlink("3", repo_.root / ".swamp/data/command/shell/id/result/latest");
  Upgrade();
  EXPECT_FALSE(fs::is_symlink(repo_.root / ".swamp/data/command/shell/id/result/latest"));
  EXPECT_EQ(repo_.Read(".swamp/data/command/shell/id/result/latest"), "3");
}

TEST_F(UpgradeRepositoryTest, WhatIsNoRepositoryIsRefused) {
  EXPECT_EQ(ErrorOf([&] { Upgrade({.path = "models"}); }).code(), "not_a_repository");
}

TEST(ProgramVersions, AreComparedNumberByNumber) {
  EXPECT_LT(CompareProgramVersions("20260206.200442.0", "20260206.200442.10"), 0);
  EXPECT_GT(CompareProgramVersions("20261202.000000.2", "20261202.000000.1"), 0);
  EXPECT_EQ(CompareProgramVersions("20261202.000000.0-abc", "20261202.0.0"), 0);
  EXPECT_LT(CompareProgramVersions("", "1.0.0"), 0);
}

}  // namespace
}  // namespace swamp

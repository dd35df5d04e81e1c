#include "repo/gitignore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repo/test_repo.h"
#include "util/text.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kBegin = "# BEGIN swamp managed section - DO NOT EDIT\n";
const std::string kEnd = "# END swamp managed section\n";

std::string Section() { return GitignoreSection({}); }

struct Case {
  const char* name;
  std::string before;
  std::string after;
};

class UpdateGitignoreCases : public ::testing::TestWithParam<Case> {
 protected:
  TestRepo repo_;
};

TEST_P(UpdateGitignoreCases, WritesTheSectionAndKeepsTheRest) {
  repo_.Write(".gitignore", GetParam().before);
  EXPECT_EQ(UpdateGitignore(repo_.world.files, repo_.root, {}), GitignoreAction::kUpdated);
  EXPECT_EQ(repo_.Read(".gitignore"), GetParam().after);
}

TEST_P(UpdateGitignoreCases, ChangesNothingTheSecondTime) {
  repo_.Write(".gitignore", GetParam().after);
  const auto before = repo_.world.files.Stat(repo_.root / ".gitignore");
  EXPECT_EQ(UpdateGitignore(repo_.world.files, repo_.root, {}), GitignoreAction::kUnchanged);
  EXPECT_EQ(repo_.world.files.Stat(repo_.root / ".gitignore")->inode, before->inode);
  EXPECT_EQ(repo_.Read(".gitignore"), GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    All, UpdateGitignoreCases,
    ::testing::Values(
        Case{"Empty", "", Section()}, Case{"NoSection", "*.log\n", "*.log\n\n" + Section()},
        Case{"NoFinalNewline", "*.log", "*.log\n\n" + Section()},
        Case{"AnEmptyLineLast", "*.log\n\n", "*.log\n\n" + Section()},
        Case{"Section", "*.log\n" + kBegin + "old/\n" + kEnd + "build/\n",
             "*.log\n" + Section() + "build/\n"},
        Case{"SectionWithoutFinalNewline", kBegin + "# END swamp managed section", Section()},
        // The lines behind a BEGIN without an END are the user's as far as one can tell.
        Case{"OnlyBegin", kBegin + ".swamp/\n*.log\n", ".swamp/\n*.log\n\n" + Section()},
        Case{"ALostEndBeforeASection", kBegin + "*.log\n" + Section() + "build/\n",
             "*.log\n" + Section() + "build/\n"},
        Case{"OldSectionLast", "*.log\n\n# Swamp managed defaults\n.swamp/\n.claude/\n",
             "*.log\n\n" + Section()},
        Case{"OldSectionInTheMiddle", "# Swamp managed defaults\n.swamp/\n\n*.log\n",
             Section() + "\n*.log\n"},
        Case{"OldSectionWithWindowsLineEnds",
             "# Swamp managed defaults\r\n.swamp/\r\n\r\n*.log\r\n",
             ReplaceAll(Section(), "\n", "\r\n") + "\r\n*.log\r\n"}),
    [](const auto& tested) { return tested.param.name; });

TEST(UpdateGitignore, CreatesTheFile) {
  TestRepo repo;
  EXPECT_EQ(UpdateGitignore(repo.world.files, repo.root, {"claude"}), GitignoreAction::kCreated);
  EXPECT_EQ(repo.Read(".gitignore"), GitignoreSection({"claude"}));
}

TEST(UpdateGitignore, FollowsTheTools) {
  TestRepo repo;
  UpdateGitignore(repo.world.files, repo.root, {"cursor", "claude"});
  EXPECT_THAT(repo.Read(".gitignore"), HasSubstr("\n.claude/settings.local.json\n"));
  EXPECT_EQ(UpdateGitignore(repo.world.files, repo.root, {"cursor"}), GitignoreAction::kUpdated);
  EXPECT_THAT(repo.Read(".gitignore"), Not(HasSubstr(".claude")));
}

TEST(GitignoreSection, HoldsWhatNoRepositoryShares) {
  for (const char* tool : {"none", "claude", "kiro"}) {
    const std::string section = GitignoreSection({tool});
    EXPECT_TRUE(section.starts_with(kBegin));
    EXPECT_TRUE(section.ends_with(kEnd));
    EXPECT_THAT(section, HasSubstr("\n.swamp/\n"));
    EXPECT_THAT(section, HasSubstr("\n.swamp-sources.yaml\n"));
  }
  const std::string claude = GitignoreSection({"claude"});
  for (const char* line :
       {"worktrees/", "settings.local.json", "scheduled_tasks.lock", "scheduled_tasks.json"}) {
    EXPECT_THAT(claude, HasSubstr("\n.claude/" + std::string(line) + "\n"));
  }
}

}  // namespace
}  // namespace swamp

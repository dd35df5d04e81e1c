#include "repo/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repo/test_repo.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FindRepositoryTest : public ::testing::Test {
 protected:
  fs::path MakeFolder(const fs::path& relative) {
    fs::create_directories(repo_.root / relative);
    return repo_.root / relative;
  }
  void MakeRepository(const std::string& relative) {
    repo_.Write((fs::path(relative) / ".swamp.yaml").lexically_normal().string(), "repoId: x\n");
  }
  fs::path FindFrom(const fs::path& folder, std::map<std::string, std::string> variables = {},
                    const std::optional<std::string>& repo_dir = std::nullopt) {
    repo_.Enter(folder, std::move(variables));
    return FindRepository(repo_.context, repo_dir);
  }
  static fs::path Levels(int count) {
    fs::path path;
    for (int i = 0; i < count; ++i) path /= "d";
    return path;
  }

  TestRepo repo_;
};

TEST_F(FindRepositoryTest, IsTheWorkingFolder) {
  MakeRepository(".");
  EXPECT_EQ(FindFrom(repo_.root), repo_.root);
}

TEST_F(FindRepositoryTest, IsSeenFromASubfolder) {
  MakeRepository(".");
  EXPECT_EQ(FindFrom(MakeFolder("a/b")), repo_.root);
}

TEST_F(FindRepositoryTest, IsTheInnermost) {
  MakeRepository(".");
  MakeRepository("inner");
  EXPECT_EQ(FindFrom(MakeFolder("inner/a")), repo_.root / "inner");
}

TEST_F(FindRepositoryTest, IsSeenThroughALink) {
  MakeRepository("real");
  MakeFolder("real/a");
  fs::create_directory_symlink(repo_.root / "real/a", repo_.root / "link");
  EXPECT_EQ(FindFrom(repo_.root / "link"), repo_.root / "real");
}

TEST_F(FindRepositoryTest, IsSeenTenLevelsUpOutsideGitAndNoFurther) {
  MakeRepository(".");
  EXPECT_EQ(FindFrom(MakeFolder(Levels(10))), repo_.root);
  const fs::path eleven = MakeFolder(Levels(11));
  EXPECT_EQ(FindFrom(eleven), eleven);
}

TEST_F(FindRepositoryTest, IsSeenAtAnyDepthWithinGit) {
  MakeRepository(".");
  MakeFolder(".git");
  EXPECT_EQ(FindFrom(MakeFolder(Levels(25))), repo_.root);
}

TEST_F(FindRepositoryTest, IsSeenFromAnywhereInAGitWorktree) {
  MakeRepository(".");
  repo_.Write(".git", "gitdir: /elsewhere/.git/worktrees/x\n");
  EXPECT_EQ(FindFrom(MakeFolder(Levels(12))), repo_.root);
}

TEST_F(FindRepositoryTest, IsNotSeenAboveTheGitRoot) {
  MakeRepository(".");
  MakeFolder("project/.git");
  const fs::path folder = MakeFolder("project/a");
  EXPECT_EQ(FindFrom(folder), folder);
  fs::remove(repo_.root / "project/.git");
  repo_.Write("project/.git", "gitdir: /elsewhere\n");
  EXPECT_EQ(FindFrom(folder), folder);
}

TEST_F(FindRepositoryTest, TakesTheVariableAsItIs) {
  MakeRepository(".");
  const fs::path other = MakeFolder("other");
  EXPECT_EQ(FindFrom(repo_.root, {{"SWAMP_REPO_DIR", other.string()}}), other);
  EXPECT_EQ(FindFrom(repo_.root, {{"SWAMP_REPO_DIR", "other/"}}), other);
  EXPECT_EQ(FindFrom(other, {{"SWAMP_REPO_DIR", ""}}), repo_.root);
}

TEST_F(FindRepositoryTest, TakesTheFlagBeforeTheVariable) {
  MakeRepository(".");
  const fs::path folder = MakeFolder("a/b");
  EXPECT_EQ(FindFrom(folder, {{"SWAMP_REPO_DIR", repo_.root.string()}}, "../c"),
            repo_.root / "a/c");
  EXPECT_EQ(FindFrom(folder, {}, "."), folder);
  EXPECT_EQ(FindFrom(folder, {}, "/"), "/");
}

TEST(RequireRepository, AcceptsAMarker) {
  TestRepo repo;
  repo.Write(".swamp.yaml", "");
  EXPECT_NO_THROW(RequireRepository(repo.world.files, repo.root));
}

TEST(RequireRepository, TellsHowToMakeARepositoryOrNameOne) {
  TestRepo repo;
  const UserError error = ErrorOf([&] { RequireRepository(repo.world.files, repo.root); });
  EXPECT_EQ(error.code(), "not_a_repository");
  EXPECT_THAT(error.message(), HasSubstr(repo.root.string()));
  EXPECT_THAT(error.hint(), HasSubstr("swamp repo init"));
  EXPECT_THAT(error.hint(), HasSubstr("--repo-dir"));
}

TEST(RequireRepository, TellsADamagedRepositoryFromNone) {
  TestRepo repo;
  repo.Write(".swamp/data/x", "");
  const UserError error = ErrorOf([&] { RequireRepository(repo.world.files, repo.root); });
  EXPECT_EQ(error.code(), "repository_damaged");
  EXPECT_THAT(error.hint(), HasSubstr("version control"));
}

TEST(ExpandPath, StartsAtTheBaseOrAtHome) {
  TestRepo repo;
  repo.Enter("/work", {{"HOME", "/home/ann"}});
  const auto expand = [&](const char* path) { return ExpandPath(repo.context, path, "/base"); };
  EXPECT_EQ(expand("a/b/../c/"), "/base/a/c");
  EXPECT_EQ(expand("."), "/base");
  EXPECT_EQ(expand("/x"), "/x");
  EXPECT_EQ(expand("~"), "/home/ann");
  EXPECT_EQ(expand("~/"), "/home/ann");
  EXPECT_EQ(expand("~/a"), "/home/ann/a");
  EXPECT_EQ(expand("~ann"), "/base/~ann");
  EXPECT_EQ(expand("a/~/b"), "/base/a/~/b");
}

TEST(ExpandPath, NeedsHomeOnlyForATilde) {
  TestRepo repo;
  EXPECT_EQ(ExpandPath(repo.context, "a", "/base"), "/base/a");
  EXPECT_EQ(ErrorOf([&] { ExpandPath(repo.context, "~/a", "/base"); }).code(), "no_home");
}

TEST(UserFolders, FollowTheirVariablesInOrder) {
  TestRepo repo;
  std::map<std::string, std::string> variables;
  const auto set = [&](const char* name, const char* value) {
    variables[name] = value;
    repo.Enter("/work", variables);
  };
  EXPECT_EQ(ErrorOf([&] { DataFolder(repo.context); }).code(), "no_home");
  EXPECT_EQ(ErrorOf([&] { ConfigFolder(repo.context); }).code(), "no_home");
  set("HOME", "/home/ann");
  EXPECT_EQ(DataFolder(repo.context), "/home/ann/.swamp");
  EXPECT_EQ(ConfigFolder(repo.context), "/home/ann/.config/swamp");
  set("XDG_CONFIG_HOME", "/xdg");
  EXPECT_EQ(DataFolder(repo.context), "/home/ann/.swamp");
  EXPECT_EQ(ConfigFolder(repo.context), "/xdg/swamp");
  set("SWAMP_HOME", "own");
  EXPECT_EQ(DataFolder(repo.context), "/work/own");
  EXPECT_EQ(ConfigFolder(repo.context), "/work/own/config");
  set("SWAMP_CONFIG_DIR", "/config");
  EXPECT_EQ(DataFolder(repo.context), "/work/own");
  EXPECT_EQ(ConfigFolder(repo.context), "/config");
}

}  // namespace
}  // namespace swamp

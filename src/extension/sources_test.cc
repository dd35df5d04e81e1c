#include "extension/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repo/test_repo.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SourcesTest : public ::testing::Test {
 protected:
  SourcesTest() {
    fs::create_directories(repo_.root / "r/.swamp");
    fs::create_directories(repo_.root / "r/extensions/a");
    fs::create_directories(repo_.root / "elsewhere");
    repo_.Enter(repo_.root / "r/extensions");
  }
  fs::path Root() const { return repo_.root / "r"; }
  SourceChange Add(const std::string& path, const std::vector<std::string>& only = {}) {
    return AddSource(repo_.context, Root(), path, only);
  }
  std::vector<std::string> Paths() {
    std::vector<std::string> paths;
    for (const ExtensionSource& one : ReadSources(repo_.context, Root())) paths.push_back(one.path);
    return paths;
  }
  TestRepo repo_;
};

TEST_F(SourcesTest, AFolderInTheRepositoryIsWrittenRelativeToItOthersInFull) {
  EXPECT_THAT(Paths(), IsEmpty());
  EXPECT_EQ(Add("a").action, "added");
  EXPECT_EQ(Add("../../elsewhere/", {"models", "vaults"}).source.only, (std::vector<std::string>{"models", "vaults"}));
  EXPECT_THAT(Paths(), ElementsAre("extensions/a", (repo_.root / "elsewhere").string()));
  EXPECT_EQ(ReadSources(repo_.context, Root())[0].folder, Root() / "extensions/a");
}

TEST_F(SourcesTest, AddingAgainChangesOnlyTheKinds) {
  Add("a");
  EXPECT_EQ(Add("a").action, "unchanged");
  EXPECT_EQ(Add("./a/", {"models"}).action, "updated");
  EXPECT_EQ(ReadSources(repo_.context, Root()).at(0).only, std::vector<std::string>{"models"});
}

TEST_F(SourcesTest, UnknownKeysAndWhatStandsAroundTheListAreKept) {
  repo_.Write("r/.swamp-sources.yaml", "# mine\nother: 1\nsources:\n  - path: extensions/a\n    installedSkills: [x]\n");
  Add("../../elsewhere");
  const std::string text = repo_.Read("r/.swamp-sources.yaml");
  EXPECT_THAT(text, HasSubstr("# mine\nother: 1\n"));
  EXPECT_THAT(text, HasSubstr("installedSkills"));
}

TEST_F(SourcesTest, WhatIsGoneCanStillBeRemoved) {
  Add("a");
  fs::remove_all(Root() / "extensions/a");
  EXPECT_EQ(ErrorOf([&] { RemoveSource(repo_.context, Root(), "b"); }).code(), "source_not_found");
  EXPECT_EQ(RemoveSource(repo_.context, Root(), "extensions/a").action, "removed");
  EXPECT_THAT(Paths(), IsEmpty());
}

TEST_F(SourcesTest, WhatIsNoFolderOfSourcesIsRefused) {
  EXPECT_EQ(ErrorOf([&] { Add("nosuch"); }).code(), "path_not_found");
  EXPECT_EQ(ErrorOf([&] { Add("../.swamp"); }).code(), "usage");
  EXPECT_EQ(ErrorOf([&] { Add("a", {"model"}); }).code(), "usage");
  EXPECT_FALSE(repo_.Exists("r/.swamp-sources.yaml"));
}

TEST_F(SourcesTest, AFileThatIsNotValidNamesEveryFault) {
  repo_.Write("r/.swamp-sources.yaml", "sources:\n  - only: [models]\n  - path: x\n    only: [model]\n");
  const UserError error = ErrorOf([&] { ReadSources(repo_.context, Root()); });
  EXPECT_EQ(error.code(), "sources_invalid");
  EXPECT_THAT(error.message(), HasSubstr("sources[0].path has to be a string; sources[1].only has to be a list of models"));
}

TEST_F(SourcesTest, ALinkedWorkTreeCountsFromTheMainOne) {
  fs::create_directories(repo_.root / "main/.git/worktrees/w");
  fs::create_directories(repo_.root / "main/sub/src");
  repo_.Write("w/.git", "gitdir: " + (repo_.root / "main/.git/worktrees/w").string() + "\n");
  repo_.Write("w/sub/.swamp-sources.yaml", "sources: [{path: src}]\n");
  EXPECT_EQ(ReadSources(repo_.context, repo_.root / "w/sub").at(0).folder, repo_.root / "main/sub/src");
}

}  // namespace
}  // namespace swamp

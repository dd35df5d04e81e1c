#include "repo/repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repo/test_repo.h"

namespace swamp {
namespace {

TEST(Repository, OpensAFolderWithAMarker) {
  TestRepo repo;
  repo.Write(".swamp.yaml", "repoId: abc\n");
  const Repository opened = Repository::Open(repo.context, repo.root);
  EXPECT_EQ(opened.root, repo.root);
  EXPECT_EQ(opened.id(), "abc");
  EXPECT_EQ(opened.swamp_folder(), repo.root / ".swamp");
}

TEST(Repository, WritesNothingWhenTheMarkerHasNoId) {
  for (const char* text : {"tool: claude\n", "repoId: \"\"\n", "repoId: 12\n"}) {
    TestRepo repo;
    repo.Write(".swamp.yaml", text);
    const Repository opened = Repository::Open(repo.context, repo.root);
    EXPECT_EQ(ErrorOf([&] { opened.id(); }).code(), "repo_id_missing");
    EXPECT_EQ(repo.AllFiles(), (std::map<std::string, std::string>{{".swamp.yaml", text}}));
  }
}

TEST(Repository, IsNotOpenedWithoutAMarker) {
  TestRepo repo;
  EXPECT_EQ(ErrorOf([&] { Repository::Open(repo.context, repo.root); }).code(), "not_a_repository");
}

TEST(Repository, IsNotOpenedWithABrokenMarker) {
  TestRepo repo;
  repo.Write(".swamp.yaml", "a: [\n");
  EXPECT_EQ(ErrorOf([&] { Repository::Open(repo.context, repo.root); }).code(), "marker_invalid");
}

}  // namespace
}  // namespace swamp

#include "extension/install_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/receipt.h"
#include "extension/staging.h"
#include "extension/testing.h"

namespace swamp {
namespace {

using testing::CodeOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TempWorld;
using ::testing::UnorderedElementsAre;

class InstallTreeTest : public ::testing::Test {
 protected:
  using Contents = std::map<std::string, std::string>;

  InstallTreeTest() {
    site_.repo_root = world_.root;
    site_.pulled_root = world_.root / ".swamp/pulled-extensions";
    site_.swamp_folder = world_.root / ".swamp";
  }

  StagedTree Stage(const StagingArea& staging, const std::string& name, const std::string& version,
                   Contents contents) {
    contents["manifest.yaml"] = "manifestVersion: 1\nname: '" + name + "'\nversion: " + version +
                                "\nmodels: [a.ts]\nbinaries: [tool]\n";
    WriteFileAtomically(world_.files, staging.folder() / "a.tar.gz",
                        testing::ExtensionArchive(contents));
    return StageArchive(world_.context(), staging.folder() / "a.tar.gz", "checksum-" + version,
                        *ExtensionName::Parse(name), *Version::Parse(version),
                        staging.folder() / "staged");
  }

  // Installs as a command does, recording the entry.
  void Install(const std::string& name, const std::string& version, const Contents& contents,
               const std::set<std::string>& kept = {}) {
    const Context context = world_.context();
    const StagingArea staging(context, site_);
    const StagedTree staged = Stage(staging, name, version, contents);
    const TreeState state = Inspect(name);
    TreeSwap swap(context, site_, staging.folder());
    PlanInstall(context, site_, staged, state, lockfile_, kept, swap);
    swap.Commit();
    LockfileDelta delta;
    delta.set[name] = Json{{"version", version}, {"files", InstalledPaths(site_, staged.contents)}};
    lockfile_.Apply(delta);
  }
  void Remove(const std::string& name, const std::set<std::string>& kept = {}) {
    const StagingArea staging(world_.context(), site_);
    TreeSwap swap(world_.context(), site_, staging.folder());
    PlanRemoval(world_.context(), site_, *ExtensionName::Parse(name), Inspect(name), lockfile_,
                kept, swap);
    swap.Commit();
  }
  TreeState Inspect(const std::string& name) {
    return InspectTree(world_.context(), site_, *ExtensionName::Parse(name), lockfile_.Find(name));
  }
  // Paths of conflicts, with "=owner" where there is one.
  std::vector<std::string> Conflicts(const std::string& name, const Contents& contents) {
    const StagingArea staging(world_.context(), site_);
    const StagedTree staged = Stage(staging, name, "2026.01.01.9", contents);
    std::vector<std::string> lines;
    for (const InstallConflict& conflict :
         FindConflicts(world_.context(), site_, staged, Inspect(name), lockfile_)) {
      const std::string path =
          conflict.path.substr(std::string(".swamp/pulled-extensions/").size());
      lines.push_back(conflict.owner.empty() ? path : path + "=" + conflict.owner);
    }
    return lines;
  }
  // The visible files, without manifests and receipts.
  std::vector<std::string> Files() {
    std::vector<std::string> paths;
    for (const std::string& path : ListFilesBelow(world_.files, world_.root / ".swamp")) {
      const bool quiet = path.find(".staging/") != std::string::npos ||
                         path.ends_with("manifest.yaml") || path.ends_with(kReceiptName);
      if (!quiet) paths.push_back(path);
    }
    return paths;
  }

  TempWorld world_;
  ExtensionSite site_;
  Lockfile lockfile_;
};

TEST_F(InstallTreeTest, PutsSourcesBundlesAndModesInPlace) {
  Install("@c/x", "2026.01.01.1",
          {{"models/a.ts", "a"}, {"files/tool", "t"}, {"bundles/sub/a.js", "b"}});
  const std::string bundle =
      "bundles/" + BundleNamespace(".swamp/pulled-extensions/@c/x/models") + "/sub/a.js";
  EXPECT_THAT(Files(), ElementsAre(bundle, "pulled-extensions/@c/x/files/tool",
                                   "pulled-extensions/@c/x/models/a.ts"));
  const std::filesystem::path tree = site_.pulled_root / "@c/x";
  EXPECT_EQ(world_.files.Stat(tree / "manifest.yaml")->mode, 0444U);
  EXPECT_EQ(world_.files.Stat(tree / "files/tool")->mode, 0755U);
  const auto receipt = ReadReceipt(world_.context(), tree);
  EXPECT_EQ(receipt->checksum, "checksum-2026.01.01.1");
  EXPECT_EQ(receipt->files.size(), 3U) << "without the bundle";
  EXPECT_THAT(EntryFiles(*lockfile_.Find("@c/x")),
              ElementsAre(".swamp/" + bundle, ".swamp/pulled-extensions/@c/x/files/tool",
                          ".swamp/pulled-extensions/@c/x/manifest.yaml",
                          ".swamp/pulled-extensions/@c/x/models/a.ts"));
}

TEST_F(InstallTreeTest, RemovesWhatTheNewVersionLacksAndKeepsWhatIsNobodys) {
  Install("@c/x", "2026.01.01.1",
          {{"models/a.ts", "1"},
           {"models/old/b.ts", "1"},
           {"vaults/v.ts", "1"},
           {"bundles/a.js", "1"}});
  world_.Write(".swamp/pulled-extensions/@c/x/models/old/mine.txt", "mine");
  Install("@c/x", "2026.01.01.2", {{"models/a.ts", "2"}, {"models/new/c.ts", "2"}});
  EXPECT_THAT(Files(), ElementsAre("pulled-extensions/@c/x/models/a.ts",
                                   "pulled-extensions/@c/x/models/new/c.ts",
                                   "pulled-extensions/@c/x/models/old/mine.txt"));
  EXPECT_EQ(world_.Read(".swamp/pulled-extensions/@c/x/models/a.ts"), "2");
  EXPECT_FALSE(world_.Exists(".swamp/bundles"));
  EXPECT_FALSE(world_.Exists(".swamp/pulled-extensions/@c/x/vaults"));
}

TEST_F(InstallTreeTest, SwapsAFileForAFolderAndBack) {
  Install("@c/x", "2026.01.01.1",
          {{"models/a.ts", "1"}, {"files/thing", "1"}, {"files/other/y", "1"}});
  world_.Write(".swamp/pulled-extensions/@c/x/mine",
               "mine");  // so that the tree isn't replaced whole
  Install("@c/x", "2026.01.01.2",
          {{"models/a.ts", "2"}, {"files/thing/z", "2"}, {"files/other", "2"}});
  EXPECT_THAT(
      Files(),
      ElementsAre("pulled-extensions/@c/x/files/other", "pulled-extensions/@c/x/files/thing/z",
                  "pulled-extensions/@c/x/mine", "pulled-extensions/@c/x/models/a.ts"));
}

TEST_F(InstallTreeTest, LeavesFilesThatShallBeKept) {
  Install("@c/x", "2026.01.01.1", {{"models/a.ts", "1"}, {"models/b.ts", "1"}});
  world_.Write(".swamp/pulled-extensions/@c/x/models/a.ts", "edited");
  Install("@c/x", "2026.01.01.1", {{"models/a.ts", "1"}, {"models/b.ts", "1"}}, {"models/a.ts"});
  EXPECT_EQ(world_.Read(".swamp/pulled-extensions/@c/x/models/a.ts"), "edited");
  EXPECT_THAT(Inspect("@c/x").edited, ElementsAre("models/a.ts"));
  Remove("@c/x", {"models/a.ts"});
  EXPECT_THAT(Files(), ElementsAre("pulled-extensions/@c/x/models/a.ts"));
}

TEST_F(InstallTreeTest, EX12_NestedNamesKeepTheirOwnFiles) {
  Install("@c/aws", "2026.01.01.1", {{"models/a.ts", "aws"}, {"models/_lib/x.ts", "aws"}});
  Install("@c/aws/iam", "2026.01.01.1", {{"models/a.ts", "iam"}});
  // The worst name: its folder is inside a kind folder of the other.
  Install("@c/aws/models", "2026.01.01.1", {{"models/a.ts", "models"}});
  const auto nested = [&] {
    return std::pair(world_.Tree(".swamp/pulled-extensions/@c/aws/iam"),
                     world_.Tree(".swamp/pulled-extensions/@c/aws/models/models"));
  };
  const auto before = nested();
  Install("@c/aws", "2026.01.01.2", {{"models/a.ts", "aws 2"}});
  EXPECT_EQ(nested(), before);
  EXPECT_FALSE(world_.Exists(".swamp/pulled-extensions/@c/aws/models/_lib"));
  EXPECT_TRUE(world_.Exists(".swamp/pulled-extensions/@c/aws/models/manifest.yaml"));
  Remove("@c/aws");
  EXPECT_EQ(nested(), before);
  EXPECT_FALSE(world_.Exists(".swamp/pulled-extensions/@c/aws/models/a.ts"));

  Install("@c/aws", "2026.01.01.3", {{"models/a.ts", "aws 3"}});
  Remove("@c/aws/iam");
  Remove("@c/aws/models");
  EXPECT_THAT(Files(), ElementsAre("pulled-extensions/@c/aws/models/a.ts"));
}

TEST_F(InstallTreeTest, FindsWhatIsInTheWay) {
  EXPECT_THAT(Conflicts("@c/x", {{"models/a.ts", "1"}}), IsEmpty());
  world_.Write(".swamp/pulled-extensions/@c/x/models/a.ts", "mine");
  world_.Write(".swamp/pulled-extensions/@c/x/models/same.ts", "1");
  world_.Write(".swamp/pulled-extensions/@c/x/models/free.ts", "mine");
  world_.Write(".swamp/pulled-extensions/@c/x/files", "a file where a folder must be");
  world_.Write(".swamp/pulled-extensions/@c/x/reports/r.ts/x", "a folder where a file must be");
  EXPECT_THAT(Conflicts("@c/x", {{"models/a.ts", "1"},
                                 {"models/same.ts", "1"},
                                 {"files/f.txt", "1"},
                                 {"reports/r.ts", "1"}}),
              UnorderedElementsAre("@c/x/models/a.ts", "@c/x/files", "@c/x/reports/r.ts/x"));
}

TEST_F(InstallTreeTest, EX12_FindsAFileThatANeighbourOwns) {
  Install("@c/aws/models", "2026.01.01.1", {{"models/a.ts", "x"}});
  EXPECT_THAT(Conflicts("@c/aws", {{"models/models/a.ts", "mine"}, {"models/a.ts", "mine"}}),
              ElementsAre("@c/aws/models/models/a.ts=@c/aws/models"));
}

TEST_F(InstallTreeTest, DoesNotCountItsOwnFilesAsConflicts) {
  Install("@c/x", "2026.01.01.1", {{"models/a.ts", "1"}});
  world_.Write(".swamp/pulled-extensions/@c/x/models/a.ts", "edited");
  EXPECT_THAT(Conflicts("@c/x", {{"models/a.ts", "2"}}), IsEmpty());
}

TEST_F(InstallTreeTest, EX01_RefusesATreeThatIsALinkElsewhere) {
  std::filesystem::create_directories(world_.root / "elsewhere");
  std::filesystem::create_directories(site_.pulled_root / "@c");
  std::filesystem::create_directory_symlink(world_.root / "elsewhere", site_.pulled_root / "@c/x");
  EXPECT_EQ(CodeOf([&] { Conflicts("@c/x", {{"models/a.ts", "1"}}); }), "path_escape");
}

TEST_F(InstallTreeTest, MovesATreeFromItsOlderPlace) {
  Install("@c/x", "2026.01.01.1", {{"models/a.ts", "1"}, {"bundles/a.js", "1"}});
  world_.Write(".swamp/pulled-extensions/@c/x/mine.txt", "mine");
  site_.older_pulled_root = site_.pulled_root;
  site_.pulled_root = world_.root / ".swamp/config/pulled-extensions";
  Install("@c/x", "2026.01.01.2", {{"models/a.ts", "2"}, {"bundles/a.js", "2"}});
  EXPECT_THAT(
      Files(),
      ElementsAre(
          "bundles/" + BundleNamespace(".swamp/config/pulled-extensions/@c/x/models") + "/a.js",
          "config/pulled-extensions/@c/x/models/a.ts", "pulled-extensions/@c/x/mine.txt"));
}

}  // namespace
}  // namespace swamp

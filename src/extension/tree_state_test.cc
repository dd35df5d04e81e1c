#include "extension/tree_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/receipt.h"
#include "extension/testing.h"
#include "util/digest.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const ExtensionName kX = *ExtensionName::Parse("@c/x");
constexpr const char* kManifest =
    "manifestVersion: 1\nname: '@c/x'\nversion: 2026.01.01.1\nmodels: [a.ts]\n";

class TreeStateTest : public ::testing::Test {
 protected:
  TreeStateTest() {
    site_.repo_root = world_.root;
    site_.pulled_root = world_.root / ".swamp/pulled-extensions";
    site_.swamp_folder = world_.root / ".swamp";
  }

  static Json Entry(const std::vector<std::string>& files, const std::string& files_checksum = "") {
    Json entry{{"version", "2026.01.01.1"}, {"files", files}, {"checksum", "c1"}};
    if (!files_checksum.empty()) entry["filesChecksum"] = files_checksum;
    return entry;
  }
  static std::string InTree(const std::string& path) {
    return ".swamp/pulled-extensions/@c/x/" + path;
  }

  // A tree with two files, and what its receipt would say.
  void Install(bool with_receipt) {
    world_.Write(InTree("manifest.yaml"), kManifest);
    world_.Write(InTree("models/a.ts"), "a");
    if (!with_receipt) return;
    const Receipt receipt{
        kX,
        *Version::Parse("2026.01.01.1"),
        "c1",
        {{"manifest.yaml", Sha256Hex(kManifest)}, {"models/a.ts", Sha256Hex("a")}}};
    world_.Write(InTree(std::string(kReceiptName)), SerializeReceipt(receipt));
  }
  static std::string Checksum() {
    return FilesChecksum(
        {{"manifest.yaml", Sha256Hex(kManifest)}, {"models/a.ts", Sha256Hex("a")}});
  }

  TreeState Inspect(const Json& entry) { return InspectTree(world_.context(), site_, kX, &entry); }

  testing::TempWorld world_;
  ExtensionSite site_;
};

TEST_F(TreeStateTest, EX01_TakesOnlyPathsOfTheExtensionsOwnPlaces) {
  const Json entry = Entry(
      {"../victim/a.txt", "/etc/x", "ok/../../b", "a\\b", std::string("a\0b", 3), "src/main.ts",
       InTree("models/a.ts"), ".swamp/pulled-extensions/@c/y/models/b.ts",
       ".swamp/pulled-extensions-evil/@c/x/models/c.ts", ".swamp/bundles/12345678/a.js",
       ".swamp/data/secret", ".swamp/pulled-extensions/models/flat.ts", ".swamp/bundles/short"});
  const ListedFiles listed = ReadListedFiles(site_, kX, entry);
  EXPECT_THAT(listed.tree, ElementsAre("models/a.ts", "models/flat.ts"));
  EXPECT_THAT(listed.bundles, ElementsAre(Pair(KindOfFolder("models"), "a.js")));
  EXPECT_THAT(listed.refused, SizeIs(10));
}

TEST_F(TreeStateTest, EX01_DoesNotFollowALinkOutOfThePulledRoot) {
  world_.Write("victim/models/a.ts", "mine");
  std::filesystem::create_directories(world_.root / InTree(""));
  std::filesystem::create_directory_symlink(world_.root / "victim/models",
                                            world_.root / InTree("models"));
  TreeState state = Inspect(Entry({InTree("models/a.ts")}));
  EXPECT_THAT(state.present, IsEmpty());
  ASSERT_THAT(state.refused, SizeIs(1));
  EXPECT_EQ(state.refused[0].path, InTree("models/a.ts"));

  std::filesystem::remove_all(world_.root / ".swamp/pulled-extensions/@c");
  std::filesystem::create_directories(world_.root / ".swamp/pulled-extensions/@c");
  std::filesystem::create_directory_symlink(world_.root / "victim",
                                            world_.root / ".swamp/pulled-extensions/@c/x");
  state = Inspect(Entry({InTree("models/a.ts")}));
  EXPECT_FALSE(state.installed);
  EXPECT_THAT(state.refused, SizeIs(1));
}

TEST_F(TreeStateTest, FulfilsAnEntryWhenAllIsThere) {
  const Json entry = Entry({InTree("manifest.yaml"), InTree("models/a.ts")}, Checksum());
  EXPECT_FALSE(Inspect(entry).Fulfils(entry));
  for (const bool with_receipt : {false, true}) {
    Install(with_receipt);
    const TreeState state = Inspect(entry);
    EXPECT_TRUE(state.Fulfils(entry));
    EXPECT_THAT(state.edited, IsEmpty());
    EXPECT_EQ(state.version->text(), "2026.01.01.1");
  }
}

TEST_F(TreeStateTest, NamesTheEditedFileByItsReceipt) {
  Install(true);
  world_.Write(InTree("models/a.ts"), "edited");
  const Json entry = Entry({InTree("manifest.yaml"), InTree("models/a.ts")}, Checksum());
  const TreeState state = Inspect(entry);
  EXPECT_THAT(state.edited, ElementsAre("models/a.ts"));
  EXPECT_TRUE(state.edits_are_known);
  EXPECT_TRUE(state.Fulfils(entry));
}

TEST_F(TreeStateTest, KnowsOnlyThatSomethingWasEditedWithoutAReceipt) {
  Install(false);
  world_.Write(InTree("models/a.ts"), "edited");
  const TreeState state =
      Inspect(Entry({InTree("manifest.yaml"), InTree("models/a.ts")}, Checksum()));
  EXPECT_FALSE(state.edits_are_known);
  EXPECT_THAT(state.edited, ElementsAre("manifest.yaml", "models/a.ts"));
  EXPECT_TRUE(Inspect(Entry({InTree("models/a.ts")})).edits_are_known) << "nothing to compare with";
}

TEST_F(TreeStateTest, DoesNotFulfilWithFilesMissing) {
  Install(true);
  world_.files.Remove(world_.root / InTree("models/a.ts"));
  Json entry = Entry({InTree("manifest.yaml"), InTree("models/a.ts")});
  EXPECT_THAT(Inspect(entry).missing, ElementsAre("models/a.ts"));
  EXPECT_FALSE(Inspect(entry).Fulfils(entry));
  Install(true);
  entry = Entry({InTree("models/a.ts"), ".swamp/bundles/00000000/a.js"});
  const std::string bundle = ".swamp/bundles/" + BundleNamespace(InTree("models")) + "/a.js";
  EXPECT_THAT(Inspect(entry).missing_bundles, ElementsAre(bundle));
  EXPECT_FALSE(Inspect(entry).Fulfils(entry));
  world_.Write(bundle, "");
  EXPECT_TRUE(Inspect(entry).Fulfils(entry));
}

TEST_F(TreeStateTest, IsOfAnotherVersionWhenAPeerUpdatedTheEntry) {
  Install(true);
  Json entry = Entry({InTree("models/b.ts")}, "other");
  entry["version"] = "2026.01.01.2";
  entry["checksum"] = "c2";
  const TreeState state = Inspect(entry);
  EXPECT_FALSE(state.Fulfils(entry));
  EXPECT_THAT(state.edited, IsEmpty()) << "what is here is the older version, whole";
  EXPECT_THAT(state.owned, ElementsAre("manifest.yaml", "models/a.ts"));
}

TEST_F(TreeStateTest, FindsATreeInTheOlderPlace) {
  Install(true);
  site_.older_pulled_root = site_.pulled_root;
  site_.pulled_root = world_.root / ".swamp/config/pulled-extensions";
  const Json entry = Entry({InTree("manifest.yaml"), InTree("models/a.ts")});
  const TreeState state = Inspect(entry);
  EXPECT_EQ(state.pulled_root, *site_.older_pulled_root);
  EXPECT_TRUE(state.Fulfils(entry));
}

TEST_F(TreeStateTest, EX12_KnowsWhatNeighboursClaim) {
  const auto name = [](std::string_view text) { return *ExtensionName::Parse(text); };
  const Lockfile lockfile(
      {{"@c/x", Entry({InTree("models/models/a.ts")})},
       {"@c/x/models", Entry({InTree("models/models/b.ts"), InTree("models/manifest.yaml")})},
       {"@c/xy", Entry({".swamp/pulled-extensions/@c/xy/models/c.ts"})}});
  EXPECT_THAT(
      ClaimsOfNeighbours(site_, name("@c/x"), lockfile),
      UnorderedElementsAre(Pair(world_.root / InTree("models/models/b.ts"), "@c/x/models"),
                           Pair(world_.root / InTree("models/manifest.yaml"), "@c/x/models")));
  EXPECT_THAT(ClaimsOfNeighbours(site_, name("@c/x/models"), lockfile),
              UnorderedElementsAre(Pair(world_.root / InTree("models/models/a.ts"), "@c/x")));
  EXPECT_THAT(ClaimsOfNeighbours(site_, name("@c/xy"), lockfile), IsEmpty());
}

TEST_F(TreeStateTest, ReadsDependenciesFromTheEntryOrElseFromTheManifest) {
  Json entry = Entry({});
  world_.Write(InTree("manifest.yaml"),
               std::string(kManifest) + "dependencies: ['@c/from-manifest']\n");
  EXPECT_EQ(DependenciesOf(world_.context(), site_, kX, entry).at(0).name.text(),
            "@c/from-manifest");
  entry["dependencies"] = Json::array({"@c/from-entry@>=2026.01.01"});
  EXPECT_EQ(DependenciesOf(world_.context(), site_, kX, entry).at(0).name.text(), "@c/from-entry");
}

}  // namespace
}  // namespace swamp

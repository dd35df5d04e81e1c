#include "extension/tree_swap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/staging.h"
#include "extension/testing.h"

namespace swamp {
namespace {

using testing::CodeOf;
using testing::FailingFiles;
using ::testing::IsEmpty;
using testing::TempWorld;

// A checkout with one tree, about to be changed in every way that a swap knows.
class Checkout {
 public:
  Checkout() {
    site.repo_root = world.root;
    site.pulled_root = world.root / ".swamp/pulled-extensions";
    site.swamp_folder = world.root / ".swamp";
    world.Write(kTree + "models/a.ts", "old a");
    world.Write(kTree + "models/gone.ts", "old gone");
    world.Write(kTree + "files/sub/x.txt", "old x");
    world.Write(".swamp/bundles/1/a.js", "old bundle");
  }

  // Replaces a file and a folder, adds a file and a folder, removes a file and a folder.
  void Swap(const Context& context) {
    const StagingArea staging(context, site);
    const std::filesystem::path& work = staging.folder();
    const auto stage = [&](const std::string& path, std::string_view content) {
      WriteFileAtomically(context.files(), work / path, content);
      return work / path;
    };
    const auto lock = LockInstallation(context, site);
    TreeSwap swap(context, site, work);
    swap.Place(stage("new/a.ts", "new a"), world.root / kTree / "models/a.ts");
    stage("new/files/sub/y.txt", "new y");
    swap.Place(work / "new/files", world.root / kTree / "files");
    swap.TakeAway(world.root / kTree / "models/gone.ts");
    stage("new/vaults/v.ts", "new v");
    swap.Place(work / "new/vaults", world.root / kTree / "vaults");
    swap.TakeAway(world.root / ".swamp/bundles/1");
    swap.Place(stage("new/z", "new z"), world.root / ".swamp/pulled-extensions/@d/z/manifest.yaml");
    swap.Commit();
  }

  // All files but those that wait for the next command's cleaning.
  std::map<std::string, std::string> Visible() {
    auto tree = world.Tree(".swamp");
    std::erase_if(
        tree, [](const auto& file) { return file.first.find("/.staging/") != std::string::npos; });
    return tree;
  }

  static inline const std::string kTree = ".swamp/pulled-extensions/@c/x/";
  TempWorld world;
  ExtensionSite site;
};

const std::map<std::string, std::string> kAfter = {
    {"pulled-extensions/@c/x/models/a.ts", "new a"},
    {"pulled-extensions/@c/x/files/sub/y.txt", "new y"},
    {"pulled-extensions/@c/x/vaults/v.ts", "new v"},
    {"pulled-extensions/@d/z/manifest.yaml", "new z"}};

TEST(TreeSwap, ReplacesAddsAndRemoves) {
  Checkout checkout;
  checkout.Swap(checkout.world.context());
  EXPECT_EQ(checkout.Visible(), kAfter);
  EXPECT_FALSE(checkout.world.Exists(".swamp/bundles")) << "a folder that became empty";
}

TEST(TreeSwap, LeavesTheOldOrTheNewFilesWhereverItIsKilled) {
  int steps = 0;
  for (bool crashed = true; crashed; ++steps) {
    Checkout checkout;
    const auto before = checkout.Visible();
    FailingFiles files(checkout.world.files, FailingFiles::Kind::kCrash, steps);
    const bool ended = CodeOf([&] { checkout.Swap(checkout.world.ContextWith(files)); }) == "none";
    crashed = files.has_failed();
    RecoverInterruptedInstalls(checkout.world.context(), checkout.site);
    if (ended) {
      EXPECT_EQ(checkout.Visible(), kAfter) << "step " << steps;
    } else {
      EXPECT_EQ(checkout.Visible(), before) << "step " << steps;
    }
    { const StagingArea next_command(checkout.world.context(), checkout.site); }
    EXPECT_THAT(checkout.world.files.List(checkout.site.pulled_root / ".staging"),
                ::testing::SizeIs(2))
        << "only the two lock files, step " << steps;
  }
  EXPECT_GT(steps, 25);
}

TEST(TreeSwap, PutsEverythingBackAtOnceWhenAStepFails) {
  for (int steps = 0;; ++steps) {
    Checkout checkout;
    const auto before = checkout.Visible();
    FailingFiles files(checkout.world.files, FailingFiles::Kind::kOneFailure, steps);
    const bool ended = CodeOf([&] { checkout.Swap(checkout.world.ContextWith(files)); }) == "none";
    EXPECT_EQ(checkout.Visible(), ended ? kAfter : before) << "step " << steps;
    if (!files.has_failed()) break;
  }
}

TEST(TreeSwap, RecoveryMayItselfBeKilled) {
  constexpr int kInTheMiddle = 20;
  for (int steps = 0;; ++steps) {
    Checkout checkout;
    const auto before = checkout.Visible();
    FailingFiles first(checkout.world.files, FailingFiles::Kind::kCrash, kInTheMiddle);
    ASSERT_NE(CodeOf([&] { checkout.Swap(checkout.world.ContextWith(first)); }), "none");
    ASSERT_NE(checkout.Visible(), before) << "the first crash must leave something to undo";
    FailingFiles second(checkout.world.files, FailingFiles::Kind::kCrash, steps);
    CodeOf([&] { RecoverInterruptedInstalls(checkout.world.ContextWith(second), checkout.site); });
    RecoverInterruptedInstalls(checkout.world.context(), checkout.site);
    EXPECT_EQ(checkout.Visible(), before) << "step " << steps;
    if (!second.has_failed()) break;
  }
}

TEST(TreeSwap, RefusesAJournalThatLeadsElsewhere) {
  for (
      const char* journal :
      {"{", "[]", R"({"version":2,"moves":[]})", R"({"version":1,"moves":[{}]})",
       R"({"version":1,"moves":[{"target":"../victim","replaces":false}]})",
       R"({"version":1,"moves":[{"target":"/etc/passwd","replaces":false}]})",
       R"({"version":1,"moves":[{"target":"src/main.cc","replaces":false}]})",
       R"({"version":1,"moves":[{"target":".swamp/pulled-extensions/@c/x/a","staged":"../../x","replaces":false}]})",
       R"({"version":1,"moves":[{"target":".swamp/pulled-extensions/link/a","staged":"new","replaces":false}]})"}) {
    Checkout checkout;
    std::filesystem::create_directories(checkout.world.root / "victim");
    std::filesystem::create_directory_symlink(checkout.world.root / "victim",
                                              checkout.site.pulled_root / "link");
    checkout.world.Write(".swamp/pulled-extensions/.staging/dead/journal.json", journal);
    const auto before = checkout.Visible();
    EXPECT_EQ(CodeOf([&] { RecoverInterruptedInstalls(checkout.world.context(), checkout.site); }),
              "install_journal_invalid")
        << journal;
    EXPECT_EQ(checkout.Visible(), before);
  }
}

}  // namespace
}  // namespace swamp

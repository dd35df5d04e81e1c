#include "repo/init.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "repo/marker.h"
#include "repo/repository.h"
#include "repo/test_repo.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr const char* kVersion = "20261202.000000.0";

class InitRepositoryTest : public ::testing::Test {
 protected:
  InitResult Init(const InitRequest& request = {}, const std::string& version = kVersion) {
    return InitRepository(repo_.context, request, version);
  }
  UserError InitError(const InitRequest& request) {
    return ErrorOf([&] { Init(request); });
  }

  TestRepo repo_;
};

TEST_F(InitRepositoryTest, MakesAnEmptyFolderARepository) {
  const InitResult result = Init();
  EXPECT_EQ(result.path, repo_.root);
  EXPECT_EQ(result.version, kVersion);
  EXPECT_THAT(result.tools, ElementsAre("claude"));
  EXPECT_THAT(result.removed_tools, IsEmpty());
  EXPECT_THAT(result.files_written,
              ElementsAre("CLAUDE.md", ".claude/settings.local.json", ".gitignore", ".swamp.yaml"));
  EXPECT_EQ(ListFilesBelow(repo_.world.files, repo_.root).size(), 4U);
  EXPECT_TRUE(result.instructions_created);
  EXPECT_TRUE(result.settings_created);
  EXPECT_EQ(result.gitignore, GitignoreAction::kCreated);
  EXPECT_FALSE(result.asked_for_none);
  EXPECT_FALSE(result.outer_repository);
  EXPECT_THAT(result.next_steps, Not(IsEmpty()));
  for (const char* folder :
       {"models", "workflows", "vaults", "grants", ".swamp/data", ".swamp/outputs",
        ".swamp/workflow-runs", ".swamp/workflows-evaluated", ".swamp/definitions-evaluated",
        ".swamp/secrets", ".swamp/audit", ".swamp/vault-bundles"}) {
    EXPECT_TRUE(fs::is_directory(repo_.root / folder)) << folder;
  }
  EXPECT_EQ(repo_.world.files.Stat(repo_.root / ".swamp/secrets")->mode, 0700U);
}

TEST_F(InitRepositoryTest, WritesTheMarker) {
  const InitResult result = Init({.tools = {"cursor", "codex"}});
  EXPECT_THAT(repo_.Read(".swamp.yaml"),
              MatchesRegex("swampVersion: 20261202.000000.0\n"
                           "initializedAt: \"" +
                           result.initialized_at +
                           "\"\n"
                           "repoId: \"?[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}\"?\n"
                           "tools:\n  - cursor\n  - codex\ngitignoreManaged: true\n"));
}

TEST_F(InitRepositoryTest, KeepsWhatIsInTheFolder) {
  repo_.Write("CLAUDE.md", "# Mine\n");
  repo_.Write(".gitignore", "*.log\n");
  repo_.Write("models/a.yaml", "a: 1\n");
  const InitResult result = Init();
  EXPECT_EQ(result.gitignore, GitignoreAction::kUpdated);
  EXPECT_THAT(repo_.Read("CLAUDE.md"), HasSubstr("\n# Mine\n"));
  EXPECT_TRUE(repo_.Read(".gitignore").starts_with("*.log\n\n# BEGIN swamp"));
  EXPECT_EQ(repo_.Read("models/a.yaml"), "a: 1\n");
}

TEST_F(InitRepositoryTest, MakesAFolderThatIsNotThere) {
  EXPECT_EQ(Init({.path = "new/folder/", .tools = {"none"}}).path, repo_.root / "new/folder");
  EXPECT_NO_THROW(Repository::Open(repo_.context, repo_.root / "new/folder"));
  EXPECT_FALSE(repo_.Exists(".swamp.yaml"));
}

TEST_F(InitRepositoryTest, StaysInTheFolderBelowAnotherRepositoryAndNamesIt) {
  Init();
  const InitResult inner = Init({.path = "a/b"});
  EXPECT_EQ(inner.path, repo_.root / "a/b");
  EXPECT_EQ(inner.outer_repository, repo_.root);
  EXPECT_TRUE(repo_.Exists("a/b/.swamp.yaml"));
}

TEST_F(InitRepositoryTest, RefusesARepository) {
  Init({.tools = {"cursor", "kiro"}, .program = "/usr/bin/swamp"});
  const auto before = repo_.AllFiles();
  const UserError error = InitError({.tools = {"codex"}});
  EXPECT_EQ(error.code(), "already_initialized");
  EXPECT_THAT(error.message(), AllOf(HasSubstr(repo_.root.string()), HasSubstr("cursor, kiro")));
  EXPECT_THAT(error.hint(), AllOf(HasSubstr("repo upgrade --tool"), HasSubstr("--force")));
  EXPECT_EQ(repo_.AllFiles(), before);
}

TEST_F(InitRepositoryTest, NamesTheToolOfAnOldMarker) {
  repo_.Write(".swamp.yaml", "tool: cursor\n");
  EXPECT_THAT(InitError({}).message(), HasSubstr("tools: cursor"));
}

TEST_F(InitRepositoryTest, DropsRepeatedTools) {
  EXPECT_THAT(Init({.tools = {"codex", "claude", "codex"}}).tools, ElementsAre("codex", "claude"));
}

TEST_F(InitRepositoryTest, WritesNoToolFilesForNone) {
  const InitResult result = Init({.tools = {"none", "none"}});
  EXPECT_TRUE(result.asked_for_none);
  EXPECT_THAT(result.tools, IsEmpty());
  EXPECT_THAT(result.files_written, ElementsAre(".gitignore", ".swamp.yaml"));
  EXPECT_FALSE(result.instructions_created);
  EXPECT_THAT(repo_.Read(".swamp.yaml"), HasSubstr("tools: []\n"));
}

TEST_F(InitRepositoryTest, RefusesNoneWithOthers) {
  for (const auto& tools : {std::vector<std::string>{"none", "claude"}, {"claude", "none"}}) {
    EXPECT_EQ(InitError({.tools = tools}).code(), "usage");
  }
  EXPECT_THAT(repo_.AllFiles(), IsEmpty());
}

TEST_F(InitRepositoryTest, SuggestsTheToolThatWasMeant) {
  const UserError error = InitError({.tools = {"cursr"}});
  EXPECT_EQ(error.code(), "usage");
  EXPECT_THAT(error.message(), HasSubstr("\"cursr\""));
  EXPECT_THAT(error.hint(),
              AllOf(HasSubstr("Did you mean cursor?"), HasSubstr("opencode"), HasSubstr("none")));
  EXPECT_THAT(InitError({.tools = {"somethingelse"}}).hint(),
              AllOf(Not(HasSubstr("Did you mean")), HasSubstr("Known: claude, ")));
  EXPECT_FALSE(repo_.Exists(".swamp"));
}

TEST_F(InitRepositoryTest, LeavesNoDamagedRepositoryWhenToolFilesCannotBeMerged) {
  const std::string mark = "<!-- BEGIN swamp managed section - DO NOT EDIT -->\n";
  repo_.Write("CLAUDE.md", mark + mark);
  EXPECT_EQ(InitError({}).code(), "instructions_ambiguous");
  EXPECT_FALSE(repo_.Exists(".swamp"));
}

TEST_F(InitRepositoryTest, TellsToolsWhereTheProgramIs) {
  Init({.tools = {"kiro"}, .program = "/opt/swamp"});
  EXPECT_THAT(repo_.Read(".kiro/agents/swamp.json"), HasSubstr("\"/opt/swamp audit record"));
}

TEST_F(InitRepositoryTest, TellsToolsTheRunningProgramUnlessOneIsGiven) {
  Init({.tools = {"kiro"}});
  EXPECT_THAT(repo_.Read(".kiro/agents/swamp.json"),
              HasSubstr(fs::read_symlink("/proc/self/exe").string()));
}

TEST_F(InitRepositoryTest, WritesNothingIntoHome) {
  TestRepo home;
  repo_.Enter(repo_.root, {{"HOME", home.root.string()}});
  Init({.tools = {"claude", "cursor", "opencode", "codex", "copilot", "kiro"}});
  EXPECT_THAT(home.AllFiles(), IsEmpty());
}

TEST_F(InitRepositoryTest, ForceKeepsEveryOtherKeyAndComment) {
  repo_.Write(
      ".swamp.yaml",
      "# the team's\nswampVersion: 1.0.0  # first\ninitializedAt: \"2026-01-01T00:00:00.000Z\"\n"
      "repoId: abc\ndatastore:\n  type: filesystem\n  config:\n    path: /mnt/x # shared\n"
      "tools:\n  - cursor\nunknown:   [1,  2]\ndefaultVault: v\n");
  const InitResult result = Init({.force = true, .tools = {"codex", "kiro"}});
  EXPECT_EQ(repo_.Read(".swamp.yaml"),
            "# the team's\nswampVersion: 20261202.000000.0  # first\n"
            "initializedAt: \"2026-01-01T00:00:00.000Z\"\n"
            "repoId: abc\ndatastore:\n  type: filesystem\n  config:\n    path: /mnt/x # shared\n"
            "tools:\n  - codex\n  - kiro\nunknown:   [1,  2]\ndefaultVault: v\n"
            "gitignoreManaged: true\n");
  EXPECT_EQ(result.initialized_at, "2026-01-01T00:00:00.000Z");
  EXPECT_THAT(result.removed_tools, ElementsAre("cursor"));
  EXPECT_THAT(result.files_written, Contains(".swamp.yaml"));
}

TEST_F(InitRepositoryTest, ForceKeepsTheToolsUnlessOthersAreNamed) {
  Init({.tools = {"codex"}});
  EXPECT_THAT(Init({.force = true}).tools, ElementsAre("codex"));
  EXPECT_FALSE(repo_.Exists("CLAUDE.md"));
  EXPECT_THAT(Init({.force = true, .tools = {"none"}}).tools, IsEmpty());
  EXPECT_THAT(Init({.force = true}).tools, IsEmpty());
}

TEST_F(InitRepositoryTest, ForceBringsAnOldMarkerUpToDate) {
  repo_.Write(".swamp.yaml", "swampVersion: 1.0.0\ntool: cursor\n");
  EXPECT_THAT(Init({.force = true}).tools, ElementsAre("cursor"));
  const auto marker = Marker::Load(repo_.world.files, repo_.root);
  ASSERT_TRUE(marker);
  EXPECT_FALSE(marker->json().contains("tool"));
  EXPECT_THAT(marker->Strings("tools"), ElementsAre("cursor"));
  EXPECT_EQ(marker->String("repoId").value_or("").size(), 36U);
}

TEST_F(InitRepositoryTest, ForceChangesNoByteTheSecondTime) {
  Init({.tools = {"claude", "kiro"}});
  const auto before = repo_.AllFiles();
  const InitResult again = Init({.force = true});
  EXPECT_THAT(again.files_written, IsEmpty());
  EXPECT_EQ(again.gitignore, GitignoreAction::kUnchanged);
  auto after = repo_.AllFiles();
  after.erase(".swamp/.marker.lock");
  EXPECT_EQ(after, before);
}

TEST_F(InitRepositoryTest, ForceMakesAFolderARepositoryLikeAnyInit) {
  Init({.force = true, .tools = {"none"}});
  EXPECT_NO_THROW(Repository::Open(repo_.context, repo_.root));
}

TEST_F(InitRepositoryTest, ForceRefusesAMarkerThatItCannotRead) {
  repo_.Write(".swamp.yaml", "a: [\n");
  EXPECT_EQ(InitError({.force = true}).code(), "marker_invalid");
  EXPECT_EQ(repo_.Read(".swamp.yaml"), "a: [\n");
}

// Calls another init at the point where the marker's id is drawn: after the look for a marker,
// before it is written.
class RivalRandom final : public Random {
 public:
  explicit RivalRandom(std::function<void()> rival) : rival_(std::move(rival)) {}
  void Fill(std::span<std::uint8_t> bytes) override {
    if (const auto rival = std::exchange(rival_, nullptr)) rival();
    system_.Fill(bytes);
  }

 private:
  std::function<void()> rival_;
  SystemRandom system_;
};

TEST_F(InitRepositoryTest, LosesAgainstOneThatWritesItsMarkerFirst) {
  std::string marker_of_rival;
  RivalRandom random([&] {
    Init({.tools = {"cursor"}});
    marker_of_rival = repo_.Read(".swamp.yaml");
  });
  World world{repo_.world.clock,    random,   repo_.world.files, repo_.world.environment,
              repo_.world.executor, repo_.log};
  const Context context(world, repo_.world.cancellation);
  const UserError error = ErrorOf([&] { InitRepository(context, {.tools = {"codex"}}, kVersion); });
  EXPECT_EQ(error.code(), "already_initialized");
  EXPECT_THAT(error.message(), HasSubstr("tools: cursor"));
  EXPECT_THAT(marker_of_rival, HasSubstr("cursor"));
  EXPECT_EQ(repo_.Read(".swamp.yaml"), marker_of_rival);
}

TEST_F(InitRepositoryTest, LetsOneOfManyWin) {
  constexpr int kInits = 6;
  std::barrier start(kInits);
  std::atomic<int> won = 0;
  std::atomic<int> lost = 0;
  std::vector<std::thread> inits;
  inits.reserve(kInits);
  for (int i = 0; i < kInits; ++i) {
    inits.emplace_back([&] {
      start.arrive_and_wait();
      try {
        Init();
        ++won;
      } catch (const UserError& error) {
        if (error.code() == "already_initialized") ++lost;
      }
    });
  }
  for (std::thread& init : inits) init.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, kInits - 1);
  EXPECT_NO_THROW(Repository::Open(repo_.context, repo_.root).id());
}

}  // namespace
}  // namespace swamp

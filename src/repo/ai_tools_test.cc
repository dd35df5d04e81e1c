#include "repo/ai_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "repo/instructions.h"
#include "repo/opencode_plugin.h"
#include "repo/test_repo.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WriteToolFilesTest : public ::testing::Test {
 protected:
  ToolFiles Write(const std::vector<std::string>& tools) {
    return WriteToolFiles(repo_.context, repo_.root, tools, "/usr/bin/swamp");
  }
  fs::file_status Status(const std::string& path) { return fs::symlink_status(repo_.root / path); }

  TestRepo repo_;
};

TEST(KnownTools, AreThoseWithFiles) {
  EXPECT_THAT(KnownTools(),
              ElementsAre("claude", "cursor", "opencode", "codex", "copilot", "kiro"));
}

TEST_F(WriteToolFilesTest, WritesNothingWithoutATool) {
  const ToolFiles files = Write({});
  EXPECT_THAT(files.written, IsEmpty());
  EXPECT_FALSE(files.instructions_created);
  EXPECT_FALSE(files.settings_created);
  EXPECT_THAT(repo_.AllFiles(), IsEmpty());
}

TEST_F(WriteToolFilesTest, WritesEachToolsFiles) {
  const std::map<std::string, std::vector<std::string>> files_of = {
      {"claude", {"CLAUDE.md", ".claude/settings.local.json"}},
      {"cursor", {".cursor/rules/swamp.mdc", ".cursor/hooks.json"}},
      {"opencode", {"AGENTS.md", ".opencode/plugins/swamp-audit.ts"}},
      {"codex", {"AGENTS.md"}},
      {"copilot", {"AGENTS.md", ".github/hooks/swamp-audit.json"}},
      {"kiro",
       {".kiro/steering/swamp-rules.md", ".kiro/hooks/swamp-audit.kiro.hook",
        ".kiro/agents/swamp.json", ".kiro/settings/cli.json", ".vscode/settings.local.json"}}};
  for (const auto& [tool, paths] : files_of) {
    TestRepo repo;
    const ToolFiles files = WriteToolFiles(repo.context, repo.root, {tool}, "/usr/bin/swamp");
    EXPECT_EQ(files.written, paths);
    EXPECT_EQ(ListFilesBelow(repo.world.files, repo.root).size(), paths.size()) << tool;
    for (const std::string& path : paths) EXPECT_TRUE(repo.Exists(path)) << path;
    EXPECT_THAT(repo.Read(paths.front()), HasSubstr(InstructionsSection()));
    EXPECT_TRUE(files.instructions_created);
    EXPECT_EQ(files.settings_created, tool != "codex");
    EXPECT_THAT(repo.log.warnings(), IsEmpty());
  }
}

TEST_F(WriteToolFilesTest, StartsWithTheFrontMatterThatAToolNeeds) {
  Write({"cursor", "kiro"});
  EXPECT_TRUE(repo_.Read(".cursor/rules/swamp.mdc")
                  .starts_with("---\ndescription: How to work in this swamp repository\n"
                               "alwaysApply: true\n---\n"));
  EXPECT_TRUE(
      repo_.Read(".kiro/steering/swamp-rules.md").starts_with("---\ninclusion: always\n---\n"));
}

TEST_F(WriteToolFilesTest, ChangesNoByteTheSecondTime) {
  repo_.Write("CLAUDE.md", "# Mine\r\n");
  repo_.Write(".vscode/settings.local.json", "{\n    \"editor.tabSize\": 4\n}\n");
  Write(KnownTools());
  const auto first = repo_.AllFiles();
  std::map<std::string, std::uint64_t> inodes;
  for (const auto& [path, text] : first) {
    inodes[path] = repo_.world.files.Stat(repo_.root / path)->inode;
  }
  const ToolFiles again = Write(KnownTools());
  EXPECT_THAT(again.written, IsEmpty());
  EXPECT_FALSE(again.instructions_created);
  EXPECT_FALSE(again.settings_created);
  EXPECT_EQ(repo_.AllFiles(), first);
  for (const auto& [path, inode] : inodes) {
    EXPECT_EQ(repo_.world.files.Stat(repo_.root / path)->inode, inode) << path;
  }
}

TEST_F(WriteToolFilesTest, WritesAFileOfSeveralToolsOnce) {
  EXPECT_THAT(Write({"codex", "opencode", "copilot"}).written,
              ElementsAre("AGENTS.md", ".opencode/plugins/swamp-audit.ts",
                          ".github/hooks/swamp-audit.json"));
  EXPECT_EQ(repo_.Read("AGENTS.md"), InstructionsSection());
}

TEST_F(WriteToolFilesTest, ReportsOnlyWhatChanged) {
  Write({"claude"});
  repo_.Write("CLAUDE.md", InstructionsSection() + "\nmine\n");
  fs::remove(repo_.root / ".claude/settings.local.json");
  const ToolFiles files = Write({"claude"});
  EXPECT_THAT(files.written, ElementsAre(".claude/settings.local.json"));
  EXPECT_FALSE(files.instructions_created);
  EXPECT_TRUE(files.settings_created);
}

TEST_F(WriteToolFilesTest, RenewsThePlugin) {
  repo_.Write(kOpencodePluginPath, "// of an older version\n");
  EXPECT_THAT(Write({"opencode"}).written, ElementsAre("AGENTS.md", kOpencodePluginPath));
  EXPECT_EQ(repo_.Read(kOpencodePluginPath), kOpencodePlugin);
}

TEST_F(WriteToolFilesTest, LeavesBrokenSettingsAloneAndSaysSo) {
  repo_.Write(".claude/settings.local.json", "{\"permissions\": ");
  EXPECT_THAT(Write({"claude"}).written, ElementsAre("CLAUDE.md"));
  EXPECT_EQ(repo_.Read(".claude/settings.local.json"), "{\"permissions\": ");
  EXPECT_THAT(repo_.log.warnings(),
              ElementsAre(AllOf(HasSubstr(".claude/settings.local.json is left as it is"),
                                HasSubstr("it is not valid JSON: line 1, column "))));
}

TEST_F(WriteToolFilesTest, LeavesAnotherDefaultAgentAloneAndSaysSo) {
  repo_.Write(".kiro/settings/cli.json", "{\"chat.defaultAgent\": \"mine\"}");
  Write({"kiro"});
  EXPECT_EQ(repo_.Read(".kiro/settings/cli.json"), "{\"chat.defaultAgent\": \"mine\"}");
  EXPECT_THAT(repo_.log.warnings(), ElementsAre(HasSubstr(".kiro/settings/cli.json is left")));
}

TEST_F(WriteToolFilesTest, WritesNothingAtAllWhenOneFileHasTwoSections) {
  repo_.Write("AGENTS.md", InstructionsSection() + InstructionsSection());
  const auto before = repo_.AllFiles();
  const UserError error = ErrorOf([&] { Write({"claude", "codex"}); });
  EXPECT_EQ(error.code(), "instructions_ambiguous");
  EXPECT_THAT(error.message(), HasSubstr("AGENTS.md"));
  EXPECT_EQ(repo_.AllFiles(), before);
}

TEST_F(WriteToolFilesTest, PassesOverAToolThatItDoesNotKnow) {
  EXPECT_THAT(Write({"amp", "codex"}).written, ElementsAre("AGENTS.md"));
  EXPECT_THAT(repo_.log.warnings(), ElementsAre(HasSubstr("\"amp\"")));
}

TEST_F(WriteToolFilesTest, KeepsTheModeOfAFile) {
  repo_.Write(".claude/settings.local.json", "{}");
  repo_.world.files.SetMode(repo_.root / ".claude/settings.local.json", 0600);
  Write({"claude"});
  EXPECT_EQ(repo_.world.files.Stat(repo_.root / ".claude/settings.local.json")->mode, 0600U);
  EXPECT_EQ(repo_.world.files.Stat(repo_.root / "CLAUDE.md")->mode, 0644U);
}

TEST_F(WriteToolFilesTest, WritesThroughALinkWithinTheRepository) {
  repo_.Write("AGENTS.md", "mine\n");
  fs::create_symlink("AGENTS.md", repo_.root / "CLAUDE.md");
  EXPECT_THAT(Write({"claude", "codex"}).written,
              ElementsAre("CLAUDE.md", ".claude/settings.local.json"));
  EXPECT_TRUE(fs::is_symlink(Status("CLAUDE.md")));
  EXPECT_EQ(repo_.Read("AGENTS.md"), InstructionsSection() + "\nmine\n");
}

TEST_F(WriteToolFilesTest, DoesNotFollowALinkOutOfTheRepository) {
  TestRepo home;
  home.Write("CLAUDE.md", "of all my projects\n");
  home.Write("claude/settings.local.json", "{}");
  fs::create_symlink(home.root / "CLAUDE.md", repo_.root / "CLAUDE.md");
  fs::create_directory_symlink(home.root / "claude", repo_.root / ".claude");
  EXPECT_THAT(Write({"claude"}).written, IsEmpty());
  EXPECT_EQ(home.Read("CLAUDE.md"), "of all my projects\n");
  EXPECT_EQ(home.Read("claude/settings.local.json"), "{}");
  EXPECT_TRUE(fs::is_symlink(Status("CLAUDE.md")));
  EXPECT_THAT(repo_.log.warnings(),
              ElementsAre(HasSubstr("CLAUDE.md is left as it is: a link leads from it out"),
                          HasSubstr(".claude/settings.local.json is left")));
}

TEST_F(WriteToolFilesTest, DoesNotReplaceALinkThatLeadsNowhere) {
  fs::create_symlink("elsewhere.md", repo_.root / "AGENTS.md");
  EXPECT_THAT(Write({"codex"}).written, IsEmpty());
  EXPECT_TRUE(fs::is_symlink(Status("AGENTS.md")));
  EXPECT_THAT(repo_.log.warnings(), ElementsAre(HasSubstr("a link that leads nowhere")));
}

}  // namespace
}  // namespace swamp

#include "repo/tool_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace swamp {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kProgram = "/usr/bin/swamp";

const SettingsFile& FileOf(std::string_view tool, std::string_view path) {
  const auto files = SettingsFilesOf(tool);
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const SettingsFile& file) { return file.path == path; });
  if (found == files.end()) throw std::logic_error("no such settings file");
  return *found;
}

const SettingsFile& Claude() { return FileOf("claude", ".claude/settings.local.json"); }
const SettingsFile& Cursor() { return FileOf("cursor", ".cursor/hooks.json"); }
const SettingsFile& Copilot() { return FileOf("copilot", ".github/hooks/swamp-audit.json"); }
const SettingsFile& KiroHook() { return FileOf("kiro", ".kiro/hooks/swamp-audit.kiro.hook"); }
const SettingsFile& KiroAgent() { return FileOf("kiro", ".kiro/agents/swamp.json"); }
const SettingsFile& KiroCli() { return FileOf("kiro", ".kiro/settings/cli.json"); }
const SettingsFile& KiroTrust() { return FileOf("kiro", ".vscode/settings.local.json"); }

std::string Merge(const SettingsFile& file, const std::optional<std::string>& before,
                  const char* program = kProgram) {
  const MergedSettings merged = MergeSettings(file, before, program);
  EXPECT_EQ(merged.problem, "");
  return merged.text;
}

Json MergeJson(const SettingsFile& file, const std::optional<std::string>& before,
               const char* program = kProgram) {
  return ParseJson(Merge(file, before, program), file.path);
}

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

std::vector<std::string> Paths(std::string_view tool) {
  std::vector<std::string> paths;
  for (const SettingsFile& file : SettingsFilesOf(tool)) paths.emplace_back(file.path);
  return paths;
}

TEST(SettingsFilesOf, NamesEachToolsFiles) {
  EXPECT_THAT(Paths("claude"), ElementsAre(".claude/settings.local.json"));
  EXPECT_THAT(Paths("cursor"), ElementsAre(".cursor/hooks.json"));
  EXPECT_THAT(Paths("copilot"), ElementsAre(".github/hooks/swamp-audit.json"));
  EXPECT_THAT(Paths("kiro"),
              ElementsAre(".kiro/hooks/swamp-audit.kiro.hook", ".kiro/agents/swamp.json",
                          ".kiro/settings/cli.json", ".vscode/settings.local.json"));
  for (const char* tool : {"codex", "opencode", "none"}) EXPECT_THAT(Paths(tool), IsEmpty());
}

TEST(ClaudeSettings, AllowWhatAnAgentNeedsAndRecordItsCommands) {
  const Json settings = MergeJson(Claude(), std::nullopt);
  const auto allow = settings["permissions"]["allow"].get<std::vector<std::string>>();
  EXPECT_THAT(allow, Each(StartsWith("Bash(swamp ")));
  for (const char* needed : {"model", "workflow", "data", "help", "extension search"}) {
    EXPECT_THAT(allow, Contains("Bash(swamp " + std::string(needed) + ":*)"));
  }
  const Json hooks = Json::parse(R"([{"matcher": "Bash", "hooks":
      [{"type": "command", "command": "swamp audit record --from-hook"}]}])");
  EXPECT_EQ(settings["hooks"], (Json{{"PostToolUse", hooks}, {"PostToolUseFailure", hooks}}));
}

TEST(ClaudeSettings, LeaveSecretsAndCodeOfOthersToTheUser) {
  const Json settings = MergeJson(Claude(), std::nullopt);
  for (const Json& entry : settings["permissions"]["allow"]) {
    const auto pattern = entry.get<std::string>();
    const std::string allowed = pattern.substr(5, pattern.size() - 8);  // Bash(...:*)
    for (const std::string_view risky : {"swamp vault read-secret", "swamp extension pull",
                                         "swamp access grant", "swamp repo upgrade"}) {
      EXPECT_FALSE(risky.starts_with(allowed)) << pattern;
    }
  }
}

TEST(ClaudeSettings, KeepOtherKeysAndTheirOrder) {
  const Json settings = MergeJson(Claude(), R"json({
    "model": "x",
    "hooks": {"Stop": [1], "PostToolUse": [{"matcher": "Write", "hooks": []}]},
    "permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash(swamp model:*)", "Bash(ls:*)"]},
    "z": null
})json");
  EXPECT_THAT(Keys(settings), ElementsAre("model", "hooks", "permissions", "z"));
  EXPECT_THAT(Keys(settings["hooks"]), ElementsAre("Stop", "PostToolUse", "PostToolUseFailure"));
  EXPECT_EQ(settings["hooks"]["PostToolUse"][0]["matcher"], "Write");
  EXPECT_EQ(settings["hooks"]["PostToolUse"][1]["matcher"], "Bash");
  EXPECT_THAT(Keys(settings["permissions"]), ElementsAre("deny", "allow"));
  const Json& allow = settings["permissions"]["allow"];
  EXPECT_EQ(allow[0], "Bash(swamp model:*)");
  EXPECT_EQ(allow[1], "Bash(ls:*)");
  EXPECT_EQ(std::count(allow.begin(), allow.end(), "Bash(swamp model:*)"), 1);
}

TEST(CursorSettings, AreVersionedHooks) {
  EXPECT_EQ(Merge(Cursor(), std::nullopt), R"({
  "version": 1,
  "hooks": {
    "postToolUse": [
      {
        "command": "swamp audit record --from-hook --tool cursor",
        "matcher": "Shell"
      }
    ],
    "postToolUseFailure": [
      {
        "command": "swamp audit record --from-hook --tool cursor",
        "matcher": "Shell"
      }
    ]
  }
}
)");
}

TEST(CursorSettings, KeepAVersionThatIsThere) {
  EXPECT_EQ(MergeJson(Cursor(), R"({"version": 2})")["version"], 2);
}

TEST(CopilotSettings, AreVersionedHooks) {
  const Json hooks = Json::parse(
      R"([{"type": "command", "command": "swamp audit record --from-hook --tool copilot"}])");
  EXPECT_EQ(
      MergeJson(Copilot(), std::nullopt),
      (Json{{"version", 1}, {"hooks", {{"postToolUse", hooks}, {"postToolUseFailure", hooks}}}}));
}

TEST(Hooks, AreNotDoubledWhenTheEventRunsOursInAnyForm) {
  for (const char* command :
       {"swamp audit record --from-hook", "/opt/bin/swamp audit record --from-hook --tool cursor",
        "'/opt/my tools/swamp' audit record --tool cursor --from-hook",
        "LEVEL=1 swamp   audit record --from-hook",
        "sh -c 'swamp audit record --from-hook; true'"}) {
    const Json before = {{"version", 1},
                         {"hooks",
                          {{"postToolUse", Json::array({{{"command", command}}})},
                           {"postToolUseFailure", Json::array({{{"command", command}}})}}}};
    EXPECT_EQ(Merge(Cursor(), before.dump()), before.dump()) << command;
  }
}

TEST(Hooks, AreAddedBesideOtherCommands) {
  for (const char* command : {"swamp audit", "swamp-x audit record --from-hook", "echo 'unclosed",
                              "swamp audit record", "audit record --from-hook", ""}) {
    const Json before = {{"hooks", {{"postToolUse", Json::array({{{"command", command}}})}}}};
    const Json hooks = MergeJson(Cursor(), before.dump())["hooks"]["postToolUse"];
    ASSERT_THAT(hooks, SizeIs(2)) << command;
    EXPECT_EQ(hooks[0]["command"], command);
    EXPECT_EQ(hooks[1]["command"], "swamp audit record --from-hook --tool cursor");
  }
}

TEST(KiroSettings, RunTheProgramByItsPathAndNotForLong) {
  const Json hook = MergeJson(KiroHook(), std::nullopt);
  EXPECT_EQ(hook["when"], Json::parse(R"({"type": "postToolUse", "toolTypes": ["shell"]})"));
  EXPECT_EQ(hook["then"], (Json{{"type", "runCommand"},
                                {"command", "/usr/bin/swamp audit record --from-hook --tool kiro"},
                                {"timeout", 5}}));
  const Json agent = MergeJson(KiroAgent(), std::nullopt);
  EXPECT_EQ(agent["name"], "swamp");
  EXPECT_EQ(agent["hooks"]["postToolUse"], Json::parse(R"([{"matcher": "execute_bash",
                "command": "/usr/bin/swamp audit record --from-hook --tool kiro",
                "timeout_ms": 5000}])"));
}

TEST(KiroSettings, NameTheAgentsTools) {
  EXPECT_THAT(MergeJson(KiroAgent(), std::nullopt)["tools"].get<std::vector<std::string>>(),
              ElementsAre("read", "write", "shell", "grep", "glob", "thinking", "todo"));
}

TEST(KiroSettings, LetTheAgentReadTheSteeringFiles) {
  EXPECT_THAT(MergeJson(KiroAgent(), std::nullopt)["resources"].get<std::vector<std::string>>(),
              ElementsAre("file://.kiro/steering/**/*.md"));
}

TEST(KiroSettings, QuoteThePathForTheShell) {
  EXPECT_EQ(MergeJson(KiroHook(), std::nullopt, "/opt/ann's tools/swamp")["then"]["command"],
            R"('/opt/ann'\''s tools/swamp' audit record --from-hook --tool kiro)");
}

TEST(KiroSettings, FollowTheProgramWhenItMoves) {
  for (const SettingsFile* file : {&KiroHook(), &KiroAgent()}) {
    for (const char* first : {"/old place/swamp", "/old/swamp", "swamp", "/old/swamp-dev"}) {
      const std::string old = Merge(*file, std::nullopt, first);
      EXPECT_EQ(Merge(*file, old, "/new/swamp-dev"), Merge(*file, std::nullopt, "/new/swamp-dev"))
          << file->path << " from " << first;
    }
  }
}

TEST(KiroSettings, KeepWhatTheUserMadeOfOurFiles) {
  const Json hook = MergeJson(KiroHook(), R"({"enabled": false, "then": {"type": "runCommand",
      "command": "nice swamp audit record --from-hook --tool kiro", "timeout": 60}, "mine": 1})");
  EXPECT_EQ(hook["enabled"], false);
  EXPECT_EQ(hook["then"]["command"], "nice swamp audit record --from-hook --tool kiro");
  EXPECT_EQ(hook["then"]["timeout"], 60);
  EXPECT_EQ(hook["mine"], 1);
  const Json agent = MergeJson(KiroAgent(), R"({"tools": ["read"], "hooks": {"stop": []}})");
  EXPECT_EQ(agent["tools"], Json::array({"read"}));
  EXPECT_THAT(Keys(agent["hooks"]), ElementsAre("stop", "postToolUse"));
}

TEST(KiroSettings, MakeOurAgentTheDefaultUnlessThereIsOne) {
  EXPECT_EQ(MergeJson(KiroCli(), R"({"chat.enableThinking": true})"),
            Json::parse(R"({"chat.enableThinking": true, "chat.defaultAgent": "swamp"})"));
  const MergedSettings other =
      MergeSettings(KiroCli(), R"({"chat.defaultAgent": "mine"})", kProgram);
  EXPECT_EQ(other.text, "");
  EXPECT_THAT(other.problem, HasSubstr("\"chat.defaultAgent\" is \"mine\""));
}

TEST(KiroSettings, TrustTheProgram) {
  EXPECT_EQ(MergeJson(KiroTrust(), R"({"kiroAgent.trustedCommands": ["ls *"]})"),
            Json::parse(R"({"kiroAgent.trustedCommands": ["ls *", "swamp *"]})"));
}

class EverySettingsFile : public ::testing::TestWithParam<SettingsFile> {
 protected:
  MergedSettings Merge(const std::optional<std::string>& before) {
    return MergeSettings(GetParam(), before, kProgram);
  }
};

TEST_P(EverySettingsFile, ComesBackByteForByteWhenNothingIsMissing) {
  const std::string first = Merge(std::nullopt).text;
  EXPECT_EQ(Merge(first).text, first);
  // However the user has laid it out.
  const std::string compact = "\n" + ParseJson(first, "").dump() + "   ";
  EXPECT_EQ(Merge(compact).text, compact);
}

TEST_P(EverySettingsFile, StartsFromAnEmptyFile) {
  EXPECT_EQ(Merge("").text, Merge(std::nullopt).text);
  EXPECT_EQ(Merge(" \n").text, Merge(std::nullopt).text);
  EXPECT_EQ(Merge("{}").text, Merge(std::nullopt).text);
}

TEST_P(EverySettingsFile, KeepsAKeyItDoesNotKnow) {
  const Json merged = ParseJson(Merge(R"({"zzz": {"b": 1, "a": [null]}})").text, "");
  EXPECT_EQ(merged.begin().key(), "zzz");
  EXPECT_EQ(merged["zzz"].dump(), R"({"b":1,"a":[null]})");
  EXPECT_GT(merged.size(), 1U);
}

TEST_P(EverySettingsFile, IsLeftAloneWhenItIsNoJsonObject) {
  for (const char* broken : {"{", "// a comment\n{}", "{\"a\": 1,}", "[]", "7", "null"}) {
    const MergedSettings merged = Merge(broken);
    EXPECT_EQ(merged.text, "") << broken;
    EXPECT_THAT(merged.problem, ::testing::AnyOf(HasSubstr("is not valid JSON: line "),
                                                 HasSubstr("is no JSON object")));
  }
}

INSTANTIATE_TEST_SUITE_P(All, EverySettingsFile,
                         ::testing::Values(Claude(), Cursor(), Copilot(), KiroHook(), KiroAgent(),
                                           KiroCli(), KiroTrust()),
                         [](const auto& tested) {
                           std::string name = tested.param.path;
                           std::erase_if(name,
                                         [](unsigned char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

TEST(MergeSettings, IsLeftAloneWhereOurEntriesDoNotFit) {
  const std::vector<std::tuple<SettingsFile, std::string, std::string>> cases = {
      {Claude(), R"({"permissions": []})", "its \"permissions\" is no object"},
      {Claude(), R"({"permissions": {"allow": "all"}})", "its \"allow\" is no list"},
      {Claude(), R"({"hooks": 1})", "its \"hooks\" is no object"},
      {Claude(), R"({"hooks": {"PostToolUse": {}}})", "its \"PostToolUse\" is no list"},
      {Cursor(), R"({"hooks": []})", "its \"hooks\" is no object"},
      {KiroAgent(), R"({"hooks": {"postToolUse": true}})", "its \"postToolUse\" is no list"},
      {KiroTrust(), R"({"kiroAgent.trustedCommands": "*"})",
       "its \"kiroAgent.trustedCommands\" is no list"},
  };
  for (const auto& [file, before, problem] : cases) {
    const MergedSettings merged = MergeSettings(file, before, kProgram);
    EXPECT_EQ(merged.problem, problem);
    EXPECT_EQ(merged.text, "");
  }
}

}  // namespace
}  // namespace swamp

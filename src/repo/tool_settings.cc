#include "repo/tool_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "util/error.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

// A file that our entries can't be added to; thrown and caught within this file.
struct Unfit {
  std::string reason;
};

// The commands that Claude may run without asking: what an agent needs all the time. Left out, and
// so asked about, is what shows secrets, brings in code of others, or changes settings and rights.
constexpr std::array kClaudeAllowed = {"data",           "datastore status", "extension info",
                                       "extension list", "extension search", "help",
                                       "model",          "report",           "run history",
                                       "summarise",      "vault list-keys",  "vault search",
                                       "version",        "workflow"};

// Kiro ignores a "*" in the list of an agent's tools without a word.
constexpr std::array kKiroTools = {"read", "write", "shell", "grep", "glob", "thinking", "todo"};

constexpr const char* kKiroAgent = "swamp";
constexpr int kKiroTimeoutSeconds = 5;

constexpr std::string_view kHookArguments = "audit record --from-hook";

std::string HookCommand(std::string_view tool) {
  return fmt::format("swamp {} --tool {}", kHookArguments, tool);
}

std::string ShellQuoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%,=:";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  return "'" + ReplaceAll(word, "'", R"('\'')") + "'";
}

// Kiro runs hooks without the user's PATH.
std::string KiroCommand(const fs::path& program) {
  return fmt::format("{} {} --tool kiro", ShellQuoted(program.string()), kHookArguments);
}

// The member `key`, made if it isn't there, of the kind that our entries need.
Json& Member(Json& parent, const std::string& key, Json::value_t kind) {
  Json& member = parent[key];
  if (member.is_null()) member = Json(kind);
  if (member.type() != kind) {
    throw Unfit{
        fmt::format("its \"{}\" is no {}", key, kind == Json::value_t::array ? "list" : "object")};
  }
  return member;
}

Json& ObjectIn(Json& parent, const std::string& key) {
  return Member(parent, key, Json::value_t::object);
}
Json& ListIn(Json& parent, const std::string& key) {
  return Member(parent, key, Json::value_t::array);
}

void AddToList(Json& list, const Json& entry) {
  if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
}

// Adds the keys that are missing, in objects within as well; what is there stays.
void AddMissingKeys(Json& settings, const Json& ours) {
  for (const auto& [key, value] : ours.items()) {
    Json& member = settings[key];
    if (member.is_null()) {
      member = value;
    } else if (member.is_object() && value.is_object()) {
      AddMissingKeys(member, value);
    }
  }
}

void ForEachString(Json& value, const std::function<void(std::string&)>& visit) {
  if (value.is_string()) {
    visit(value.get_ref<std::string&>());
  } else if (value.is_structured()) {
    for (Json& member : value) ForEachString(member, visit);
  }
}

bool RunsAuditRecord(const std::string& command) {
  // Within another command, such as: sh -c 'swamp audit record --from-hook'
  if (command.find(fmt::format("swamp {}", kHookArguments)) != std::string::npos) return true;
  const auto words = SplitShellWords(command);
  if (!words) return false;
  for (std::size_t i = 0; i + 2 < words->size(); ++i) {
    if (fs::path((*words)[i]).filename() == "swamp" && (*words)[i + 1] == "audit" &&
        (*words)[i + 2] == "record") {
      return std::find(words->begin() + static_cast<std::ptrdiff_t>(i), words->end(),
                       "--from-hook") != words->end();
    }
  }
  return false;
}

// Whether KiroCommand made `command`, for wherever the program was then.
bool IsKiroCommand(const std::string& command, const fs::path& program) {
  if (!command.ends_with(fmt::format(" {} --tool kiro", kHookArguments))) return false;
  const auto words = SplitShellWords(command);
  if (!words || words->size() != 6) return false;
  const fs::path name = fs::path(words->front()).filename();
  return name == "swamp" || name == program.filename();
}

// Brings our command up to date when the program has moved; one that the user changed stays.
void RenewKiroCommand(Json& entry, const fs::path& program) {
  ForEachString(entry, [&](std::string& text) {
    if (IsKiroCommand(text, program)) text = KiroCommand(program);
  });
}

void AddHook(Json& hooks, const Json& entry) {
  bool found = false;
  ForEachString(hooks, [&](std::string& text) { found = found || RunsAuditRecord(text); });
  if (!found) AddToList(hooks, entry);
}

// https://code.claude.com/docs/en/settings and /hooks
void AddForClaude(Json& settings, const fs::path&) {
  Json& allow = ListIn(ObjectIn(settings, "permissions"), "allow");
  for (const char* words : kClaudeAllowed) {
    AddToList(allow, fmt::format("Bash(swamp {}:*)", words));
  }
  const Json command = {{"type", "command"}, {"command", fmt::format("swamp {}", kHookArguments)}};
  const Json entry = {{"matcher", "Bash"}, {"hooks", Json::array({command})}};
  Json& hooks = ObjectIn(settings, "hooks");
  for (const char* event : {"PostToolUse", "PostToolUseFailure"}) {
    AddHook(ListIn(hooks, event), entry);
  }
}

// Cursor and Copilot: {"version": 1, "hooks": {<event>: [entry]}}
void AddVersionedHooks(Json& settings, const Json& entry) {
  AddMissingKeys(settings, {{"version", 1}});
  Json& hooks = ObjectIn(settings, "hooks");
  for (const char* event : {"postToolUse", "postToolUseFailure"}) {
    AddHook(ListIn(hooks, event), entry);
  }
}

// https://cursor.com/docs/agent/hooks
void AddForCursor(Json& settings, const fs::path&) {
  AddVersionedHooks(settings, {{"command", HookCommand("cursor")}, {"matcher", "Shell"}});
}

// https://docs.github.com/en/copilot/reference/hooks-reference
void AddForCopilot(Json& settings, const fs::path&) {
  AddVersionedHooks(settings, {{"type", "command"}, {"command", HookCommand("copilot")}});
}

// The IDE's hooks: https://kiro.dev/docs/hooks
void AddKiroHook(Json& settings, const fs::path& program) {
  RenewKiroCommand(settings, program);
  AddMissingKeys(settings,
                 {{"enabled", true},
                  {"name", "swamp audit"},
                  {"description", "Adds shell commands to the audit trail of the swamp repository"},
                  {"version", "1"},
                  {"when", {{"type", "postToolUse"}, {"toolTypes", Json::array({"shell"})}}},
                  {"then",
                   {{"type", "runCommand"},
                    {"command", KiroCommand(program)},
                    {"timeout", kKiroTimeoutSeconds}}}});
}

// https://kiro.dev/docs/cli/custom-agents/configuration-reference. A custom agent reads the
// steering files only if its resources name them.
void AddKiroAgent(Json& settings, const fs::path& program) {
  AddMissingKeys(settings, {{"name", kKiroAgent},
                            {"description", "Works in this swamp repository"},
                            {"tools", kKiroTools},
                            {"resources", Json::array({"file://.kiro/steering/**/*.md"})}});
  Json& hooks = ListIn(ObjectIn(settings, "hooks"), "postToolUse");
  RenewKiroCommand(hooks, program);
  AddHook(hooks, {{"matcher", "execute_bash"},
                  {"command", KiroCommand(program)},
                  {"timeout_ms", kKiroTimeoutSeconds * 1000}});
}

void AddKiroDefaultAgent(Json& settings, const fs::path&) {
  Json& agent = settings["chat.defaultAgent"];
  if (agent.is_null()) agent = kKiroAgent;
  if (agent != kKiroAgent) {
    throw Unfit{
        fmt::format("its \"chat.defaultAgent\" is {} and not \"{}\", whose commands go into the "
                    "audit trail",
                    Printable(CompactJson(agent), 60), kKiroAgent)};
  }
}

void AddKiroTrust(Json& settings, const fs::path&) {
  AddToList(ListIn(settings, "kiroAgent.trustedCommands"), "swamp *");
}

constexpr std::array kClaudeFiles = {SettingsFile{".claude/settings.local.json", AddForClaude}};
constexpr std::array kCursorFiles = {SettingsFile{".cursor/hooks.json", AddForCursor}};
constexpr std::array kCopilotFiles = {
    SettingsFile{".github/hooks/swamp-audit.json", AddForCopilot}};
constexpr std::array kKiroFiles = {SettingsFile{".kiro/hooks/swamp-audit.kiro.hook", AddKiroHook},
                                   SettingsFile{".kiro/agents/swamp.json", AddKiroAgent},
                                   SettingsFile{".kiro/settings/cli.json", AddKiroDefaultAgent},
                                   SettingsFile{".vscode/settings.local.json", AddKiroTrust}};

}  // namespace

std::span<const SettingsFile> SettingsFilesOf(std::string_view tool) {
  if (tool == "claude") return kClaudeFiles;
  if (tool == "cursor") return kCursorFiles;
  if (tool == "copilot") return kCopilotFiles;
  if (tool == "kiro") return kKiroFiles;
  return {};
}

MergedSettings MergeSettings(const SettingsFile& file, const std::optional<std::string>& before,
                             const fs::path& program) {
  try {
    Json settings = Json::object();
    if (before && !Trim(*before).empty()) settings = ParseJson(*before, "it");
    if (!settings.is_object()) throw Unfit{"it is no JSON object"};
    const Json old = settings;
    file.add_ours(settings, program);
    return {before && settings == old ? *before : PrettyJson(settings), ""};
  } catch (const Unfit& unfit) {
    return {"", unfit.reason};
  } catch (const UserError& error) {
    return {"", error.message()};
  }
}

}  // namespace swamp

#include "repo/ai_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "repo/instructions.h"
#include "repo/opencode_plugin.h"
#include "repo/tool_settings.h"
#include "util/error.h"
#include "util/files.h"
#include "util/log.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = 4 << 20;

struct Tool {
  const char* name;
  const char* instructions;  // path in the repository
  const char* front_matter;
};

constexpr std::array kTools = {
    Tool{"claude", "CLAUDE.md", ""},
    Tool{"cursor", ".cursor/rules/swamp.mdc",
         "---\ndescription: How to work in this swamp repository\nalwaysApply: true\n---\n"},
    Tool{"opencode", "AGENTS.md", ""},
    Tool{"codex", "AGENTS.md", ""},
    Tool{"copilot", "AGENTS.md", ""},
    Tool{"kiro", ".kiro/steering/swamp-rules.md", "---\ninclusion: always\n---\n"}};

// The files of all tools, merged in memory first: what can't be merged shows before anything is
// written.
class Plan {
 public:
  Plan(const Context& context, const fs::path& root) : context_(context), root_(root) {}

  void AddTool(const Tool& tool, const fs::path& program) {
    if (const auto file = Read(tool.instructions)) {
      Change(*file, Role::kInstructions,
             MergeInstructions(file->text, tool.front_matter, tool.instructions));
    }
    for (const SettingsFile& settings : SettingsFilesOf(tool.name)) {
      if (const auto file = Read(settings.path)) AddSettings(*file, settings, program);
    }
    if (std::string_view(tool.name) == "opencode") {
      if (const auto file = Read(kOpencodePluginPath)) {
        Change(*file, Role::kSettings, kOpencodePlugin);
      }
    }
  }

  ToolFiles Write() const {
    ToolFiles result;
    for (const PlannedChange& change : changes_) {
      WriteFileAtomically(context_.files(), change.file.target, change.text, change.file.mode);
      result.written.push_back(change.file.path);
      (change.role == Role::kInstructions ? result.instructions_created : result.settings_created) =
          true;
    }
    return result;
  }

  void Warn(std::string_view message) const { context_.log().Warn("repo·tools", message); }

 private:
  enum class Role { kInstructions, kSettings };

  struct PresentFile {
    std::string path;  // in the repository
    fs::path target;   // the file itself, where `path` is or leads through a link
    std::optional<std::string> text;
    unsigned mode = 0644;
  };

  struct PlannedChange {
    PresentFile file;
    Role role;
    std::string text;
  };

  // Nothing: the file is another tool's too and planned already, or it can't be written in place.
  std::optional<PresentFile> Read(const std::string& path) {
    Files& files = context_.files();
    PresentFile file{.path = path, .target = files.Resolve(root_ / path)};
    if (!seen_.insert(file.target).second) return std::nullopt;
    const auto info = files.Stat(file.target);
    const bool dangling = info && info->kind == FileKind::kLink;
    if (dangling || !IsWithin(files, file.target, root_)) {
      LeaveAlone(path, dangling ? "it is a link that leads nowhere"
                                : "a link leads from it out of the repository");
      return std::nullopt;
    }
    if (info) file.mode = info->mode;
    file.text = ReadFile(files, file.target, kMaxFileBytes);
    return file;
  }

  void AddSettings(const PresentFile& file, const SettingsFile& settings, const fs::path& program) {
    MergedSettings merged = MergeSettings(settings, file.text, program);
    if (merged.problem.empty()) {
      Change(file, Role::kSettings, std::move(merged.text));
    } else {
      LeaveAlone(file.path, merged.problem);
    }
  }

  void Change(const PresentFile& file, Role role, std::string text) {
    if (file.text != text) changes_.push_back({file, role, std::move(text)});
  }

  void LeaveAlone(std::string_view path, std::string_view why) const {
    Warn(fmt::format("{} is left as it is: {}", path, why));
  }

  const Context& context_;
  const fs::path& root_;
  std::set<fs::path> seen_;
  std::vector<PlannedChange> changes_;
};

}  // namespace

const std::vector<std::string>& KnownTools() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    names.reserve(kTools.size());
    for (const Tool& tool : kTools) names.emplace_back(tool.name);
    return names;
  }();
  return kNames;
}

std::vector<std::string> RequireKnownTools(const std::vector<std::string>& typed) {
  std::vector<std::string> tools;
  bool none = false;
  for (const std::string& tool : typed) {
    if (tool == "none") {
      none = true;
      continue;
    }
    const auto& known = KnownTools();
    if (std::find(known.begin(), known.end(), tool) == known.end()) {
      const auto near = NearestWords(tool, known);
      throw UserError("usage", fmt::format("unknown tool \"{}\"", Printable(tool, 60)),
                      fmt::format("{}Known: {}, none.",
                                  near.empty() ? "" : "Did you mean " + near.front() + "? ",
                                  Join(known, ", ")));
    }
    if (std::find(tools.begin(), tools.end(), tool) == tools.end()) tools.push_back(tool);
  }
  if (none && !tools.empty())
    throw UserError("usage", "--tool none cannot be given with other tools");
  return tools;
}

std::vector<std::string> PathsOfTool(const std::string& name) {
  std::vector<std::string> paths;
  for (const Tool& tool : kTools) {
    if (tool.name != name) continue;
    paths.emplace_back(tool.instructions);
    for (const SettingsFile& settings : SettingsFilesOf(name)) paths.emplace_back(settings.path);
    if (name == "opencode") paths.emplace_back(kOpencodePluginPath);
  }
  return paths;
}

ToolFiles WriteToolFiles(const Context& context, const fs::path& repo_root,
                         const std::vector<std::string>& tools, const fs::path& program) {
  Plan plan(context, repo_root);
  for (const std::string& name : tools) {
    const auto tool = std::find_if(kTools.begin(), kTools.end(),
                                   [&](const Tool& known) { return known.name == name; });
    if (tool != kTools.end()) {
      plan.AddTool(*tool, program);
    } else {
      plan.Warn(fmt::format("this version of swamp has no files for the tool \"{}\"",
                            Printable(name, 60)));
    }
  }
  return plan.Write();
}

}  // namespace swamp

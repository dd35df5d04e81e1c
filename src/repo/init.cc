#include "repo/init.h"

#include <fmt/format.h>

#include <algorithm>

#include "repo/ai_tools.h"
#include "repo/find.h"
#include "repo/marker.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/random.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultTool = "claude";

std::vector<std::string> CheckTools(const std::vector<std::string>& typed) {
  if (typed.empty()) return {kDefaultTool};
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
                      fmt::format("{}Known: {}, none.", near.empty() ? "" : "Did you mean " + near.front() + "? ",
                                  Join(known, ", ")));
    }
    if (std::find(tools.begin(), tools.end(), tool) == tools.end()) tools.push_back(tool);
  }
  if (none && !tools.empty()) throw UserError("usage", "--tool none cannot be given with other tools");
  return tools;
}

UserError AlreadyInitialized(const fs::path& root, const Marker& marker) {
  const std::vector<std::string> tools = marker.Strings("tools");
  return UserError("already_initialized",
                   fmt::format("{} is a swamp repository already (tools: {})", root.string(),
                               tools.empty() ? "none" : Join(tools, ", ")),
                   "To change its tools: swamp repo upgrade --tool <tool>. To renew its files and keep its "
                   "settings: swamp repo init --force.");
}

std::optional<fs::path> OuterRepository(Files& files, const fs::path& root) {
  for (fs::path folder = root.parent_path();; folder = folder.parent_path()) {
    if (files.Stat(folder / kMarkerFile)) return folder;
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

void MakeFolders(Files& files, const fs::path& root) {
  for (const char* folder : {"models", "workflows", "vaults", "grants", ".swamp/data", ".swamp/outputs",
                             ".swamp/workflow-runs", ".swamp/workflows-evaluated", ".swamp/definitions-evaluated",
                             ".swamp/audit", ".swamp/vault-bundles"}) {
    files.CreateFolders(root / folder);
  }
  files.CreateFolders(root / ".swamp/secrets", 0700);
}

}  // namespace

InitResult InitRepository(const Context& context, const InitRequest& request, const std::string& program_version) {
  Files& files = context.files();
  InitResult result;
  result.path = ExpandPath(context, request.path, context.environment().WorkingDirectory());
  result.tools = CheckTools(request.tools);
  result.asked_for_none = result.tools.empty();
  result.version = program_version;
  result.initialized_at = FormatTime(context.clock().Now());

  std::optional<Marker> marker = Marker::Load(files, result.path);
  if (marker && !request.force) throw AlreadyInitialized(result.path, *marker);
  result.outer_repository = OuterRepository(files, result.path);
  MakeFolders(files, result.path);
  const ToolFiles tool_files = WriteToolFiles(context, result.path, result.tools);
  result.files_written = tool_files.written;
  result.instructions_created = tool_files.instructions_created;
  result.settings_created = tool_files.settings_created;
  result.gitignore = UpdateGitignore(files, result.path, result.tools);
  if (result.gitignore != GitignoreAction::kUnchanged) result.files_written.emplace_back(".gitignore");

  if (marker) {
    ChangeMarker(context, result.path, [&](Marker& current) {
      current.Set({"swampVersion"}, result.version);
      current.Set({"tools"}, result.tools);
      current.Set({"gitignoreManaged"}, true);
    });
  } else {
    const Json fresh = {{"swampVersion", result.version},
                        {"initializedAt", result.initialized_at},
                        {"repoId", context.random().Uuid()},
                        {"tools", result.tools},
                        {"gitignoreManaged", true}};
    if (!CreateFileExclusively(files, result.path / kMarkerFile, EmitYaml(fresh, YamlQuotes::kDouble))) {
      throw AlreadyInitialized(result.path, Marker::Load(files, result.path).value_or(Marker{}));
    }
  }
  result.files_written.emplace_back(kMarkerFile);
  result.next_steps = {
      "swamp model create command/shell hello    # a first model",
      "swamp datastore setup extension @swamp/s3-datastore --config '{\"bucket\":\"...\"}'    # share state with others",
      "swamp help    # everything else"};
  return result;
}

}  // namespace swamp

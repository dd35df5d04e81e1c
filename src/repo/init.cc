#include "repo/init.h"

#include <fmt/format.h>

#include <algorithm>

#include "repo/ai_tools.h"
#include "repo/find.h"
#include "repo/marker.h"
#include "repo/this_program.h"
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

std::vector<std::string> ToolsWanted(const std::vector<std::string>& typed,
                                     const std::optional<Marker>& marker) {
  if (!typed.empty()) return RequireKnownTools(typed);
  return marker ? marker->Tools() : std::vector<std::string>{kDefaultTool};
}

UserError AlreadyInitialized(const fs::path& root, const Marker& marker) {
  const std::vector<std::string> tools = marker.Tools();
  return UserError(
      "already_initialized",
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
  for (const char* folder :
       {"models", "workflows", "vaults", "grants", ".swamp/data", ".swamp/outputs",
        ".swamp/workflow-runs", ".swamp/workflows-evaluated", ".swamp/definitions-evaluated",
        ".swamp/audit", ".swamp/vault-bundles"}) {
    files.CreateFolders(root / folder);
  }
  files.CreateFolders(root / ".swamp/secrets", 0700);
}

std::vector<std::string> Without(std::vector<std::string> names,
                                 const std::vector<std::string>& unwanted) {
  std::erase_if(names, [&](const std::string& name) {
    return std::find(unwanted.begin(), unwanted.end(), name) != unwanted.end();
  });
  return names;
}

bool RenewMarker(const Context& context, const InitResult& result) {
  return ChangeMarker(context, result.path, [&](Marker& marker) {
    marker.Set({"swampVersion"}, result.version);
    marker.Set({"tools"}, result.tools);
    marker.Set({"gitignoreManaged"}, true);
  });
}

void CreateMarker(const Context& context, const InitResult& result) {
  const Json fresh = {{"swampVersion", result.version},
                      {"initializedAt", result.initialized_at},
                      {"repoId", context.random().Uuid()},
                      {"tools", result.tools},
                      {"gitignoreManaged", true}};
  Files& files = context.files();
  if (!CreateFileExclusively(files, result.path / kMarkerFile,
                             EmitYaml(fresh, YamlQuotes::kDouble))) {
    throw AlreadyInitialized(result.path, Marker::Load(files, result.path).value_or(Marker{}));
  }
}

}  // namespace

InitResult InitRepository(const Context& context, const InitRequest& request,
                          const std::string& program_version) {
  Files& files = context.files();
  InitResult result;
  result.path = ExpandPath(context, request.path, context.environment().WorkingDirectory());
  result.version = program_version;
  result.initialized_at = FormatTime(context.clock().Now());

  const std::optional<Marker> marker = Marker::Load(files, result.path);
  result.tools = ToolsWanted(request.tools, marker);
  if (marker && !request.force) throw AlreadyInitialized(result.path, *marker);
  result.asked_for_none = result.tools.empty();
  if (marker) {
    result.initialized_at = marker->String("initializedAt").value_or(result.initialized_at);
    result.removed_tools = Without(marker->Tools(), result.tools);
  }
  result.outer_repository = OuterRepository(files, result.path);

  // Before the folders: a .swamp without a marker would be taken for a damaged repository.
  const fs::path program = request.program.empty() ? ThisProgram(files) : request.program;
  const ToolFiles tool_files = WriteToolFiles(context, result.path, result.tools, program);
  result.files_written = tool_files.written;
  result.instructions_created = tool_files.instructions_created;
  result.settings_created = tool_files.settings_created;
  MakeFolders(files, result.path);
  result.gitignore = UpdateGitignore(files, result.path, result.tools);
  if (result.gitignore != GitignoreAction::kUnchanged) {
    result.files_written.emplace_back(".gitignore");
  }
  bool marker_written = true;
  if (marker) {
    marker_written = RenewMarker(context, result);
  } else {
    CreateMarker(context, result);
  }
  if (marker_written) result.files_written.emplace_back(kMarkerFile);
  result.next_steps = {
      "swamp model create command/shell hello    # a first model",
      "swamp datastore setup extension @swamp/s3-datastore --config '{\"bucket\":\"...\"}'"
      "    # share state with others",
      "swamp help    # everything else"};
  return result;
}

}  // namespace swamp

// swamp init, swamp repo init, swamp repo upgrade.

#include <fmt/format.h>

#include <set>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/extension_tools.h"
#include "extension/install.h"
#include "extension/list.h"
#include "extension/results_json.h"
#include "repo/init.h"
#include "repo/upgrade.h"
#include "util/text.h"

namespace swamp {
namespace {

Rendered RenderInit(const InitResult& result) {
  Json json = {{"path", result.path.string()},
               {"version", result.version},
               {"initializedAt", result.initialized_at},
               {"skillsCopied", Json::array()},
               {"instructionsFileCreated", result.instructions_created},
               {"settingsCreated", result.settings_created},
               {"gitignoreAction", NameOf(result.gitignore)},
               {"tools", result.tools},
               {"removedTools", Json::array()}};
  json["tool"] = result.tools.empty() ? "none" : result.tools.front();
  json["filesWritten"] = result.files_written;
  json["nextSteps"] = result.next_steps;
  if (result.outer_repository) json["outerRepository"] = result.outer_repository->string();

  std::string text = fmt::format("Initialized a swamp repository in {}\n", result.path.string());
  text += fmt::format("Wrote {}.\n", Join(result.files_written, ", "));
  if (result.outer_repository) {
    text += fmt::format("Note: it lies inside another repository, {}.\n", result.outer_repository->string());
  }
  text += "Next:\n";
  for (const std::string& step : result.next_steps) text += "  " + step + "\n";
  return {std::move(json), std::move(text)};
}

void AddInit(CLI::App& parent, Session& session) {
  auto request = std::make_shared<InitRequest>();
  CLI::App* command = parent.add_subcommand("init", "Make a folder a repository");
  command->add_option("path", request->path, "The folder")->capture_default_str();
  command->add_flag("-f,--force", request->force, "Renew an existing repository's files; its settings stay");
  command->add_option("-t,--tool", request->tools, "AI tool to write files for (repeatable), or none")
      ->type_name("<tool>");
  command->callback([&session, request] {
    session.Print(RenderInit(InitRepository(session.context(), *request, session.wiring().version)));
  });
}

struct InstallPass {
  Json json;         // null: the lockfile has no entries
  std::string text;  // what the user should know
  std::vector<std::string> untrusted;
};

// What the lockfile pins and this checkout lacks. An upgrade doesn't fail for it: the older files go on working.
InstallPass InstallLocked(Session& session, const std::filesystem::path& root) {
  InstallPass pass;
  session.options.repo_dir = root.string();
  try {
    ExtensionTools tools(session);
    std::set<std::string> untrusted;
    const std::vector<std::string> trusted = tools.Site().trusted_collectives;
    const std::vector<ListedExtension> listed = ListExtensions(session.context(), tools.Site(), tools.Installed());
    for (const ListedExtension& one : listed) {
      const auto name = ExtensionName::Parse(one.name);
      if (name && !one.built_in && !IsTrusted(trusted, *name)) untrusted.emplace(name->collective());
    }
    pass.untrusted.assign(untrusted.begin(), untrusted.end());
    if (listed.empty()) return pass;
    const InstallResult result = Install(session.context(), tools.Site(), tools.Installed(), tools.ExtensionRegistry(), {});
    pass.json = ToJson(result);
    if (result.installed > 0) pass.text += fmt::format("Installed {}.\n", Count(result.installed, "extension"));
    for (const InstallItem& item : result.entries) {
      if (item.error) pass.text += fmt::format("Not installed: {} {}: {}\n", item.name, item.version, item.error->message);
    }
    if (result.failed > 0) pass.text += "What is left to do: swamp extension install\n";
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    pass.json = {{"error", error.message()}, {"code", error.code()}};
    pass.text = fmt::format("Extensions were left as they are: {}\nWhat is left to do: swamp extension install\n", error.message());
  }
  return pass;
}

Rendered RenderUpgrade(const UpgradeResult& result, const InstallPass& pass, bool dry_run) {
  Json json = {{"path", result.path.string()},
               {"previousVersion", result.previous_version},
               {"newVersion", result.version}};
  if (!result.upgraded_at.empty()) json["upgradedAt"] = result.upgraded_at;
  json["skillsUpdated"] = Json::array();
  json["instructionsUpdated"] = result.instructions_updated;
  json["settingsUpdated"] = result.settings_updated;
  json["gitignoreAction"] = NameOf(result.gitignore);
  json["previousTools"] = result.previous_tools;
  json["tools"] = result.tools;
  json["addedTools"] = result.added_tools;
  json["removedTools"] = result.removed_tools;
  json["extensionsToReinstall"] = Json::array();
  json["localSkillCopies"] = Json::array();
  json["changedFiles"] = result.changed_files;
  json["filesLeft"] = result.files_left;
  json["conflicts"] = result.conflicts;
  json["untrustedCollectives"] = pass.untrusted;
  if (dry_run) json["dryRun"] = true;
  if (!pass.json.is_null()) json["extensionInstall"] = pass.json;

  std::string text;
  if (result.changed_files.empty()) {
    text = fmt::format("{} is up to date ({})\n", result.path.string(), result.version);
  } else {
    text = fmt::format("{} {} from {} to {}\n{} {}.\n", dry_run ? "Would upgrade" : "Upgraded", result.path.string(),
                       result.previous_version.empty() ? "an unknown version" : result.previous_version, result.version,
                       dry_run ? "Would change" : "Changed", Join(result.changed_files, ", "));
  }
  if (!result.removed_tools.empty()) text += fmt::format("No longer enrolled: {}.", Join(result.removed_tools, ", "));
  if (!result.files_left.empty()) text += fmt::format(" Their files are left: {}.", Join(result.files_left, ", "));
  if (!result.removed_tools.empty()) text += "\n";
  for (const std::string& path : result.conflicts) {
    text += fmt::format("Not moved, since something else is in its new place: {}\n", path);
  }
  for (const std::string& collective : pass.untrusted) {
    text += fmt::format("Note: you have extensions of @{}, which is not marked as trusted.\n", collective);
  }
  return {std::move(json), text + pass.text};
}

void AddUpgrade(CLI::App& group, Session& session) {
  auto request = std::make_shared<UpgradeRequest>();
  CLI::App* command = group.add_subcommand("upgrade", "Bring a repository's own files up to this version of the program");
  command->add_option("path", request->path, "The repository")->capture_default_str();
  command->add_option("-t,--tool", request->tools, "AI tools from now on (repeatable), or none")->type_name("<tool>");
  command->add_flag("--include-gitignore", request->include_gitignore, "Manage .gitignore from now on");
  command->add_flag("-f,--force", request->force, "Even if a newer program has written the repository");
  command->add_flag("--dry-run", request->dry_run, "Say what would change, change nothing");
  command->callback([&session, request] {
    const UpgradeResult result = UpgradeRepository(session.context(), *request, session.wiring().version);
    const InstallPass pass = request->dry_run ? InstallPass{} : InstallLocked(session, result.path);
    session.Print(RenderUpgrade(result, pass, request->dry_run));
  });
}

}  // namespace

void AddInitCommand(CLI::App& root, Session& session) { AddInit(root, session); }

void AddRepoCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "repo", "Repositories");
  AddInit(*group, session);
  AddUpgrade(*group, session);
}

}  // namespace swamp

// swamp doctor extensions (with its repair), workflows.

#include <fmt/format.h>

#include <algorithm>

#include "cli/builder.h"
#include "cli/doctor.h"
#include "cli/extension_tools.h"
#include "extension/repair.h"
#include "util/text.h"
#include "workflow/workflows.h"

namespace swamp {
namespace {

Json PathsOf(const ExaminedExtension& one, const std::vector<std::string>& paths) {
  Json json = {{"name", one.name}};
  if (!one.version.empty()) json["version"] = one.version;
  if (!one.here.empty()) json["here"] = one.here;
  json["paths"] = paths;
  return json;
}

constexpr std::size_t kMostShown = 10;

std::string Shown(const std::vector<std::string>& paths, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < paths.size() && i < most; ++i) text += "        " + Printable(paths[i]) + "\n";
  if (paths.size() > most) text += fmt::format("        and {} more\n", paths.size() - most);
  return text;
}

Rendered RenderExtensions(const Session& session, const std::vector<ExaminedExtension>& examined) {
  const std::size_t most = session.options.verbose ? SIZE_MAX : kMostShown;
  Json missing = Json::array();
  Json modified = Json::array();
  Json unlisted = Json::array();
  Json orphans = Json::array();
  Json refused = Json::array();
  std::string text;
  for (const ExaminedExtension& one : examined) {
    if (!one.whole()) missing.push_back(PathsOf(one, one.missing));
    if (!one.modified.empty()) modified.push_back(PathsOf(one, one.modified));
    if (!one.in_lockfile) unlisted.push_back(PathsOf(one, {}));
    for (const std::string& path : one.orphans) orphans.push_back({{"extensionName", one.name}, {"path", path}});
    for (const RefusedPath& path : one.refused) {
      refused.push_back({{"extensionName", one.name}, {"path", path.path}, {"reason", path.reason}});
    }
    const bool clean = one.in_lockfile && one.modified.empty() && one.orphans.empty();
    text += fmt::format("{}  {} {}\n", !one.whole() ? "fail" : clean ? "pass" : "warn", one.name,
                        one.version.empty() ? one.here : one.version);
    if (!one.whole()) {
      text += fmt::format("        {}: swamp extension install\n",
                          one.here.empty()             ? "not installed here"
                          : one.here != one.version    ? fmt::format("version {} is here", one.here)
                          : one.missing.empty()        ? "its files lead out of their folder"
                                                       : Count(one.missing.size(), "file") + " missing");
      text += Shown(one.missing, most);
    }
    if (!one.modified.empty()) text += "        edited here:\n" + Shown(one.modified, most);
    if (!one.in_lockfile) text += fmt::format("        not in the lockfile: swamp extension pull {0}, or remove its folder\n", one.name);
    if (!one.orphans.empty()) text += "        files that are not the extension's:\n" + Shown(one.orphans, most);
  }
  const bool failed = !missing.empty();
  const bool warned = !modified.empty() || !unlisted.empty() || !orphans.empty();
  return {{{"overallStatus", failed ? "fail" : warned ? "warn" : "pass"},
           {"orphanFiles", std::move(orphans)},
           {"refusedPaths", std::move(refused)},
           {"lockfile", {{"missing", std::move(missing)}, {"modified", std::move(modified)}, {"notInLockfile", std::move(unlisted)}}}},
          text.empty() ? std::string("No extensions are installed.\n") : text};
}

Json ToJson(const std::vector<RepairOperation>& operations, bool repaired) {
  Json list = Json::array();
  for (const RepairOperation& one : operations) {
    Json json = {{"kind", "pulled-extension-repulled"}, {"path", one.path}, {"reason", one.reason}, {"done", one.done}};
    if (!one.edited.empty()) json["editedLeftAlone"] = one.edited;
    if (one.error) {
      json["error"] = one.error->message;
      json["code"] = one.error->code;
      if (!one.error->hint.empty()) json["hint"] = one.error->hint;
    }
    list.push_back(std::move(json));
  }
  const auto done = std::count_if(operations.begin(), operations.end(), [](const RepairOperation& one) { return one.done; });
  return {{"mode", repaired ? "repair" : "dry-run"},
          {"operations", std::move(list)},
          {"prunedRowCount", 0},
          {"evictedFileCount", 0},
          {"repulledExtensionCount", done}};
}

std::string RepairText(const std::vector<RepairOperation>& operations, bool repaired, std::size_t most) {
  std::string text;
  for (const RepairOperation& one : operations) {
    text += fmt::format("{}  {}: {}\n", one.error ? "failed" : one.done ? "restored" : "would restore", one.name, one.reason);
    if (one.error) text += "        " + one.error->message + "\n";
    if (!one.edited.empty()) text += "        edited here, left alone:\n" + Shown(one.edited, most);
  }
  if (operations.empty()) return "There is nothing to repair.\n";
  return repaired ? text : text + "Nothing was changed: swamp doctor extensions --repair -y does this.\n";
}

struct RepairOptions {
  bool repair = false;
  bool dry_run = false;
  Confirmation confirmation;
};

void RunRepair(Session& session, const RepairOptions& options) {
  ExtensionTools tools(session);
  tools.RefreshLockfile();  // what peers have pulled, updated or removed is what counts
  const auto examine = [&] { return ExamineExtensions(session.context(), tools.Site(), tools.Installed()); };
  const std::size_t most = session.options.verbose ? SIZE_MAX : kMostShown;
  const bool force = options.confirmation.force;
  std::vector<ExaminedExtension> found = examine();
  std::vector<RepairOperation> operations = PlanRepair(tools.Site(), found, force);
  bool repair = !options.dry_run && options.confirmation.given();
  if (!repair && !options.dry_run && !operations.empty() && session.interactive()) {
    session.output().PrintNote(RenderExtensions(session, found).text + RepairText(operations, false, most));
    repair = session.Confirm("Repair this?", false);
  }
  if (repair) {
    RepairExtensions(session.context(), tools.Site(), tools.Installed(), tools.ExtensionRegistry(), force, operations);
    found = examine();
  }
  Rendered rendered = RenderExtensions(session, found);
  rendered.json["repairReport"] = ToJson(operations, repair);
  rendered.text += RepairText(operations, repair, most);
  PrintDoctor(session, rendered);
}

}  // namespace

Rendered DoctorExtensions(Session& session) {
  ExtensionTools tools(session);
  return RenderExtensions(session, ExamineExtensions(session.context(), tools.Site(), tools.Installed()));
}

Rendered DoctorWorkflows(Session& session) {
  std::vector<BrokenWorkflow> broken;
  Json list = Json::array();
  std::string text;
  const std::vector<StoredWorkflow> good = Workflows(session.context(), session.config()).All(&broken);
  for (const StoredWorkflow& one : good) {
    list.push_back({{"file", session.config().Locate(one.document.path).string()}, {"name", one.workflow.name}, {"status", "pass"}});
    text += fmt::format("pass  {}\n", one.workflow.name);
  }
  for (const BrokenWorkflow& one : broken) {
    list.push_back({{"file", session.config().Locate(one.path).string()},
                    {"name", WorkflowNameOfPath(one.path)},
                    {"status", "fail"},
                    {"error", one.error.message()}});
    text += fmt::format("fail  {}\n        {}\n", one.path, one.error.message());
  }
  return {{{"overallStatus", broken.empty() ? "pass" : "fail"},
           {"workflows", std::move(list)},
           {"totalPassed", good.size()},
           {"totalFailed", broken.size()}},
          text.empty() ? std::string("There are no workflows yet.\n") : text};
}

void AddDoctorExtensions(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "extensions", "Whether the files of extensions are what the lockfile says");
  auto options = std::make_shared<RepairOptions>();
  CLI::Option* repair = command->add_flag("--repair,--fix", options->repair,
                                          "Bring back what is missing, at the pinned versions; shows it unless --yes");
  command->add_flag("--dry-run", options->dry_run, "With --repair: only show it")->needs(repair);
  command->add_flag("-y,--yes", options->confirmation.yes, "Repair without showing first");
  command->add_flag("-f,--force", options->confirmation.force, "The same, and bring back edited files, too");
  command->callback([&session, options] {
    if (options->repair) {
      RunRepair(session, *options);
    } else {
      PrintDoctor(session, DoctorExtensions(session));
    }
  });
}

void AddDoctorWorkflows(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "workflows", "Whether every workflow document loads");
  command->callback([&session] { PrintDoctor(session, DoctorWorkflows(session)); });
}

}  // namespace swamp

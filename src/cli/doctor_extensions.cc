// swamp doctor extensions, workflows.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/doctor.h"
#include "cli/extension_tools.h"
#include "extension/examine.h"
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

std::string Shown(const std::vector<std::string>& paths) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < paths.size() && i < kMost; ++i) text += "        " + Printable(paths[i]) + "\n";
  if (paths.size() > kMost) text += fmt::format("        and {} more\n", paths.size() - kMost);
  return text;
}

}  // namespace

Rendered DoctorExtensions(Session& session) {
  ExtensionTools tools(session);
  Json missing = Json::array();
  Json modified = Json::array();
  Json unlisted = Json::array();
  Json orphans = Json::array();
  Json refused = Json::array();
  std::string text;
  for (const ExaminedExtension& one : ExamineExtensions(session.context(), tools.Site(), tools.Installed())) {
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
      text += Shown(one.missing);
    }
    if (!one.modified.empty()) text += "        edited here:\n" + Shown(one.modified);
    if (!one.in_lockfile) text += fmt::format("        not in the lockfile: swamp extension pull {0}, or remove its folder\n", one.name);
    if (!one.orphans.empty()) text += "        files that are not the extension's:\n" + Shown(one.orphans);
  }
  const bool failed = !missing.empty();
  const bool warned = !modified.empty() || !unlisted.empty() || !orphans.empty();
  return {{{"overallStatus", failed ? "fail" : warned ? "warn" : "pass"},
           {"orphanFiles", std::move(orphans)},
           {"refusedPaths", std::move(refused)},
           {"lockfile", {{"missing", std::move(missing)}, {"modified", std::move(modified)}, {"notInLockfile", std::move(unlisted)}}}},
          text.empty() ? std::string("No extensions are installed.\n") : text};
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
  command->callback([&session] { PrintDoctor(session, DoctorExtensions(session)); });
}

void AddDoctorWorkflows(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "workflows", "Whether every workflow document loads");
  command->callback([&session] { PrintDoctor(session, DoctorWorkflows(session)); });
}

}  // namespace swamp

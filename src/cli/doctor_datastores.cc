// swamp doctor datastores.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/lockfile_wiring.h"
#include "datastore/doctor.h"
#include "util/text.h"

namespace swamp {
namespace {

std::string NameOf(DoctorCheck::Status status) {
  switch (status) {
    case DoctorCheck::Status::kPass:
      return "pass";
    case DoctorCheck::Status::kWarn:
      return "warn";
    case DoctorCheck::Status::kFail:
      return "fail";
  }
  return "fail";
}

Json ToJson(const DoctorCheck& check) {
  Json json = {{"name", check.name}, {"status", NameOf(check.status)}, {"detail", check.detail}};
  if (!check.paths.empty()) json["paths"] = check.paths;
  if (!check.repair.empty()) json["repair"] = check.repair;
  if (check.repaired) json["repaired"] = true;
  return json;
}

Rendered RenderReport(const DoctorReport& report) {
  constexpr std::size_t kShown = 10;
  Json health = Json::array();
  Json contamination;
  Json checks = Json::array();
  std::string text;
  for (const DoctorCheck& check : report.checks) {
    checks.push_back(ToJson(check));
    if (check.name == "health") {
      health.push_back({{"check", "health"}, {"passed", check.status == DoctorCheck::Status::kPass}, {"message", check.detail}});
    }
    if (check.name == "foreign-keys" && !check.paths.empty()) contamination = {{"message", check.detail}, {"keys", check.paths}};
    text += fmt::format("{:<5}{:<22}{}\n", check.repaired ? "fixed" : NameOf(check.status), " " + check.name, check.detail);
    for (std::size_t i = 0; i < check.paths.size() && i < kShown; ++i) text += "        " + Printable(check.paths[i]) + "\n";
    if (check.paths.size() > kShown) text += fmt::format("        and {} more\n", check.paths.size() - kShown);
    if (!check.repair.empty() && !check.repaired) text += "        repair: " + check.repair + "\n";
  }
  if (report.repairable) text += "Nothing was changed: give --repair -y to repair what can be without losing anything.\n";
  return {{{"overallStatus", NameOf(report.overall())},
           {"datastoreType", report.type},
           {"isCustom", !report.is_default},
           {"healthFindings", std::move(health)},
           {"vaultMismatchFindings", Json::array()},
           {"contaminationFinding", std::move(contamination)},
           {"catalogCompletenessFinding", nullptr},
           {"checks", std::move(checks)}},
          std::move(text)};
}

}  // namespace

void AddDoctorDatastores(CLI::App& group, Session& session) {
  struct Options {
    bool repair = false;
    bool yes = false;
    bool purge = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "datastores", "Whether the datastore is whole, and what can be repaired");
  CLI::Option* repair = command->add_flag("--repair", options->repair, "Repair what can be without losing anything; shows it unless --yes");
  command->add_flag("-y,--yes", options->yes, "Repair without showing first");
  command->add_flag("--purge-tombstones", options->purge, "With --repair: delete the marks of removed paths; nobody else may be at work")
      ->needs(repair);
  command->callback([&session, options] {
    DoctorRequest request{.repair = options->repair && options->yes,
                          .purge_tombstones = options->purge,
                          .find_lost_extensions = LostExtensionsFinder(session)};
    const auto run = [&] { return ExamineDatastore(session.context(), session.repo(), session.datastore(), request); };
    DoctorReport report = run();
    session.Print(RenderReport(report));
    const bool something = report.repairable || options->purge;
    if (options->repair && !request.repair && something && session.interactive() && session.Confirm("Repair this?", false)) {
      request.repair = true;
      report = run();
      session.Print(RenderReport(report));
    }
    if (report.overall() == DoctorCheck::Status::kFail) throw ExitQuietly{1};
  });
}

}  // namespace swamp

// swamp doctor datastores.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/doctor.h"
#include "cli/lockfile_wiring.h"
#include "datastore/doctor.h"
#include "util/text.h"
#include "vault/vault_config.h"

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
  if (report.repairable) text += "Nothing was changed: swamp doctor datastores --repair -y repairs what can be without losing anything.\n";
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

// Vaults whose secrets stay on this machine while the datastore is shared: nothing is wrong, but peers may wonder.
Json LocalVaults(Session& session) {
  Json found = Json::array();
  if (!session.datastore().synced()) return found;
  std::vector<BrokenVault> broken;  // `doctor vaults` tells about these
  for (const StoredVault& one : Vaults(session.context(), session.config()).All(&broken)) {
    if (one.vault.type == "local_encryption") found.push_back({{"vaultName", one.vault.name}, {"vaultType", one.vault.type}});
  }
  return found;
}

Rendered Render(Session& session, const DoctorReport& report) {
  Rendered rendered = RenderReport(report);
  Json local = LocalVaults(session);
  for (const Json& one : local) {
    rendered.text += fmt::format("note  the secrets of the vault {} stay on this machine; the datastore doesn't hold them\n",
                                 Printable(one["vaultName"].get<std::string>()));
  }
  rendered.json["vaultMismatchFindings"] = std::move(local);
  return rendered;
}

}  // namespace

Rendered DoctorDatastores(Session& session) {
  const DoctorRequest request{.find_lost_extensions = LostExtensionsFinder(session)};
  return Render(session, ExamineDatastore(session.context(), session.repo(), session.datastore(), request));
}

void AddDoctorDatastores(CLI::App& group, Session& session) {
  struct Options {
    bool repair = false;
    bool yes = false;
    bool purge = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "datastores", "Whether the datastore is whole, and what can be repaired");
  CLI::Option* repair =
      command->add_flag("--repair,--fix", options->repair, "Repair what can be without losing anything; shows it unless --yes");
  command->add_flag("-y,--yes", options->yes, "Repair without showing first");
  command->add_flag("--purge-tombstones", options->purge, "With --repair: delete the marks of removed paths; nobody else may be at work")
      ->needs(repair);
  command->callback([&session, options] {
    DoctorRequest request{.repair = options->repair && options->yes,
                          .purge_tombstones = options->purge,
                          .find_lost_extensions = LostExtensionsFinder(session)};
    const auto run = [&] { return ExamineDatastore(session.context(), session.repo(), session.datastore(), request); };
    DoctorReport report = run();
    Rendered rendered = Render(session, report);
    const bool something = report.repairable || options->purge;
    if (options->repair && !request.repair && something && session.interactive()) {
      session.output().PrintNote(rendered.text);
      if (session.Confirm("Repair this?", false)) {
        request.repair = true;
        rendered = Render(session, run());
      }
    }
    PrintDoctor(session, rendered);
  });
}

}  // namespace swamp

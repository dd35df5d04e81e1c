// swamp doctor vaults.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/doctor.h"
#include "cli/doctor_secrets.h"
#include "util/text.h"
#include "vault/examine_vaults.h"

namespace swamp {
namespace {

Json ToJson(const ExaminedVault& vault) {
  Json checks = Json::array();
  for (const VaultCheck& check : vault.checks) {
    Json json = {{"name", check.name}, {"passed", check.passed}};
    if (!check.message.empty()) json["message"] = check.message;
    checks.push_back(std::move(json));
  }
  return {{"name", vault.name}, {"type", vault.type}, {"path", vault.path}, {"passed", vault.passed()}, {"checks", std::move(checks)}};
}

bool IsUserVault(const ExaminedVault& vault) { return !vault.name.empty() && !vault.name.starts_with('_'); }

}  // namespace

Rendered DoctorVaults(Session& session) {
  const std::vector<ExaminedVault> vaults = ExamineVaults(session.context(), session.config(), session.repo());
  Definitions definitions(session.context(), session.config(), &session.datastore());
  DefinitionsExamination users = FindVaultUsers(definitions, session.model_types());
  const bool has_vault = std::any_of(vaults.begin(), vaults.end(), IsUserVault);
  if (has_vault) users.findings.clear();  // their secrets have a place

  bool failed = !users.findings.empty();
  Json list = Json::array();
  std::string text;
  for (const ExaminedVault& vault : vaults) {
    list.push_back(ToJson(vault));
    failed |= !vault.passed();
    text += fmt::format("{}  {}\n", vault.passed() ? "pass" : "fail",
                        vault.name.empty() ? vault.path : fmt::format("{} ({})", vault.name, vault.type));
    for (const VaultCheck& check : vault.checks) {
      if (!check.passed) text += fmt::format("        {}: {}\n", check.name, check.message);
    }
  }
  for (const ExaminedDefinition& one : users.findings) {
    text += fmt::format("fail  {} ({}) stores secrets when it runs, and there is no vault: swamp vault create local_encryption NAME\n",
                        one.name, one.type);
  }
  if (vaults.empty() && !failed) text += "There are no vaults, and nothing needs one.\n";
  return {{{"overallStatus", failed ? "fail" : "pass"},
           {"scanned", users.scanned},
           {"hasVault", has_vault},
           {"findings", DescribeDefinitions(users.findings)},
           {"unresolved", DescribeDefinitions(users.unresolved)},
           {"vaults", std::move(list)}},
          text + UnresolvedText(users)};
}

void AddDoctorVaults(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "vaults", "Whether the vaults can be used");
  command->callback([&session] { PrintDoctor(session, DoctorVaults(session)); });
}

}  // namespace swamp

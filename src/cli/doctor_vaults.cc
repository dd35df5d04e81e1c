// swamp doctor vaults, secrets.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/doctor.h"
#include "model/examine_secrets.h"
#include "util/text.h"
#include "vault/examine_vaults.h"

namespace swamp {
namespace {

Json ToJson(const ExaminedDefinition& one) {
  return {{"definitionId", one.id}, {"definitionName", one.name}, {"type", one.type}};
}

Json ToJson(const std::vector<ExaminedDefinition>& definitions) {
  Json list = Json::array();
  for (const ExaminedDefinition& one : definitions) list.push_back(ToJson(one));
  return list;
}

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

std::string UnresolvedText(const DefinitionsExamination& examination) {
  std::string text;
  for (const ExaminedDefinition& one : examination.unresolved) {
    text += fmt::format("note  {}: the type {} is not known here, so it was not looked at\n", one.name, one.type);
  }
  return text;
}

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
           {"findings", ToJson(users.findings)},
           {"unresolved", ToJson(users.unresolved)},
           {"vaults", std::move(list)}},
          text + UnresolvedText(users)};
}

namespace {

// Where the secret could go: the place that the hint of a refused save names, filled in.
Json RemediationOf(const ExaminedDefinition& definition, const std::string& path, const std::string& vault) {
  constexpr std::string_view kGlobal = "globalArguments.";
  const std::string key = definition.name.substr(definition.name.rfind('/') + 1) + "-" + path.substr(kGlobal.size());
  return {{"path", path},
          {"vaultName", vault},
          {"vaultKey", key},
          {"expression", fmt::format("${{{{ vault.get('{}', '{}') }}}}", vault, key)}};
}

std::string VaultForSecrets(Session& session) {
  std::vector<std::string> names;
  std::vector<BrokenVault> broken;
  for (const StoredVault& one : Vaults(session.context(), session.config()).All(&broken)) {
    if (!one.vault.name.starts_with('_')) names.push_back(one.vault.name);
  }
  const auto named = session.repo().marker.String("defaultVault");
  if (named && std::find(names.begin(), names.end(), *named) != names.end()) return *named;
  return names.empty() ? "VAULT" : names.front();
}

}  // namespace

Rendered DoctorSecrets(Session& session) {
  Definitions definitions(session.context(), session.config(), &session.datastore());
  const DefinitionsExamination examination = FindLiteralSecrets(definitions, session.model_types());
  const std::string vault = VaultForSecrets(session);
  Json findings = Json::array();
  std::string text;
  for (const ExaminedDefinition& one : examination.findings) {
    Json json = ToJson(one);
    json["leakedPaths"] = one.paths;
    json["remediations"] = Json::array();
    text += fmt::format("fail  {} ({})\n", one.name, one.type);
    for (const std::string& path : one.paths) {
      const Json remediation = RemediationOf(one, path, vault);
      text += fmt::format("        {} holds a secret in the clear; put it into a vault, change it, and write {}\n", path,
                          remediation["expression"].get<std::string>());
      json["remediations"].push_back(remediation);
    }
    findings.push_back(std::move(json));
  }
  const bool failed = !findings.empty();
  if (!failed) text += fmt::format("pass  no secret in the clear in {}\n", Count(examination.scanned, "definition"));
  return {{{"overallStatus", failed ? "fail" : "pass"},
           {"scanned", examination.scanned},
           {"findings", std::move(findings)},
           {"unresolved", ToJson(examination.unresolved)}},
          text + UnresolvedText(examination)};
}

void AddDoctorVaults(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "vaults", "Whether the vaults can be used");
  command->callback([&session] { PrintDoctor(session, DoctorVaults(session)); });
}

void AddDoctorSecrets(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "secrets", "Whether a definition holds a secret in the clear");
  command->callback([&session] { PrintDoctor(session, DoctorSecrets(session)); });
}

}  // namespace swamp

// swamp doctor secrets, with its repair.

#include "cli/doctor_secrets.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/builder.h"
#include "cli/doctor.h"
#include "model/move_secrets.h"
#include "util/text.h"
#include "vault/edit_secrets.h"

namespace swamp {
namespace {

// Where the secret could go: the place that the hint of a refused save names, filled in.
Json RemediationOf(const std::string& path, const std::string& vault, const std::string& key) {
  return {{"path", path}, {"vaultName", vault}, {"vaultKey", key}, {"expression", VaultExpression(vault, key)}};
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

// What there is, with the vault that the secrets could go to.
Rendered RenderFound(Session& session, const std::string& vault) {
  Definitions definitions(session.context(), session.config(), &session.datastore());
  const DefinitionsExamination examination = FindLiteralSecrets(definitions, session.model_types());
  Json findings = Json::array();
  std::string text;
  for (const ExaminedDefinition& one : examination.findings) {
    Json json = DescribeDefinition(one);
    json["leakedPaths"] = one.paths;
    json["remediations"] = Json::array();
    text += fmt::format("fail  {} ({})\n", one.name, one.type);
    for (const std::string& path : one.paths) {
      const Json remediation = RemediationOf(path, vault, VaultKeyFor(one, path));
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
           {"unresolved", DescribeDefinitions(examination.unresolved)}},
          text + UnresolvedText(examination)};
}

// Adds what was done to what there is now.
void AddMoved(Rendered& found, const std::vector<MovedDefinition>& moved, const std::string& vault) {
  Json fixed = Json::array();
  Json left = Json::array();
  std::string text;
  for (const MovedDefinition& one : moved) {
    Json json = DescribeDefinition(one.definition);
    Json secrets = Json::array();
    for (const MovedSecret& secret : one.secrets) secrets.push_back(RemediationOf(secret.path, vault, secret.key));
    if (one.error.code().empty()) {
      text += fmt::format("fixed {} ({})\n", one.definition.name, one.definition.type);
      for (const Json& secret : secrets) {
        text += fmt::format("        {} is {}\n", secret["path"].get<std::string>(), secret["expression"].get<std::string>());
      }
      json["moved"] = std::move(secrets);
      fixed.push_back(std::move(json));
      continue;
    }
    text += fmt::format("left  {} ({}): {}\n", one.definition.name, one.definition.type, one.error.message());
    if (!one.error.hint().empty()) text += "        " + one.error.hint() + "\n";
    json["leakedPaths"] = one.definition.paths;
    json["stored"] = std::move(secrets);  // in the vault already, where the next run finds them
    json["error"] = one.error.message();
    json["code"] = one.error.code();
    if (!one.error.hint().empty()) json["hint"] = one.error.hint();
    left.push_back(std::move(json));
  }
  if (!fixed.empty()) {
    text += "Older versions of these documents still hold the values, so change each where it is used, and then in the vault.\n";
  }
  if (!left.empty()) found.json["overallStatus"] = "fail";
  found.json["fixed"] = std::move(fixed);
  if (!left.empty()) found.json["left"] = std::move(left);
  found.text = text + found.text;
}

void WarnOfLocalVault(Session& session, const VaultConfig& vault) {
  if (!session.datastore().synced() || vault.type != "local_encryption") return;
  session.context().log().Warn(
      "doctor", fmt::format("the secrets of the vault {} stay on this machine: other checkouts need them put there too",
                            vault.name));
}

void RunFix(Session& session, const std::string& vault_name, bool yes) {
  const VaultConfig vault =
      Secrets(session.context(), session.config(), session.repo()).RequireForDeposits(vault_name);
  Rendered found = RenderFound(session, vault.name);
  const bool something = !found.json["findings"].empty();
  if (something) WarnOfLocalVault(session, vault);
  bool fix = yes;
  if (!fix && something && session.interactive()) {
    session.output().PrintNote(found.text);
    fix = session.Confirm(fmt::format("Move these secrets into the vault {}?", vault.name), false);
  }
  std::vector<MovedDefinition> moved;
  if (fix) {
    moved = MoveLiteralSecrets(session.context(), session.repo(), session.datastore(), session.config(),
                               session.model_types(), vault.id);
    found = RenderFound(session, vault.name);
  } else if (something) {
    found.text += fmt::format("Nothing was changed: swamp doctor secrets --fix --vault {} -y moves these secrets.\n", vault.name);
  }
  AddMoved(found, moved, vault.name);
  PrintDoctor(session, found);
}

}  // namespace

Json DescribeDefinition(const ExaminedDefinition& definition) {
  return {{"definitionId", definition.id}, {"definitionName", definition.name}, {"type", definition.type}};
}

Json DescribeDefinitions(const std::vector<ExaminedDefinition>& definitions) {
  Json list = Json::array();
  for (const ExaminedDefinition& one : definitions) list.push_back(DescribeDefinition(one));
  return list;
}

std::string UnresolvedText(const DefinitionsExamination& examination) {
  std::string text;
  for (const ExaminedDefinition& one : examination.unresolved) {
    text += fmt::format("note  {}: the type {} is not known here, so it was not looked at\n", one.name, one.type);
  }
  return text;
}

Rendered DoctorSecrets(Session& session) { return RenderFound(session, VaultForSecrets(session)); }

void AddDoctorSecrets(CLI::App& group, Session& session) {
  struct Options {
    bool fix = false;
    bool yes = false;
    std::string vault;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "secrets", "Whether a definition holds a secret in the clear");
  CLI::Option* fix = command->add_flag("--fix,--repair", options->fix,
                                       "Move the secrets into --vault and refer to them there; shows it unless --yes");
  CLI::Option* vault = command->add_option("--vault", options->vault, "With --fix: the vault's name or id")->type_name("<vault>");
  vault->needs(fix);
  fix->needs(vault);
  command->add_flag("-y,--yes", options->yes, "Move them without showing first")->needs(fix);
  command->callback([&session, options] {
    if (options->fix) {
      RunFix(session, options->vault, options->yes);
    } else {
      PrintDoctor(session, DoctorSecrets(session));
    }
  });
}

}  // namespace swamp

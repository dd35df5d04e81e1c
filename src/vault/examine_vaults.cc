#include "vault/examine_vaults.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/files.h"
#include "util/text.h"
#include "vault/local_encryption.h"
#include "vault/open_vault.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr unsigned kOthers = 0077;

std::string Told(const UserError& error) {
  return error.hint().empty() ? error.message() : error.message() + " - " + error.hint();
}

// The check's outcome is that of `work`, which answers what is wrong, or throws.
template <typename Work>
VaultCheck Check(const char* name, const Work& work) {
  try {
    const std::string message = work();
    return {name, message.empty(), message};
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    return {name, false, Told(error)};
  }
}

std::string SampleProblem(VaultProvider& provider) {
  const std::vector<std::string> keys = provider.List();
  if (keys.empty()) return {};
  auto value = provider.Get(keys.front());
  if (value) Wipe(*value);
  return {};
}

void CheckLocal(const Context& context, const VaultConfig& vault, const Repository& repo, std::vector<VaultCheck>& checks) {
  LocalEncryption secrets(context, vault, repo.root);
  checks.push_back(Check("key", [&]() -> std::string {
    const auto info = context.files().Stat(context.files().Resolve(secrets.key_place()));
    if (!info && secrets.List().empty()) return {};  // made at the first put
    if (!info) return fmt::format("{} is missing: bring it back from a backup", secrets.key_place().string());
    if ((info->mode & kOthers) == 0) return {};
    return fmt::format("others may read {} (mode {:04o}): chmod 600 {}", secrets.key_place().string(), info->mode,
                       secrets.key_place().string());
  }));
  checks.push_back(Check("secret", [&] { return SampleProblem(secrets); }));
  checks.push_back(Check("rotation", [&]() -> std::string {
    if (!secrets.RotationPending()) return {};
    return fmt::format("a change of its key was interrupted: swamp vault rotate-key {} goes on", vault.name);
  }));
}

ExaminedVault Examine(const Context& context, const StoredVault& stored, const std::vector<StoredVault>& all,
                      const Repository& repo) {
  const VaultConfig& vault = stored.vault;
  ExaminedVault examined{.name = vault.name, .type = vault.type, .path = stored.document.path, .checks = {{.name = "config", .message = {}}}};
  examined.checks.push_back(Check("name", [&]() -> std::string {
    std::vector<std::string> twins;
    for (const StoredVault& other : all) {
      if (other.vault.name == vault.name && other.document.path != stored.document.path) twins.push_back(other.document.path);
    }
    if (twins.empty()) return {};
    return fmt::format("{} bears the same name: rename one by its id with swamp vault edit", Join(twins, ", "));
  }));
  bool known = false;
  examined.checks.push_back(Check("type", [&]() -> std::string {
    OpenVault(context, vault, repo);
    known = true;
    return {};
  }));
  if (known && vault.type == "local_encryption") CheckLocal(context, vault, repo, examined.checks);
  if (known && vault.type == "env_file") {
    examined.checks.push_back(Check("secret", [&] { return SampleProblem(*OpenVault(context, vault, repo)); }));
  }
  examined.checks.push_back(Check("migration", [&]() -> std::string {
    if (!stored.superseded) return {};
    return fmt::format("{} is left of a migration that was interrupted; the next change of the vault removes it",
                       stored.superseded->path);
  }));
  return examined;
}

}  // namespace

bool ExaminedVault::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const VaultCheck& check) { return check.passed; });
}

std::vector<ExaminedVault> ExamineVaults(const Context& context, ConfigTier& config, const Repository& repo) {
  std::vector<BrokenVault> broken;
  const std::vector<StoredVault> vaults = Vaults(context, config).All(&broken);
  std::vector<ExaminedVault> examined;
  for (const StoredVault& one : vaults) examined.push_back(Examine(context, one, vaults, repo));
  for (const BrokenVault& one : broken) {
    examined.push_back({.name = {}, .type = {}, .path = one.path, .checks = {{"config", false, Told(one.error)}}});
  }
  return examined;
}

}  // namespace swamp

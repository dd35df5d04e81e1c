#include "vault/secrets.h"

#include <fmt/format.h>

#include "util/log.h"
#include "vault/read_secret.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "vault";

std::vector<StoredVault> UserVaults(const Context& context, ConfigTier& config) {
  std::vector<StoredVault> vaults = Vaults(context, config).All();
  std::erase_if(vaults, [](const StoredVault& one) { return one.vault.name.starts_with('_'); });
  return vaults;
}

}  // namespace

SecretReader::Opened& SecretReader::Open(const std::string& vault) {
  const auto found = opened_.find(vault);
  if (found != opened_.end()) return found->second;
  RequireUserVault(vault);
  Opened opened{Vaults(context_, config_).Require(vault), nullptr};
  RequireUserVault(opened.stored.vault.name);
  opened.provider = OpenVault(context_, opened.stored.vault, repo_);
  return opened_.emplace(vault, std::move(opened)).first->second;
}

std::string SecretReader::Read(const std::string& vault, const std::string& key, const std::string& caller_context) {
  const std::lock_guard lock(mutex_);
  CheckSecretKey(key);
  const Opened& opened = Open(vault);
  const VaultConfig& config = opened.stored.vault;
  const auto known = values_.find({config.id, key});
  if (known != values_.end()) return known->second.text();
  WipedString value(ReadSecretValue(context_, repo_, config, *opened.provider, key));
  redactor_.Add(value.text());
  AuditTrail(context_, repo_).Record(VaultAction::kGet, config, key, caller_context);
  return values_.emplace(std::pair(config.id, key), std::move(value)).first->second.text();
}

void SecretReader::Put(const std::string& vault, const std::string& key, const std::string& value,
                       const std::string& caller_context) {
  const std::lock_guard lock(mutex_);
  CheckSecretKey(key);
  redactor_.Add(value);
  const auto turn = LockVault(context_, Open(vault).stored.vault, repo_);
  // A migration that this had to wait for may have changed the type.
  opened_.clear();
  const Opened& opened = Open(vault);
  opened.provider->Put(key, value, {});
  AuditTrail(context_, repo_).Record(VaultAction::kPut, opened.stored.vault, key, caller_context);
  values_[{opened.stored.vault.id, key}] = WipedString(value);
}

StoredVault SecretReader::DefaultVaultFor(const std::optional<std::string>& wanted) {
  const std::lock_guard lock(mutex_);
  if (wanted) {
    RequireUserVault(*wanted);
    StoredVault vault = Vaults(context_, config_).Require(*wanted);
    RequireUserVault(vault.vault.name);
    return vault;
  }
  const std::vector<StoredVault> vaults = UserVaults(context_, config_);
  if (vaults.empty()) {
    throw UserError("vault_not_found", "there is no vault to keep a secret in",
                    "swamp vault create local_encryption <name>");
  }
  if (const auto named = repo_.marker.String("defaultVault")) {
    for (const StoredVault& one : vaults) {
      if (one.vault.name == *named || one.vault.id == *named) return one;
    }
  }
  if (vaults.size() > 1 && !warned_) {
    warned_ = true;
    context_.log().Warn(kLog, fmt::format("secrets go to the vault {}, the first by name of {}; name one as "
                                          "defaultVault in .swamp.yaml",
                                          vaults.front().vault.name, vaults.size()));
  }
  return vaults.front();
}

bool SecretReader::HasUserVault() {
  const std::lock_guard lock(mutex_);
  return !UserVaults(context_, config_).empty();
}

}  // namespace swamp

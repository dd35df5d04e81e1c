#include "vault/token_secrets.h"

#include <fmt/format.h>

#include "util/log.h"
#include "util/random.h"
#include "vault/control_plane_vault.h"
#include "vault/edit_secrets.h"

namespace swamp {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kSuffixBytes = 4;

}  // namespace

WipedString NewTokenSecret(const Context& context) { return WipedString(context.random().Hex(kSecretBytes)); }

std::string TokenSecrets::Resolve(const std::optional<std::string>& vault) {
  if (!vault || *vault == kControlPlaneVault) return kControlPlaneVault;
  RequireUserVault(*vault);
  const StoredVault stored = Vaults(context_, config_).RequireForChange(*vault);
  RequireUserVault(stored.vault.name);
  if (!OpenVault(context_, stored.vault, repo_)->Supports(VaultAbility::kPut)) {
    throw UserError("vault_unsupported",
                    fmt::format("the vault {} ({}) does not support putting secrets", stored.vault.name, stored.vault.type));
  }
  return stored.vault.name;
}

std::string TokenSecrets::PutNew(const std::string& vault, const std::string& key, const std::string& secret,
                                 const std::string& caller_context) {
  const std::string other = fmt::format("{}-{}", key, context_.random().Hex(kSuffixBytes));
  if (vault == kControlPlaneVault) {
    ControlPlaneVault control_plane(context_, datastore_);
    const std::string free = control_plane.PutNew(key, secret) ? key : other;
    if (free == other) control_plane.Put(other, secret, {});
    AuditTrail(context_, repo_).Record(VaultAction::kPut, ControlPlaneVaultConfig(), free, caller_context);
    return free;
  }
  try {
    Secrets(context_, config_, repo_).Put({.vault = vault, .key = key, .value = secret, .refresh = {}, .caller_context = caller_context});
    return key;
  } catch (const UserError& error) {
    if (error.code() != "already_exists") throw;
  }
  Put(vault, other, secret, caller_context);
  return other;
}

void TokenSecrets::Put(const std::string& vault, const std::string& key, const std::string& secret,
                       const std::string& caller_context) {
  if (vault == kControlPlaneVault) {
    ControlPlaneVault(context_, datastore_).Put(key, secret, {});
    AuditTrail(context_, repo_).Record(VaultAction::kPut, ControlPlaneVaultConfig(), key, caller_context);
    return;
  }
  Secrets(context_, config_, repo_)
      .Put({.vault = vault, .key = key, .value = secret, .overwrite = true, .refresh = {}, .caller_context = caller_context});
}

void TokenSecrets::Forget(const std::string& vault, const std::string& key, const std::string& caller_context) {
  try {
    if (vault == kControlPlaneVault) {
      if (!ControlPlaneVault(context_, datastore_).Delete(key)) return;
      AuditTrail(context_, repo_).Record(VaultAction::kDelete, ControlPlaneVaultConfig(), key, caller_context);
    } else {
      Secrets(context_, config_, repo_).Delete(vault, key, true, caller_context);
    }
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    context_.log().Warn("vault", fmt::format("the secret {} of the vault {} is left: {}", key, vault, error.message()));
  }
}

}  // namespace swamp

#include "vault/remove_vault.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"
#include "vault/audit_trail.h"
#include "vault/local_encryption.h"

namespace swamp {
namespace {

constexpr const char* kLocalEncryption = "local_encryption";

// Another vault of this name keeps its secrets in the same folder.
bool SharesItsFolder(const Context& context, ConfigTier& config, const VaultConfig& vault) {
  const std::vector<StoredVault> all = Vaults(context, config).All();
  return std::any_of(all.begin(), all.end(), [&](const StoredVault& other) {
    return other.vault.id != vault.id && other.vault.name == vault.name && other.vault.type == vault.type;
  });
}

std::size_t RequireRemovable(const Context& context, const VaultConfig& vault, const Repository& repo, bool force) {
  std::size_t secrets = 0;
  try {
    const auto provider = OpenVault(context, vault, repo);
    if (provider->Supports(VaultAbility::kList)) {
      secrets = provider->List().size();
    } else if (!force) {
      throw UserError("vault_has_secrets", fmt::format("the vault {} ({}) can't list its secrets, and may have some", vault.name,
                                                       vault.type),
                      "To remove its configuration all the same: --force. Its secrets stay with the programs that keep them.");
    }
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError&) {
    if (!force) throw;
  }
  if (secrets == 0 || force) return secrets;
  throw UserError("vault_has_secrets", fmt::format("the vault {} has {} secret{}", vault.name, secrets, secrets == 1 ? "" : "s"),
                  vault.type == kLocalEncryption
                      ? "To remove it with them, for good: --force."
                      : "To remove its configuration: --force. Its secrets stay with the programs that keep them.");
}

}  // namespace

RemovedVault RemoveVault(const Context& context, ConfigTier& config, const Repository& repo, const RemoveVaultRequest& request) {
  RequireUserVault(request.vault);
  Vaults vaults(context, config);
  const StoredVault found = vaults.RequireForChange(request.vault, request.type);
  RequireUserVault(found.vault.name);
  const auto turn = LockVault(context, found.vault, repo);
  // Again: a rename that this had to wait for may have changed it.
  const StoredVault stored = vaults.Require(found.vault.id);
  const bool local = stored.vault.type == kLocalEncryption && !SharesItsFolder(context, config, stored.vault);
  const bool shared = stored.vault.type == kLocalEncryption && !local;
  RemovedVault removed{.vault = stored.vault, .path = stored.document.path};
  const std::size_t secrets = shared ? 0 : RequireRemovable(context, stored.vault, repo, request.force);

  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  change->Remove(stored.document.path, stored.document.version);
  change->Publish();
  removed.at = context.clock().Now();
  if (!local) return removed;
  LocalEncryption folder(context, stored.vault, repo.root);
  const std::vector<std::string> keys = folder.List();
  // One that came meanwhile from a program that knows no lock.
  if (!keys.empty() && !request.force) return removed;
  folder.RemoveAll();
  removed.secrets_deleted = std::min(secrets, keys.size());
  AuditTrail trail(context, repo);
  for (const std::string& key : keys) trail.Record(VaultAction::kDelete, stored.vault, key, "cli:vault-rm");
  return removed;
}

RotatedKey RotateVaultKey(const Context& context, ConfigTier& config, const Repository& repo, const std::string& vault,
                          bool force) {
  RequireUserVault(vault);
  Vaults vaults(context, config);
  const StoredVault found = vaults.RequireForChange(vault);
  RequireUserVault(found.vault.name);
  if (found.vault.type != kLocalEncryption) {
    throw UserError("vault_unsupported", fmt::format("the vault {} ({}) has no key of this program", found.vault.name,
                                                     found.vault.type));
  }
  const auto turn = LockVault(context, found.vault, repo);
  const StoredVault stored = vaults.Require(found.vault.id);
  LocalEncryption secrets(context, stored.vault, repo.root);
  RotatedKey rotated{.vault = stored.vault, .files = secrets.RotateKey(force)};
  rotated.at = context.clock().Now();
  return rotated;
}

}  // namespace swamp

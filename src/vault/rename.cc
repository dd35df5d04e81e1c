#include "vault/rename.h"

#include <fmt/format.h>

#include "vault/local_encryption.h"
#include "vault/open_vault.h"

namespace swamp {
namespace {

void RequireFreeName(const Context& context, ConfigTier& config, const std::string& name) {
  for (const StoredVault& other : Vaults(context, config).All()) {
    if (other.vault.name == name) throw UserError("already_exists", fmt::format("Vault already exists: {}", name));
  }
}

}  // namespace

StoredVault UpdateVaultWithSecrets(const Context& context, ConfigTier& config, const Repository& repo,
                                   const UpdateVaultRequest& request) {
  const VaultConfig& current = request.current.vault;
  VaultConfig next = CheckVaultText(request.current, request.text);
  if (next.name == current.name || current.type != "local_encryption") return UpdateVault(context, config, request);
  const auto turn = LockVault(context, current, repo);
  RequireFreeName(context, config, next.name);
  SecretsMove move(context, current, next, repo.root);
  try {
    StoredVault updated = UpdateVault(context, config, request);
    move.Finish();
    return updated;
  } catch (const UserError& error) {
    // Unpublished means made here, and only not known to others yet.
    if (error.code() == "managed_config_unpublished") {
      move.Finish();
    } else {
      move.Undo();
    }
    throw;
  }
}

}  // namespace swamp

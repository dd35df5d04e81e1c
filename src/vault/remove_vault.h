#pragma once

#include <string>

#include "vault/open_vault.h"
#include "vault/vault_config.h"

namespace swamp {

struct RemoveVaultRequest {
  std::string vault;  // name or id
  std::optional<std::string> type = std::nullopt;
  bool force = false;  // with its secrets, or though nobody can say whether it has any
};

struct RemovedVault {
  VaultConfig vault;
  std::string path;
  std::size_t secrets_deleted = 0;
  Time at{};
};

// Removes a vault's configuration and, of a local_encryption vault, then its folder in this checkout. Secrets that other
// programs keep stay where they are. Secrets are only deleted once the removal is published.
// Throws vault_has_secrets without `force`, and what publishing throws.
RemovedVault RemoveVault(const Context& context, ConfigTier& config, const Repository& repo, const RemoveVaultRequest& request);

struct RotatedKey {
  VaultConfig vault;
  std::size_t files = 0;
  Time at{};
};
// A new key for a local_encryption vault: see LocalEncryption::RotateKey. `force`: although its key file is set by hand.
RotatedKey RotateVaultKey(const Context& context, ConfigTier& config, const Repository& repo, const std::string& vault, bool force);

}  // namespace swamp

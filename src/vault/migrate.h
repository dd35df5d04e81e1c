#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vault/open_vault.h"
#include "vault/vault_config.h"

namespace swamp {

struct MigrateVaultRequest {
  std::string vault;  // name or id
  std::string to_type;
  std::optional<Json> config;  // of the new type
  bool accept_losses = false;  // go on though the new type can't hold annotations or refresh hooks that there are
  bool force = false;          // overwrite secrets in the target that have another value
  bool delete_old = false;     // then remove the secrets from where they were
  std::function<void(std::size_t number, std::size_t count, const std::string& key)> copying;
};

struct VaultMigrationPlan {
  VaultConfig from;
  VaultConfig to;
  std::size_t secrets = 0;
  std::vector<std::string> not_carried;  // "annotation of k1"
};

struct VaultMigration {
  VaultConfig from;
  VaultConfig to;
  std::size_t secrets = 0;
  std::vector<std::string> not_carried;
  std::size_t deleted = 0;
  Time at{};
};

// What MigrateVault would do. Throws unknown_vault_type, vault_type_unavailable, validation_failed, vault_unsupported,
// vault_not_found.
VaultMigrationPlan PlanVaultMigration(const Context& context, ConfigTier& config, const Repository& repo,
                                      const MigrateVaultRequest& request);

// Copies every secret with its notes into the new type, reads each back, and only then changes the configuration. The
// vault resolves at any moment: by its old document until the new one is in place, by the new one from then on. After a
// crash the same command goes on. Changes of the vault's secrets wait.
// Throws already_exists (a secret in the target has another value; nothing is switched), migration_unverified.
VaultMigration MigrateVault(const Context& context, ConfigTier& config, const Repository& repo,
                            const MigrateVaultRequest& request);

}  // namespace swamp

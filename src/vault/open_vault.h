#pragma once

#include <memory>

#include "repo/repository.h"
#include "vault/provider.h"
#include "vault/vault_config.h"

namespace swamp {

// The one place that knows which type keeps its secrets how. Nothing is read, asked or downloaded yet.
// Throws vault_type_unavailable naming the extension to pull, unknown_vault_type, vault_config_invalid.
std::unique_ptr<VaultProvider> OpenVault(const Context& context, const VaultConfig& vault, const Repository& repo);

// Refuses what would be a program's own vault: names beginning with "_". Throws validation_failed.
void RequireUserVault(const std::string& name);

// Makes changes to a vault's secrets wait for each other, a migration above all. Held until it is destroyed.
// Throws lock_timeout.
std::unique_ptr<FileLock> LockVault(const Context& context, const VaultConfig& vault, const Repository& repo);

}  // namespace swamp

#pragma once

#include "repo/repository.h"
#include "vault/vault_config.h"

namespace swamp {

// UpdateVault, where the secrets of a local_encryption vault follow a new name, from below the base folder that is stored
// now. At a crash they stand under the old name, the new one, or both, but always under the one that counts.
// Throws what UpdateVault does; already_exists also when the new name's folder holds secrets.
StoredVault UpdateVaultWithSecrets(const Context& context, ConfigTier& config, const Repository& repo,
                                   const UpdateVaultRequest& request);

}  // namespace swamp

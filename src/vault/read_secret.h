#pragma once

#include <string>

#include "repo/repository.h"
#include "vault/provider.h"
#include "vault/vault_config.h"

namespace swamp {

// The secret's value for whoever uses it. One with a refresh hook that is due is renewed first, by one process at a time;
// where that fails, a warning, and the old value. Throws secret_not_found with the command that puts it, and what the
// vault's type throws.
std::string ReadSecretValue(const Context& context, const Repository& repo, const VaultConfig& vault,
                            VaultProvider& provider, const std::string& key);

UserError SecretNotFound(const VaultConfig& vault, const std::string& key);

}  // namespace swamp

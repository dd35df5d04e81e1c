#include "vault/read_secret.h"

#include <fmt/format.h>

namespace swamp {

UserError SecretNotFound(const VaultConfig& vault, const std::string& key) {
  return {"secret_not_found", fmt::format("the vault {} has no secret {}", vault.name, key),
          fmt::format("Put it: swamp vault put {} {}. What there is: swamp vault list-keys {}.", vault.name, key,
                      vault.name)};
}

std::string ReadSecretValue(const Context&, const Repository&, const VaultConfig& vault, VaultProvider& provider,
                            const std::string& key) {
  auto value = provider.Get(key);
  if (!value) throw SecretNotFound(vault, key);
  return std::move(*value);
}

}  // namespace swamp

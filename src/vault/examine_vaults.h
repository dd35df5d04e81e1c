#pragma once

#include <string>
#include <vector>

#include "repo/repository.h"
#include "vault/vault_config.h"

namespace swamp {

// One thing that `doctor vaults` has looked at.
struct VaultCheck {
  std::string name;  // "config", "name", "type", "key", "secret", "rotation", "migration"
  bool passed = true;
  std::string message;  // what is wrong and what to do; empty: nothing
};

struct ExaminedVault {
  std::string name;  // empty: the file does not parse
  std::string type;
  std::string path;
  std::vector<VaultCheck> checks;
  bool passed() const;
};

// Every vault's configuration and, as far as that asks no other program, whether its secrets can be read. Nothing is
// changed, and no value leaves this function.
std::vector<ExaminedVault> ExamineVaults(const Context& context, ConfigTier& config, const Repository& repo);

}  // namespace swamp

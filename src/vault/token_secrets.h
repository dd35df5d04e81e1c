#pragma once

#include <optional>
#include <string>

#include "datastore/config_tier.h"
#include "datastore/datastore.h"
#include "repo/repository.h"
#include "vault/wipe.h"

namespace swamp {

// A token's secret: 32 random bytes as hex. It is presented as "<token name>.<secret>", and is nowhere but in its vault.
WipedString NewTokenSecret(const Context& context);

// Where the secrets of tokens are kept: the vault that is named, else the program's own (control_plane_vault.h). All outlive it.
class TokenSecrets {
 public:
  TokenSecrets(const Context& context, ConfigTier& config, const Repository& repo, Datastore& datastore)
      : context_(context), config_(config), repo_(repo), datastore_(datastore) {}

  // The vault's name, for a token's record. Throws vault_not_found, vault_unsupported, validation_failed (one of the
  // program's own that is none).
  std::string Resolve(const std::optional<std::string>& vault);
  // Of a new token: in place of nothing, so that a token of that name that somebody else has just made keeps its own. Returns
  // the key that it was put under: `key`, or one that begins so where that is taken. `caller_context`: for the audit trail.
  std::string PutNew(const std::string& vault, const std::string& key, const std::string& secret,
                     const std::string& caller_context);
  // In place of one that is there.
  void Put(const std::string& vault, const std::string& key, const std::string& secret, const std::string& caller_context);
  // A secret that is gone, or whose vault is, is fine.
  void Forget(const std::string& vault, const std::string& key, const std::string& caller_context);

 private:
  const Context& context_;
  ConfigTier& config_;
  const Repository& repo_;
  Datastore& datastore_;
};

}  // namespace swamp

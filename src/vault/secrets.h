#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "vault/audit_trail.h"
#include "vault/open_vault.h"
#include "vault/redactor.h"
#include "vault/vault_config.h"
#include "vault/wipe.h"

namespace swamp {

// The secrets of one run: of expressions, and of sensitive outputs. Thread-safe.
//
// Each value is read once, registered with the redactor before anybody sees it, kept in memory, and wiped at the end.
// Vaults whose names begin with "_" are refused. `caller_context` goes into the audit trail:
// "expression:vault-resolve", "model:<definition>/<method>", ...
class SecretReader {
 public:
  SecretReader(const Context& context, ConfigTier& config, const Repository& repo, Redactor& redactor)
      : context_(context), config_(config), repo_(repo), redactor_(redactor) {}

  // Throws vault_not_found, secret_not_found, vault_ambiguous, validation_failed (names), and what the vault's type
  // throws: vault_type_unavailable, vault_key_missing, vault_decrypt_failed, ... Never with a value in it.
  std::string Read(const std::string& vault, const std::string& key, const std::string& caller_context);

  // Stores a value, in place of one that is there; Read gives the new one from then on.
  void Put(const std::string& vault, const std::string& key, const std::string& value,
           const std::string& caller_context);

  // Where sensitive outputs go: the vault that is `wanted`, else `defaultVault` of .swamp.yaml if it exists, else the
  // first by name (with a warning, once, if there are several). Throws vault_not_found.
  StoredVault DefaultVaultFor(const std::optional<std::string>& wanted);
  bool HasUserVault();

 private:
  struct Opened {
    StoredVault stored;
    std::unique_ptr<VaultProvider> provider;
  };
  Opened& Open(const std::string& vault);

  const Context& context_;
  ConfigTier& config_;
  const Repository& repo_;
  Redactor& redactor_;
  std::mutex mutex_;
  std::map<std::string, Opened> opened_;  // by the name or id as it was given
  std::map<std::pair<std::string, std::string>, WipedString> values_;  // by vault id and key
  bool warned_ = false;
};

}  // namespace swamp

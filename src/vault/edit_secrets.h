#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vault/audit_trail.h"
#include "vault/open_vault.h"
#include "vault/refresh.h"
#include "vault/vault_config.h"

namespace swamp {

// The secrets of a repository's vaults, as the commands use them: found by the vault's name or id, changed under the
// vault's lock, recorded in the audit trail under `caller_context`.
//
// Besides what is named here they throw vault_not_found, validation_failed (names; vaults that begin with "_" can't be
// changed), vault_unsupported, and what the vault's type throws.
class Secrets {
 public:
  // `datastore`: makes the program's own vault (control_plane_vault.h) readable by its name.
  Secrets(const Context& context, ConfigTier& config, const Repository& repo, Datastore* datastore = nullptr)
      : context_(context), config_(config), repo_(repo), datastore_(datastore) {}

  struct Listing {
    VaultConfig vault;
    std::vector<std::string> keys;
    bool Has(const std::string& key) const;
  };
  Listing List(const std::string& vault);
  // What a change needs to know before anybody is asked for a value: that the vault is there, may be changed, and
  // what it holds. A vault that cannot list is asked for `key` alone.
  Listing ListForChange(const std::string& vault, const std::string& key);

  struct PutRequest {
    std::string vault;
    std::string key;
    std::optional<std::string> value;  // nothing: what the refresh hook's command prints
    Json labels = Json::object();
    bool overwrite = false;
    bool force = false;  // overwrite, even where the vault's key does not fit what is there
    std::optional<RefreshHook> refresh;  // set; where the vault keeps none, a warning
    bool clear_refresh = false;
    std::string caller_context;
  };
  struct Change {
    VaultConfig vault;
    Time at{};
    bool existed = false;
  };
  // Throws already_exists.
  Change Put(const PutRequest& request);

  // The vault, if values can be deposited there: it can be changed, and tells what it holds.
  VaultConfig RequireForDeposits(const std::string& vault);
  struct Deposit {
    VaultConfig vault;
    std::string key;
  };
  // Stores a value under `key`, or under the first of "<key>-2", "<key>-3", ... that is free or holds this very value
  // already (somebody was killed half-way): nothing is overwritten. When this returns, the value has been read back.
  // Throws deposit_unverified.
  Deposit PutAside(const std::string& vault, const std::string& key, const std::string& value,
                   const std::string& caller_context);

  struct Value {
    VaultConfig vault;
    std::string value;
  };
  // Throws secret_not_found.
  Value Read(const std::string& vault, const std::string& key, const std::string& caller_context);

  // Also removes the secret's notes. A missing one is secret_not_found, unless `missing_is_fine`.
  Change Delete(const std::string& vault, const std::string& key, bool missing_is_fine,
                const std::string& caller_context);

  struct AnnotateRequest {
    std::string vault;
    std::string key;
    std::optional<std::string> url;
    std::optional<std::string> notes;
    std::vector<std::pair<std::string, std::string>> labels;  // merged into those that are there
    std::vector<std::string> removed_labels;
    bool clear = false;
    std::string caller_context;
  };
  struct Annotated {
    VaultConfig vault;
    Time at{};
    std::vector<std::string> fields;  // of url, notes, labels: those that were given
    Json annotation;                  // null when cleared
  };
  // Throws secret_not_found.
  Annotated Annotate(const AnnotateRequest& request);

  struct Facts {
    VaultConfig vault;
    std::size_t bytes = 0;
    std::size_t characters = 0;  // code points
    bool supports_annotations = false;
    bool supports_refresh_hooks = false;
    Json annotation;    // null: none
    Json refresh_hook;  // null: none
  };
  // Everything but the value; counts as a read.
  Facts Inspect(const std::string& vault, const std::string& key, const std::string& caller_context);

 private:
  struct Opened {
    StoredVault stored;
    std::unique_ptr<VaultProvider> provider;
    std::unique_ptr<FileLock> turn;
    const VaultConfig& vault() const { return stored.vault; }
  };
  Opened OpenForReading(const std::string& vault);
  Opened OpenForChange(const std::string& vault);
  void Record(VaultAction action, const VaultConfig& vault, const std::string& key, const std::string& caller_context);

  const Context& context_;
  ConfigTier& config_;
  const Repository& repo_;
  Datastore* datastore_;
};

// What a secret's value is of what came from a pipe or a program: the one line end of a single line goes, LF or CRLF;
// text of several lines is kept byte for byte. Throws validation_failed when it is no UTF-8.
std::string ValueOfInput(std::string input, const std::string& what);

}  // namespace swamp

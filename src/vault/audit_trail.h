#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repo/repository.h"
#include "util/context.h"
#include "util/json.h"
#include "vault/vault_config.h"

namespace swamp {

enum class VaultAction { kGet, kPut, kDelete, kAnnotate };
std::string NameOf(VaultAction action);
std::optional<VaultAction> VaultActionOf(std::string_view name);

// Who did what to which secret, one JSON object a line, in `.swamp/audit/vault-audit-<UTC date>.jsonl`. Never a value.
class AuditTrail {
 public:
  AuditTrail(const Context& context, const Repository& repo)
      : context_(context), folder_(repo.swamp_folder() / "audit") {}

  // After the action. `get` only for vaults that want it. One that can't be written is a warning.
  void Record(VaultAction action, const VaultConfig& vault, const std::string& key, const std::string& caller_context);

  struct Query {
    std::optional<std::string> vault;
    std::optional<std::string> key;
    std::optional<VaultAction> action;
    std::optional<Time> since;  // nothing: a week before `until`
    std::optional<Time> until;  // nothing: now
    std::size_t limit = 100;
  };
  struct Answer {
    std::vector<Json> entries;  // the newest, in the order of time
    bool truncated = false;     // there are older ones
  };
  // Lines that are no entry are passed over. Throws validation_failed for a range that can't be.
  Answer Find(const Query& query) const;

 private:
  const Context& context_;
  std::filesystem::path folder_;
};

}  // namespace swamp

#pragma once

#include <optional>
#include <string>

#include "repo/repository.h"
#include "util/json.h"
#include "util/time.h"
#include "vault/vault_config.h"

namespace swamp {

// A command that renews a secret: run by a shell when the secret is used and older than `ttl`.
struct RefreshHook {
  std::string command;
  Duration ttl{};
  std::optional<Time> last;  // nothing: never refreshed

  bool IsStale(Time now) const { return !last || now - *last >= ttl; }
  // {command, ttlMs, ttl: "1h30m", lastRefreshedAt}
  Json ToJson() const;
  // Nothing: not a hook's JSON.
  static std::optional<RefreshHook> Parse(const Json& json);
};

// "50m", "1h30m".
std::string FormatTtl(Duration ttl);

// Runs the command in the repository's folder for at most 30 s: what it prints, without white space at the end. Throws
// vault_command_failed when it fails or prints nothing, or no UTF-8; never with what it printed.
std::string RunRefreshCommand(const Context& context, const Repository& repo, const std::string& vault,
                              const std::string& key, const std::string& command);

}  // namespace swamp

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "access/principal.h"
#include "model/records.h"
#include "vault/token_secrets.h"

namespace swamp {

// What lets a client into a server as a principal: the record of a model of type swamp/server-token. The secret is in a
// vault, and in nothing else.
struct ServerToken {
  std::string name;
  enum class State { kActive, kExpired, kRevoked };
  State state = State::kActive;  // as recorded; see EffectiveState
  Principal principal;
  std::string email;
  std::vector<std::string> collectives;
  std::vector<std::string> groups;
  std::string created_at;
  std::string expires_at;
  std::string last_used_at;  // empty: not known
  std::string vault;
  std::string secret_key;
  std::string revoked_at;  // empty: it isn't

  // One whose time is over is expired, whether or not anybody has recorded that.
  State EffectiveState(Time now) const;
  Json ToJson() const;
  // Throws UserError record_invalid naming `what`.
  static ServerToken Parse(const Json& json, const std::string& what);
};
std::string NameOf(ServerToken::State state);

// The server tokens of a repository. Changes are made as Records::Change makes them, and throw what it does.
class ServerTokens {
 public:
  ServerTokens(const Context& context, const RecordServices& services, TokenSecrets& secrets);

  // By name. Those that can't be read are left out with a warning.
  std::vector<ServerToken> All();

  struct MintRequest {
    std::string name;
    Principal principal;
    std::optional<std::string> email;  // nothing: the principal's text
    Duration duration{};
    std::optional<std::string> vault;
  };
  // Puts a new secret into the vault, then writes the record. Throws validation_failed, vault_not_found, token_exists unless
  // the one that is there is revoked.
  ServerToken Mint(const MintRequest& request);
  // A new secret, and a new time from now on. `vault`: nothing: where it is. Throws token_not_found, token_revoked.
  ServerToken Rotate(const std::string& name, Duration duration, const std::optional<std::string>& vault);
  struct Revoked {
    ServerToken token;
    bool already = false;
  };
  // Throws token_not_found.
  Revoked Revoke(const std::string& name);

 private:
  UserError NotFound(const std::string& name);

  const Context& context_;
  Records records_;
  TokenSecrets& secrets_;
};

}  // namespace swamp

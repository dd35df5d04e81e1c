#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/records.h"
#include "vault/token_secrets.h"

namespace swamp {

// What lets a worker join a server: the record of a model of type swamp/enrollment-token. The secret is in a vault, and in
// nothing else.
struct EnrollmentToken {
  std::string name;
  enum class State { kUnused, kEnrolled, kExpired, kRevoked };
  State state = State::kUnused;  // as recorded; see EffectiveState
  std::string created_at;
  std::string expires_at;
  std::string vault;
  std::string secret_key;
  std::optional<std::uint64_t> max_enrollments = 1;  // nothing: any number
  struct Binding {
    std::string machine_id;
    std::string enrolled_at;
  };
  std::vector<Binding> bindings;
  std::string revoked_at;  // empty: it isn't

  // One whose time is over is expired, whether or not anybody has recorded that.
  State EffectiveState(Time now) const;
  Json MaxEnrollmentsJson() const;
  Json ToJson() const;
  // Throws UserError record_invalid naming `what`.
  static EnrollmentToken Parse(const Json& json, const std::string& what);
};
std::string NameOf(EnrollmentToken::State state);

// "unlimited", or a number of at least 1. Throws UserError usage.
std::optional<std::uint64_t> ParseMaxEnrollments(const std::string& text);

// The enrollment tokens of a repository. Changes are made as Records::Change makes them, and throw what it does.
class EnrollmentTokens {
 public:
  EnrollmentTokens(const Context& context, const RecordServices& services, TokenSecrets& secrets);

  // By name. Those that can't be read are left out with a warning.
  std::vector<EnrollmentToken> All();

  struct CreateRequest {
    std::string name;
    Duration duration{};
    std::optional<std::uint64_t> max_enrollments = 1;
    std::optional<std::string> vault;
  };
  // Puts a new secret into the vault, then writes the record. Throws validation_failed, vault_not_found, token_exists.
  EnrollmentToken Create(const CreateRequest& request);
  struct Revoked {
    EnrollmentToken token;
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

#include "worker/enrollment_token.h"

#include <fmt/format.h>

#include <array>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr const char* kCallerCreate = "worker:token-create";
// So that "worker-<token>-<8 hex digits>", a worker's model, has a name that models may have.
constexpr std::size_t kLongestName = 48;
constexpr const char* kUnlimited = "unlimited";

using State = EnrollmentToken::State;
constexpr std::array<State, 4> kStates = {State::kUnused, State::kEnrolled, State::kExpired, State::kRevoked};

const RecordType& TokenRecords() {
  static const RecordType type{"swamp/enrollment-token", "2026.07.04.1", "token-main", 10};
  return type;
}

}  // namespace

std::string NameOf(State state) {
  switch (state) {
    case State::kUnused:
      return "unused";
    case State::kEnrolled:
      return "enrolled";
    case State::kExpired:
      return "expired";
    case State::kRevoked:
      return "revoked";
  }
  return {};
}

std::optional<std::uint64_t> ParseMaxEnrollments(const std::string& text) {
  if (text == kUnlimited) return std::nullopt;
  const bool digits = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  const std::uint64_t number = digits ? std::stoull(text) : 0;
  if (number > 0) return number;
  throw UserError("usage", fmt::format("--max-enrollments \"{}\" is no number of workers", Printable(text, 40)),
                  "Give a number of at least 1, or unlimited.");
}

State EnrollmentToken::EffectiveState(Time now) const {
  if (state == State::kRevoked) return state;
  const auto end = ParseTime(expires_at);
  return end && now < *end ? state : State::kExpired;
}

Json EnrollmentToken::MaxEnrollmentsJson() const { return max_enrollments ? Json(*max_enrollments) : Json(kUnlimited); }

Json EnrollmentToken::ToJson() const {
  Json list = Json::array();
  for (const Binding& one : bindings) list.push_back({{"machineId", one.machine_id}, {"enrolledAt", one.enrolled_at}});
  Json json = {{"name", name},
               {"state", NameOf(state)},
               {"createdAt", created_at},
               {"expiresAt", expires_at},
               {"vaultName", vault},
               {"secretKey", secret_key},
               {"maxEnrollments", MaxEnrollmentsJson()},
               {"bindings", std::move(list)}};
  if (!revoked_at.empty()) json["revokedAt"] = revoked_at;
  return json;
}

EnrollmentToken EnrollmentToken::Parse(const Json& json, const std::string& what) {
  const auto invalid = [&](std::string_view why) {
    return UserError("record_invalid", fmt::format("the token {} is damaged: {}", Printable(what, 200), why),
                     "Revoke it, and create another.");
  };
  const auto text = [&](const char* key) { return StringMember(json, key).value_or(""); };
  EnrollmentToken token;
  token.name = text("name");
  if (token.name.empty()) throw invalid("it has no name");
  const std::string state = text("state");
  bool known = false;
  for (const State one : kStates) {
    if (NameOf(one) != state) continue;
    token.state = one;
    known = true;
  }
  if (!known) throw invalid("its state is none");
  token.created_at = text("createdAt");
  token.expires_at = text("expiresAt");
  if (!ParseTime(token.expires_at)) throw invalid("nothing says when it ends");
  token.vault = text("vaultName");
  token.secret_key = text("secretKey");
  if (token.vault.empty() || token.secret_key.empty()) throw invalid("nothing says where its secret is");
  if (text("maxEnrollments") == kUnlimited) {
    token.max_enrollments.reset();
  } else {
    const auto number = IntegerMember(json, "maxEnrollments");
    if (!number || *number < 1) throw invalid("nothing says how many workers may use it");
    token.max_enrollments = static_cast<std::uint64_t>(*number);
  }
  if (json.contains("bindings") && json["bindings"].is_array()) {
    for (const Json& one : json["bindings"]) {
      const auto machine = StringMember(one, "machineId");
      if (!machine) throw invalid("an enrollment names no machine");
      token.bindings.push_back({*machine, StringMember(one, "enrolledAt").value_or("")});
    }
  }
  token.revoked_at = text("revokedAt");
  return token;
}

EnrollmentTokens::EnrollmentTokens(const Context& context, const RecordServices& services, TokenSecrets& secrets)
    : context_(context), records_(context, services, TokenRecords()), secrets_(secrets) {}

std::vector<EnrollmentToken> EnrollmentTokens::All() {
  return records_.AllAs("worker", [](const StoredRecord& one) { return EnrollmentToken::Parse(one.value, one.path.string()); });
}

UserError EnrollmentTokens::NotFound(const std::string& name) {
  return records_.NotFound("token_not_found", "enrollment token", name, "`swamp worker token list` shows the tokens.");
}

EnrollmentToken EnrollmentTokens::Create(const CreateRequest& request) {
  CheckRecordName(request.name, "a token");
  if (request.name.size() > kLongestName) {
    throw UserError("validation_failed", fmt::format("the name {} is longer than {} characters", request.name, kLongestName),
                    "Workers are called after their token.");
  }
  const std::string vault = secrets_.Resolve(request.vault);
  const WipedString secret = NewTokenSecret(context_);
  const RecordRequest change{.name = request.name, .method = "create", .create = true};
  EnrollmentToken token;
  std::string secret_key;
  records_.Change(change, [&](const std::optional<Json>& current) -> std::optional<Json> {
    if (current && EnrollmentToken::Parse(*current, request.name).secret_key == secret_key) return std::nullopt;  // this very one
    if (current) {
      if (!secret_key.empty()) secrets_.Forget(vault, secret_key, kCallerCreate);
      throw UserError("token_exists", fmt::format("there is an enrollment token {} already", request.name), "Choose another name.");
    }
    // Before the record: a token that is there has its secret.
    if (secret_key.empty()) secret_key = secrets_.PutNew(vault, "worker-token-" + request.name, secret.text(), kCallerCreate);
    const Time now = context_.clock().Now();
    token = EnrollmentToken{.name = request.name,
                            .created_at = FormatTime(now),
                            .expires_at = FormatTime(now + request.duration),
                            .vault = vault,
                            .secret_key = secret_key,
                            .max_enrollments = request.max_enrollments};
    return token.ToJson();
  });
  return token;
}

EnrollmentTokens::Revoked EnrollmentTokens::Revoke(const std::string& name) {
  Revoked revoked;
  const RecordRequest change{.name = name, .method = "revoke"};
  const RecordChange done = records_.Change(change, [&](const std::optional<Json>& current) -> std::optional<Json> {
    if (!current) throw NotFound(name);
    revoked.token = EnrollmentToken::Parse(*current, name);
    if (revoked.token.state == State::kRevoked) return std::nullopt;
    revoked.token.state = State::kRevoked;
    revoked.token.revoked_at = FormatTime(context_.clock().Now());
    Json next = *current;
    next["state"] = NameOf(revoked.token.state);
    next["revokedAt"] = revoked.token.revoked_at;
    return next;
  });
  revoked.already = !done.changed;
  return revoked;
}

}  // namespace swamp

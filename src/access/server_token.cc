#include "access/server_token.h"

#include <fmt/format.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr const char* kCallerMint = "access:server-token-mint";
constexpr const char* kCallerRotate = "access:server-token-rotate";

const RecordType& TokenRecords() {
  static const RecordType type{"swamp/server-token", "2026.06.18.1", "token-main", 20};
  return type;
}

Json ListOf(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.push_back(word);
  return list;
}

std::vector<std::string> WordsOf(const Json& json, const char* key) {
  std::vector<std::string> words;
  if (!json.contains(key) || !json[key].is_array()) return words;
  for (const Json& one : json[key]) {
    if (one.is_string()) words.push_back(one.get<std::string>());
  }
  return words;
}

std::string SecretKeyOf(const std::string& name) { return "server-token-" + name; }

}  // namespace

std::string NameOf(ServerToken::State state) {
  switch (state) {
    case ServerToken::State::kActive:
      return "active";
    case ServerToken::State::kExpired:
      return "expired";
    case ServerToken::State::kRevoked:
      return "revoked";
  }
  return {};
}

ServerToken::State ServerToken::EffectiveState(Time now) const {
  if (state != State::kActive) return state;
  const auto end = ParseTime(expires_at);
  return end && now < *end ? State::kActive : State::kExpired;
}

Json ServerToken::ToJson() const {
  Json json = {{"name", name},
               {"state", NameOf(state)},
               {"principalId", principal.text()},
               {"principalEmail", email},
               {"collectives", ListOf(collectives)},
               {"groups", ListOf(groups)},
               {"createdAt", created_at},
               {"expiresAt", expires_at}};
  if (!last_used_at.empty()) json["lastUsedAt"] = last_used_at;
  json["vaultName"] = vault;
  json["secretKey"] = secret_key;
  if (!revoked_at.empty()) json["revokedAt"] = revoked_at;
  return json;
}

ServerToken ServerToken::Parse(const Json& json, const std::string& what) {
  const auto invalid = [&](std::string_view why) {
    return UserError("record_invalid", fmt::format("the token {} is damaged: {}", Printable(what, 200), why),
                     "Revoke it, and mint another.");
  };
  const auto text = [&](const char* key) { return StringMember(json, key).value_or(""); };
  ServerToken token;
  token.name = text("name");
  if (token.name.empty()) throw invalid("it has no name");
  const std::string state = text("state");
  if (state == "active") {
    token.state = State::kActive;
  } else if (state == "expired") {
    token.state = State::kExpired;
  } else if (state == "revoked") {
    token.state = State::kRevoked;
  } else {
    throw invalid("its state is none");
  }
  try {
    token.principal = Principal::Parse(text("principalId"));
  } catch (const UserError&) {
    throw invalid("it is for no principal");
  }
  token.email = text("principalEmail");
  token.collectives = WordsOf(json, "collectives");
  token.groups = WordsOf(json, "groups");
  token.created_at = text("createdAt");
  token.expires_at = text("expiresAt");
  if (!ParseTime(token.expires_at)) throw invalid("nothing says when it ends");
  token.last_used_at = text("lastUsedAt");
  token.vault = text("vaultName");
  token.secret_key = text("secretKey");
  if (token.vault.empty() || token.secret_key.empty()) throw invalid("nothing says where its secret is");
  token.revoked_at = text("revokedAt");
  return token;
}

ServerTokens::ServerTokens(const Context& context, const RecordServices& services, TokenSecrets& secrets)
    : context_(context), records_(context, services, TokenRecords()), secrets_(secrets) {}

std::vector<ServerToken> ServerTokens::All() {
  return records_.AllAs("access", [](const StoredRecord& one) { return ServerToken::Parse(one.value, one.path.string()); });
}

UserError ServerTokens::NotFound(const std::string& name) {
  return records_.NotFound("token_not_found", "server token", name, "`swamp access token list` shows the tokens.");
}

ServerToken ServerTokens::Mint(const MintRequest& request) {
  CheckRecordName(request.name, "a token");
  const std::string vault = secrets_.Resolve(request.vault);
  const WipedString secret = NewTokenSecret(context_);
  RecordRequest change{.name = request.name, .method = "mint", .create = true};
  change.arguments = {{"principal", request.principal.text()}};
  ServerToken token;
  std::string secret_key;
  records_.Change(change, [&](const std::optional<Json>& current) -> std::optional<Json> {
    const auto there = current ? std::optional(ServerToken::Parse(*current, request.name)) : std::nullopt;
    if (there && there->secret_key == secret_key) return std::nullopt;  // this very one
    if (there && there->state != ServerToken::State::kRevoked) {
      if (!secret_key.empty()) secrets_.Forget(vault, secret_key, kCallerMint);
      throw UserError("token_exists", fmt::format("there is a server token {} already", request.name),
                      fmt::format("Give it a new secret with `swamp access token rotate {}`, or choose another name.", request.name));
    }
    // Before the record: a token that is there has its secret.
    if (secret_key.empty()) secret_key = secrets_.PutNew(vault, SecretKeyOf(request.name), secret.text(), kCallerMint);
    const Time now = context_.clock().Now();
    token = ServerToken{.name = request.name,
                        .principal = request.principal,
                        .email = request.email.value_or(request.principal.text()),
                        .created_at = FormatTime(now),
                        .expires_at = FormatTime(now + request.duration),
                        .vault = vault,
                        .secret_key = secret_key};
    return token.ToJson();
  });
  return token;
}

ServerToken ServerTokens::Rotate(const std::string& name, Duration duration, const std::optional<std::string>& vault) {
  const std::optional<std::string> resolved = vault ? std::optional(secrets_.Resolve(vault)) : std::nullopt;
  const WipedString secret = NewTokenSecret(context_);
  ServerToken old;
  ServerToken token;
  const RecordRequest change{.name = name, .method = "rotate"};
  records_.Change(change, [&](const std::optional<Json>& current) -> std::optional<Json> {
    if (!current) throw NotFound(name);
    old = ServerToken::Parse(*current, name);
    if (old.state == ServerToken::State::kRevoked) {
      throw UserError("token_revoked", fmt::format("the server token {} is revoked", name),
                      fmt::format("swamp access token mint {} --principal {}", name, old.principal.text()));
    }
    token = old;
    token.state = ServerToken::State::kActive;
    token.expires_at = FormatTime(context_.clock().Now() + duration);
    token.vault = resolved.value_or(old.vault);
    secrets_.Put(token.vault, token.secret_key, secret.text(), kCallerRotate);
    Json next = *current;
    next.update(token.ToJson());
    return next;
  });
  if (token.vault != old.vault) secrets_.Forget(old.vault, old.secret_key, kCallerRotate);
  return token;
}

ServerTokens::Revoked ServerTokens::Revoke(const std::string& name) {
  Revoked revoked;
  const RecordRequest change{.name = name, .method = "revoke"};
  const RecordChange done = records_.Change(change, [&](const std::optional<Json>& current) -> std::optional<Json> {
    if (!current) throw NotFound(name);
    revoked.token = ServerToken::Parse(*current, name);
    if (revoked.token.state == ServerToken::State::kRevoked) return std::nullopt;
    revoked.token.state = ServerToken::State::kRevoked;
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

// swamp access token mint, list, rotate, revoke.

#include <fmt/format.h>

#include "access/server_token.h"
#include "cli/access.h"
#include "cli/builder.h"
#include "cli/render/table.h"
#include "util/clock.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr const char* kDefaultDuration = "30d";

// The tokens with what they work on, for one command.
struct Tools {
  explicit Tools(Session& session)
      : secrets(session.context(), session.config(), session.repo(), session.datastore()),
        tokens(session.context(), RecordServicesOf(session), secrets) {}
  TokenSecrets secrets;
  ServerTokens tokens;
};

Rendered RenderSecret(const ServerToken& token, std::string_view what) {
  return {{{"name", token.name},
           {"principalId", token.principal.text()},
           {"expiresAt", token.expires_at},
           {"vaultRef", {{"vaultName", token.vault}, {"secretKey", token.secret_key}}}},
          fmt::format("{} the token {} for {}, valid until {}\n{}", what, token.name, Printable(token.principal.text(), 600),
                      token.expires_at, HowToReadToken(token.name, token.vault, token.secret_key))};
}

void AddMint(CLI::App& group, Session& session) {
  struct Options {
    ServerTokens::MintRequest request;
    std::string principal;
    std::string duration = kDefaultDuration;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "mint", "Make a token that lets a principal into a server");
  command->add_option("name", options->request.name, "Name: a-z, 0-9, _ and -")->required();
  command->add_option("--principal", options->principal, "user:<id> or worker:<id>")->required()->type_name("<principal>");
  command->add_option("--email", options->request.email, "The principal's address, for people")->type_name("<email>");
  command->add_option("--duration", options->duration, "How long it is valid: 30m, 24h, 7d, 2w, 3mo, 1y")->type_name("<duration>");
  command->add_option("--vault", options->request.vault, "Where its secret is kept; else in the program's own vault")->type_name("<vault>");
  command->callback([&session, options] {
    options->request.principal = Principal::Parse(options->principal);
    options->request.duration = ParseTokenDuration(options->duration);
    session.Print(RenderSecret(Tools(session).tokens.Mint(options->request), "Minted"));
  });
}

void AddList(CLI::App& group, Session& session) {
  auto refresh = std::make_shared<bool>(false);
  CLI::App* command = AddRepoCommand(group, session, "list", "List the server tokens");
  AddRefresh(*command, *refresh);
  command->callback([&session, refresh] {
    PullRecords(session, *refresh);
    const Time now = session.context().clock().Now();
    Json list = Json::array();
    Table table({"TOKEN", "STATE", "PRINCIPAL", "EXPIRES"});
    for (const ServerToken& token : Tools(session).tokens.All()) {
      const std::string state = NameOf(token.EffectiveState(now));
      Json one = {{"name", token.name},
                  {"state", NameOf(token.state)},
                  {"effectiveState", state},
                  {"principalId", token.principal.text()},
                  {"principalEmail", token.email},
                  {"createdAt", token.created_at},
                  {"expiresAt", token.expires_at}};
      if (!token.last_used_at.empty()) one["lastUsedAt"] = token.last_used_at;
      if (!token.revoked_at.empty()) one["revokedAt"] = token.revoked_at;
      list.push_back(std::move(one));
      table.Add({token.name, state, token.principal.text(), token.expires_at});
    }
    const std::string text = list.empty() ? std::string("There are no server tokens yet.\n") : table.Render();
    session.Print({std::move(list), text});
  });
}

void AddRotate(CLI::App& group, Session& session) {
  struct Options {
    std::string name;
    std::string duration = kDefaultDuration;
    std::optional<std::string> vault;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "rotate", "Give a token a new secret; the old one is void");
  command->add_option("name", options->name, "The token's name")->required();
  command->add_option("--duration", options->duration, "How long it is valid from now on")->type_name("<duration>");
  command->add_option("--vault", options->vault, "Where its secret is kept; else where it is")->type_name("<vault>");
  command->callback([&session, options] {
    const Duration duration = ParseTokenDuration(options->duration);
    session.Print(RenderSecret(Tools(session).tokens.Rotate(options->name, duration, options->vault), "Rotated"));
  });
}

void AddRevoke(CLI::App& group, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "revoke", "End a token; it stays in the list");
  command->add_option("name", *name, "The token's name")->required();
  command->callback([&session, name] {
    const ServerTokens::Revoked revoked = Tools(session).tokens.Revoke(*name);
    session.Print({{{"name", *name},
                    {"state", NameOf(revoked.token.state)},
                    {"revokedAt", revoked.token.revoked_at},
                    {"alreadyRevoked", revoked.already}},
                   fmt::format(fmt::runtime(revoked.already ? "{} is revoked already\n" : "Revoked {}\n"), *name)});
  });
}

}  // namespace

void AddAccessToken(CLI::App& access, Session& session) {
  CLI::App* group = AddGroup(access, "token", "Tokens that let principals into a server");
  AddMint(*group, session);
  AddList(*group, session);
  AddRotate(*group, session);
  AddRevoke(*group, session);
}

}  // namespace swamp

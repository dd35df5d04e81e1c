// swamp vault audit-trail.

#include <fmt/format.h>

#include <algorithm>

#include "cli/builder.h"
#include "cli/vault_secrets.h"
#include "util/clock.h"
#include "util/text.h"
#include "vault/audit_trail.h"

namespace swamp {
namespace {

struct Options {
  std::optional<std::string> vault;
  std::optional<std::string> key;
  std::optional<std::string> action;
  std::optional<std::string> since;
  std::optional<std::string> until;
  std::size_t limit = 100;
};

// A date, a date with time, or how long ago. A date alone means its first moment, or with `whole_day` its last.
Time ParseMoment(Session& session, const char* option, const std::string& text, bool whole_day) {
  constexpr std::size_t kDateLength = 10;
  if (text.size() == kDateLength) {
    if (const auto day = ParseTime(text + "T00:00:00Z")) {
      return whole_day ? *day + std::chrono::hours(24) - Duration(1) : *day;
    }
  }
  if (const auto time = ParseTime(text)) return *time;
  if (const auto time = ParseTime(text + "Z")) return *time;
  if (const auto ago = ParseDuration(text)) return session.context().clock().Now() - *ago;
  throw UserError("validation_failed", fmt::format("{} \"{}\" is no date", option, Printable(text, 40)),
                  "Such as 2026-07-01, 2026-07-01T12:00:00Z, or 7d for seven days ago.");
}

AuditTrail::Query QueryOf(Session& session, const Options& options) {
  AuditTrail::Query query{.vault = options.vault, .key = options.key, .limit = options.limit};
  if (options.action) {
    query.action = VaultActionOf(*options.action);
    if (!query.action) {
      throw UserError("validation_failed", fmt::format("--action \"{}\" does not exist", Printable(*options.action, 40)),
                      "There are: get, put, delete, annotate.");
    }
  }
  if (options.since) query.since = ParseMoment(session, "--since", *options.since, false);
  if (options.until) query.until = ParseMoment(session, "--until", *options.until, true);
  return query;
}

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string LineOf(const Json& entry) {
  const auto field = [&](const char* name) { return Printable(StringMember(entry, name).value_or("unknown"), 300); };
  return fmt::format("{}  {}  {} ({})/{}  by {}\n", field("timestamp"), Upper(field("action")), field("vaultName"),
                     field("vaultType"), field("secretKey"), field("callerContext"));
}

}  // namespace

void AddVaultAuditTrail(CLI::App& group, Session& session) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "audit-trail", "Show who changed or read which secret");
  command->add_option("--vault", options->vault, "Only this vault")->type_name("<vault>");
  command->add_option("--key", options->key, "Only this secret")->type_name("<key>");
  command->add_option("--action", options->action, "get, put, delete or annotate")->type_name("<action>");
  command->add_option("--since", options->since, "From this date on; otherwise the last 7 days")->type_name("<date>");
  command->add_option("--until", options->until, "Up to this date")->type_name("<date>");
  command->add_option("--limit", options->limit, "The newest so many")->type_name("<count>")->check(CLI::PositiveNumber);
  command->callback([&session, options] {
    const AuditTrail::Answer answer = AuditTrail(session.context(), session.repo()).Find(QueryOf(session, *options));
    std::string text;
    for (const Json& entry : answer.entries) text += LineOf(entry);
    if (answer.truncated) text += fmt::format("There are older ones: --limit {} shows more.\n", options->limit * 2);
    session.Print({{{"entries", answer.entries},
                    {"returnedCount", answer.entries.size()},
                    {"truncated", answer.truncated}},
                   text.empty() ? std::string("Nothing is recorded for that time.\n") : text});
  });
}

}  // namespace swamp

// swamp worker token create, list, revoke; swamp worker list, queue, prune.

#include <fmt/format.h>

#include "cli/access.h"
#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/render/table.h"
#include "util/clock.h"
#include "util/text.h"
#include "worker/enrollment_token.h"
#include "worker/worker.h"

namespace swamp {
namespace {

// The tokens with what they work on, for one command.
struct Tools {
  explicit Tools(Session& session)
      : secrets(session.context(), session.config(), session.repo(), session.datastore()),
        tokens(session.context(), RecordServicesOf(session), secrets) {}
  TokenSecrets secrets;
  EnrollmentTokens tokens;
};

Workers WorkersOf(Session& session) { return {session.context(), RecordServicesOf(session)}; }

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : CompactJson(value); }

// ---- token ----

void AddTokenCreate(CLI::App& group, Session& session) {
  struct Options {
    EnrollmentTokens::CreateRequest request;
    std::string duration;
    std::string max_enrollments = "1";
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "create", "Make a token with which workers join a server");
  command->add_option("name", options->request.name, "Name: a-z, 0-9, _ and -")->required();
  command->add_option("--duration", options->duration, "How long it is valid: 30m, 24h, 7d, 2w, 3mo, 1y")->required()->type_name("<duration>");
  command->add_option("--vault", options->request.vault, "Where its secret is kept; else in the program's own vault")->type_name("<vault>");
  command->add_option("--max-enrollments", options->max_enrollments, "How many machines may join with it, or unlimited")->type_name("<n>");
  command->callback([&session, options] {
    options->request.duration = ParseTokenDuration(options->duration);
    options->request.max_enrollments = ParseMaxEnrollments(options->max_enrollments);
    const EnrollmentToken token = Tools(session).tokens.Create(options->request);
    session.Print({{{"name", token.name},
                    {"expiresAt", token.expires_at},
                    {"maxEnrollments", token.MaxEnrollmentsJson()},
                    {"vaultRef", {{"vaultName", token.vault}, {"secretKey", token.secret_key}}}},
                   fmt::format("Created the enrollment token {}, valid until {}, for {}\n{}", token.name, token.expires_at,
                               token.max_enrollments ? Count(*token.max_enrollments, "machine") : std::string("any number of machines"),
                               HowToReadToken(token.name, token.vault, token.secret_key))});
  });
}

void AddTokenList(CLI::App& group, Session& session) {
  auto refresh = std::make_shared<bool>(false);
  CLI::App* command = AddRepoCommand(group, session, "list", "List the enrollment tokens");
  AddRefresh(*command, *refresh);
  command->callback([&session, refresh] {
    PullRecords(session, *refresh);
    const Time now = session.context().clock().Now();
    Json list = Json::array();
    Table table({"TOKEN", "STATE", "MACHINES", "OF", "EXPIRES"});
    for (const EnrollmentToken& token : Tools(session).tokens.All()) {
      const std::string state = NameOf(token.EffectiveState(now));
      Json one = {{"name", token.name},
                  {"state", NameOf(token.state)},
                  {"effectiveState", state},
                  {"createdAt", token.created_at},
                  {"expiresAt", token.expires_at},
                  {"maxEnrollments", token.MaxEnrollmentsJson()},
                  {"bindings", token.ToJson()["bindings"]}};
      if (!token.revoked_at.empty()) one["revokedAt"] = token.revoked_at;
      list.push_back(std::move(one));
      table.Add({token.name, state, std::to_string(token.bindings.size()), TextOf(token.MaxEnrollmentsJson()), token.expires_at});
    }
    const std::string text = list.empty() ? std::string("There are no enrollment tokens yet.\n") : table.Render();
    session.Print({std::move(list), text});
  });
}

void AddTokenRevoke(CLI::App& group, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "revoke", "End an enrollment token; it stays in the list");
  command->add_option("name", *name, "The token's name")->required();
  command->callback([&session, name] {
    const EnrollmentTokens::Revoked revoked = Tools(session).tokens.Revoke(*name);
    session.Print({{{"name", *name},
                    {"state", NameOf(revoked.token.state)},
                    {"revokedAt", revoked.token.revoked_at},
                    {"alreadyRevoked", revoked.already}},
                   fmt::format(fmt::runtime(revoked.already ? "{} is revoked already\n" : "Revoked {}\n"), *name)});
  });
}

// ---- workers ----

void AddList(CLI::App& group, Session& session) {
  struct Options {
    bool all = false;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "list", "List the workers");
  command->add_flag("--all", options->all, "Also those that are disconnected");
  AddRefresh(*command, options->refresh);
  command->callback([&session, options] {
    PullRecords(session, options->refresh);
    Json list = Json::array();
    Table table({"WORKER", "STATUS", "PLATFORM", "LABELS", "LAST SEEN"});
    for (const Worker& worker : WorkersOf(session).All()) {
      if (!options->all && !worker.connected()) continue;
      list.push_back(worker.record);
      std::vector<std::string> labels;
      if (worker.record.contains("labels") && worker.record["labels"].is_object()) {
        for (const auto& [key, value] : worker.record["labels"].items()) labels.push_back(key + "=" + TextOf(value));
      }
      const auto part = [&](const char* key) { return StringMember(worker.record, key).value_or(""); };
      table.Add({worker.name, worker.status, part("platform") + "/" + part("arch"), Join(labels, ","), worker.last_seen_at});
    }
    const std::string none = options->all ? "There are no workers.\n" : "No worker is connected.\n";
    const std::size_t count = list.size();
    session.Print({{{"workers", std::move(list)}, {"count", count}}, count == 0 ? none : table.Render()});
  });
}

void AddQueue(CLI::App& group, Session& session) {
  auto refresh = std::make_shared<bool>(false);
  CLI::App* command = AddRepoCommand(group, session, "queue", "List what waits for a worker");
  AddRefresh(*command, *refresh);
  command->callback([&session, refresh] {
    PullRecords(session, *refresh);
    Json list = Json::array();
    Table table({"QUEUED", "MODEL TYPE", "METHOD", "WORKFLOW", "STEP"});
    for (Json& one : QueuedDispatches(session.context(), RecordServicesOf(session))) {
      const auto part = [&](const char* key) { return StringMember(one, key).value_or(""); };
      table.Add({part("queuedAt"), part("modelType"), part("methodName"), part("workflowName"), part("stepName")});
      list.push_back(std::move(one));
    }
    const std::string text = list.empty() ? std::string("Nothing waits for a worker.\n") : table.Render();
    session.Print({std::move(list), text});
  });
}

// ---- prune ----

struct PruneOptions {
  std::string older_than = "7d";
  bool dry_run = false;
  Confirmation confirmation;
};

Rendered RenderPruned(const std::vector<Worker>& workers, bool dry_run) {
  Json list = Json::array();
  std::string text;
  for (const Worker& one : workers) {
    list.push_back({{"name", one.name}, {"disconnectedAt", FormatTime(*one.DisconnectedSince())}});
    text += fmt::format("{} {}, disconnected since {}\n", dry_run ? "Would remove" : "Removed", one.name, FormatTime(*one.DisconnectedSince()));
  }
  return {{{"pruned", std::move(list)}, {"count", workers.size()}, {"dryRun", dry_run}},
          workers.empty() ? std::string("No worker has been disconnected for that long.\n") : text};
}

void RunPrune(Session& session, const PruneOptions& options) {
  const auto older_than = ParseDuration(options.older_than);
  if (!older_than) {
    throw UserError("usage", fmt::format("--older-than \"{}\" is no time", Printable(options.older_than, 40)),
                    "Give a number with m, h, d, w, mo or y, such as 7d.");
  }
  PullRecords(session, true);
  Workers workers = WorkersOf(session);
  const std::vector<Worker> stale = workers.Stale(*older_than);
  if (options.dry_run || stale.empty()) {
    session.Print(RenderPruned(stale, options.dry_run));
    return;
  }
  if (!options.confirmation.given()) session.output().PrintNote(RenderPruned(stale, true).text);
  if (!session.Confirm(fmt::format("Remove {}?", Count(stale.size(), "worker")), options.confirmation.given())) {
    session.Print({{{"cancelled", true}}, "Nothing was removed.\n"});
    return;
  }
  session.Print(RenderPruned(workers.Prune(stale, *older_than), false));
}

void AddPrune(CLI::App& group, Session& session) {
  auto options = std::make_shared<PruneOptions>();
  CLI::App* command = AddRepoCommand(group, session, "prune", "Remove the records of workers that have been gone for long");
  command->add_option("--older-than", options->older_than, "How long they have to be disconnected")->type_name("<duration>");
  command->add_flag("--dry-run", options->dry_run, "Only say what would be removed");
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options] { RunPrune(session, *options); });
}

}  // namespace

void AddWorkerCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "worker", "Workers that run methods for a server");
  CLI::App* token = AddGroup(*group, "token", "Tokens with which workers join a server");
  AddTokenCreate(*token, session);
  AddTokenList(*token, session);
  AddTokenRevoke(*token, session);
  AddList(*group, session);
  AddQueue(*group, session);
  AddPrune(*group, session);
}

}  // namespace swamp

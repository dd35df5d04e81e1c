// swamp vault migrate.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/vault_secrets.h"
#include "util/text.h"
#include "vault/migrate.h"

namespace swamp {
namespace {

std::string TitleOf(const std::string& type) {
  for (const VaultType& one : VaultTypes()) {
    if (one.type == type) return one.name;
  }
  return type;
}

struct Options {
  MigrateVaultRequest request;
  std::optional<std::string> config;
  Confirmation confirmation;
  bool dry_run = false;
};

void PrintPlan(Session& session, const VaultMigrationPlan& plan) {
  Json json = {{"dryRun", true},
               {"vaultName", plan.from.name},
               {"currentType", plan.from.type},
               {"currentTypeName", TitleOf(plan.from.type)},
               {"targetType", plan.to.type},
               {"targetTypeName", TitleOf(plan.to.type)},
               {"secretCount", plan.secrets}};
  if (!plan.not_carried.empty()) json["notCarried"] = plan.not_carried;
  std::string text = fmt::format("Would copy {} of {} from {} to {}\n", Count(plan.secrets, "secret"), plan.from.name,
                                 TitleOf(plan.from.type), TitleOf(plan.to.type));
  for (const std::string& one : plan.not_carried) text += fmt::format("Would be left behind: {}\n", one);
  session.Print({json, text});
}

void Run(Session& session, const Options& options) {
  MigrateVaultRequest request = options.request;
  if (request.to_type.empty()) {
    std::vector<std::string> types;
    for (const VaultType& one : VaultTypes()) types.push_back(one.type);
    throw UserError("usage", "vault migrate needs the type to migrate to",
                    fmt::format("Give --to-type: {}.", Join(types, ", ")));
  }
  if (options.config) request.config = ParseJson(*options.config, "--config", "validation_failed");
  request.force = options.confirmation.force;
  request.accept_losses = options.confirmation.given();
  const VaultMigrationPlan plan = PlanVaultMigration(session.context(), session.config(), session.repo(), request);
  if (options.dry_run) return PrintPlan(session, plan);
  if (!options.confirmation.given() && !session.options.json) {
    std::string question = fmt::format("Migrate vault backend from {} to {}?", TitleOf(plan.from.type),
                                       TitleOf(plan.to.type));
    if (!plan.not_carried.empty()) {
      session.output().PrintNote(fmt::format("Left behind: {}\n", Join(plan.not_carried, ", ")));
    }
    if (!session.Confirm(question, false)) {
      session.Print({{{"cancelled", true}}, "Operation cancelled.\n"});
      throw ExitQuietly{130};
    }
    request.accept_losses = true;
  }
  request.copying = [&session](std::size_t number, std::size_t count, const std::string& key) {
    session.output().PrintNote(fmt::format("Copying secret {}/{}: {}\n", number, count, key));
  };
  const VaultMigration done = MigrateVault(session.context(), session.config(), session.repo(), request);
  Json json = {{"vaultName", done.to.name},
               {"previousType", done.from.type},
               {"newType", done.to.type},
               {"newTypeName", TitleOf(done.to.type)},
               {"secretsMigrated", done.secrets},
               {"timestamp", FormatTime(done.at)}};
  if (!done.not_carried.empty()) json["notCarried"] = done.not_carried;
  if (request.delete_old) json["oldSecretsDeleted"] = done.deleted;
  std::string text = fmt::format("Migrated {} with {} to {}\n", done.to.name, Count(done.secrets, "secret"),
                                 TitleOf(done.to.type));
  if (request.delete_old) text += fmt::format("Deleted {} from where they were\n", Count(done.deleted, "secret"));
  session.Print({json, text});
}

}  // namespace

void AddVaultMigrate(CLI::App& group, Session& session) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "migrate", "Move a vault's secrets to another type of vault");
  command->add_option("vault_name", options->request.vault, "The vault's name or id")->required();
  command->add_option("--to-type", options->request.to_type, "The type to move to")->type_name("<type>");
  command->add_option("--config", options->config, "The new type's settings as a JSON object")->type_name("<json>");
  AddConfirmation(*command, options->confirmation);
  command->add_flag("--dry-run", options->dry_run, "Only say what would be done");
  command->add_flag("--delete-old", options->request.delete_old, "Then remove the secrets from where they were");
  command->callback([&session, options] { Run(session, *options); });
}

}  // namespace swamp

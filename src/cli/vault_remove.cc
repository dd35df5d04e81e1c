// swamp vault rm, rotate-key.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/vault_secrets.h"
#include "util/text.h"
#include "vault/remove_vault.h"

namespace swamp {

void AddVaultRemove(CLI::App& group, Session& session) {
  struct Options {
    RemoveVaultRequest request;
    Confirmation confirmation;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "rm", "Remove a vault that has no secrets; with --force one that has");
  command->add_option("vault_name", options->request.vault, "The vault's name or id")->required();
  command->add_option("-t,--type", options->request.type, "Only a vault of this type")->type_name("<type>");
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options] {
    RemoveVaultRequest request = options->request;
    request.force = options->confirmation.force;
    if (!session.Confirm(fmt::format("Remove the vault {}{}?", Printable(request.vault, 80),
                                     request.force ? " with its secrets" : ""),
                         options->confirmation.given())) {
      session.Print({{{"cancelled", true}}, "Operation cancelled.\n"});
      throw ExitQuietly{130};
    }
    const RemovedVault done = RemoveVault(session.context(), session.config(), session.repo(), request);
    const std::string path = session.config().Locate(done.path).string();
    std::string text = fmt::format("Removed the vault {} ({})\n", done.vault.name, done.vault.type);
    if (done.secrets_deleted > 0) text += fmt::format("Deleted {}\n", Count(done.secrets_deleted, "secret"));
    session.Print({{{"deleted", {{"id", done.vault.id}, {"name", done.vault.name}, {"type", done.vault.type}, {"path", path}}},
                    {"secretsDeleted", done.secrets_deleted},
                    {"timestamp", FormatTime(done.at)}},
                   text});
  });
}

void AddVaultRotateKey(CLI::App& group, Session& session) {
  struct Options {
    std::string vault;
    bool force = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "rotate-key", "Give a local_encryption vault a new key");
  command->add_option("vault_name", options->vault, "The vault's name or id")->required();
  command->add_flag("-f,--force", options->force, "Although its key file is set by hand, and others may use it");
  command->callback([&session, options] {
    const RotatedKey done =
        RotateVaultKey(session.context(), session.config(), session.repo(), options->vault, options->force);
    session.Print({{{"vaultName", done.vault.name},
                    {"vaultType", done.vault.type},
                    {"filesReencrypted", done.files},
                    {"timestamp", FormatTime(done.at)}},
                   fmt::format("The vault {} has a new key; {} encrypted with it\n", done.vault.name, Count(done.files, "file"))});
  });
}

}  // namespace swamp

#include "vault/open_vault.h"

#include <fmt/format.h>

#include "util/clock.h"
#include "util/text.h"
#include "vault/command_vault.h"
#include "vault/env_file_vault.h"
#include "vault/local_encryption.h"

namespace swamp {

std::unique_ptr<VaultProvider> OpenVault(const Context& context, const VaultConfig& vault, const Repository& repo) {
  if (vault.type == "local_encryption") return std::make_unique<LocalEncryption>(context, vault, repo.root);
  if (vault.type == "command") return std::make_unique<CommandVault>(context, vault, repo.root);
  if (vault.type == "env_file") return std::make_unique<EnvFileVault>(context, vault, repo.root);
  if (vault.type.starts_with('@')) {
    throw UserError("vault_type_unavailable",
                    fmt::format("the vault {} is of the type {}, which comes with an extension that cannot be run here",
                                vault.name, Printable(vault.type, 80)),
                    fmt::format("swamp extension pull {}", Printable(vault.type, 80)));
  }
  throw UserError("unknown_vault_type", fmt::format("the vault {} is of the type \"{}\", which does not exist",
                                                    vault.name, Printable(vault.type, 80)),
                  "See `swamp vault type search`.");
}

void RequireUserVault(const std::string& name) {
  if (!name.starts_with('_')) return;
  throw UserError("validation_failed",
                  fmt::format("the vault {} belongs to the program: names with a leading _ are not for your secrets",
                              Printable(name, 80)));
}

std::unique_ptr<FileLock> LockVault(const Context& context, const VaultConfig& vault, const Repository& repo) {
  constexpr Duration kPatience(60'000);
  const auto path = repo.swamp_folder() / "vault-locks" / (vault.id + ".lock");
  auto lock = context.files().Lock(context, path, kPatience);
  if (lock) return lock;
  throw UserError("lock_timeout", fmt::format("another process has been changing the vault {} for {}", vault.name,
                                              DescribeDuration(kPatience)),
                  "Try again later.");
}

}  // namespace swamp

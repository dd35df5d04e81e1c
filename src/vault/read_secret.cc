#include "vault/read_secret.h"

#include <fmt/format.h>

#include "util/clock.h"
#include "util/digest.h"
#include "util/files.h"
#include "util/log.h"
#include "vault/open_vault.h"
#include "vault/refresh.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "vault";

std::optional<RefreshHook> DueHook(const Context& context, VaultProvider& provider, const std::string& key) {
  if (!provider.Supports(VaultAbility::kRefreshHooks)) return std::nullopt;
  const auto note = provider.GetNote(Note::kRefreshHook, key);
  auto hook = note ? RefreshHook::Parse(*note) : std::nullopt;
  if (hook && !hook->IsStale(context.clock().Now())) hook.reset();
  return hook;
}

// Who comes second waits, and finds the secret fresh.
void Refresh(const Context& context, const Repository& repo, const VaultConfig& vault, VaultProvider& provider,
             const std::string& key) {
  constexpr Duration kPatience(60'000);
  // Apart from the vault's lock: the command may use the vault.
  const auto path = repo.swamp_folder() / "vault-locks" /
                    fmt::format("{}-{}.refresh.lock", vault.id, Sha256Hex(key).substr(0, 16));
  const auto turn = context.files().Lock(context, path, kPatience);
  auto hook = DueHook(context, provider, key);
  if (!turn || !hook) return;
  const WipedString value(RunRefreshCommand(context, repo, vault.name, key, hook->command));
  const auto change = LockVault(context, vault, repo);
  provider.Put(key, value.text(), {});
  hook->last = context.clock().Now();
  provider.PutNote(Note::kRefreshHook, key, hook->ToJson());
}

}  // namespace

UserError SecretNotFound(const VaultConfig& vault, const std::string& key) {
  if (vault.name.starts_with('_')) {  // nobody puts secrets there by hand
    return {"secret_not_found", fmt::format("the vault {} has no secret {}", vault.name, key),
            fmt::format("What there is: swamp vault list-keys {}.", vault.name)};
  }
  return {"secret_not_found", fmt::format("the vault {} has no secret {}", vault.name, key),
          fmt::format("Put it: swamp vault put {} {}. What there is: swamp vault list-keys {}.", vault.name, key,
                      vault.name)};
}

std::string ReadSecretValue(const Context& context, const Repository& repo, const VaultConfig& vault,
                            VaultProvider& provider, const std::string& key) {
  auto value = provider.Get(key);
  if (!value) throw SecretNotFound(vault, key);
  try {
    if (!DueHook(context, provider, key)) return std::move(*value);
    Refresh(context, repo, vault, provider, key);
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    context.log().Warn(kLog, error.message() + "; its old value is used");
    return std::move(*value);
  }
  Wipe(*value);
  value = provider.Get(key);
  if (!value) throw SecretNotFound(vault, key);
  return std::move(*value);
}

}  // namespace swamp

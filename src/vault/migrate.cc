#include "vault/migrate.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "vault/read_secret.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "vault";

struct NoteKind {
  Note note;
  VaultAbility ability;
  const char* name;
};
constexpr NoteKind kNotes[] = {{Note::kAnnotation, VaultAbility::kAnnotations, "annotation"},
                               {Note::kRefreshHook, VaultAbility::kRefreshHooks, "refresh hook"}};

struct Ends {
  StoredVault stored;
  VaultConfig to;
  std::unique_ptr<VaultProvider> source;
  std::unique_ptr<VaultProvider> target;
  std::vector<std::string> keys;
};

void Require(const VaultConfig& vault, const VaultProvider& provider, VaultAbility ability, std::string_view what) {
  if (provider.Supports(ability)) return;
  throw UserError("vault_unsupported", fmt::format("the vault {} cannot be migrated: {} does not support {} here",
                                                   vault.name, vault.type, what));
}

Ends OpenEnds(const Context& context, StoredVault stored, const Repository& repo, const MigrateVaultRequest& request) {
  Ends ends{.stored = std::move(stored)};
  const VaultConfig& from = ends.stored.vault;
  RequireUserVault(from.name);
  if (AsciiLower(request.to_type) == AsciiLower(from.type)) {
    throw UserError("validation_failed", fmt::format("the vault {} is of the type {} already", from.name, from.type));
  }
  ends.to = from;
  ends.to.type = request.to_type;
  ends.to.config = NewVaultConfig(context, request.to_type, request.config);
  ends.to.other["migratedFrom"] = from.type;
  ends.source = OpenVault(context, from, repo);
  ends.target = OpenVault(context, ends.to, repo);
  Require(from, *ends.source, VaultAbility::kList, "listing secrets");
  Require(ends.to, *ends.target, VaultAbility::kList, "listing secrets");
  Require(ends.to, *ends.target, VaultAbility::kPut, "putting secrets");
  ends.keys = ends.source->List();
  return ends;
}

std::vector<std::string> NotCarried(const Ends& ends) {
  std::vector<std::string> left;
  for (const NoteKind& kind : kNotes) {
    if (!ends.source->Supports(kind.ability) || ends.target->Supports(kind.ability)) continue;
    for (const std::string& key : ends.keys) {
      if (ends.source->GetNote(kind.note, key)) left.push_back(fmt::format("{} of {}", kind.name, key));
    }
  }
  return left;
}

WipedString ReadFrom(const VaultConfig& vault, VaultProvider& provider, const std::string& key) {
  auto value = provider.Get(key);
  if (!value) throw SecretNotFound(vault, key);
  return WipedString(std::move(*value));
}

// All that are in the way at once, before anything is written.
void RequireFreeTarget(const Ends& ends) {
  std::vector<std::string> taken;
  for (const std::string& key : ends.target->List()) {
    if (std::find(ends.keys.begin(), ends.keys.end(), key) == ends.keys.end()) continue;
    const WipedString ours = ReadFrom(ends.stored.vault, *ends.source, key);
    const WipedString theirs = ReadFrom(ends.to, *ends.target, key);
    if (ours.text() != theirs.text()) taken.push_back(key);
  }
  if (taken.empty()) return;
  throw UserError("already_exists",
                  fmt::format("the target has other values of: {}. Nothing was switched", Join(taken, ", ")),
                  "Look at them; --force overwrites them.");
}

void Verify(const Ends& ends, const std::string& key, const WipedString& wanted) {
  const auto found = ends.target->Get(key);
  const WipedString value(found.value_or(""));
  if (found && value.text() == wanted.text()) return;
  throw UserError("migration_unverified",
                  fmt::format("the secret {} reads otherwise from {} than it was written there. The vault {} was not "
                              "switched",
                              key, ends.to.type, ends.to.name),
                  ends.to.type == "command" ? "Does its get print the value as it is? `raw: true` keeps line ends." : "");
}

void CopySecrets(const Ends& ends, const MigrateVaultRequest& request) {
  const std::vector<std::string> there = ends.target->List();
  for (std::size_t i = 0; i < ends.keys.size(); ++i) {
    const std::string& key = ends.keys[i];
    if (request.copying) request.copying(i + 1, ends.keys.size(), key);
    const WipedString value = ReadFrom(ends.stored.vault, *ends.source, key);
    bool equal = false;
    if (std::find(there.begin(), there.end(), key) != there.end()) {
      // Of a run that was killed; one that can't be read is overwritten only by force.
      try {
        equal = ReadFrom(ends.to, *ends.target, key).text() == value.text();
      } catch (const UserError&) {
        if (!request.force) throw;
      }
    }
    if (!equal) ends.target->Put(key, value.text(), {.force = request.force});
    for (const NoteKind& kind : kNotes) {
      if (!ends.source->Supports(kind.ability) || !ends.target->Supports(kind.ability)) continue;
      if (const auto note = ends.source->GetNote(kind.note, key)) ends.target->PutNote(kind.note, key, *note);
    }
    Verify(ends, key, value);
  }
}

// The new document first: while both are there, its mark says which one counts.
void Switch(const Context& context, ConfigTier& config, const Ends& ends) {
  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  change->Create(PathOfVault(ends.to), ends.to.ToYaml());
  change->Remove(ends.stored.document.path, ends.stored.document.version);
  change->Publish();
  // The mark goes.
  Vaults(context, config).RequireForChange(ends.to.id);
}

std::size_t DeleteOld(const Context& context, const Ends& ends) {
  std::size_t deleted = 0;
  for (const std::string& key : ends.keys) {
    Verify(ends, key, ReadFrom(ends.stored.vault, *ends.source, key));
    if (!ends.source->Supports(VaultAbility::kDelete)) {
      context.log().Warn(kLog, fmt::format("the old secrets stay: {} does not support deleting", ends.stored.vault.type));
      break;
    }
    for (const NoteKind& kind : kNotes) {
      if (ends.source->Supports(kind.ability)) ends.source->DeleteNote(kind.note, key);
    }
    if (ends.source->Delete(key)) ++deleted;
  }
  return deleted;
}

}  // namespace

VaultMigrationPlan PlanVaultMigration(const Context& context, ConfigTier& config, const Repository& repo,
                                      const MigrateVaultRequest& request) {
  const Ends ends = OpenEnds(context, Vaults(context, config).RequireForChange(request.vault), repo, request);
  return {.from = ends.stored.vault, .to = ends.to, .secrets = ends.keys.size(), .not_carried = NotCarried(ends)};
}

VaultMigration MigrateVault(const Context& context, ConfigTier& config, const Repository& repo,
                            const MigrateVaultRequest& request) {
  Vaults vaults(context, config);
  const auto turn = LockVault(context, vaults.RequireForChange(request.vault).vault, repo);
  const Ends ends = OpenEnds(context, vaults.Require(request.vault), repo, request);
  VaultMigration migration{.from = ends.stored.vault, .to = ends.to, .secrets = ends.keys.size()};
  migration.not_carried = NotCarried(ends);
  if (!migration.not_carried.empty() && !request.accept_losses) {
    throw UserError("vault_unsupported",
                    fmt::format("{} cannot hold: {}", request.to_type, Join(migration.not_carried, ", ")),
                    "--yes (-y) goes on without them; they stay with the old secrets.");
  }
  if (!request.force) RequireFreeTarget(ends);
  CopySecrets(ends, request);
  Switch(context, config, ends);
  if (request.delete_old) migration.deleted = DeleteOld(context, ends);
  migration.at = context.clock().Now();
  return migration;
}

}  // namespace swamp

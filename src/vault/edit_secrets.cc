#include "vault/edit_secrets.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "vault/control_plane_vault.h"
#include "vault/read_secret.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "vault";

bool Has(VaultProvider& provider, const std::string& key) {
  if (provider.Supports(VaultAbility::kList)) {
    const std::vector<std::string> keys = provider.List();
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }
  try {
    auto value = provider.Get(key);
    if (value) Wipe(*value);
    return value.has_value();
  } catch (const UserError& error) {
    if (error.code() != "vault_command_failed") throw;
    return false;
  }
}

void Require(const VaultConfig& vault, const VaultProvider& provider, VaultAbility ability, std::string_view what) {
  if (provider.Supports(ability)) return;
  throw UserError("vault_unsupported", fmt::format("the vault {} ({}) does not support {}", vault.name, vault.type, what));
}

void SetHook(const Context& context, VaultProvider* provider, const VaultConfig& vault,
             const Secrets::PutRequest& request, std::optional<Time> refreshed) {
  if (!request.refresh && !request.clear_refresh) return;
  if (!provider->Supports(VaultAbility::kRefreshHooks)) {
    context.log().Warn(kLog, fmt::format("the secret is stored, but the vault {} ({}) does not support refresh hooks",
                                         vault.name, vault.type));
    return;
  }
  if (request.clear_refresh) return provider->DeleteNote(Note::kRefreshHook, request.key);
  RefreshHook hook = *request.refresh;
  hook.last = refreshed;
  provider->PutNote(Note::kRefreshHook, request.key, hook.ToJson());
}

std::size_t CountCharacters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

bool Secrets::Listing::Has(const std::string& key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Secrets::Opened Secrets::OpenForReading(const std::string& vault) {
  if (vault == kControlPlaneVault && datastore_ != nullptr) {
    return {{.vault = ControlPlaneVaultConfig(), .document = {}, .superseded = {}},
            std::make_unique<ControlPlaneVault>(context_, *datastore_),
            nullptr};
  }
  Opened opened{Vaults(context_, config_).Require(vault), nullptr, nullptr};
  opened.provider = OpenVault(context_, opened.vault(), repo_);
  return opened;
}

Secrets::Opened Secrets::OpenForChange(const std::string& vault) {
  RequireUserVault(vault);
  Vaults vaults(context_, config_);
  StoredVault stored = vaults.RequireForChange(vault);
  RequireUserVault(stored.vault.name);
  auto turn = LockVault(context_, stored.vault, repo_);
  // Again: a migration or a rename that this had to wait for may have changed it.
  Opened opened{vaults.Require(vault), nullptr, std::move(turn)};
  opened.provider = OpenVault(context_, opened.vault(), repo_);
  return opened;
}

void Secrets::Record(VaultAction action, const VaultConfig& vault, const std::string& key,
                     const std::string& caller_context) {
  AuditTrail(context_, repo_).Record(action, vault, key, caller_context);
}

Secrets::Listing Secrets::List(const std::string& vault) {
  const Opened opened = OpenForReading(vault);
  Require(opened.vault(), *opened.provider, VaultAbility::kList, "listing secrets");
  return {opened.vault(), opened.provider->List()};
}

Secrets::Listing Secrets::ListForChange(const std::string& vault, const std::string& key) {
  CheckSecretKey(key);
  RequireUserVault(vault);
  const StoredVault stored = Vaults(context_, config_).RequireForChange(vault);
  RequireUserVault(stored.vault.name);
  const auto provider = OpenVault(context_, stored.vault, repo_);
  Require(stored.vault, *provider, VaultAbility::kPut, "putting secrets");
  Listing listing{stored.vault, {}};
  if (provider->Supports(VaultAbility::kList)) {
    listing.keys = provider->List();
  } else if (swamp::Has(*provider, key)) {
    listing.keys = {key};
  }
  return listing;
}

Secrets::Change Secrets::Put(const PutRequest& request) {
  CheckSecretKey(request.key);
  WipedString value(request.value.value_or(""));
  if (!request.value) {
    const Listing listing = ListForChange(request.vault, request.key);
    value = WipedString(RunRefreshCommand(context_, repo_, listing.vault.name, request.key, request.refresh->command));
  }
  const Opened opened = OpenForChange(request.vault);
  const VaultConfig& vault = opened.vault();
  Require(vault, *opened.provider, VaultAbility::kPut, "putting secrets");
  Change change{.vault = vault, .existed = swamp::Has(*opened.provider, request.key)};
  if (change.existed && !request.overwrite && !request.force) {
    throw UserError("already_exists", fmt::format("the vault {} has a secret {} already", vault.name, request.key),
                    "To overwrite it, give --yes (-y).");
  }
  opened.provider->Put(request.key, value.text(), {.labels = request.labels, .force = request.force});
  change.at = context_.clock().Now();
  SetHook(context_, opened.provider.get(), vault, request, !request.value ? std::optional(change.at) : std::nullopt);
  Record(VaultAction::kPut, vault, request.key, request.caller_context);
  return change;
}

VaultConfig Secrets::RequireForDeposits(const std::string& vault) {
  RequireUserVault(vault);
  Opened opened;
  try {
    opened = OpenForReading(vault);
  } catch (const UserError& error) {
    if (error.code() != "vault_not_found") throw;
    config_.Refresh(context_);  // a peer may have created it
    opened = OpenForReading(vault);
  }
  RequireUserVault(opened.vault().name);
  Require(opened.vault(), *opened.provider, VaultAbility::kPut, "putting secrets");
  Require(opened.vault(), *opened.provider, VaultAbility::kList, "listing secrets");
  return opened.vault();
}

Secrets::Deposit Secrets::PutAside(const std::string& vault, const std::string& key, const std::string& value,
                                   const std::string& caller_context) {
  CheckSecretKey(key);
  const Opened opened = OpenForChange(vault);
  VaultProvider& provider = *opened.provider;
  Require(opened.vault(), provider, VaultAbility::kPut, "putting secrets");
  Require(opened.vault(), provider, VaultAbility::kList, "listing secrets");
  const auto holds = [&](const std::string& name) {
    const auto found = provider.Get(name);
    const WipedString there(found.value_or(""));
    return found && there.text() == value;
  };
  const std::vector<std::string> taken = provider.List();
  Deposit deposit{opened.vault(), key};
  for (int n = 2; std::find(taken.begin(), taken.end(), deposit.key) != taken.end(); ++n) {
    if (holds(deposit.key)) {
      Record(VaultAction::kGet, opened.vault(), deposit.key, caller_context);
      return deposit;
    }
    deposit.key = fmt::format("{}-{}", key, n);
  }
  CheckSecretKey(deposit.key);
  provider.Put(deposit.key, value, {});
  Record(VaultAction::kPut, opened.vault(), deposit.key, caller_context);
  if (holds(deposit.key)) return deposit;
  throw UserError("deposit_unverified",
                  fmt::format("the secret {} reads otherwise from the vault {} than it was written there", deposit.key,
                              opened.vault().name),
                  opened.vault().type == "command" ? "Does its get print the value as it is? `raw: true` keeps line ends." : "");
}

Secrets::Value Secrets::Read(const std::string& vault, const std::string& key, const std::string& caller_context) {
  CheckSecretKey(key);
  const Opened opened = OpenForReading(vault);
  Value value{opened.vault(), ReadSecretValue(context_, repo_, opened.vault(), *opened.provider, key)};
  Record(VaultAction::kGet, opened.vault(), key, caller_context);
  return value;
}

Secrets::Change Secrets::Delete(const std::string& vault, const std::string& key, bool missing_is_fine,
                                const std::string& caller_context) {
  CheckSecretKey(key);
  const Opened opened = OpenForChange(vault);
  Require(opened.vault(), *opened.provider, VaultAbility::kDelete, "deleting secrets");
  Change change{.vault = opened.vault(), .existed = opened.provider->Delete(key)};
  // Notes go even where the secret has gone already; without the secret they mean nothing.
  for (const auto& [ability, note] : {std::pair(VaultAbility::kAnnotations, Note::kAnnotation),
                                     std::pair(VaultAbility::kRefreshHooks, Note::kRefreshHook)}) {
    try {
      if (opened.provider->Supports(ability)) opened.provider->DeleteNote(note, key);
    } catch (const UserError& error) {
      context_.log().Warn(kLog, fmt::format("a note of the secret {} is left: {}", key, error.message()));
    }
  }
  change.at = context_.clock().Now();
  if (change.existed) {
    Record(VaultAction::kDelete, opened.vault(), key, caller_context);
  } else if (!missing_is_fine) {
    throw SecretNotFound(opened.vault(), key);
  }
  return change;
}

Secrets::Annotated Secrets::Annotate(const AnnotateRequest& request) {
  CheckSecretKey(request.key);
  const Opened opened = OpenForChange(request.vault);
  const VaultConfig& vault = opened.vault();
  VaultProvider& provider = *opened.provider;
  Require(vault, provider, VaultAbility::kAnnotations, "annotations");
  if (!swamp::Has(provider, request.key)) throw SecretNotFound(vault, request.key);
  Annotated result{.vault = vault, .at = context_.clock().Now()};
  if (request.clear) {
    provider.DeleteNote(Note::kAnnotation, request.key);
    Record(VaultAction::kAnnotate, vault, request.key, request.caller_context);
    return result;
  }
  const Json old = provider.GetNote(Note::kAnnotation, request.key).value_or(Json::object());
  Json next = {{"updatedAt", FormatTime(result.at)}};
  const auto set = [&](const char* field, const std::optional<std::string>& given) {
    if (given) result.fields.emplace_back(field);
    if (given) {
      next[field] = *given;
    } else if (old.contains(field)) {
      next[field] = old[field];
    }
  };
  set("url", request.url);
  set("notes", request.notes);
  Json labels = old.contains("labels") && old["labels"].is_object() ? old["labels"] : Json::object();
  for (const auto& [name, value] : request.labels) labels[name] = value;
  for (const std::string& name : request.removed_labels) labels.erase(name);
  if (!request.labels.empty() || !request.removed_labels.empty()) result.fields.emplace_back("labels");
  if (!labels.empty()) next["labels"] = labels;
  for (const auto& [key, value] : old.items()) {
    if (key != "labels" && !next.contains(key)) next[key] = value;
  }
  provider.PutNote(Note::kAnnotation, request.key, next);
  Record(VaultAction::kAnnotate, vault, request.key, request.caller_context);
  result.annotation = std::move(next);
  return result;
}

Secrets::Facts Secrets::Inspect(const std::string& vault, const std::string& key, const std::string& caller_context) {
  CheckSecretKey(key);
  const Opened opened = OpenForReading(vault);
  VaultProvider& provider = *opened.provider;
  auto value = provider.Get(key);
  if (!value) throw SecretNotFound(opened.vault(), key);
  const WipedString wiped(std::move(*value));
  Facts facts{.vault = opened.vault(),
              .bytes = wiped.text().size(),
              .characters = CountCharacters(wiped.text()),
              .supports_annotations = provider.Supports(VaultAbility::kAnnotations),
              .supports_refresh_hooks = provider.Supports(VaultAbility::kRefreshHooks)};
  if (facts.supports_annotations) facts.annotation = provider.GetNote(Note::kAnnotation, key).value_or(Json());
  if (facts.supports_refresh_hooks) facts.refresh_hook = provider.GetNote(Note::kRefreshHook, key).value_or(Json());
  Record(VaultAction::kGet, opened.vault(), key, caller_context);
  return facts;
}

std::string ValueOfInput(std::string input, const std::string& what) {
  if (!IsValidUtf8(input)) {
    Wipe(input);
    throw UserError("validation_failed", what + " is no UTF-8, and secrets are text",
                    "Encode it first, as with base64. Nothing was stored.");
  }
  const std::size_t first = input.find('\n');
  if (first == std::string::npos || first + 1 != input.size()) return input;
  input.pop_back();
  if (input.ends_with('\r')) input.pop_back();
  return input;
}

}  // namespace swamp

#include "vault/carry_token_secrets.h"

#include <fmt/format.h>

#include "util/text.h"
#include "vault/control_plane_vault.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr std::string_view kRemedy =
    "swamp access token rotate gives a server token a new secret; an enrollment token is made anew";

std::optional<WipedString> Read(ControlPlaneVault& vault, const std::string& key) {
  auto value = vault.Get(key);
  if (!value) return std::nullopt;
  return WipedString(std::move(*value));
}

// What could not be done; empty: nothing.
std::string CarryOne(ControlPlaneVault& from, ControlPlaneVault& to, const std::string& key) {
  const auto secret = Read(from, key);
  if (!secret || to.PutNew(key, secret->text())) return {};
  const auto there = Read(to, key);
  if (there && there->text() == secret->text()) return {};
  return "the new datastore has another one, which stays";
}

std::vector<std::string> Carry(const Context& context, Datastore& from, Datastore& to) {
  ControlPlaneVault source(context, from);
  ControlPlaneVault target(context, to);
  std::vector<std::string> notes;
  for (const std::string& key : source.List()) {
    context.Check();
    std::string problem;
    try {
      problem = CarryOne(source, target, key);
    } catch (const UserError& error) {
      // A secret that nobody can read any more holds nothing up; a store that doesn't answer does.
      if (error.code() != "vault_key_missing" && error.code() != "vault_decrypt_failed") throw;
      problem = error.message();
    }
    if (!problem.empty()) {
      notes.push_back(fmt::format("the secret {} was not carried over: {} ({})", Printable(key, 200), problem, kRemedy));
    }
  }
  return notes;
}

void Drop(const Context& context, Datastore& from, Datastore& to) {
  ControlPlaneVault source(context, from);
  ControlPlaneVault target(context, to);
  for (const std::string& key : source.List()) {
    context.Check();
    try {
      if (const auto there = Read(target, key)) source.DeleteIf(key, there->text());
    } catch (const UserError& error) {
      if (error.code() != "vault_key_missing" && error.code() != "vault_decrypt_failed") throw;  // it stays where it is
    }
  }
}

}  // namespace

SideState TokenSecretsAsSideState() { return {.carry = Carry, .drop = Drop}; }

}  // namespace swamp

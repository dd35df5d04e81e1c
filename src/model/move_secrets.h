#pragma once

#include <string>
#include <vector>

#include "model/examine_secrets.h"
#include "repo/repository.h"
#include "util/error.h"

namespace swamp {

// A secret that is, or is to be, in a vault and no more in its definition.
struct MovedSecret {
  std::string path;  // "globalArguments.password"
  std::string key;   // in the vault
};

struct MovedDefinition {
  ExaminedDefinition definition;  // its paths: those that the definition holds literals at
  std::vector<MovedSecret> secrets;
  UserError error{"", ""};  // code "": none, and the definition refers to the secrets now
};

// The key that a secret gets in a vault unless it is taken: "m1-password" of @team/m1 and "globalArguments.password".
std::string VaultKeyFor(const ExaminedDefinition& definition, const std::string& path);
// What stands in a definition for a secret.
std::string VaultExpression(const std::string& vault, const std::string& key);

// Moves the literal secrets of all definitions, people's and automatic ones, into a vault (its name), and puts vault
// expressions in their places. First the secrets, read back; then the definition, as an edit that loses nothing: so no
// definition ever refers to a secret that isn't there, and whoever is killed half-way does it again. Comments and unknown
// keys stay. A definition of which one secret can't be moved is left whole, as is one that was changed meanwhile; what is
// the matter is its `error`. Throws what Secrets::RequireForDeposits does.
std::vector<MovedDefinition> MoveLiteralSecrets(const Context& context, const Repository& repo, Datastore& datastore,
                                                ConfigTier& config, const ModelTypes& types, const std::string& vault);

}  // namespace swamp

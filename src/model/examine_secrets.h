#pragma once

#include <string>
#include <vector>

#include "model/definitions.h"
#include "model/model_types.h"

namespace swamp {

struct ExaminedDefinition {
  std::string id;
  std::string name;
  std::string type;
  std::vector<std::string> paths = {};  // "globalArguments.password": what is wrong there
};

struct DefinitionsExamination {
  std::size_t scanned = 0;
  std::vector<ExaminedDefinition> findings;
  std::vector<ExaminedDefinition> unresolved;  // of types that are not known here
};

// Definitions, people's and automatic ones, that have a secret in the clear where their type says that one belongs. Only
// the places are told.
DefinitionsExamination FindLiteralSecrets(Definitions& definitions, const ModelTypes& types);

// Definitions whose type stores secrets in a vault when its methods run.
DefinitionsExamination FindVaultUsers(Definitions& definitions, const ModelTypes& types);

}  // namespace swamp

#include "model/examine_secrets.h"

#include <functional>

#include "model/definition_secrets.h"
#include "model/run_host.h"

namespace swamp {
namespace {

// `look`: whether the definition is a finding; may fill in its paths.
DefinitionsExamination Examine(Definitions& definitions, const ModelTypes& types,
                               const std::function<bool(const ModelType&, const Definition&, ExaminedDefinition&)>& look) {
  DefinitionsExamination examination;
  std::vector<StoredDefinition> all = definitions.All();
  for (StoredDefinition& one : definitions.Automatic()) all.push_back(std::move(one));
  for (const StoredDefinition& stored : all) {
    const Definition& definition = stored.definition;
    ExaminedDefinition examined{.id = definition.id, .name = definition.name, .type = definition.type};
    ++examination.scanned;
    const ModelType* type = types.Find(definition.type);
    if (type == nullptr) {
      examination.unresolved.push_back(std::move(examined));
    } else if (look(*type, definition, examined)) {
      examination.findings.push_back(std::move(examined));
    }
  }
  return examination;
}

}  // namespace

DefinitionsExamination FindLiteralSecrets(Definitions& definitions, const ModelTypes& types) {
  return Examine(definitions, types, [](const ModelType& type, const Definition& definition, ExaminedDefinition& examined) {
    examined.paths = LiteralSecrets(type, definition.global_arguments);
    return !examined.paths.empty();
  });
}

DefinitionsExamination FindVaultUsers(Definitions& definitions, const ModelTypes& types) {
  return Examine(definitions, types, [](const ModelType& type, const Definition&, ExaminedDefinition&) {
    return HasSensitiveOutputs(type);
  });
}

}  // namespace swamp

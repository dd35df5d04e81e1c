#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/definitions.h"
#include "model/expressions.h"
#include "model/model_types.h"

namespace swamp {

struct ModelValidation {
  std::string id;
  std::string name;
  std::string type;
  struct Check {
    std::string name;
    std::vector<std::string> problems;
  };
  std::vector<Check> checks;
  struct Warning {
    std::string name;
    std::string message;
    std::vector<EnvUse> env_uses = {};
  };
  std::vector<Warning> warnings;
  bool passed() const;
};

struct ValidateModelRequest {
  std::optional<std::string> method;  // only its arguments, and the checks that apply to it
  std::vector<std::string> labels;    // only checks with one of these; empty: all
};

// What `model validate` looks at, in its order: the document, global arguments, arguments of methods, expressions, the
// selection of checks, and every check of the type, with secrets as at a run. Nothing is changed.
ModelValidation ValidateModel(const Context& context, Definitions& definitions, const ModelTypes& types,
                              const ExpressionHost& host, const StoredDefinition& stored,
                              const ValidateModelRequest& request);

// What is wrong with the arguments by the type's schemas. Those with expressions are known only at a run.
std::vector<std::string> GlobalArgumentProblems(const ModelType& type, const Definition& definition);
// `only`: the one method to look at.
std::vector<std::string> MethodArgumentProblems(const ModelType& type, const Definition& definition,
                                                const std::optional<std::string>& only);
// Expressions that can't be meant: no expressions, names that aren't there, "{{ inputs.a }}" without its "$".
std::vector<std::string> ExpressionProblems(Definitions& definitions, const ModelTypes& types,
                                            const Definition& definition);

}  // namespace swamp

#pragma once

#include <string>
#include <vector>

#include "model/model_types.h"

namespace swamp {

// Global arguments that the type marks as sensitive, and that hold text of their own instead of expressions only:
// "globalArguments.password". Null and blank texts are nothing.
std::vector<std::string> LiteralSecrets(const ModelType& type, const Json& global_arguments);

// The same as the keys that lead there from the arguments: {"password"}.
std::vector<std::vector<std::string>> LiteralSecretPaths(const ModelType& type, const Json& global_arguments);

// What every save of a definition has to pass. Throws UserError literal_sensitive_global_arg with all places.
void CheckLiteralSecrets(const ModelType& type, const Json& global_arguments);

// The arguments with "***" for every literal secret.
Json WithoutLiteralSecrets(const ModelType& type, Json global_arguments);

}  // namespace swamp

#include "model/definition_secrets.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/expressions_scan.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

// Whether some text of the value stands outside of expressions.
bool HoldsLiteral(const Json& value) {
  if (value.is_null()) return false;
  if (value.is_structured()) return std::any_of(value.begin(), value.end(), HoldsLiteral);
  if (!value.is_string()) return true;
  const std::string& text = value.get_ref<const std::string&>();
  std::size_t begin = 0;
  for (const EmbeddedExpression& expression : FindExpressions(text)) {
    if (!Trim(std::string_view(text).substr(begin, expression.begin - begin)).empty()) return true;
    begin = expression.end;
  }
  return !Trim(std::string_view(text).substr(begin)).empty();
}

// The value at the path; null: there is none.
template <typename JsonType>
JsonType* At(JsonType& value, const std::vector<std::string>& path) {
  JsonType* at = &value;
  for (const std::string& key : path) {
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &(*at)[key];
  }
  return at;
}

}  // namespace

std::vector<std::vector<std::string>> LiteralSecretPaths(const ModelType& type, const Json& global_arguments) {
  std::vector<std::vector<std::string>> literal;
  for (std::vector<std::string>& path : SensitivePaths(type.global_arguments)) {
    const Json* const value = At(global_arguments, path);
    if (value != nullptr && HoldsLiteral(*value)) literal.push_back(std::move(path));
  }
  return literal;
}

std::vector<std::string> LiteralSecrets(const ModelType& type, const Json& global_arguments) {
  std::vector<std::string> places;
  for (const auto& path : LiteralSecretPaths(type, global_arguments)) places.push_back("globalArguments." + Join(path, "."));
  return places;
}

void CheckLiteralSecrets(const ModelType& type, const Json& global_arguments) {
  const std::vector<std::string> places = LiteralSecrets(type, global_arguments);
  if (places.empty()) return;
  throw UserError("literal_sensitive_global_arg",
                  fmt::format("a secret must not stand in a definition: {}", Join(places, ", ")),
                  "Put it into a vault (swamp vault put <vault> <key>) and refer to it: "
                  "${{ vault.get('<vault>', '<key>') }}.");
}

Json WithoutLiteralSecrets(const ModelType& type, Json global_arguments) {
  for (const auto& path : LiteralSecretPaths(type, global_arguments)) *At(global_arguments, path) = "***";
  return global_arguments;
}

}  // namespace swamp

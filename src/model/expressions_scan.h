#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"

namespace swamp {

// One `${{ ... }}` in a text. It ends at the first `}}`, and may go over several lines.
struct EmbeddedExpression {
  std::size_t begin;  // of the "$"
  std::size_t end;    // behind the "}}"
  std::string code;   // between the braces, trimmed; never empty: empty braces are text
};
std::vector<EmbeddedExpression> FindExpressions(std::string_view text);

// Whether the text is one expression and nothing else but blanks behind it: its value then keeps its type.
bool IsWholeExpression(std::string_view text, const std::vector<EmbeddedExpression>& expressions);
bool IsWholeExpression(std::string_view text);

// Calls `visit(place, text)` for every string in the value that holds an expression: "globalArguments.a[0].b".
template <typename Visit>
void ForEachExpressionText(const Json& value, const std::string& place, const Visit& visit) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (!FindExpressions(text).empty()) visit(place, text);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      ForEachExpressionText(member, place.empty() ? key : place + "." + key, visit);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      ForEachExpressionText(value[i], place + "[" + std::to_string(i) + "]", visit);
    }
  }
}

// `vault.get(v, k)` in the code of an expression.
struct VaultArgument {
  std::string text;
  bool dynamic = false;  // an expression that gives the name; else the name itself
};
struct VaultCall {
  std::string text;  // as written
  VaultArgument vault;
  VaultArgument key;
};

// The code as the expression language reads it: each vault.get is the variable `__swamp_vault_<n>`, and names with
// hyphens or a digit in front, as in `model.my-vpc.resource`, are in brackets.
struct PreparedCode {
  std::string text;
  std::vector<VaultCall> vault_calls;
};
inline constexpr std::string_view kVaultVariable = "__swamp_vault_";
PreparedCode PrepareCode(std::string_view code);

// How `inputs.a-b`, a subtraction, would be written as a name; empty when there is no such thing in the code.
std::string HyphenHint(std::string_view code);

}  // namespace swamp

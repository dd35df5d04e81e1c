#include "access/principal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kLongestName = 512;
constexpr std::array<std::string_view, 2> kPrincipals = {"user", "worker"};
constexpr std::array<std::string_view, 3> kSubjects = {"user", "group", "idp-group"};
constexpr std::array<std::string_view, 4> kResources = {"workflow", "model", "data", "access"};
constexpr std::array<std::string_view, 4> kActions = {"run", "read", "write", "admin"};

bool Has(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string List(std::span<const std::string_view> words, std::string_view ending) {
  std::string list;
  for (const std::string_view word : words) list += fmt::format("{}{}{}", list.empty() ? "" : ", ", word, ending);
  return list;
}

// Not empty, of one line, with nothing at its ends that an eye would miss.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && IsValidUtf8(name) && Trim(name) == name &&
         std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool IsPattern(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  return IsName(pattern) && (star == std::string_view::npos || star + 1 == pattern.size());
}

struct Parts {
  std::string kind;
  std::string name;
};

Parts Split(std::string_view text, std::span<const std::string_view> kinds, bool (*is_name)(std::string_view), std::string_view what,
            std::string_view more) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && Has(kinds, text.substr(0, colon)) && is_name(text.substr(colon + 1))) {
    return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
  }
  throw UserError("validation_failed", fmt::format("\"{}\" is no {}", Printable(text, 120), what),
                  fmt::format("One is {}{}.", List(kinds, ":<name>"), more));
}

// What is stored may have kinds that only newer programs know: those match nothing here.
bool IsKind(std::string_view kind) {
  return !kind.empty() && kind.size() <= 40 && std::all_of(kind.begin(), kind.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

std::optional<Parts> FromFields(const Json& json, std::string_view name_key, bool (*is_name)(std::string_view)) {
  auto kind = StringMember(json, "kind");
  auto name = StringMember(json, name_key);
  if (!kind || !name || !IsKind(*kind) || !is_name(*name)) return std::nullopt;
  return Parts{std::move(*kind), std::move(*name)};
}

}  // namespace

Principal LocalUser() { return {"user", "local"}; }

Principal Principal::Parse(std::string_view text) {
  Parts parts = Split(text, kPrincipals, IsName, "principal", "");
  return {std::move(parts.kind), std::move(parts.name)};
}

std::optional<Principal> Principal::FromJson(const Json& json) {
  auto parts = FromFields(json, "id", IsName);
  if (!parts) return std::nullopt;
  return Principal{std::move(parts->kind), std::move(parts->name)};
}

Subject Subject::Parse(std::string_view text) {
  Parts parts = Split(text, kSubjects, IsName, "subject", "");
  return {std::move(parts.kind), std::move(parts.name)};
}

std::optional<Subject> Subject::FromJson(const Json& json) {
  auto parts = FromFields(json, "name", IsName);
  if (!parts) return std::nullopt;
  return Subject{std::move(parts->kind), std::move(parts->name)};
}

Resource Resource::Parse(std::string_view text) {
  Parts parts = Split(text, kResources, IsPattern, "resource", ", where only the last character of the name may be a *");
  return {std::move(parts.kind), std::move(parts.name)};
}

std::optional<Resource> Resource::FromJson(const Json& json) {
  auto parts = FromFields(json, "pattern", IsPattern);
  if (!parts) return std::nullopt;
  return Resource{std::move(parts->kind), std::move(parts->name)};
}

bool Resource::Matches(std::string_view name) const {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
}

bool IsAction(std::string_view word) { return Has(kActions, word); }

void CheckAction(std::string_view word) {
  if (IsAction(word)) return;
  throw UserError("validation_failed", fmt::format("\"{}\" is no action", Printable(word, 80)),
                  fmt::format("Actions: {}.", List(kActions, "")));
}

}  // namespace swamp

#include "extension/registry.h"

#include <fmt/format.h>

#include "util/error.h"

namespace swamp {
namespace {

bool IsSet(const Json& document, std::string_view key) {
  const auto found = document.find(key);
  return found != document.end() && !found->is_null();
}

}  // namespace

RegistryEntry ReadRegistryEntry(const Json& document) {
  RegistryEntry entry;
  entry.description = StringMember(document, "description").value_or("");
  for (const auto& [channel, key] : {std::pair{Channel::kStable, "latestVersion"},
                                     {Channel::kRc, "latestRc"},
                                     {Channel::kBeta, "latestBeta"}}) {
    if (const auto version = Version::Parse(StringMember(document, key).value_or(""))) {
      entry.latest.emplace(channel, *version);
    }
  }
  if (IsSet(document, "yankedAt"))
    entry.withdrawn = StringMember(document, "yankReason").value_or("");
  if (IsSet(document, "deprecatedAt"))
    entry.deprecated = StringMember(document, "deprecationReason").value_or("");
  entry.superseded_by = StringMember(document, "supersededBy").value_or("");
  return entry;
}

void ThrowExtensionNotFound(const Registry& registry, const ExtensionName& name) {
  throw UserError(
      "extension_not_found", fmt::format("{} has no extension {}", registry.url(), name.text()),
      "Find its name: swamp extension search. If it was pulled from another registry, set "
      "SWAMP_CLUB_URL to that.");
}

}  // namespace swamp

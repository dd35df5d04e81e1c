#include "extension/registry.h"

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

}  // namespace swamp

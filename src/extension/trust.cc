#include "extension/trust.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

std::string_view WithoutAt(std::string_view collective) {
  if (collective.starts_with('@')) collective.remove_prefix(1);
  return collective;
}

bool Contains(std::span<const std::string> collectives, std::string_view wanted) {
  return std::any_of(collectives.begin(), collectives.end(), [&](const std::string& collective) {
    return WithoutAt(collective) == wanted;
  });
}

}  // namespace

std::vector<std::string> ResolveTrust(const TrustSettings& settings) {
  std::vector<std::string> resolved;
  const auto add = [&](const std::vector<std::string>& collectives) {
    for (const std::string& collective : collectives) {
      if (!Contains(resolved, WithoutAt(collective))) resolved.emplace_back(WithoutAt(collective));
    }
  };
  add(settings.explicit_collectives);
  if (settings.trust_member_collectives) add(settings.memberships);
  return resolved;
}

bool IsTrusted(std::span<const std::string> trusted, const ExtensionName& name) {
  return Contains(trusted, name.collective());
}

void RequireTrusted(std::span<const std::string> trusted, const ExtensionName& name) {
  if (IsTrusted(trusted, name)) return;
  throw UserError(
      "extension_untrusted",
      fmt::format("{} is needed, and the collective {} is not trusted: nothing was downloaded",
                  name.text(), name.collective()),
      fmt::format("To install it yourself: swamp extension pull {}. To trust all of {}: swamp "
                  "extension trust add {}",
                  name.text(), name.collective(), name.collective()));
}

std::string RequireCollective(std::string_view text) {
  const std::string collective(WithoutAt(text));
  if (ExtensionName::Parse("@" + collective + "/x") && collective.find('/') == std::string::npos)
    return collective;
  throw UserError("collective_invalid",
                  fmt::format("\"{}\" is not the name of a collective", Printable(text, 100)),
                  "A collective is what stands before the / of an extension's name, such as acme.");
}

TrustChange AddTrusted(std::vector<std::string> explicit_collectives, std::string_view collective) {
  const std::string name = RequireCollective(collective);
  if (Contains(explicit_collectives, name))
    return {"unchanged", name, std::move(explicit_collectives)};
  explicit_collectives.push_back(name);
  return {"added", name, std::move(explicit_collectives)};
}

TrustChange RemoveTrusted(std::vector<std::string> explicit_collectives,
                          std::string_view collective) {
  const std::string name = RequireCollective(collective);
  const auto removed = std::erase_if(
      explicit_collectives, [&](const std::string& one) { return WithoutAt(one) == name; });
  return {removed > 0 ? "removed" : "unchanged", name, std::move(explicit_collectives)};
}

}  // namespace swamp

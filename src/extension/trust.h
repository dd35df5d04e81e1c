#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extension/extension_name.h"
#include "util/json.h"

namespace swamp {

// Whose extensions may be installed without being asked for by name. Pure: the lists come from
// .swamp.yaml
// (`trustedCollectives`, `trustMemberCollectives`) and the login. Collectives are written without
// "@".
struct TrustSettings {
  std::vector<std::string> explicit_collectives;
  bool trust_member_collectives = false;
  std::vector<std::string> memberships;  // what the login is a member of; gives no trust by itself
};

// The trusted collectives, the explicit ones first, each once.
std::vector<std::string> ResolveTrust(const TrustSettings& settings);
bool IsTrusted(std::span<const std::string> trusted, const ExtensionName& name);
// Throws UserError extension_untrusted that names the command which changes that.
void RequireTrusted(std::span<const std::string> trusted, const ExtensionName& name);

// "acme" of "acme" or "@acme". Throws UserError collective_invalid.
std::string RequireCollective(std::string_view text);

struct TrustChange {
  std::string action;  // "added", "removed" or "unchanged"
  std::string collective;
  std::vector<std::string> trusted_collectives;  // the new explicit list
};
TrustChange AddTrusted(std::vector<std::string> explicit_collectives, std::string_view collective);
TrustChange RemoveTrusted(std::vector<std::string> explicit_collectives,
                          std::string_view collective);

}  // namespace swamp

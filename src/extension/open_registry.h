#pragma once

#include <memory>
#include <optional>
#include <string>

#include "extension/registry.h"

namespace swamp {

class Environment;
class HttpClient;

// A login that is stored on this machine (auth.json).
struct StoredLogin {
  std::string server_url;
  std::string api_key;
};

struct RegistryChoice {
  std::string url;
  std::string api_key;  // empty: none
  bool is_named =
      false;  // whether the user has named the registry anywhere, so that it may be asked unbidden
};

// Which registry to use: SWAMP_CLUB_URL, else `configured` (registry.url), else the login's, else
// https://swamp-club.com. SWAMP_API_KEY goes to whichever it is; a login's key only to the login's
// own.
RegistryChoice ChooseRegistry(const Environment& environment,
                              const std::optional<std::string>& configured,
                              const std::optional<StoredLogin>& login);

// A registry by its address: http(s):, or file:///folder. `client` is borrowed and used for http(s)
// only. Throws UserError registry_url_invalid.
std::unique_ptr<Registry> OpenRegistry(const RegistryChoice& choice, HttpClient& client,
                                       std::string user_agent);

}  // namespace swamp

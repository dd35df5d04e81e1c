#pragma once

#include <filesystem>
#include <optional>

#include "extension/open_registry.h"

namespace swamp {

class Context;

// The login that `auth.json` in the user's config folder holds; nothing when there is none. Throws UserError
// login_invalid when the file says something else.
std::optional<StoredLogin> ReadStoredLogin(const Context& context, const std::filesystem::path& config_folder);

}  // namespace swamp

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "util/context.h"

namespace swamp {

// Where a command's repository is: `repo_dir` (from --repo-dir) > SWAMP_REPO_DIR > the working
// directory and its parents, up to the root of the Git work tree, or ten levels outside one. The
// first two are taken as given.
std::filesystem::path FindRepository(const Context& context,
                                     const std::optional<std::string>& repo_dir);

// Throws UserError not_a_repository, or repository_damaged when there is a .swamp folder without a
// marker.
void RequireRepository(Files& files, const std::filesystem::path& root);

// `path` with a leading "~/" as the home folder, and made absolute from `base`.
std::filesystem::path ExpandPath(const Context& context, const std::string& path,
                                 const std::filesystem::path& base);

// The user's data folder: $SWAMP_HOME > ~/.swamp. Throws UserError no_home when neither is known.
std::filesystem::path DataFolder(const Context& context);
// The user's config folder: $SWAMP_CONFIG_DIR > $SWAMP_HOME/config > $XDG_CONFIG_HOME/swamp >
// ~/.config/swamp.
std::filesystem::path ConfigFolder(const Context& context);

}  // namespace swamp

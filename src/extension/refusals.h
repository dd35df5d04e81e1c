#pragma once

#include <string>
#include <vector>

#include "extension/install_tree.h"

namespace swamp {

// Why an install must not go on: what the files of a checkout have to say. Shared by the commands
// that install.

// Throws UserError extension_edited that names the files; nothing when there are none.
void RefuseEdited(const ExtensionSite& site, const ExtensionName& name, const TreeState& state);
// Throws UserError extension_conflict that names the files and whose they are; nothing when there
// are none.
void RefuseConflicts(const ExtensionName& name, const std::vector<InstallConflict>& conflicts);

// Throws UserError extension_not_installed, with the names that may have been meant.
[[noreturn]] void RefuseNotInstalled(const ExtensionName& name, const Lockfile& lockfile);

// Paths of the tree as repository paths.
std::vector<std::string> RepositoryPaths(const ExtensionSite& site, const TreeState& state,
                                         const std::vector<std::string>& paths);
// "a, b, c and 7 more".
std::string ListOf(const std::vector<std::string>& items);

}  // namespace swamp

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "extension/installed_set.h"
#include "extension/site.h"
#include "extension/tree_state.h"

namespace swamp {

struct RemovalPreview {
  std::string name;
  std::string version;
  std::vector<std::string> files;    // repository paths of what goes: sources and bundles
  std::vector<std::string> edited;   // of what stays because it was edited here
  std::vector<std::string> unknown;  // of what stays because it is not the extension's
  std::vector<RefusedPath> refused;  // of the entry's paths
  std::vector<std::string> dependents;
  std::string hint;  // when the entry doesn't say which files it has
};

struct RemoveRequest {
  ExtensionName name;
  bool force = false;  // also edited files, and also while others depend on it
  // Asked once before anything is changed; false cancels. None: go on.
  std::function<bool(const RemovalPreview&)> confirm;
};

struct RemoveResult {
  bool cancelled = false;
  RemovalPreview removed;
  std::size_t folders_removed = 0;
};

// Takes an extension out of the lockfile and removes its files, but for edited ones and such that
// are not its own; folders that become empty go too. Throws UserError extension_not_installed,
// extension_in_use (other extensions depend on it), lock_timeout, and what InstalledSet::Change
// throws.
RemoveResult Remove(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                    const RemoveRequest& request);

}  // namespace swamp

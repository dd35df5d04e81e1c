#pragma once

#include <optional>
#include <string>
#include <vector>

#include "extension/examine.h"
#include "extension/item_error.h"
#include "extension/registry.h"

namespace swamp {

// An extension that is brought back as the lockfile pins it.
struct RepairOperation {
  std::string name;
  std::string path;    // its tree, as a repository path
  std::string reason;  // what was found
  std::vector<std::string> edited;  // repository paths of edited files that would be, or were, left as the user has them
  bool done = false;
  std::optional<ItemError> error;
};

// What a repair would do about what was found. It takes nothing away: a tree without an entry may be one that a peer has
// removed from the lockfile, or one that the lockfile has lost; only people know. `force`: edited files are brought back, too.
std::vector<RepairOperation> PlanRepair(const ExtensionSite& site, const std::vector<ExaminedExtension>& found, bool force);

// Does it, at the pinned versions and checksums. Changes no entry of the lockfile. What fails is in its operation.
void RepairExtensions(const Context& context, const ExtensionSite& site, InstalledSet& installed, Registry& registry, bool force,
                      std::vector<RepairOperation>& operations);

}  // namespace swamp

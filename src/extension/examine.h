#pragma once

#include <string>
#include <vector>

#include "extension/installed_set.h"
#include "extension/site.h"
#include "extension/tree_state.h"

namespace swamp {

// What this checkout has of one extension, held against the lockfile.
struct ExaminedExtension {
  std::string name;
  std::string version;  // that the lockfile pins; empty: it has no entry
  std::string here;     // the version that is here; empty: none
  bool in_lockfile = true;
  std::vector<std::string> missing;   // repository paths
  std::vector<std::string> modified;
  std::vector<std::string> orphans;   // in its folder, and nobody's
  std::vector<RefusedPath> refused;

  // Whether what is pinned is here whole; edits don't count.
  bool whole() const { return !in_lockfile || (version == here && missing.empty() && refused.empty()); }
};

// Every entry of the lockfile but those that are built in, and trees that have none, by name. Reads and hashes files;
// changes nothing, asks nobody.
std::vector<ExaminedExtension> ExamineExtensions(const Context& context, const ExtensionSite& site, InstalledSet& installed);

}  // namespace swamp

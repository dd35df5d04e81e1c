#pragma once

#include <string>
#include <vector>

#include "extension/installed_set.h"
#include "extension/site.h"

namespace swamp {

struct ListedExtension {
  std::string name;
  std::string version;
  std::string channel;
  std::string pulled_at;           // as recorded; may be empty
  std::vector<std::string> files;  // as recorded: not checked, for display only
  // Whether its files are here. An entry recorded by another checkout has none until `extension
  // install`.
  bool installed = false;
  bool built_in = false;
};

// Every entry of the lockfile, by name. No network; no file is read but receipts and manifests.
std::vector<ListedExtension> ListExtensions(const Context& context, const ExtensionSite& site,
                                            InstalledSet& installed);

}  // namespace swamp

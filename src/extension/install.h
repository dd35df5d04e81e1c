#pragma once

#include <optional>
#include <string>
#include <vector>

#include "extension/installed_set.h"
#include "extension/item_error.h"
#include "extension/registry.h"
#include "extension/site.h"
#include "extension/tree_state.h"

namespace swamp {

struct InstallRequest {
  std::optional<ExtensionName> only;  // nothing: all entries
  bool force = false;                 // overwrite edited files and files in the way
};

struct InstallItem {
  enum class Status { kUpToDate, kInstalled, kFailed };
  std::string name;
  std::string version;
  Status status = Status::kUpToDate;
  std::optional<ItemError> error;
  std::vector<std::string> edited;  // repository paths of files that were left as the user has them
  std::vector<RefusedPath> refused;  // of the entry's paths
  std::vector<std::string> warnings;
};

struct InstallResult {
  std::vector<InstallItem> entries;  // by name
  std::size_t installed = 0;
  std::size_t migrated = 0;  // of the installed, those whose files were in an older layout
  std::size_t up_to_date = 0;
  std::size_t failed = 0;
  std::string warning;                   // about the whole
  std::optional<ItemError> unpublished;  // a change on record that still could not be published
};

// Restores every entry whose files are missing, or of another version than the pinned one, at the
// pinned version and checksum. Writes no entry; publishes a change that is on record. What fails
// for one entry is in its item; a restored tree keeps edited files of the same version.
InstallResult Install(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                      Registry& registry, const InstallRequest& request);

// For whoever needs an extension that nobody asked for by name (a type that isn't known): makes
// sure that it is here. What the lockfile pins is restored at the pin; else the newest stable
// version is pulled. Only of trusted collectives; nothing is requested before that is known. Says
// whether anything was installed. Throws UserError extension_untrusted and what Pull throws.
bool EnsureInstalled(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                     Registry& registry, const ExtensionName& name);

}  // namespace swamp

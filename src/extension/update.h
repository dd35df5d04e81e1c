#pragma once

#include <optional>
#include <string>
#include <vector>

#include "extension/installed_set.h"
#include "extension/item_error.h"
#include "extension/registry.h"
#include "extension/site.h"

namespace swamp {

struct UpdateItem {
  enum class Status { kUpToDate, kUpdateAvailable, kUpdated, kFailed };
  std::string name;
  std::string installed_version;
  std::string latest_version;  // the newest of its channel; the installed one where that is newer,
                               // or none is offered
  Channel channel = Channel::kStable;
  Status status = Status::kUpToDate;
  std::optional<std::string> deprecated;  // the reason
  std::string superseded_by;
  std::optional<ItemError> error;
  std::vector<std::string> warnings;
};

// Asks for the newest version of every entry's channel, or of one entry's. Changes nothing.
// Built-in extensions are left out. Throws UserError extension_not_installed.
std::vector<UpdateItem> CheckForUpdates(const Context& context, const ExtensionSite& site,
                                        InstalledSet& installed, Registry& registry,
                                        const std::optional<ExtensionName>& only);

struct UpdateRequest {
  std::optional<ExtensionName> only;  // nothing: all entries
  bool check_only = false;
  bool force = false;  // overwrite edited files and files in the way
};

struct UpdateResult {
  std::vector<UpdateItem> extensions;  // by name
  std::size_t up_to_date = 0;
  std::size_t updated = 0;
  std::size_t failed = 0;
};

// Pulls what CheckForUpdates found, one extension after the other; never an older version. What
// fails for one is in its item.
UpdateResult Update(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                    Registry& registry, const UpdateRequest& request);

}  // namespace swamp

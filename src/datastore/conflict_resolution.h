#pragma once

#include <optional>
#include <string>

#include "datastore/datastore.h"

namespace swamp {

enum class Keep { kLocal, kRemote };

struct ConflictVersions {
  ConflictFolder::Copy copy;
  std::string local;                  // the version kept aside
  std::optional<std::string> remote;  // the datastore's; nothing: it was removed there
};

// `path` is a tier path. Throws UserError conflict_not_found.
ConflictVersions ShowConflict(const Context& context, Datastore& datastore, const std::string& path);

// Settles the newest conflict of a path: `kLocal` publishes the kept version over exactly the datastore's current one, `kRemote`
// drops it. Throws conflict_not_found, config_conflict (a peer was faster again; still kept), StoreError.
void ResolveConflict(const Context& context, Datastore& datastore, const std::string& path, Keep keep);

}  // namespace swamp

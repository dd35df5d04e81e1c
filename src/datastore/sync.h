#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datastore/datastore.h"

namespace swamp {

struct SyncRequest {
  bool pull = false;   // neither of the two: both directions
  bool push = false;
  bool confirmed = false;  // push without a preview first
  std::optional<Duration> timeout;
  // Publishes a pending change of the extension lockfile (it lives on a higher floor); says whether there was one.
  std::function<bool(const Context&)> publish_lockfile;
  // Called when all has been pushed, if given: tells other namespaces what there is now (it lives on a higher floor).
  std::function<void(const Context&)> publish_catalog;
};

struct SyncResult {
  std::string mode;  // "pull", "push", "sync"
  std::optional<int> files_pulled;
  std::optional<int> files_pushed;
  std::optional<PushPreview> preview;  // set: nothing was pushed, this is what would be
  bool lockfile_published = false;
  std::vector<PathProblem> problems;  // keys that were refused
};

// Brings cache and bucket together. Uploads what commands recorded and what a walk through the cache
// finds changed; never an unmodified or superseded file.
// Throws UserError sync_not_supported (a datastore without a bucket), config_conflict naming every path,
// sync_incomplete, sync_timeout, StoreError.
SyncResult SyncDatastore(const Context& context, Datastore& datastore, const SyncRequest& request);

}  // namespace swamp

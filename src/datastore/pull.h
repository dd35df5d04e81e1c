#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datastore/replica.h"

namespace swamp {

enum class PullScope {
  kConfig,  // config/ alone: what commands on configuration need
  kAll,     // every folder that the datastore holds
};

enum class PullEffort {
  kWhatChanged,     // trusts that files which are here stay as they were
  kRestoreMissing,  // also fetches again what is missing here (config/ always does)
  kEverything,      // likewise, and what a lazy checkout leaves out: before its files are moved elsewhere
};

struct PullReport {
  int files_pulled = 0;
  int files_removed = 0;
  std::vector<std::string> kept_local;  // changed here and there: left for their push to settle
  std::vector<std::filesystem::path> conflict_copies;
  std::vector<PathProblem> problems;
  bool unchanged = false;  // the bucket had nothing new: one request
};

// Brings the cache up to the bucket. Never touches a path that has a change of this checkout's own, and
// removes a file only after a clean 404 (or a tombstone) for its very key.
// Throws StoreError, IoError, Cancelled, DeadlineExceeded; what was brought over until then stays.
PullReport Pull(const Context& context, Replica& replica, PullScope scope,
                PullEffort effort = PullEffort::kWhatChanged);

// The same for the data of one model ("type/id") and nothing else: two shards at most, however large the bucket is. Where that
// cannot be told apart (the state database was lost, or the bucket has no index yet) everything is brought over.
PullReport PullModelData(const Context& context, Replica& replica, const std::string& model);
// Likewise for a tier folder that has one shard: "auto-definitions".
PullReport PullFolder(const Context& context, Replica& replica, const std::string& folder);

}  // namespace swamp

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datastore/replica.h"

namespace swamp {

struct PushOptions {
  // Also look through the cache for changes that were made without this program's knowing.
  bool walk = false;
  // When not empty: only paths that begin with one of these.
  std::vector<std::string> only;
  // Removals of a migration (moved_away.h) go along: it is the caller's own.
  bool moving_away = false;
};

// A path whose change could not simply be published.
struct PushConflict {
  enum class Kind {
    kEdited,         // both sides changed it; ours is kept as `local_copy`
    kRemovedByPeer,  // a peer removed what was changed here; ours is kept as `local_copy`
    kRemoval,        // our removal met a peer's newer version; nothing of ours to keep
    kImmutable,      // one data version with two contents; both stay where they are
  };
  Kind kind;
  std::string path;
  std::filesystem::path local_copy;
  std::string peer;  // "user@host", when the store knows
  std::optional<Time> peer_time;
};

struct PushReport {
  int files_pushed = 0;   // uploads that the bucket took
  int files_removed = 0;  // removals that it took
  std::vector<std::string> found_gone;  // paths to remove that somebody else had removed
  int files_taken = 0;    // paths whose bucket version came here instead, by rule
  std::vector<PushConflict> conflicts;
};

// What a push would do, without a request.
struct PushPreview {
  std::vector<std::string> created;
  std::vector<std::string> changed;
  std::vector<std::string> removed;
  std::size_t total() const { return created.size() + changed.size() + removed.size(); }
};
PushPreview PreviewPush(const Context& context, Replica& replica, const PushOptions& request);

// Publishes the changes that this checkout made and nothing else: each by one conditional request, in
// the order metadata of data versions, their other files (not those of a version that a peer has), documents and records, markers, removals, index shards, meta document.
// A crash at any point leaves the rest recorded, and the next push goes on.
// Throws StoreError and others; what was uploaded until then stays recorded as not yet announced.
PushReport Push(const Context& context, Replica& replica, const PushOptions& request = {});

// Records that the index has to learn of an object that another way of writing put there (the lockfile),
// and announces it; no other change goes along.
void Announce(const Context& context, Replica& replica, const std::string& path);

// Paths that this checkout changed and has not published, by path.
std::vector<std::string> UnpublishedPaths(Cache& cache);

}  // namespace swamp

#pragma once

#include <string>
#include <vector>

#include "datastore/cache.h"
#include "datastore/remote_index.h"
#include "objectstore/object_store.h"

namespace swamp {

struct ReplicaOptions {
  std::string writer;                // "user@host", left with what this checkout writes
  int pull_concurrency = 50;         // downloads under way
  int push_concurrency = 25;         // uploads under way
  std::vector<std::string> folders;  // the tier folders that the datastore holds
  ExcludePatterns excludes;          // paths that stay local
  bool lazy = false;                 // a pull leaves the content of data versions in the bucket until it is used
};

// One checkout's copy of a shared datastore: the cache here, the bucket there, and how they are kept
// alike. Borrowed parts; used by one thread.
class Replica {
 public:
  Replica(Cache& cache, ObjectStore& store, ReplicaOptions options)
      : cache_(cache), store_(store), index_(store), options_(std::move(options)) {}

  Cache& cache() const { return cache_; }
  ObjectStore& store() const { return store_; }
  RemoteIndex& index() { return index_; }
  const ReplicaOptions& options() const { return options_; }

  // Whether the datastore holds the path at all.
  bool Holds(std::string_view path) const;

 private:
  Cache& cache_;
  ObjectStore& store_;
  RemoteIndex index_;
  ReplicaOptions options_;
};

// A path that could not be brought over, and why; the rest went on.
struct PathProblem {
  std::string path;
  std::string message;
};

// The meta document that this checkout has seen last, to build a commit on.
std::optional<MetaState> KnownMeta(StateDb& state);
std::pair<std::string, std::string> MetaValue(const MetaState& meta);

}  // namespace swamp

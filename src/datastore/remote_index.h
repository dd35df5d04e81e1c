#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datastore/index.h"
#include "objectstore/object_store.h"

namespace swamp {

// What a writer has to say about one path to everybody else.
struct IndexChange {
  std::string path;
  std::optional<IndexEntry> entry;  // nothing: the path is gone
  std::string seen;                 // signature of the entry that this writer saw before its write; empty: none
  ETag etag;                        // of the object (or the tombstone) that this writer put there, or has seen there
  bool repairs = false;             // the writer has only looked: an entry that fits the object stays as it is
};

// `_meta.json` with the ETag that a next commit has to match.
struct MetaState {
  ETag etag;  // empty: there is no meta object yet
  IndexMeta meta;
  bool before_shards = false;  // there is none, or one of version 1: the older single index counts, where there is one
};

// Reads and merges the index of a bucket. Every write is a compare-and-swap that holds this writer's own
// changes only. Stateless; may be used from several tasks at once.
class RemoteIndex {
 public:
  explicit RemoteIndex(ObjectStore& store) : store_(store) {}

  struct MetaAnswer {
    bool unchanged = false;  // it is still the version `unless`
    MetaState state;         // otherwise
  };
  // A missing or unreadable meta document is answered by one made from a listing of the shards.
  MetaAnswer ReadMeta(const Context& context, const std::optional<ETag>& unless);

  struct ShardState {
    ETag etag;  // empty: there is no such object
    IndexShard shard;
  };
  // A missing shard is an empty one; an unreadable one is made anew from a listing of its objects.
  ShardState ReadShard(const Context& context, const std::string& partition);
  // The shards that are there: partition and ETag.
  std::vector<std::pair<std::string, ETag>> ListShards(const Context& context);

  // The older single index, if the bucket has one.
  std::optional<LegacyIndex> ReadLegacy(const Context& context);

  // Brings the changes into their shard. An entry that somebody else wrote meanwhile stays, unless a
  // look at the object shows that ours still describes it. Says whether anything had to be changed.
  bool MergeShard(const Context& context, const std::string& partition,
                  const std::vector<IndexChange>& changes);
  // The same for the older single index; does nothing where there is none.
  void MergeLegacy(const Context& context, const std::vector<IndexChange>& changes);
  // Brings entries of the older single index that no shard has into their shards: how many, and into how many shards. No
  // reader sees them before the next commit, and from then on every reader does.
  struct Adopted {
    int entries = 0;
    int shards = 0;
  };
  Adopted AdoptLegacy(const Context& context);
  // Commits: one number further, with these partitions named. `known` is tried first and saves a read.
  // Returns the new state, and whether nobody else has committed since `known` (or, without it, ever).
  struct Commit {
    MetaState state;
    bool followed_known = false;
  };
  Commit CommitMeta(const Context& context, const std::vector<std::string>& partitions,
                    const std::optional<MetaState>& known, const std::string& writer);

 private:
  // Whether the index should say what `change` says, given what it says now.
  bool Applies(const Context& context, const IndexChange& change, const std::optional<IndexEntry>& current);
  IndexMeta MetaFromListing(const Context& context);
  IndexShard ShardFromListing(const Context& context, const std::string& partition);

  ObjectStore& store_;
};

// Waits before try number `attempt` (from 1) of a compare-and-swap: a few milliseconds, then more, at random.
void BackOff(const Context& context, int attempt);
// How often a compare-and-swap is tried before the command says that the datastore is too busy.
inline constexpr int kMaxSwapAttempts = 60;

}  // namespace swamp

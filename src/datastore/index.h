#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"
#include "util/time.h"

namespace swamp {

// The index beside the objects of a bucket: a hint that makes "what changed?" cheap, and never the
// authority on whether an object may be overwritten. Formats: docs/s3-guide.md.

// What a shard says of one tier path.
struct IndexEntry {
  std::uint64_t size = 0;
  std::string last_modified;  // as written there; RFC 3339
  std::string local_mtime;    // empty: not said
  std::string sha256;         // lower-case hex; empty: not said

  // Changes whenever the entry says anything else.
  std::string Signature() const;
  bool operator==(const IndexEntry&) const = default;
};

// One `_index/<partition>.json`. Entries keep whatever else they hold when the shard is rewritten.
class IndexShard {
 public:
  // Nothing: not a shard.
  static std::optional<IndexShard> Parse(std::string_view text);

  std::optional<IndexEntry> Find(const std::string& path) const;
  void Set(const std::string& path, const IndexEntry& entry);
  void Remove(const std::string& path) { entries_.erase(path); }
  // All entries whose size is readable, by path.
  std::map<std::string, IndexEntry> Entries() const;
  bool empty() const { return entries_.empty(); }
  std::string Serialize() const;

 private:
  Json other_ = Json::object();  // top-level keys but "version" and "entries"
  std::map<std::string, Json> entries_;
};

// `_index/_meta.json`: which shards there are, and a number that grows with every commit.
struct IndexMeta {
  // Nothing: not a meta document of version 2.
  static std::optional<IndexMeta> Parse(std::string_view text);

  std::set<std::string> partitions;
  std::uint64_t commit_seq = 0;
  Json other = Json::object();  // "lastCompacted" and whatever else stood there

  // `nonce` makes the bytes this writer's own: two writers' next commits must not look alike.
  std::string Serialize(std::string_view nonce) const;
};

// The older single index: `.datastore-index.json`.
class LegacyIndex {
 public:
  static std::optional<LegacyIndex> Parse(std::string_view text);
  std::map<std::string, IndexEntry> Entries() const { return shard_.Entries(); }
  void Set(const std::string& path, const IndexEntry& entry) { shard_.Set(path, entry); }
  void Remove(const std::string& path) { shard_.Remove(path); }
  std::string Serialize(Time now) const;

 private:
  IndexShard shard_;
};

}  // namespace swamp

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "objectstore/object_store.h"
#include "util/sqlite.h"

namespace swamp {

// What this checkout last saw of a path in the bucket, and the local file that came of it. Of content that a lazy pull left
// out there is no file, and no ETag as long as only the index has told of the object.
struct Base {
  std::string path;
  ETag etag;
  std::uint64_t size = 0;
  std::string sha256;  // of the object; empty: the path is gone, and `etag` is its tombstone's
  std::int64_t local_mtime_ns = 0;
  std::uint64_t local_size = 0;
  std::string entry;  // IndexEntry::Signature as last seen; empty: none seen

  bool gone() const { return sha256.empty(); }
};

enum class DirtyKind {
  kWrite = 0,
  kRemove = 1,
  kAnnounce = 2,  // only the index has still to learn of the object
};

// A change that this checkout made and that the bucket doesn't have yet.
struct DirtyRow {
  std::string path;
  DirtyKind kind = DirtyKind::kWrite;
  std::int64_t seq = 0;  // grows with every change; tells a later change of the path from this one
  std::string removed;   // kRemove: SHA-256 of the file that was removed; empty: there was none
};

// `<cache>/.datastore-state.db`: the memory of one checkout's cache. Never uploaded and safe to delete:
// then every path is compared with the bucket before its first upload, and nothing is forced.
//
// Not thread-safe. Several processes may have it open; each method is one transaction.
// Throws DatabaseError.
class StateDb {
 public:
  // Opens the database, or makes it. A damaged or older one is replaced by an empty one. Throws
  // UserError state_newer when a newer program made it.
  StateDb(Files& files, const std::filesystem::path& path);

  // Whether this opening found nothing usable and started empty.
  bool started_empty() const { return started_empty_; }

  std::optional<Base> FindBase(const std::string& path);
  // The bases of one shard's paths, by path.
  std::vector<Base> BasesOfPartition(const std::string& partition);
  std::vector<std::string> Partitions();
  bool HasBases();
  std::int64_t CountBases();

  // Answers the row's sequence number. `removed`: of a removal, the version that it removes.
  std::int64_t MarkDirty(const std::string& path, DirtyKind kind, const std::string& removed = {});
  // All of them or none; answers the first one's sequence number, the others' follow on it.
  std::int64_t MarkDirty(std::span<const std::string> paths, DirtyKind kind, const std::string& removed = {});
  std::optional<DirtyRow> FindDirty(const std::string& path);
  std::vector<DirtyRow> AllDirty();

  // One step's outcome: all of it, or nothing.
  struct Settlement {
    std::vector<Base> set;
    std::vector<std::string> forget;  // paths without a base from now on
    std::vector<DirtyRow> handled;    // cleared only while path and seq are still the same
    std::vector<std::pair<std::string, std::string>> values;  // key to value; an empty value removes
    bool placed = false;  // what BeginPlacing recorded is done
  };
  void Settle(const Settlement& settlement);

  // Records files of the bucket that are about to be renamed into place, by the bases that they will have.
  void BeginPlacing(const std::vector<Base>& bases);
  std::vector<Base> Placing();

  // Small facts: the ETags of shards ("shard:<key>"), of the meta document, the store's capabilities.
  std::optional<std::string> Value(const std::string& key);
  std::vector<std::pair<std::string, std::string>> ValuesWithPrefix(const std::string& prefix);
  void SetValue(const std::string& key, const std::string& value);

 private:
  void Open(Files& files, const std::filesystem::path& path);

  std::optional<Database> database_;
  bool started_empty_ = false;
};

// Keys of StateDb values.
namespace state_key {
inline constexpr const char* kMeta = "meta:body";       // "<etag>\n<body>" of the meta document last read
inline constexpr const char* kPulledConfig = "pulled:config";  // ETag of the meta that config/ was pulled for
inline constexpr const char* kPulledAll = "pulled:all";
inline constexpr const char* kPulledPartPrefix = "pulled:part:";  // + path prefix: the same for what is below it
inline constexpr const char* kShardPrefix = "shard:";   // + partition: ETag of the shard last pulled
inline constexpr const char* kCapabilities = "capabilities";
// + path: the version whose removal gave way to a peer's, for the command that asked for it and may be another process.
inline constexpr const char* kLostRemoval = "lost-removal:";
// + tier path of a `latest` marker: the highest version that the name ever had.
inline constexpr const char* kHighestVersion = "highest:";
inline constexpr const char* kLegacyIndex = "legacy-index";  // "absent" or "present"
inline constexpr const char* kLeftOut = "left-out";  // set: a lazy pull has left content in the bucket (hydrate.h)
}  // namespace state_key

}  // namespace swamp

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swamp {

// A *tier path* names a file of the datastore relative to its root, with "/": "config/models/command/shell/m1.yaml".
// It is the same in a folder, in a cache and, under the prefix and the namespace, in a bucket.

// How a path may change, and what happens when two sides changed it (docs/managed-config.md).
enum class PathClass {
  kLockfile,   // the extension lockfile: only its own transaction publishes it
  kDocument,   // configuration that people write: a second change is a conflict
  kImmutable,  // data versions: written once
  kMarker,     // data/**/latest: the higher version wins
  kRecord,     // outputs and runs: one writer, and finished wins
  kDerived,    // can be made again: ours is written over whatever is there
  kSegment,    // append-only logs: merged line by line
  kLocal,      // never crosses, in either direction
};

PathClass ClassOf(std::string_view path);

// The index shard that lists the path, without ".json": "config", "data--command--shell--<id>", "_root".
std::string PartitionOf(std::string_view path);

// The folders that a datastore may hold, in the order in which they are reported.
std::span<const std::string_view> TierFolders();
// The first segment.
std::string_view TopFolderOf(std::string_view path);

inline constexpr std::string_view kLockfilePath = "config/upstream_extensions.json";

// Keys beside the tier files.
inline constexpr std::string_view kIndexPrefix = "_index/";
inline constexpr std::string_view kMetaKey = "_index/_meta.json";
inline constexpr std::string_view kLegacyIndexKey = ".datastore-index.json";
inline constexpr std::string_view kLockKey = ".datastore.lock";
inline constexpr std::string_view kNamespaceKey = ".namespace.json";

std::string ShardKey(std::string_view partition);

// Gitignore-style patterns (https://git-scm.com/docs/gitignore) of files that stay local: `*`, `?`, `[...]`, `**`,
// a leading or inner "/" anchors, a trailing "/" matches folders, `!` re-includes; the last match decides.
class ExcludePatterns {
 public:
  ExcludePatterns() = default;
  explicit ExcludePatterns(const std::vector<std::string>& patterns);
  bool Match(std::string_view path) const;

 private:
  struct Pattern {
    std::vector<std::string> segments;
    bool negated = false;
    bool anchored = false;
    bool folder_only = false;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace swamp

#include "datastore/tier_path.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "util/files.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::array<std::string_view, 11> kTierFolders = {
    "auto-definitions", "definitions-evaluated", "workflows-evaluated", "config", "data", "outputs",
    "workflow-runs",    "audit",                 "telemetry",           "logs",   "files"};

std::string_view NameOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool StaysLocal(std::string_view path) {
  const std::string_view top = TopFolderOf(path);
  if (std::find(kTierFolders.begin(), kTierFolders.end(), top) == kTierFolders.end()) return true;
  if (top.size() == path.size()) return true;  // a file that is called like a folder
  // Sources of pulled extensions belong to the checkout; only the lockfile is shared.
  if (path.starts_with("config/pulled-extensions/")) return true;
  const std::string_view name = NameOf(path);
  // Dot files are locks, temporary files and local indexes; so is anything below a dot folder.
  return path.find("/.") != std::string_view::npos || name.starts_with("_catalog.db") || IsTemporaryName(name);
}

// data/<type ...>/<id>/<name>/latest
bool IsMarker(std::string_view path) {
  return path.starts_with("data/") && NameOf(path) == "latest" && std::count(path.begin(), path.end(), '/') >= 4;
}

bool MatchSegments(std::span<const std::string> pattern, std::span<const std::string> path) {
  if (pattern.empty()) return path.empty();
  if (pattern.front() == "**") {
    for (std::size_t skip = 0; skip <= path.size(); ++skip) {
      if (MatchSegments(pattern.subspan(1), path.subspan(skip))) return true;
    }
    return false;
  }
  if (path.empty()) return false;
  return ::fnmatch(pattern.front().c_str(), path.front().c_str(), 0) == 0 &&
         MatchSegments(pattern.subspan(1), path.subspan(1));
}

}  // namespace

std::span<const std::string_view> TierFolders() { return kTierFolders; }

std::string_view TopFolderOf(std::string_view path) { return path.substr(0, path.find('/')); }

PathClass ClassOf(std::string_view path) {
  if (StaysLocal(path)) return PathClass::kLocal;
  if (path == kLockfilePath) return PathClass::kLockfile;
  const std::string_view top = TopFolderOf(path);
  if (top == "data") return IsMarker(path) ? PathClass::kMarker : PathClass::kImmutable;
  if (top == "outputs" || top == "workflow-runs") return PathClass::kRecord;
  if (top == "definitions-evaluated" || top == "workflows-evaluated") return PathClass::kDerived;
  if (top == "audit" || top == "telemetry" || top == "logs") return PathClass::kSegment;
  return PathClass::kDocument;
}

std::string PartitionOf(std::string_view path) {
  std::vector<std::string> segments = Split(path, '/');
  if (segments.size() == 1) return "_root";
  const std::string& top = segments.front();
  if (top == "workflow-runs" && segments.size() >= 3) return "workflow-runs--" + segments[1];
  if (top == "data" || top == "outputs" || top == "definitions-evaluated") {
    const std::size_t drop = segments.size() >= 6 ? 3 : segments.size() >= 4 ? 1 : 0;
    if (drop == 0) return top;
    segments.resize(segments.size() - drop);
    return Join(segments, "--");
  }
  return top;
}

std::string ShardKey(std::string_view partition) {
  std::string key(kIndexPrefix);
  key += partition;
  key += ".json";
  return key;
}

ExcludePatterns::ExcludePatterns(const std::vector<std::string>& patterns) {
  for (std::string_view text : patterns) {
    text = Trim(text);
    if (text.empty() || text.front() == '#') continue;
    Pattern pattern;
    if (text.front() == '!') {
      pattern.negated = true;
      text.remove_prefix(1);
    }
    if (text.ends_with('/')) {
      pattern.folder_only = true;
      text.remove_suffix(1);
    }
    if (text.starts_with('/')) {
      pattern.anchored = true;
      text.remove_prefix(1);
    }
    if (text.empty()) continue;
    pattern.segments = Split(text, '/');
    if (pattern.segments.size() > 1) pattern.anchored = true;
    patterns_.push_back(std::move(pattern));
  }
}

bool ExcludePatterns::Match(std::string_view path) const {
  if (patterns_.empty()) return false;
  const std::vector<std::string> segments = Split(path, '/');
  bool excluded = false;
  for (const Pattern& pattern : patterns_) {
    // A pattern that matches a folder matches all below it, so every leading part of the path counts.
    for (std::size_t length = 1; length <= segments.size(); ++length) {
      if (pattern.folder_only && length == segments.size()) break;
      const std::span<const std::string> part(segments.data(), length);
      const bool hit = pattern.anchored ? MatchSegments(pattern.segments, part)
                                        : MatchSegments(pattern.segments, part.last(1));
      if (hit) {
        excluded = !pattern.negated;
        break;
      }
    }
  }
  return excluded;
}

}  // namespace swamp

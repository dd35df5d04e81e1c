#include "datastore/moved_away.h"

#include <vector>

#include "util/text.h"

namespace swamp {
namespace {

constexpr const char* kMovedAway = "moved-away";  // tier paths, one a line

}  // namespace

void BeginMovingAway(StateDb& state, std::span<const std::string> paths) {
  std::string lines;
  for (const std::string& path : paths) lines += path + "\n";
  state.SetValue(kMovedAway, lines);
}

void EndMovingAway(StateDb& state) {
  const auto lines = state.Value(kMovedAway);
  if (!lines) return;
  std::vector<std::string> undone;
  for (const std::string& path : Split(*lines, '\n')) {
    const auto row = state.FindDirty(path);
    if (row && row->kind == DirtyKind::kRemove) undone.push_back(path);
  }
  // Some may be gone from the bucket without the index knowing.
  state.MarkDirty(undone, DirtyKind::kAnnounce);
  state.SetValue(kMovedAway, "");
}

}  // namespace swamp

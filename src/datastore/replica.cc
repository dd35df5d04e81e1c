#include "datastore/replica.h"

#include <algorithm>

namespace swamp {

bool Replica::Holds(std::string_view path) const {
  if (ClassOf(path) == PathClass::kLocal || options_.excludes.Match(path)) return false;
  const std::string_view top = TopFolderOf(path);
  if (top.size() == path.size()) return true;  // a file in the root
  return std::find(options_.folders.begin(), options_.folders.end(), top) != options_.folders.end();
}

std::optional<MetaState> KnownMeta(StateDb& state) {
  const auto value = state.Value(state_key::kMeta);
  if (!value) return std::nullopt;
  const std::size_t newline = value->find('\n');
  if (newline == std::string::npos) return std::nullopt;
  auto meta = IndexMeta::Parse(std::string_view(*value).substr(newline + 1));
  if (!meta) return std::nullopt;
  return MetaState{{value->substr(0, newline)}, std::move(*meta)};
}

std::pair<std::string, std::string> MetaValue(const MetaState& meta) {
  return {state_key::kMeta, meta.etag.value + "\n" + meta.meta.Serialize("")};
}

}  // namespace swamp

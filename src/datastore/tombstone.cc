#include "datastore/tombstone.h"

#include <fmt/format.h>

#include "util/json.h"

namespace swamp {

std::string MarkerTombstone(std::uint64_t highest_version) {
  return fmt::format("{{\"swamp\":\"tombstone\",\"version\":1,\"highest\":{}}}\n", highest_version);
}

bool IsTombstone(std::string_view body) {
  if (body == kTombstone) return true;
  if (body.size() > kMaxTombstoneSize || !body.starts_with("{\"swamp\":\"tombstone\"")) return false;
  return TryParseJson(body).has_value();
}

}  // namespace swamp

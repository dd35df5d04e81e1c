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

std::uint64_t HighestVersionOf(std::string_view tombstone) {
  const auto json = IsTombstone(tombstone) ? TryParseJson(tombstone) : std::nullopt;
  const std::int64_t highest = json ? IntegerMember(*json, "highest").value_or(0) : 0;
  return highest > 0 ? static_cast<std::uint64_t>(highest) : 0;
}

}  // namespace swamp

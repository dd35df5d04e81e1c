#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swamp {

// Stands at the key of a removed path where the store can't delete conditionally: a reader takes it
// for "not there". One fixed body, so that a listing shows it by its size and, where ETags are MD5s, its
// ETag. The tombstone of a data marker also keeps the highest version number that the name ever had.
inline constexpr std::string_view kTombstone = "{\"swamp\":\"tombstone\",\"version\":1}\n";

std::string MarkerTombstone(std::uint64_t highest_version);
bool IsTombstone(std::string_view body);
// The number that a marker's tombstone keeps; 0 for others.
std::uint64_t HighestVersionOf(std::string_view tombstone);
// No tombstone is longer, so a longer object needs no look at its body.
inline constexpr std::uint64_t kMaxTombstoneSize = 96;

}  // namespace swamp

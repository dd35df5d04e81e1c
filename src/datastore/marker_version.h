#pragma once

#include <cstdint>
#include <string_view>

namespace swamp {

// The version that the body of a `latest` marker names: decimal digits, with white space around them at
// most. 0, which is below every version, when it names none.
std::uint64_t MarkerVersion(std::string_view body);

}  // namespace swamp

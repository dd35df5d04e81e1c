#include "datastore/marker_version.h"

#include <charconv>

#include "util/text.h"

namespace swamp {

std::uint64_t MarkerVersion(std::string_view body) {
  const std::string_view digits = Trim(body);
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  return error == std::errc() && end == digits.data() + digits.size() ? version : 0;
}

}  // namespace swamp

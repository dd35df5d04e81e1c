#include "cel/text_search.h"

#include <array>
#include <bit>
#include <cstring>

#include "util/random.h"
#include "util/text.h"

namespace swamp::cel {

const std::uint64_t kHashSeed = [] {
  std::array<std::uint8_t, 8> bytes;
  SystemRandom().Fill(bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}();

std::size_t FindText(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (part.empty()) return from;
  const void* const found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::string QuotedExcerpt(std::string_view text) { return '"' + Printable(text, 80) + '"'; }

}  // namespace swamp::cel

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace swamp::cel {

// Whether `size` bytes are the same; faster than memcmp for the short texts that names are.
[[gnu::always_inline]] inline bool SameBytes(const char* a, const char* b, std::size_t size) {
  if (size > 16) return std::memcmp(a, b, size) == 0;
  // Two loads that may overlap cover all bytes.
  const auto load = []<class Word>(const char* from, Word word) {
    std::memcpy(&word, from, sizeof word);
    return word;
  };
  if (size >= 8) {
    const std::uint64_t word = 0;
    return load(a, word) == load(b, word) && load(a + size - 8, word) == load(b + size - 8, word);
  }
  if (size >= 4) {
    const std::uint32_t word = 0;
    return load(a, word) == load(b, word) && load(a + size - 4, word) == load(b + size - 4, word);
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

inline bool SameText(std::string_view a, std::string_view b) {
  return a.size() == b.size() && SameBytes(a.data(), b.data(), a.size());
}

// Of each process another, so that nobody can make up keys that all collide.
extern const std::uint64_t kHashSeed;

inline std::uint64_t MixHash(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
  const unsigned __int128 product = static_cast<unsigned __int128>(hash ^ word) * kFactor;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// For hash tables within one process.
inline std::size_t HashText(std::string_view text) {
  std::uint64_t hash = kHashSeed + text.size();
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    hash = MixHash(hash, word);
  }
  std::uint64_t tail = 0;
  for (; left > 0; --left, ++at) tail = (tail << 8) | static_cast<unsigned char>(*at);
  return MixHash(hash, tail);
}

// As text.find(part, from), but in time linear in both.
std::size_t FindText(std::string_view text, std::string_view part, std::size_t from = 0);

// The text as a literal, cut when it is long: for messages.
std::string QuotedExcerpt(std::string_view text);

}  // namespace swamp::cel

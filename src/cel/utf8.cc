#include "cel/utf8.h"

#include <algorithm>

namespace swamp::cel {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The length that the first byte of a sequence announces; 1 for what can't begin one.
std::size_t AnnouncedLength(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0xc2) return 1;
  if (byte < 0xe0) return 2;
  if (byte < 0xf0) return 3;
  return byte < 0xf5 ? 4 : 1;
}

}  // namespace

std::size_t FirstLength(std::string_view text) {
  const std::size_t announced = AnnouncedLength(text[0]);
  if (announced > text.size()) return 1;
  for (std::size_t i = 1; i < announced; ++i) {
    if (!IsContinuation(text[i])) return 1;
  }
  return announced;
}

std::size_t CountCodePoints(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    // Runs of ASCII, the usual case, go by without a look at what follows.
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      const auto end = std::find_if(text.begin(), text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
      const auto run = static_cast<std::size_t>(end - text.begin());
      count += run;
      text.remove_prefix(run);
      continue;
    }
    text.remove_prefix(FirstLength(text));
    ++count;
  }
  return count;
}

std::optional<std::size_t> ByteOffset(std::string_view text, std::size_t index) {
  std::size_t offset = 0;
  for (; index > 0; --index) {
    if (offset >= text.size()) return std::nullopt;
    offset += FirstLength(text.substr(offset));
  }
  return offset;
}

char32_t FirstCodePoint(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return static_cast<char32_t>(byte(i) & 0x3f); };
  switch (FirstLength(text)) {
    case 2:
      return (static_cast<char32_t>(byte(0) & 0x1f) << 6) | tail(1);
    case 3:
      return (static_cast<char32_t>(byte(0) & 0x0f) << 12) | (tail(1) << 6) | tail(2);
    case 4:
      return (static_cast<char32_t>(byte(0) & 0x07) << 18) | (tail(1) << 12) | (tail(2) << 6) | tail(3);
    default:
      return byte(0) < 0x80 ? byte(0) : U'\ufffd';
  }
}

void AppendCodePoint(char32_t code_point, std::string& out) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    put(0xe0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  } else {
    put(0xf0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3f));
    put(0x80 | ((code_point >> 6) & 0x3f));
    put(0x80 | (code_point & 0x3f));
  }
}

bool IsCodePoint(std::uint32_t number) {
  return number <= 0x10ffff && !(number >= 0xd800 && number <= 0xdfff);
}

}  // namespace swamp::cel

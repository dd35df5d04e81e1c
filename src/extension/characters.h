#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace swamp {

// How many characters (code points) UTF-8 text has.
inline std::size_t CountCharacters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace swamp

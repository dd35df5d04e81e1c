#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swamp::cel {

// Text of the language is UTF-8, and positions in it count code points. These functions are safe for bytes
// that are no UTF-8: each stray byte then counts as one.

// How many code points `text` has.
std::size_t CountCodePoints(std::string_view text);
// Where code point number `index` begins; nothing when there are fewer than `index`.
std::optional<std::size_t> ByteOffset(std::string_view text, std::size_t index);
// The length in bytes of the first code point; `text` isn't empty.
std::size_t FirstLength(std::string_view text);
// The first code point; U+FFFD for a stray byte; `text` isn't empty.
char32_t FirstCodePoint(std::string_view text);
// Appends a code point that is no surrogate and at most U+10FFFF.
void AppendCodePoint(char32_t code_point, std::string& out);
bool IsCodePoint(std::uint32_t number);

}  // namespace swamp::cel

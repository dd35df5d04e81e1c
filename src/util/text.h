#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swamp {

std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(std::span<const std::string> parts, std::string_view separator);
std::string_view Trim(std::string_view text);  // blanks, tabs and line ends
std::string AsciiLower(std::string_view text);
// Whether `text` holds `part`, ASCII letters compared without case.
bool ContainsIgnoringCase(std::string_view text, std::string_view part);
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);
bool IsValidUtf8(std::string_view bytes);
bool IsUuid(std::string_view text);  // 8-4-4-4-12 hex digits
// The text on one line, safe for a terminal and for logs: control characters and bytes that are no
// UTF-8 as \n, \t, \xHH; cut after `limit` bytes.
std::string Printable(std::string_view text, std::size_t limit = 400);
// Percent-encodes every byte but A-Z a-z 0-9 - . _ ~ (RFC 3986, unreserved) and those in `keep`.
std::string PercentEncode(std::string_view text, std::string_view keep = "");
// Nothing when a % is not followed by two hex digits.
std::optional<std::string> PercentDecode(std::string_view text);
// The candidates that a user may have meant by `word`: those within an edit distance of about a third
// of its length, nearest first, at most three.
std::vector<std::string> NearestWords(std::string_view word, std::span<const std::string> candidates);
// "1 file", "2 files".
std::string Count(std::size_t number, std::string_view noun);

}  // namespace swamp

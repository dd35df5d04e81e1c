#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swamp::cel {

// The shortest text that reads back as the same number, laid out as ECMAScript does it: "7", "0.1",
// "1e+21", and "+Inf", "-Inf", "NaN".
std::string FormatDouble(double number);

// Decimal, whole text, with an optional sign (none for ParseUint); nothing when it is no number or out of
// range. ParseDouble takes exponents, "Infinity", "Inf" and "NaN" too, in any case of letters.
std::optional<std::int64_t> ParseInt(std::string_view text);
std::optional<std::uint64_t> ParseUint(std::string_view text);
std::optional<double> ParseDouble(std::string_view text);

// Cut toward zero; nothing when out of range. The language leaves out the ends of int's range, since a
// double can't tell them from their neighbours.
std::optional<std::int64_t> ToInt(double number);
std::optional<std::uint64_t> ToUint(double number);

// By value, however large: 2^53 + 1 is greater than 2^53 as a double. Unordered for NaN.
std::partial_ordering CompareExactly(std::int64_t a, double b);
std::partial_ordering CompareExactly(std::uint64_t a, double b);
std::strong_ordering CompareExactly(std::int64_t a, std::uint64_t b);

}  // namespace swamp::cel

#include "cel/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "util/text.h"

namespace swamp::cel {
namespace {

template <class Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return number;
}

// "+7" -> "7": from_chars knows no plus sign.
std::string_view WithoutPlus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

// What a decimal number stands for that is too large or too small for a double (from_chars doesn't say
// which of the two).
double OutOfRange(std::string_view text) {
  const bool negative = text[0] == '-';
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const auto first_digit = static_cast<std::int64_t>(mantissa.find_first_of("123456789"));
  std::int64_t exponent = 0;
  if (mark < text.size()) {
    const std::string_view digits = WithoutPlus(text.substr(mark + 1));
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (read.ec != std::errc()) exponent = digits[0] == '-' ? INT32_MIN : INT32_MAX;
  }
  const bool large = static_cast<std::int64_t>(point) - first_digit + exponent > 0;
  const double magnitude = large ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -magnitude : magnitude;
}

}  // namespace

std::string FormatDouble(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  // Whole numbers, the usual case, have the same layout as ints.
  constexpr double kLargestWhole = 1e15;
  if (number == std::trunc(number) && std::abs(number) < kLargestWhole) {
    return fmt::format_int(static_cast<std::int64_t>(number)).str();
  }

  // "d.ddde+xx": the digits, and where the point goes.
  char buffer[40];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific);
  const std::string_view scientific(buffer, static_cast<std::size_t>(written.ptr - buffer));
  const std::size_t mark = scientific.find('e');
  std::string digits;
  for (const char c : scientific.substr(0, mark)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  int exponent = 0;
  const std::string_view exponent_text = WithoutPlus(scientific.substr(mark + 1));
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // digits before the point

  std::string text = number < 0 ? "-" : "";
  if (point > 21 || point < -5) {
    text += digits[0];
    if (count > 1) text.append(".").append(digits, 1);
    text.append(exponent < 0 ? "e-" : "e+").append(std::to_string(std::abs(exponent)));
  } else if (point <= 0) {
    text.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
  } else if (point >= count) {
    text.append(digits).append(static_cast<std::size_t>(point - count), '0');
  } else {
    text.append(digits, 0, static_cast<std::size_t>(point)).append(".").append(digits, static_cast<std::size_t>(point));
  }
  return text;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  return ParseWhole<std::int64_t>(WithoutPlus(text));
}

std::optional<std::uint64_t> ParseUint(std::string_view text) { return ParseWhole<std::uint64_t>(text); }

std::optional<double> ParseDouble(std::string_view text) {
  text = WithoutPlus(text);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || stop != end) return std::nullopt;
  if (error == std::errc()) {
    // "nan(chars)" is C's, not ours.
    if (std::isnan(number) && AsciiLower(text) != "nan" && AsciiLower(text) != "-nan") return std::nullopt;
    return number;
  }
  if (error != std::errc::result_out_of_range) return std::nullopt;
  return OutOfRange(text);
}

std::optional<std::int64_t> ToInt(double number) {
  if (!(number > -0x1p63 && number < 0x1p63)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::uint64_t> ToUint(double number) {
  if (!(number > -1.0 && number < 0x1p64)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

std::partial_ordering CompareExactly(std::int64_t a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= 0x1p63) return std::partial_ordering::less;
  if (b < -0x1p63) return std::partial_ordering::greater;
  const double whole = std::trunc(b);
  const auto b_int = static_cast<std::int64_t>(whole);
  if (a != b_int) return a < b_int ? std::partial_ordering::less : std::partial_ordering::greater;
  return 0.0 <=> (b - whole);
}

std::partial_ordering CompareExactly(std::uint64_t a, double b) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= 0x1p64) return std::partial_ordering::less;
  if (b < 0) return std::partial_ordering::greater;
  const double whole = std::trunc(b);
  const auto b_uint = static_cast<std::uint64_t>(whole);
  if (a != b_uint) return a < b_uint ? std::partial_ordering::less : std::partial_ordering::greater;
  return 0.0 <=> (b - whole);
}

std::strong_ordering CompareExactly(std::int64_t a, std::uint64_t b) {
  if (a < 0) return std::strong_ordering::less;
  return static_cast<std::uint64_t>(a) <=> b;
}

}  // namespace swamp::cel

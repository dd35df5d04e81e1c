#include "cel/time_text.h"

#include <fmt/format.h>

#include <chrono>

namespace swamp::cel {
namespace {

namespace chrono = std::chrono;

constexpr std::int64_t kFirstSecond = -62135596800;
constexpr std::int64_t kLastSecond = 253402300799;

// Reads a text from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool empty() const { return text_.empty(); }
  char front() const { return text_.empty() ? '\0' : text_.front(); }
  bool AtDigit() const { return front() >= '0' && front() <= '9'; }

  bool Accept(std::string_view part) {
    if (!text_.starts_with(part)) return false;
    text_.remove_prefix(part.size());
    return true;
  }
  // Exactly `count` digits.
  std::optional<int> Digits(int count) {
    int number = 0;
    for (int i = 0; i < count; ++i) {
      if (!AtDigit()) return std::nullopt;
      number = number * 10 + Next();
    }
    return number;
  }
  int Next() {
    const int digit = text_.front() - '0';
    text_.remove_prefix(1);
    return digit;
  }

 private:
  std::string_view text_;
};

std::string FormatFraction(std::int32_t nanos) {
  if (nanos == 0) return "";
  std::string digits = fmt::format(".{:09}", nanos);
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

}  // namespace

bool IsInRange(Timestamp time) { return time.seconds >= kFirstSecond && time.seconds <= kLastSecond; }

std::optional<Timestamp> ParseTimestamp(std::string_view text) {
  Reader reader(text);
  const auto year = reader.Digits(4);
  if (!year || !reader.Accept("-")) return std::nullopt;
  const auto month = reader.Digits(2);
  if (!month || !reader.Accept("-")) return std::nullopt;
  const auto day = reader.Digits(2);
  if (!day || !reader.Accept("T")) return std::nullopt;
  const auto hour = reader.Digits(2);
  if (!hour || *hour > 23 || !reader.Accept(":")) return std::nullopt;
  const auto minute = reader.Digits(2);
  if (!minute || *minute > 59 || !reader.Accept(":")) return std::nullopt;
  const auto second = reader.Digits(2);
  if (!second || *second > 59) return std::nullopt;

  std::int32_t nanos = 0;
  if (reader.Accept(".")) {
    int digits = 0;
    for (; reader.AtDigit(); ++digits) {
      if (digits == 9) return std::nullopt;
      nanos = nanos * 10 + reader.Next();
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 9; ++digits) nanos *= 10;
  }

  int offset = 0;  // seconds east of Greenwich
  if (!reader.Accept("Z")) {
    const bool west = reader.front() == '-';
    if (!west && reader.front() != '+') return std::nullopt;
    reader.Accept(west ? "-" : "+");
    const auto hours = reader.Digits(2);
    if (!hours || *hours > 23 || !reader.Accept(":")) return std::nullopt;
    const auto minutes = reader.Digits(2);
    if (!minutes || *minutes > 59) return std::nullopt;
    offset = (*hours * 60 + *minutes) * 60 * (west ? -1 : 1);
  }
  if (!reader.empty()) return std::nullopt;

  const chrono::year_month_day date(chrono::year(*year), chrono::month(static_cast<unsigned>(*month)),
                                    chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = chrono::sys_days(date).time_since_epoch().count();
  const Timestamp time{((days * 24 + *hour) * 60 + *minute) * 60 + *second - offset, nanos};
  if (!IsInRange(time)) return std::nullopt;
  return time;
}

std::string FormatTimestamp(Timestamp time) {
  const chrono::sys_seconds seconds{chrono::seconds(time.seconds)};
  const auto day = chrono::floor<chrono::days>(seconds);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(seconds - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     FormatFraction(time.nanos));
}

std::optional<std::int64_t> ParseDuration(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t nanos;
  };
  // Longer names first where one is the start of another.
  static constexpr Unit kUnits[] = {{"ns", 1},
                                    {"us", 1'000},
                                    {"\u00b5s", 1'000},  // micro sign
                                    {"\u03bcs", 1'000},  // Greek mu
                                    {"ms", 1'000'000},
                                    {"s", kNanosPerSecond},
                                    {"m", 60 * kNanosPerSecond},
                                    {"h", 3600 * kNanosPerSecond}};
  Reader reader(text);
  const bool negative = reader.Accept("-");
  if (!negative) reader.Accept("+");
  if (text == "0" || text == "-0" || text == "+0") return 0;
  if (reader.empty()) return std::nullopt;

  // Below zero, where there is one value more.
  std::int64_t total = 0;
  while (!reader.empty()) {
    std::int64_t whole = 0;
    bool digits = false;
    for (; reader.AtDigit(); digits = true) {
      if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, reader.Next(), &whole)) {
        return std::nullopt;
      }
    }
    // Digits of the fraction that no nanosecond is made of are read and don't count.
    std::int64_t fraction = 0;
    std::int64_t scale = 1;
    if (reader.Accept(".")) {
      for (; reader.AtDigit(); digits = true) {
        const int digit = reader.Next();
        if (scale >= 100'000'000'000'000'000) continue;
        fraction = fraction * 10 + digit;
        scale *= 10;
      }
    }
    if (!digits) return std::nullopt;
    std::int64_t unit = 0;
    for (const Unit& candidate : kUnits) {
      if (reader.Accept(candidate.name)) {
        unit = candidate.nanos;
        break;
      }
    }
    if (unit == 0) return std::nullopt;
    std::int64_t nanos = 0;
    const auto part = static_cast<std::int64_t>(static_cast<__int128>(fraction) * unit / scale);
    if (__builtin_mul_overflow(whole, unit, &nanos) || __builtin_sub_overflow(total, nanos, &total) ||
        __builtin_sub_overflow(total, part, &total)) {
      return std::nullopt;
    }
  }
  if (negative) return total;
  if (total == INT64_MIN) return std::nullopt;
  return -total;
}

std::string FormatDuration(std::int64_t nanos) {
  const std::int64_t seconds = nanos / kNanosPerSecond;
  const auto fraction = static_cast<std::int32_t>(nanos % kNanosPerSecond);
  return fmt::format("{}{}{}s", nanos < 0 ? "-" : "", seconds < 0 ? -seconds : seconds,
                     FormatFraction(fraction < 0 ? -fraction : fraction));
}

std::optional<Timestamp> Add(Timestamp time, std::int64_t nanos) {
  std::int64_t seconds = time.seconds + nanos / kNanosPerSecond;
  auto rest = static_cast<std::int32_t>(time.nanos + nanos % kNanosPerSecond);
  if (rest < 0) {
    rest += static_cast<std::int32_t>(kNanosPerSecond);
    --seconds;
  } else if (rest >= kNanosPerSecond) {
    rest -= static_cast<std::int32_t>(kNanosPerSecond);
    ++seconds;
  }
  const Timestamp sum{seconds, rest};
  if (!IsInRange(sum)) return std::nullopt;
  return sum;
}

std::optional<std::int64_t> Difference(Timestamp a, Timestamp b) {
  std::int64_t nanos = 0;
  if (__builtin_mul_overflow(a.seconds - b.seconds, kNanosPerSecond, &nanos) ||
      __builtin_add_overflow(nanos, a.nanos - b.nanos, &nanos)) {
    return std::nullopt;
  }
  return nanos;
}

}  // namespace swamp::cel

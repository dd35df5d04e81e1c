#include "util/time.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <limits>

namespace swamp {
namespace {

struct Civil {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::milliseconds> clock;
};

Civil CivilOf(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return {std::chrono::year_month_day(day), std::chrono::hh_mm_ss<std::chrono::milliseconds>(time - day)};
}

std::string Format(Time time, char clock_separator, char fraction_separator) {
  const Civil civil = CivilOf(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}{}{:02}{}{:02}{}{:03}Z", static_cast<int>(civil.date.year()),
                     static_cast<unsigned>(civil.date.month()), static_cast<unsigned>(civil.date.day()),
                     civil.clock.hours().count(), clock_separator, civil.clock.minutes().count(),
                     clock_separator, civil.clock.seconds().count(), fraction_separator,
                     civil.clock.subseconds().count());
}

// Takes `count` digits off the front of `text`.
std::optional<int> TakeDigits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool Take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

std::optional<Time> Join(int year, int month, int day, int hour, int minute, int second) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return Time(std::chrono::sys_days(date)) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

// "Z", "+hh:mm" or "-hh:mm", as what has to be subtracted to get UTC.
std::optional<std::chrono::minutes> TakeZone(std::string_view& text) {
  if (Take(text, "Z") || Take(text, "z")) return std::chrono::minutes(0);
  const bool west = text.starts_with('-');
  if (!west && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hours = TakeDigits(text, 2);
  if (!hours || !Take(text, ":")) return std::nullopt;
  const auto minutes = TakeDigits(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset(*hours * 60 + *minutes);
  return west ? -offset : offset;
}

}  // namespace

std::string FormatTime(Time time) { return Format(time, ':', '.'); }

std::string FormatTimeForFileName(Time time) { return Format(time, '-', '-'); }

std::string FormatBasicTime(Time time) {
  const Civil civil = CivilOf(time);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(civil.date.year()),
                     static_cast<unsigned>(civil.date.month()), static_cast<unsigned>(civil.date.day()),
                     civil.clock.hours().count(), civil.clock.minutes().count(),
                     civil.clock.seconds().count());
}

std::optional<Time> ParseTime(std::string_view text) {
  const auto year = TakeDigits(text, 4);
  if (!year || !Take(text, "-")) return std::nullopt;
  const auto month = TakeDigits(text, 2);
  if (!month || !Take(text, "-")) return std::nullopt;
  const auto day = TakeDigits(text, 2);
  if (!day || (!Take(text, "T") && !Take(text, "t"))) return std::nullopt;
  const auto hour = TakeDigits(text, 2);
  if (!hour || !Take(text, ":")) return std::nullopt;
  const auto minute = TakeDigits(text, 2);
  if (!minute || !Take(text, ":")) return std::nullopt;
  const auto second = TakeDigits(text, 2);
  if (!second) return std::nullopt;
  int millisecond = 0;
  if (Take(text, ".")) {
    int scale = 100;
    std::size_t digits = 0;
    while (const auto digit = TakeDigits(text, 1)) {
      if (++digits > 9) return std::nullopt;
      millisecond += *digit * scale;
      scale /= 10;
    }
    if (digits == 0) return std::nullopt;
  }
  const auto zone = TakeZone(text);
  if (!zone || !text.empty()) return std::nullopt;
  const auto time = Join(*year, *month, *day, *hour, *minute, *second);
  if (!time) return std::nullopt;
  return *time + std::chrono::milliseconds(millisecond) - *zone;
}

std::optional<Time> ParseHttpDate(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::size_t comma = text.find(", ");
  if (comma == std::string_view::npos) return std::nullopt;
  text.remove_prefix(comma + 2);
  const auto day = TakeDigits(text, 2);
  if (!day || !Take(text, " ")) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(0, 3));
  if (month == kMonths.end()) return std::nullopt;
  text.remove_prefix(3);
  if (!Take(text, " ")) return std::nullopt;
  const auto year = TakeDigits(text, 4);
  if (!year || !Take(text, " ")) return std::nullopt;
  const auto hour = TakeDigits(text, 2);
  if (!hour || !Take(text, ":")) return std::nullopt;
  const auto minute = TakeDigits(text, 2);
  if (!minute || !Take(text, ":")) return std::nullopt;
  const auto second = TakeDigits(text, 2);
  if (!second || text != " GMT") return std::nullopt;
  return Join(*year, static_cast<int>(month - kMonths.begin()) + 1, *day, *hour, *minute, *second);
}

std::optional<Duration> ParseDuration(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0 || !std::isdigit(static_cast<unsigned char>(text.front()))) {
    return std::nullopt;
  }
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> kUnits = {{
      {"s", 1},
      {"m", 60},
      {"h", 3600},
      {"d", 86400},
      {"w", 7 * 86400},
      {"mo", 30 * 86400},
      {"y", 365 * 86400},
  }};
  for (const auto& [name, seconds] : kUnits) {
    if (unit != name) continue;
    if (number > std::numeric_limits<std::int64_t>::max() / 1000 / seconds) return std::nullopt;
    return Duration(number * seconds * 1000);
  }
  return std::nullopt;
}

std::string DescribeDuration(Duration duration) {
  const std::int64_t ms = duration.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 120'000) return fmt::format("{} s", ms / 1000);
  if (ms < 120 * 60'000) return fmt::format("{} min", ms / 60'000);
  if (ms < 48 * 3'600'000) return fmt::format("{} h", ms / 3'600'000);
  return fmt::format("{} d", ms / 86'400'000);
}

}  // namespace swamp

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "cel/frame.h"
#include "cel/functions.h"
#include "cel/text_search.h"
#include "cel/time_text.h"
#include "cel/time_zone.h"

// Times, durations and what they are made of.
namespace swamp::cel::functions {
namespace {

namespace chrono = std::chrono;

// A time as clocks and calendars of one place show it.
struct Civil {
  chrono::year_month_day date;
  chrono::sys_days day;
  std::int64_t second_of_day;
  std::int32_t nanos;
};

Civil CivilAt(Timestamp time, std::int32_t offset) {
  const chrono::sys_seconds local{chrono::seconds(time.seconds + offset)};
  const auto day = chrono::floor<chrono::days>(local);
  return {chrono::year_month_day(day), day, (local - day).count(), time.nanos};
}

// "+02:00", "-09:30", "02:00": seconds east of Greenwich.
std::optional<std::int32_t> ParseOffset(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4)) return std::nullopt;
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (hours > 23 || minutes > 59) return std::nullopt;
  const int seconds = (hours * 60 + minutes) * 60;
  return negative ? -seconds : seconds;
}

std::optional<std::int32_t> OffsetOf(const TimeZones* zones, std::string_view zone, Timestamp time) {
  if (zone == "UTC" || zone == "Z") return 0;
  if (const auto fixed = ParseOffset(zone)) return fixed;
  const TimeZone* const found = zones != nullptr ? zones->Find(zone) : nullptr;
  if (found == nullptr) return std::nullopt;
  return found->OffsetAt(time.seconds);
}

// What `part` takes from the time in call[0], in the zone that call[1] names if there is one.
template <class Part>
Value CivilPart(Call& call, const Part& part) {
  const Timestamp time = call[0].as_time();
  std::int32_t offset = 0;
  if (call.arguments().size() > 1) {
    const std::optional<std::int32_t> found = OffsetOf(call.frame().zones, call[1].text(), time);
    if (!found) return call.Error(fmt::format("unknown time zone: {}", QuotedExcerpt(call[1].text())));
    offset = *found;
  }
  return Value::Int(part(CivilAt(time, offset)));
}

// The same for a duration: `unit` nanoseconds, counted.
template <class Part>
Value PartOf(Call& call, std::int64_t unit, const Part& part) {
  if (call[0].is(Kind::kDuration)) return Value::Int(call[0].as_duration() / unit);
  return CivilPart(call, part);
}

constexpr std::int64_t kNanosPerMillisecond = 1'000'000;

}  // namespace

Value ToTimestamp(Call& call) {
  const Value& value = call[0];
  if (value.is(Kind::kTimestamp)) return value;
  std::optional<Timestamp> time;
  if (value.is(Kind::kInt)) {
    time = Timestamp{value.as_int(), 0};
    if (!IsInRange(*time)) return call.Error("the time is out of range: years go from 1 to 9999");
  } else {
    time = ParseTimestamp(value.text());
  }
  if (time) return Value::Time(*time);
  return call.Error(fmt::format("{} is no timestamp in range, as 2024-01-31T12:00:00Z is", QuotedExcerpt(value.text())));
}

Value ToDuration(Call& call) {
  const Value& value = call[0];
  if (value.is(Kind::kDuration)) return value;
  const std::optional<std::int64_t> nanos = ParseDuration(value.text());
  if (nanos) return Value::Duration(*nanos);
  return call.Error(fmt::format("{} is no duration in range, as 1h30m is", QuotedExcerpt(value.text())));
}

Value GetDate(Call& call) {
  return CivilPart(call, [](const Civil& civil) { return static_cast<unsigned>(civil.date.day()); });
}

Value GetDayOfMonth(Call& call) {
  return CivilPart(call, [](const Civil& civil) { return static_cast<unsigned>(civil.date.day()) - 1; });
}

Value GetDayOfWeek(Call& call) {
  return CivilPart(call, [](const Civil& civil) { return chrono::weekday(civil.day).c_encoding(); });
}

Value GetDayOfYear(Call& call) {
  return CivilPart(call, [](const Civil& civil) {
    return (civil.day - chrono::sys_days(civil.date.year() / chrono::January / 1)).count();
  });
}

Value GetFullYear(Call& call) {
  return CivilPart(call, [](const Civil& civil) { return static_cast<int>(civil.date.year()); });
}

Value GetMonth(Call& call) {
  return CivilPart(call, [](const Civil& civil) { return static_cast<unsigned>(civil.date.month()) - 1; });
}

Value GetHours(Call& call) {
  return PartOf(call, 3600 * kNanosPerSecond, [](const Civil& civil) { return civil.second_of_day / 3600; });
}

Value GetMinutes(Call& call) {
  return PartOf(call, 60 * kNanosPerSecond, [](const Civil& civil) { return civil.second_of_day / 60 % 60; });
}

Value GetSeconds(Call& call) {
  return PartOf(call, kNanosPerSecond, [](const Civil& civil) { return civil.second_of_day % 60; });
}

Value GetMilliseconds(Call& call) {
  // Of a duration too it is what is left of the second, as the language definition has it.
  if (call[0].is(Kind::kDuration)) {
    return Value::Int(call[0].as_duration() % kNanosPerSecond / kNanosPerMillisecond);
  }
  return CivilPart(call, [](const Civil& civil) { return civil.nanos / kNanosPerMillisecond; });
}

}  // namespace swamp::cel::functions

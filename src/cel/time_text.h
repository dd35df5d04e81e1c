#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cel/value.h"

namespace swamp::cel {

inline constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
bool IsInRange(Timestamp time);

// RFC 3339: "2024-01-31T12:00:00Z", with up to nine digits of fraction and "Z" or "+hh:mm". Nothing for
// days that aren't there and times out of range.
std::optional<Timestamp> ParseTimestamp(std::string_view text);
// In UTC, with as many digits of fraction as it takes.
std::string FormatTimestamp(Timestamp time);

// Numbers with units: "1h30m", "-1.5s", "10ms"; the units are h m s ms us ns, and µs for us. "0" needs
// none. In nanoseconds; nothing when out of range, which is about 292 years.
std::optional<std::int64_t> ParseDuration(std::string_view text);
// In seconds, with as many digits of fraction as it takes: "5400s", "-1.5s".
std::string FormatDuration(std::int64_t nanos);

// Nothing when the result is out of range.
std::optional<Timestamp> Add(Timestamp time, std::int64_t nanos);
std::optional<std::int64_t> Difference(Timestamp a, Timestamp b);  // a - b

}  // namespace swamp::cel

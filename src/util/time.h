#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace swamp {

using Duration = std::chrono::milliseconds;
// A point in civil time, UTC, to the millisecond: what files and objects carry.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

// "2026-12-01T15:29:01.064Z" (RFC 3339, always UTC with milliseconds).
std::string FormatTime(Time time);
// The same without characters that file names dislike: "2026-12-01T15-29-01-064Z".
std::string FormatTimeForFileName(Time time);
// Reads FormatTime's form, with 0 to 9 digits of fraction and "Z" or "+hh:mm"; anything else: nothing.
std::optional<Time> ParseTime(std::string_view text);
// "20261201T152901Z", the date of AWS Signature Version 4.
std::string FormatBasicTime(Time time);
// An HTTP date (RFC 9110, IMF-fixdate): "Tue, 01 Dec 2026 15:29:01 GMT".
std::optional<Time> ParseHttpDate(std::string_view text);

// "30s" "15m" "24h" "7d" "2w" "3mo" (30 days each) "1y" (365 days); 0 and overflow are refused.
std::optional<Duration> ParseDuration(std::string_view text);
// "850 ms", "12 s", "3 min", "2 h", "5 d": the largest unit that fits, for messages.
std::string DescribeDuration(Duration duration);

}  // namespace swamp

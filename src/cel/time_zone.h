#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swamp {
class Files;
}

namespace swamp::cel {

// When clocks of one place change, after a database file in TZif format (RFC 8536).
class TimeZone {
 public:
  // Nothing when `file` is no such file.
  static std::optional<TimeZone> FromFile(std::string_view file);

  // Seconds east of Greenwich at a time (UTC, since 1970).
  std::int32_t OffsetAt(std::int64_t seconds) const;

 private:
  // The day and second of a year on which summer time begins or ends (POSIX, "TZ environment variable").
  struct Rule {
    enum class Day { kJulian, kZeroBased, kMonthWeekDay };
    Day day = Day::kJulian;
    int number = 0;  // the day of the year, or of the week
    int month = 0;
    int week = 0;
    std::int32_t second = 2 * 3600;

    // Local seconds since 1970.
    std::int64_t InYear(int year) const;
  };
  // What holds after the last listed change.
  struct Footer {
    std::int32_t standard = 0;
    std::int32_t summer = 0;
    bool changes = false;
    Rule begin;  // of summer time
    Rule end;

    std::int32_t OffsetAt(std::int64_t seconds) const;
  };
  class FooterReader;
  class FileReader;

  std::vector<std::int64_t> changes_;  // ascending
  std::vector<std::int32_t> offsets_;  // from each change on
  std::int32_t first_offset_ = 0;      // before all changes
  std::optional<Footer> footer_;
};

// The time zones of the system's database by name ("Europe/Berlin"), each read once. Thread-safe.
class TimeZones {
 public:
  explicit TimeZones(Files& files, std::filesystem::path folder = "/usr/share/zoneinfo")
      : files_(files), folder_(std::move(folder)) {}

  // Null: there is none by that name. Throws IoError when the file is there and can't be read.
  const TimeZone* Find(std::string_view name) const;

 private:
  Files& files_;
  std::filesystem::path folder_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<const TimeZone>, std::less<>> zones_;  // null: none
};

}  // namespace swamp::cel

#include "cel/time_zone.h"

#include <algorithm>
#include <chrono>

#include "util/files.h"

namespace swamp::cel {
namespace {

namespace chrono = std::chrono;

std::int64_t BigEndian(std::string_view bytes) {
  std::uint64_t number = static_cast<unsigned char>(bytes[0]) & 0x80 ? ~std::uint64_t{0} : 0;
  for (const char c : bytes) number = (number << 8) | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(number);
}

int YearOf(std::int64_t seconds) {
  const auto day = chrono::floor<chrono::days>(chrono::sys_seconds{chrono::seconds(seconds)});
  return static_cast<int>(chrono::year_month_day(day).year());
}

std::int64_t SecondsAt(chrono::sys_days day) { return std::int64_t{day.time_since_epoch().count()} * 86400; }

// A name of the database: letters, digits and a few marks, in parts that aren't "." or "..".
bool IsZoneName(std::string_view name) {
  if (name.empty() || name.size() > 100 || name.front() == '/' || name.find("..") != std::string_view::npos) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '+' || c == '-' || c == '/';
  });
}

}  // namespace

std::int64_t TimeZone::Rule::InYear(int year) const {
  const chrono::year y(year);
  const chrono::sys_days first = chrono::sys_days(y / chrono::January / 1);
  if (day == Day::kZeroBased) return SecondsAt(first + chrono::days(number)) + second;
  if (day == Day::kJulian) {
    // 29 February is never counted.
    const int leap = y.is_leap() && number >= 60 ? 1 : 0;
    return SecondsAt(first + chrono::days(number - 1 + leap)) + second;
  }
  const chrono::month m(static_cast<unsigned>(month));
  const chrono::weekday weekday(static_cast<unsigned>(number));
  const chrono::sys_days date = week == 5 ? chrono::sys_days(y / m / weekday[chrono::last])
                                          : chrono::sys_days(y / m / weekday[static_cast<unsigned>(week)]);
  return SecondsAt(date) + second;
}

std::int32_t TimeZone::Footer::OffsetAt(std::int64_t seconds) const {
  if (!changes) return standard;
  const int year = YearOf(seconds + standard);
  const std::int64_t from = begin.InYear(year) - standard;
  const std::int64_t until = end.InYear(year) - summer;
  const bool is_summer = from < until ? seconds >= from && seconds < until : !(seconds >= until && seconds < from);
  return is_summer ? summer : standard;
}

// Reads "CET-1CEST,M3.5.0,M10.5.0/3".
class TimeZone::FooterReader {
 public:
  explicit FooterReader(std::string_view text) : text_(text) {}

  std::optional<Footer> Read() {
    Footer footer;
    if (!SkipName()) return std::nullopt;
    const auto standard = ReadTime();
    if (!standard) return std::nullopt;
    footer.standard = footer.summer = -*standard;  // POSIX counts west of Greenwich
    if (text_.empty()) return footer;

    if (!SkipName()) return std::nullopt;
    footer.changes = true;
    footer.summer = footer.standard + 3600;
    if (!text_.empty() && text_.front() != ',') {
      const auto summer = ReadTime();
      if (!summer) return std::nullopt;
      footer.summer = -*summer;
    }
    if (!ReadRule(footer.begin) || !ReadRule(footer.end) || !text_.empty()) return std::nullopt;
    return footer;
  }

 private:
  bool Accept(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool SkipName() {
    if (Accept('<')) {
      const std::size_t end = text_.find('>');
      if (end == std::string_view::npos) return false;
      text_.remove_prefix(end + 1);
      return true;
    }
    const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
    const auto end = std::find_if_not(text_.begin(), text_.end(), letter);
    const auto length = static_cast<std::size_t>(end - text_.begin());
    text_.remove_prefix(length);
    return length >= 3;
  }

  std::optional<int> ReadNumber(int least, int most) {
    int number = 0;
    std::size_t digits = 0;
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9' && digits < 4) {
      number = number * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
      ++digits;
    }
    if (digits == 0 || number < least || number > most) return std::nullopt;
    return number;
  }

  // [+-]hh[:mm[:ss]]
  std::optional<std::int32_t> ReadTime() {
    const bool negative = Accept('-');
    if (!negative) Accept('+');
    const auto hours = ReadNumber(0, 167);
    if (!hours) return std::nullopt;
    std::int32_t seconds = *hours * 3600;
    for (const int unit : {60, 1}) {
      if (!Accept(':')) break;
      const auto part = ReadNumber(0, 59);
      if (!part) return std::nullopt;
      seconds += *part * unit;
    }
    return negative ? -seconds : seconds;
  }

  bool ReadRule(Rule& rule) {
    if (!Accept(',')) return false;
    std::optional<int> number;
    if (Accept('M')) {
      rule.day = Rule::Day::kMonthWeekDay;
      const auto month = ReadNumber(1, 12);
      const auto week = Accept('.') ? ReadNumber(1, 5) : std::nullopt;
      if (!month || !week || !Accept('.')) return false;
      rule.month = *month;
      rule.week = *week;
      number = ReadNumber(0, 6);
    } else if (Accept('J')) {
      rule.day = Rule::Day::kJulian;
      number = ReadNumber(1, 365);
    } else {
      rule.day = Rule::Day::kZeroBased;
      number = ReadNumber(0, 365);
    }
    if (!number) return false;
    rule.number = *number;
    if (!Accept('/')) return true;
    const auto second = ReadTime();
    if (second) rule.second = *second;
    return second.has_value();
  }

  std::string_view text_;
};

class TimeZone::FileReader {
 public:
  explicit FileReader(std::string_view file) : rest_(file) {}

  std::optional<TimeZone> Read() {
    const auto header = ReadHeader();
    // Version 1 knows no time after 2038; every database in use is at least 2.
    if (!header || header->version < '2' || !Skip(header->BodySize(4))) return std::nullopt;
    const auto wide = ReadHeader();
    if (!wide || rest_.size() < wide->BodySize(8) || wide->types == 0) return std::nullopt;

    const std::string_view times = Take(wide->times * 8);
    const std::string_view indexes = Take(wide->times);
    const std::string_view types = Take(wide->types * 6);
    Skip(wide->BodySize(8) - times.size() - indexes.size() - types.size());
    const auto offset = [&](std::size_t type) {
      return static_cast<std::int32_t>(BigEndian(types.substr(type * 6, 4)));
    };

    TimeZone zone;
    zone.first_offset_ = offset(0);
    for (std::size_t i = 0; i < wide->times; ++i) {
      const auto type = static_cast<unsigned char>(indexes[i]);
      const std::int64_t time = BigEndian(times.substr(i * 8, 8));
      if (type >= wide->types || (i > 0 && time <= zone.changes_.back())) return std::nullopt;
      zone.changes_.push_back(time);
      zone.offsets_.push_back(offset(type));
    }
    if (rest_.size() >= 2 && rest_.front() == '\n') {
      const std::string_view footer = rest_.substr(1, rest_.find('\n', 1) - 1);
      if (!footer.empty()) zone.footer_ = FooterReader(footer).Read();
    }
    return zone;
  }

 private:
  struct Header {
    char version;
    std::size_t utc_marks, standard_marks, leaps, times, types, letters;
    std::size_t BodySize(std::size_t time_size) const {
      return times * (time_size + 1) + types * 6 + letters + leaps * (time_size + 4) + standard_marks + utc_marks;
    }
  };

  std::optional<Header> ReadHeader() {
    if (rest_.size() < 44 || !rest_.starts_with("TZif")) return std::nullopt;
    const std::string_view bytes = Take(44);
    const auto count = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<std::uint32_t>(BigEndian(bytes.substr(20 + i * 4, 4))));
    };
    return Header{bytes[4], count(0), count(1), count(2), count(3), count(4), count(5)};
  }

  std::string_view Take(std::size_t size) {
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(bytes.size());
    return bytes;
  }

  bool Skip(std::size_t size) { return Take(size).size() == size; }

  std::string_view rest_;
};

std::optional<TimeZone> TimeZone::FromFile(std::string_view file) { return FileReader(file).Read(); }

std::int32_t TimeZone::OffsetAt(std::int64_t seconds) const {
  if (changes_.empty() || seconds < changes_.front()) {
    return changes_.empty() && footer_ ? footer_->OffsetAt(seconds) : first_offset_;
  }
  if (seconds >= changes_.back() && footer_) return footer_->OffsetAt(seconds);
  const auto next = std::upper_bound(changes_.begin(), changes_.end(), seconds);
  return offsets_[static_cast<std::size_t>(next - changes_.begin()) - 1];
}

const TimeZone* TimeZones::Find(std::string_view name) const {
  if (!IsZoneName(name)) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto known = zones_.find(name);
  if (known != zones_.end()) return known->second.get();

  // The largest zone has some 4 KiB. Names that are none aren't kept, lest inputs fill the memory.
  const std::filesystem::path path = folder_ / name;
  const auto info = files_.Stat(path);
  if (!info || info->kind == FileKind::kFolder) return nullptr;
  const std::optional<std::string> file = ReadFile(files_, path, std::uint64_t{1} << 20);
  std::optional<TimeZone> zone = file ? TimeZone::FromFile(*file) : std::nullopt;
  if (!zone) return nullptr;
  return zones_.emplace(std::string(name), std::make_unique<const TimeZone>(std::move(*zone))).first->second.get();
}

}  // namespace swamp::cel

#include "model/run_log.h"

#include <fmt/format.h>

#include <array>

#include "util/clock.h"

namespace swamp {
namespace {

constexpr std::uint64_t kLimit = 16ULL << 20;
constexpr std::array<std::string_view, 6> kLevels = {"TRC", "DBG", "INF", "WRN", "ERR", "FTL"};

}  // namespace

std::string RunLog::Add(LogLevel level, std::string_view category, std::string_view message) {
  std::string text = redactor_.empty() ? std::string(message) : redactor_.Redact(message);
  if (full_ && level < LogLevel::kError) return text;
  const Context& context = files_.context();
  const auto line = [&](std::string_view of) {
    return fmt::format("{} [{}] {}: {}\n", FormatTime(context.clock().Now()), kLevels.at(static_cast<std::size_t>(level)),
                       category, of);
  };
  std::string written = line(text);
  size_ += written.size();
  if (!full_ && size_ > kLimit) {
    full_ = true;
    written = line("more was printed than this log takes; the data of the run has all of it");
  }
  context.files().Append(files_.PathOf(tier_path_), written);
  return text;
}

}  // namespace swamp

#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr int kExitLikeSigpipe = 141;

constexpr std::array<std::string_view, 6> kLevelNames = {"TRC", "DBG", "INF", "WRN", "ERR", "FTL"};

void WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      if (descriptor == STDERR_FILENO) return;  // there is nobody left to tell
      if (errno == EPIPE) std::_Exit(kExitLikeSigpipe);
      throw UserError("output_failed", fmt::format("cannot write the result: {}",
                                                   std::generic_category().message(errno)));
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

OutputOptions OutputOptionsOf(const std::vector<std::string>& arguments) {
  OutputOptions options;
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "--json" || argument == "--json-stream") options.json = true;
    if (argument == "--no-color") options.no_color = true;
  }
  return options;
}

bool IsTerminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool UsesColor(int descriptor, bool no_color) {
  if (no_color || !IsTerminal(descriptor)) return false;
  // NOLINTBEGIN(concurrency-mt-unsafe): nothing in this program changes the environment.
  const char* term = std::getenv("TERM");
  return std::getenv("NO_COLOR") == nullptr && (term == nullptr || std::string_view(term) != "dumb");
  // NOLINTEND(concurrency-mt-unsafe)
}

Output::Output(Clock& clock, const OutputOptions& options)
    : clock_(clock),
      options_(options),
      color_out_(UsesColor(STDOUT_FILENO, options.no_color)),
      color_err_(UsesColor(STDERR_FILENO, options.no_color)),
      terminal_err_(IsTerminal(STDERR_FILENO)) {}

void Output::Write(LogLevel level, std::string_view category, std::string_view message) {
  if (options_.json) {
    if (level < LogLevel::kWarning) return;
    const std::lock_guard lock(mutex_);
    warnings_.emplace_back(message);
    return;
  }
  if (level < options_.level) return;
  const std::string_view name = kLevelNames.at(static_cast<std::size_t>(level));
  const std::string time = FormatTime(clock_.Now());
  std::string line;
  if (terminal_err_ && color_err_) {
    const char* color = level >= LogLevel::kError ? "\x1b[31m" : level == LogLevel::kWarning ? "\x1b[33m" : "";
    line = fmt::format("\x1b[2m{}\x1b[0m {}{}\x1b[0m \x1b[32m{}\x1b[0m: {}\n", time.substr(11, 12), color, name,
                       category, message);
  } else {
    line = fmt::format("{} [{}] {}: {}\n", time, name, category, message);
  }
  const std::lock_guard lock(mutex_);
  WriteAll(STDERR_FILENO, line);
}

void Output::Print(const Rendered& result) {
  if (!options_.json) {
    WriteAll(STDOUT_FILENO, result.text);
    return;
  }
  if (!result.json.is_object()) {
    for (const std::string& warning : warnings_) WriteAll(STDERR_FILENO, warning + "\n");
  }
  WriteAll(STDOUT_FILENO, PrettyJson(WithWarnings(result.json)));
}

Json Output::WithWarnings(Json document) const {
  const std::lock_guard lock(mutex_);
  if (warnings_.empty() || !document.is_object()) return document;
  Json& warnings = document["warnings"];
  if (warnings.is_null()) warnings = Json::array();
  for (const std::string& warning : warnings_) warnings.push_back(warning);
  return document;
}

void Output::PrintLine(const Json& event) {
  const std::string line = CompactJson(event) + "\n";
  const std::lock_guard lock(mutex_);
  WriteAll(STDOUT_FILENO, line);
}

void Output::PrintRaw(std::string_view bytes) { WriteAll(STDOUT_FILENO, bytes); }

void Output::PrintNote(std::string_view text) {
  if (!options_.json) WriteAll(STDERR_FILENO, text);
}

void Output::PrintError(std::string_view code, std::string_view message, std::string_view hint,
                        const Json& extra) {
  if (options_.json) {
    Json error = {{"error", message}, {"code", code}};
    if (!hint.empty()) error["hint"] = hint;
    for (const auto& [key, value] : extra.items()) error[key] = value;
    if (!warnings_.empty()) error["warnings"] = warnings_;
    WriteAll(STDERR_FILENO, PrettyJson(error));
    return;
  }
  const auto [begin, end] = color_err_ ? std::pair("\x1b[31m", "\x1b[0m") : std::pair("", "");
  std::string text = fmt::format("{}Error:{} {}\n", begin, end, message);
  if (!hint.empty()) text += fmt::format("Hint: {}\n", hint);
  WriteAll(STDERR_FILENO, text);
}

}  // namespace swamp

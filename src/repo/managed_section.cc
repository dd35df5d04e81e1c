#include "repo/managed_section.h"

#include <optional>

#include "util/text.h"

namespace swamp {

std::size_t EndOfLine(std::string_view text, std::size_t at) {
  const std::size_t newline = text.find('\n', at);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::string_view LineAt(std::string_view text, std::size_t at) {
  return Trim(text.substr(at, EndOfLine(text, at) - at));
}

std::size_t ByteOrderMarkLength(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? kMark.size() : 0;
}

ManagedSections FindManagedSections(std::string_view text, const SectionMarks& marks) {
  ManagedSections found;
  std::optional<TextSpan> open;
  for (std::size_t at = ByteOrderMarkLength(text); at < text.size();) {
    const TextSpan span{at, EndOfLine(text, at)};
    const std::string_view line = LineAt(text, at);
    if (line == marks.begin) {
      if (open) found.unclosed.push_back(*open);
      open = span;
    } else if (line == marks.end && open) {
      found.whole.push_back({open->begin, span.end});
      open.reset();
    }
    at = span.end;
  }
  if (open) found.unclosed.push_back(*open);
  return found;
}

std::string WithoutUnclosedMarks(std::string text, const SectionMarks& marks) {
  const std::vector<TextSpan> unclosed = FindManagedSections(text, marks).unclosed;
  for (auto span = unclosed.rbegin(); span != unclosed.rend(); ++span) {
    text.erase(span->begin, span->end - span->begin);
  }
  return text;
}

std::string WithLineEndsOf(std::string_view text, std::string lines) {
  if (text.find("\r\n") == std::string_view::npos) return lines;
  return ReplaceAll(std::move(lines), "\n", "\r\n");
}

}  // namespace swamp

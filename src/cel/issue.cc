#include "cel/issue.h"

#include <fmt/format.h>

#include <algorithm>

#include "cel/utf8.h"
#include "util/text.h"

namespace swamp::cel {
namespace {

std::string MessageWithPlace(std::string_view text, const Issue& issue) {
  const Position position = PositionAt(text, issue.begin);
  return fmt::format("{} (line {}, column {})", issue.message, position.line, position.column);
}

// The line with the issue, and carets under it. Long lines are cut around the issue.
std::string Excerpt(std::string_view text, const Issue& issue) {
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kAfter = 40;
  const std::size_t at = std::min<std::size_t>(issue.begin, text.size());
  const std::size_t line_begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const std::size_t line_end = std::min(text.find('\n', at), text.size());
  const std::size_t issue_end = std::clamp<std::size_t>(issue.end, at, line_end);

  std::string_view before = text.substr(line_begin, at - line_begin);
  bool cut_before = false;
  while (CountCodePoints(before) > kBefore) {
    before.remove_prefix(FirstLength(before));
    cut_before = true;
  }
  std::string_view rest = text.substr(at, line_end - at);
  const std::size_t wanted = issue_end - at + kAfter;
  const bool cut_after = rest.size() > wanted;
  if (cut_after) rest = rest.substr(0, wanted);
  while (cut_after && !rest.empty() && !IsValidUtf8(rest)) rest.remove_suffix(1);

  const std::string shown_before = (cut_before ? "..." : "") + Printable(before);
  const std::string shown_rest = Printable(rest, rest.size() + 1) + (cut_after ? "..." : "");
  const std::size_t width = CountCodePoints(Printable(text.substr(at, issue_end - at), issue_end - at + 1));
  return fmt::format("  {}{}\n  {}{}", shown_before, shown_rest,
                     std::string(CountCodePoints(shown_before), ' '),
                     std::string(std::clamp<std::size_t>(width, 1, 100), '^'));
}

}  // namespace

Position PositionAt(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<std::size_t>(lines) + 1, CountCodePoints(before.substr(line_begin)) + 1};
}

std::string RenderIssue(std::string_view text, const Issue& issue) {
  return MessageWithPlace(text, issue) + "\n" + Excerpt(text, issue);
}

ExpressionError::ExpressionError(std::string_view text, Issue issue)
    : UserError("expression_failed", "Invalid expression: " + MessageWithPlace(text, issue)),
      issue_(std::move(issue)),
      position_(PositionAt(text, issue_.begin)),
      excerpt_(Excerpt(text, issue_)) {}

}  // namespace swamp::cel

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swamp {

// The two lines that fence off this program's part of a text file that belongs to the user.
struct SectionMarks {
  std::string_view begin;
  std::string_view end;
};

// Bytes [begin, end) of a text.
struct TextSpan {
  std::size_t begin;
  std::size_t end;
};

struct ManagedSections {
  std::vector<TextSpan> whole;     // from the BEGIN line to the END line, both included
  std::vector<TextSpan> unclosed;  // BEGIN lines without an END of their own
};

// A mark counts only as a line of its own, blanks around it aside: a text that quotes one isn't cut
// up. An END belongs to the nearest BEGIN before it, so that no section swallows lines of the user
// that follow a BEGIN whose END was lost. An END without a BEGIN is nothing.
ManagedSections FindManagedSections(std::string_view text, const SectionMarks& marks);

// The text without its unclosed BEGIN lines.
std::string WithoutUnclosedMarks(std::string text, const SectionMarks& marks);

// The offset behind the line that `at` lies in, its line end included.
std::size_t EndOfLine(std::string_view text, std::size_t at);

// The line that starts at `at`, without blanks around it and without its line end.
std::string_view LineAt(std::string_view text, std::size_t at);

// The length of the byte order mark at the start, or 0.
std::size_t ByteOrderMarkLength(std::string_view text);

// `lines` (with "\n") with the line ends that `text` uses: a file of one kind stays of one kind.
std::string WithLineEndsOf(std::string_view text, std::string lines);

}  // namespace swamp

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swamp {

struct MarkdownWidths {
  std::size_t line = 0;    // of all; 0: no limit
  std::size_t column = 0;  // of a table's column; 0: no limit
};

// Markdown as plain text to read on a terminal: headings underlined, tables in columns, paragraphs and list items wrapped,
// markup taken out. Nothing in it reaches the terminal as a control character. Any text is taken; what is no markup that this
// knows stays as it is.
std::string RenderMarkdown(std::string_view markdown, const MarkdownWidths& widths);

}  // namespace swamp

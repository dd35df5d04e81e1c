#include "cli/render/markdown.h"

#include <algorithm>
#include <vector>

#include "cli/render/table.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kColumnGap = 2;
constexpr std::size_t kLeastColumn = 5;

std::size_t LengthOfCharacter(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return std::min(length, text.size() - at);
}

bool IsPunctuation(char c) { return c > ' ' && c < 0x7f && !std::isalnum(static_cast<unsigned char>(c)); }

// "[text](address)" at `at`: "text (address)", and `at` behind it.
bool TakeLink(std::string_view text, std::size_t& at, std::string& out) {
  const std::size_t middle = text.find("](", at);
  const std::size_t end = middle == std::string_view::npos ? middle : text.find(')', middle);
  if (end == std::string_view::npos) return false;
  const std::string_view shown = text.substr(at + 1, middle - at - 1);
  if (shown.find('[') != std::string_view::npos) return false;
  out += shown;
  out += " (";
  out += text.substr(middle + 2, end - middle - 2);
  out += ')';
  at = end + 1;
  return true;
}

// A line's text without the marks for bold, code and links. Underscores stay: they are mostly parts of names.
std::string Inline(std::string_view raw) {
  const std::string text = Printable(raw, SIZE_MAX);
  std::string out;
  bool italic = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && IsPunctuation(text[i + 1])) {
      out += text[i + 1];
      i += 2;
    } else if (c == '`') {
      const std::size_t end = text.find('`', i + 1);
      if (end == std::string::npos) {
        out += text[i++];
        continue;
      }
      out += text.substr(i + 1, end - i - 1);
      i = end + 1;
    } else if (c == '*') {
      if (text.compare(i, 2, "**") == 0) {
        i += 2;
        continue;
      }
      const bool opens = !italic && i + 1 < text.size() && text[i + 1] != ' ' && text.find('*', i + 1) != std::string::npos;
      if (!opens && !italic) out += c;
      italic = opens;
      ++i;
    } else if (c == '[' && TakeLink(text, i, out)) {
      continue;
    } else {
      out += text[i++];
    }
  }
  return out;
}

// Lines of at most `width` columns, broken between words where that goes. At least one.
std::vector<std::string> Wrap(std::string_view text, std::size_t width) {
  if (width == 0 || DisplayWidth(text) <= width) return {std::string(text)};
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  const auto add = [&](std::string_view word) {
    for (std::size_t i = 0; i < word.size();) {
      const std::string_view character = word.substr(i, LengthOfCharacter(word, i));
      const std::size_t takes = DisplayWidth(character);
      if (used + takes > width && used > 0) {
        lines.emplace_back();
        used = 0;
      }
      lines.back() += character;
      used += takes;
      i += character.size();
    }
  };
  for (const std::string& word : Split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t takes = DisplayWidth(word);
    if (used > 0 && used + 1 + takes > width) {
      lines.emplace_back();
      used = 0;
    } else if (used > 0) {
      lines.back() += ' ';
      ++used;
    }
    add(word);
  }
  return lines;
}

// A block with something in front of its first line, and as many blanks in front of the others.
std::string Hanging(const std::string& front, const std::string& text, std::size_t width) {
  const std::size_t indent = DisplayWidth(front);
  const std::size_t room = width == 0 ? 0 : std::max(width > indent ? width - indent : 0, kLeastColumn);
  std::string block;
  for (const std::string& line : Wrap(text, room)) {
    block += (block.empty() ? front : std::string(indent, ' ')) + line + "\n";
  }
  return block;
}

std::vector<std::string> CellsOf(std::string_view row) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\\' && i + 1 < row.size()) {
      cells.back() += row[i];
      cells.back() += row[++i];
    } else if (row[i] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += row[i];
    }
  }
  if (Trim(cells.front()).empty()) cells.erase(cells.begin());
  if (!cells.empty() && Trim(cells.back()).empty()) cells.pop_back();
  for (std::string& cell : cells) cell = Inline(Trim(cell));
  return cells;
}

bool IsRow(std::string_view line) { return Trim(line).starts_with('|'); }

// "| --- | :-: |"
bool IsRule(std::string_view line) {
  return IsRow(line) && line.find('-') != std::string_view::npos && line.find_first_not_of("|-: \t") == std::string_view::npos;
}

void Shrink(std::vector<std::size_t>& columns, const MarkdownWidths& widths) {
  if (widths.column != 0) {
    for (std::size_t& one : columns) one = std::min(one, widths.column);
  }
  if (widths.line == 0) return;
  const auto total = [&] {
    std::size_t sum = columns.empty() ? 0 : (columns.size() - 1) * kColumnGap;
    for (const std::size_t one : columns) sum += one;
    return sum;
  };
  while (total() > widths.line) {
    const auto widest = std::max_element(columns.begin(), columns.end());
    if (*widest <= kLeastColumn) return;  // rather too wide than unreadable
    const std::size_t over = total() - widths.line;
    *widest = std::max({kLeastColumn, *widest - std::min(over, *widest), *widest / 2});
  }
}

std::string RenderTable(const std::vector<std::vector<std::string>>& rows, const MarkdownWidths& widths) {
  std::vector<std::size_t> columns;
  for (const auto& row : rows) {
    columns.resize(std::max(columns.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) columns[i] = std::max(columns[i], DisplayWidth(row[i]));
  }
  Shrink(columns, widths);
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      cells.push_back(Wrap(rows[r][i], columns[i]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string out;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = line < cells[i].size() ? cells[i][line] : std::string();
        const std::size_t used = DisplayWidth(cell);
        out += cell + std::string((columns[i] > used ? columns[i] - used : 0) + kColumnGap, ' ');
      }
      text += out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
    }
    if (r > 0) continue;
    std::string rule;
    for (const std::size_t one : columns) rule += std::string(one, '-') + std::string(kColumnGap, ' ');
    text += rule.substr(0, rule.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

// What a list item begins with, "- " or "12. ", after its indent; 0: it is no item.
std::size_t MarkOfItem(std::string_view line) {
  if (line.size() > 1 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && line[1] == ' ') return 2;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && digits < 10 && line.substr(digits).starts_with(". ") ? digits + 2 : 0;
}

class Renderer {
 public:
  Renderer(std::vector<std::string> lines, const MarkdownWidths& widths) : lines_(std::move(lines)), widths_(widths) {}

  std::string Render() {
    while (at_ < lines_.size()) Block();
    FlushParagraph();
    while (out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  void Block() {
    const std::string& line = lines_[at_];
    const std::string trimmed(Trim(line));
    if (trimmed.starts_with("```") || trimmed.starts_with("~~~")) return Code(trimmed.substr(0, 3));
    if (trimmed.empty()) return Blank();
    if (const std::size_t level = trimmed.find_first_not_of('#'); level >= 1 && level <= 6 && trimmed[level] == ' ') {
      return Heading(level, trimmed.substr(level + 1));
    }
    if (IsRow(line) && at_ + 1 < lines_.size() && IsRule(lines_[at_ + 1])) return TableBlock();
    if (trimmed.size() >= 3 && trimmed.find_first_not_of("-*_") == std::string::npos &&
        trimmed.find_first_not_of(trimmed[0]) == std::string::npos) {
      FlushParagraph();
      out_ += std::string(widths_.line == 0 ? 20 : std::min<std::size_t>(widths_.line, 20), '-') + "\n";
      ++at_;
      return;
    }
    const std::size_t indent = line.find_first_not_of(" \t");
    if (const std::size_t mark = MarkOfItem(trimmed)) {
      FlushParagraph();
      front_ = std::string(std::min<std::size_t>(indent, 20), ' ') + (mark == 2 ? "- " : trimmed.substr(0, mark));
      paragraph_ = trimmed.substr(mark);
    } else if (trimmed.starts_with('>')) {
      FlushParagraph();
      front_ = "| ";
      paragraph_ = Trim(trimmed.substr(1));
    } else {
      paragraph_ += (paragraph_.empty() ? "" : " ") + trimmed;
    }
    ++at_;
  }
  void Blank() {
    FlushParagraph();
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
    ++at_;
  }
  void Code(const std::string& fence) {
    FlushParagraph();
    for (++at_; at_ < lines_.size() && !Trim(lines_[at_]).starts_with(fence); ++at_) {
      out_ += "    " + Printable(lines_[at_], SIZE_MAX) + "\n";
    }
    ++at_;
  }
  void Heading(std::size_t level, const std::string& raw) {
    FlushParagraph();
    const std::string text = Inline(Trim(raw));
    std::size_t width = 0;
    for (const std::string& line : Wrap(text, widths_.line)) {
      out_ += line + "\n";
      width = std::max(width, DisplayWidth(line));
    }
    if (level <= 2) out_ += std::string(width, level == 1 ? '=' : '-') + "\n";
    ++at_;
  }
  void TableBlock() {
    FlushParagraph();
    std::vector<std::vector<std::string>> rows = {CellsOf(lines_[at_])};
    for (at_ += 2; at_ < lines_.size() && IsRow(lines_[at_]); ++at_) rows.push_back(CellsOf(lines_[at_]));
    out_ += RenderTable(rows, widths_);
  }
  void FlushParagraph() {
    if (!paragraph_.empty() || !front_.empty()) out_ += Hanging(front_, Inline(paragraph_), widths_.line);
    paragraph_.clear();
    front_.clear();
  }

  std::vector<std::string> lines_;
  MarkdownWidths widths_;
  std::size_t at_ = 0;
  std::string out_;
  std::string front_;      // of the paragraph: "- "
  std::string paragraph_;  // not wrapped yet
};

}  // namespace

std::string RenderMarkdown(std::string_view markdown, const MarkdownWidths& widths) {
  std::vector<std::string> lines = Split(markdown, '\n');
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  return Renderer(std::move(lines), widths).Render();
}

}  // namespace swamp

#include "cli/render/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kLabelWidth = 14;

struct WideRange {
  char32_t first;
  char32_t last;
};
// Blocks whose characters take two columns (Unicode, East Asian Width W and F; coarse).
constexpr WideRange kWide[] = {{0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
                               {0x4e00, 0x9fff},  {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
                               {0xfe30, 0xfe4f},  {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                               {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
// Marks that stand on the character before them.
constexpr WideRange kZero[] = {{0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};

bool In(char32_t c, std::span<const WideRange> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const WideRange& range) { return c >= range.first && c <= range.last; });
}

std::string Pad(const std::string& text, std::size_t width) {
  const std::size_t used = DisplayWidth(text);
  return text + std::string(width > used ? width - used : 0, ' ');
}

}  // namespace

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    char32_t c = length == 1 ? first : first & (0xff >> (length + 1));
    for (std::size_t j = 1; j < length && i + j < text.size(); ++j) {
      c = (c << 6) | (static_cast<unsigned char>(text[i + j]) & 0x3f);
    }
    i += length;
    width += In(c, kZero) ? 0 : In(c, kWide) ? 2 : 1;
  }
  return width;
}

std::string Table::Render() const {
  std::vector<std::vector<std::string>> safe = rows_;
  std::vector<std::size_t> widths;
  for (auto& row : safe) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = Printable(row[i]);
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  std::string text;
  for (const auto& row : safe) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 == row.size() ? row[i] : Pad(row[i], widths[i] + 2);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::string text;
  for (const auto& [label, value] : lines) text += Pad(label + ":", kLabelWidth) + Printable(value, 2000) + "\n";
  return text;
}

}  // namespace swamp

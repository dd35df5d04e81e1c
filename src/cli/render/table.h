#pragma once

#include <string>
#include <utility>
#include <vector>

namespace swamp {

// Columns padded to their widest cell, two blanks between them; no trailing blanks. Cells are made safe for a terminal.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// "Name:     m1" lines with the values aligned.
std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines);

// Columns that a text takes on a terminal.
std::size_t DisplayWidth(std::string_view text);

}  // namespace swamp

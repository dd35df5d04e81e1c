#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/render/table.h"
#include "cli/session.h"

namespace swamp {

// A list on a terminal from which the user picks a line: typing filters, arrow keys move, Enter picks, Escape leaves.

// What the keys do, apart from any terminal.
class PickerList {
 public:
  // The lines are safe for a terminal.
  explicit PickerList(std::vector<std::string> lines);

  enum class Outcome { kGoesOn, kPicked, kLeft, kInterrupted };
  // Takes what the keyboard sent. Part of a key's sequence may come with the next call; `no_more_yet`: it won't, and an
  // Escape is one.
  Outcome Take(std::string_view bytes, bool no_more_yet = false);
  // Number of the picked line, from 0.
  std::size_t picked() const { return shown_.at(position_); }
  // As lines of a terminal of that size, each cut to fit; the first is the prompt.
  std::vector<std::string> Draw(const std::string& title, std::size_t width, std::size_t height, bool color) const;

 private:
  Outcome TakeKey(std::string_view key);
  Outcome Control(char key);
  void Move(std::ptrdiff_t by);
  void Filter();

  std::vector<std::string> lines_;
  std::string pending_;              // the beginning of a key's sequence
  std::string filter_;
  std::vector<std::size_t> shown_;   // lines that hold every word of the filter
  std::size_t position_ = 0;         // in shown_
  std::size_t page_ = 10;
};

// Prints what a search found: with --json, or where nobody sits at a terminal, as it is. Else the user picks one of the `rows`
// of the table that `result.text` begins with, after its header. Its number goes to `show`; of a list that is left nothing is
// printed.
void PrintOrPick(Session& session, const Rendered& result, std::size_t rows, const std::function<void(std::size_t row)>& show);

// Gives the terminal back as it was, from any thread: for a program that ends at once. Does nothing when no list is shown.
void RestoreTerminal();

}  // namespace swamp

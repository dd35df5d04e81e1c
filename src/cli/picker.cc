#include "cli/picker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "util/environment.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kMostRows = 15;  // of the list
constexpr int kPollMs = 50;            // how soon an interrupt is seen, and how long an Escape waits for the rest of a sequence
constexpr char kEscape = '\x1b';

// What is still to come of the character that `first` begins.
std::size_t LengthOfCharacter(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

// The length of the key at the beginning; 0: it isn't complete.
std::size_t LengthOfKey(std::string_view bytes) {
  if (bytes.front() != kEscape) {
    const std::size_t length = LengthOfCharacter(bytes.front());
    return length <= bytes.size() ? length : 0;
  }
  if (bytes.size() == 1) return 0;
  if (bytes[1] != '[' && bytes[1] != 'O') return 1;
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    if (bytes[i] >= '@' && bytes[i] <= '~') return i + 1;
  }
  return 0;
}

std::string CutTo(const std::string& text, std::size_t width) {
  std::string cut;
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::string one = text.substr(i, LengthOfCharacter(text[i]));
    used += DisplayWidth(one);
    if (used > width) break;
    cut += one;
    i += one.size();
  }
  return cut;
}

}  // namespace

PickerList::PickerList(std::vector<std::string> lines) : lines_(std::move(lines)) { Filter(); }

void PickerList::Filter() {
  shown_.clear();
  const std::vector<std::string> words = Split(filter_, ' ');
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const bool all = std::all_of(words.begin(), words.end(), [&](const std::string& word) { return ContainsIgnoringCase(lines_[i], word); });
    if (all) shown_.push_back(i);
  }
  position_ = 0;
}

void PickerList::Move(std::ptrdiff_t by) {
  if (shown_.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(shown_.size()) - 1;
  position_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(position_) + by, 0, last));
}

PickerList::Outcome PickerList::Take(std::string_view bytes, bool no_more_yet) {
  pending_ += bytes;
  while (!pending_.empty()) {
    std::size_t length = LengthOfKey(pending_);
    if (length == 0 && no_more_yet) length = pending_.front() == kEscape ? 1 : pending_.size();
    if (length == 0) break;
    const std::string key = pending_.substr(0, length);
    pending_.erase(0, length);
    if (const Outcome outcome = TakeKey(key); outcome != Outcome::kGoesOn) return outcome;
  }
  return Outcome::kGoesOn;
}

PickerList::Outcome PickerList::TakeKey(std::string_view key) {
  if (key.size() == 1 && (static_cast<unsigned char>(key[0]) < ' ' || key[0] == '\x7f')) return Control(key[0]);
  if (key.front() != kEscape) {
    if (IsValidUtf8(key)) {
      filter_ += key;
      Filter();
    }
    return Outcome::kGoesOn;
  }
  const auto page = static_cast<std::ptrdiff_t>(page_);
  const auto all = static_cast<std::ptrdiff_t>(lines_.size());
  const std::string_view name = key.substr(2);
  if (name == "A") Move(-1);
  if (name == "B") Move(1);
  if (name == "5~") Move(-page);
  if (name == "6~") Move(page);
  if (name == "H" || name == "1~" || name == "7~") Move(-all);
  if (name == "F" || name == "4~" || name == "8~") Move(all);
  return Outcome::kGoesOn;
}

PickerList::Outcome PickerList::Control(char key) {
  const auto control = [](char letter) { return static_cast<char>(letter & 0x1f); };
  if (key == '\r' || key == '\n') return shown_.empty() ? Outcome::kGoesOn : Outcome::kPicked;
  if (key == control('c')) return Outcome::kInterrupted;
  if (key == kEscape || key == control('g') || (key == control('d') && filter_.empty())) return Outcome::kLeft;
  if (key == control('p')) Move(-1);
  if (key == control('n')) Move(1);
  if (key == control('u')) {
    filter_.clear();
    Filter();
  }
  if ((key == '\x7f' || key == '\b') && !filter_.empty()) {
    while (filter_.size() > 1 && (static_cast<unsigned char>(filter_.back()) & 0xc0) == 0x80) filter_.pop_back();
    filter_.pop_back();
    Filter();
  }
  return Outcome::kGoesOn;
}

std::vector<std::string> PickerList::Draw(const std::string& title, std::size_t width, std::size_t height, bool color) const {
  const std::size_t rows = std::min({kMostRows, height > 3 ? height - 3 : 1, std::max<std::size_t>(lines_.size(), 1)});
  const std::size_t first = position_ < rows ? 0 : position_ - rows + 1;
  std::vector<std::string> drawn = {CutTo("> " + filter_, width), CutTo("  " + title, width)};
  for (std::size_t i = first; i < std::min(first + rows, shown_.size()); ++i) {
    const bool here = i == position_;
    std::string line = CutTo((here ? "> " : "  ") + lines_[shown_[i]], width);
    if (here && color) line = "\x1b[7m" + line + "\x1b[0m";
    drawn.push_back(std::move(line));
  }
  drawn.push_back(CutTo(fmt::format("  {} of {}: type to filter, arrows move, Enter shows, Escape leaves", shown_.size(), lines_.size()), width));
  return drawn;
}

namespace {

// Set while the terminal is not as it was.
termios g_before;                              // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> g_changed = false;           // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Keys come one by one and unseen, as long as this lives.
class RawTerminal {
 public:
  RawTerminal() {
    if (::tcgetattr(STDIN_FILENO, &g_before) != 0) return;
    termios raw = g_before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG | IEXTEN);
    raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    works_ = true;
    g_changed = true;
    works_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
  }
  ~RawTerminal() { RestoreTerminal(); }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  bool works() const { return works_; }

 private:
  bool works_ = false;
};

// What is on the screen, and nothing but it, is taken away at the end.
class Screen {
 public:
  explicit Screen(Output& output) : output_(output) {}
  ~Screen() {
    try {
      Show({});
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the terminal has gone away
    }
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void Show(const std::vector<std::string>& lines) {
    std::string text = "\r";
    if (up_ > 0) text += fmt::format("\x1b[{}A", up_);
    text += "\x1b[J" + Join(lines, "\r\n");
    up_ = lines.empty() ? 0 : lines.size() - 1;
    output_.PrintRaw(text);
  }
  static std::pair<std::size_t, std::size_t> Size() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {80, 24};
    return {size.ws_col, size.ws_row};
  }

 private:
  Output& output_;
  std::size_t up_ = 0;  // lines from the last one to the first
};

// Nothing: left without picking. Throws Cancelled.
std::optional<std::size_t> Pick(Session& session, const std::string& title, std::vector<std::string> lines) {
  PickerList list(std::move(lines));
  const RawTerminal raw;
  if (!raw.works()) throw UserError("usage", "the terminal gives no single keys", "With --json, or through a pipe, the list is printed.");
  Screen screen(session.output());
  std::vector<std::string> shown;
  for (auto outcome = PickerList::Outcome::kGoesOn;;) {
    // The last column stays free: a line that ends there may or may not begin the next one.
    const auto [width, height] = Screen::Size();
    auto now = list.Draw(title, width - 1, height, session.output().color_on_stdout());
    if (now != shown) screen.Show(now);
    shown = std::move(now);
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    if (::poll(&ready, 1, kPollMs) <= 0) {
      session.context().Check();
      outcome = list.Take({}, true);
    } else {
      char buffer[256];
      const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (count <= 0) return std::nullopt;  // the terminal has gone away
      outcome = list.Take(std::string_view(buffer, static_cast<std::size_t>(count)));
    }
    if (outcome == PickerList::Outcome::kPicked) return list.picked();
    if (outcome == PickerList::Outcome::kLeft) return std::nullopt;
    if (outcome == PickerList::Outcome::kInterrupted) throw Cancelled(SIGINT);
  }
}

bool CanPick(const Session& session) {
  return session.interactive() && session.context().environment().Get("TERM").value_or("") != "dumb";
}

}  // namespace

void RestoreTerminal() {
  if (g_changed.exchange(false)) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &g_before);
}

void PrintOrPick(Session& session, const Rendered& result, std::size_t rows, const std::function<void(std::size_t row)>& show) {
  if (rows == 0 || !CanPick(session)) {
    session.Print(result);
    return;
  }
  std::vector<std::string> lines = Split(result.text, '\n');
  const std::string title = lines.front();
  lines.erase(lines.begin());
  lines.resize(rows);
  if (const auto row = Pick(session, title, std::move(lines))) show(*row);
}

}  // namespace swamp

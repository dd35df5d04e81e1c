#include "vault/redactor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "vault/secret_forms.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr std::string_view kMask = "***";

std::size_t PairOf(unsigned char first, unsigned char second) {
  return static_cast<std::size_t>(first) << 8 | second;
}

// A text to find, with the table of Knuth, Morris and Pratt: the longest proper prefix that also ends at each position.
struct Pattern {
  explicit Pattern(const std::string& bytes) : text(bytes), border(bytes.size() + 1, 0) {
    std::uint32_t length = 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
      while (length > 0 && text[i] != text[length]) length = border[length];
      if (text[i] == text[length]) ++length;
      border[i + 1] = length;
    }
  }
  ~Pattern() { Wipe(text); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  std::string text;
  std::vector<std::uint32_t> border;
};

}  // namespace

struct Redactor::Patterns {
  std::vector<std::unique_ptr<Pattern>> all;
  // Which pairs of bytes begin a pattern: most text is passed over by this alone.
  std::bitset<65536> pairs;
  std::array<std::vector<std::uint32_t>, 256> by_first;

  explicit Patterns(const std::set<std::string, std::less<>>& texts) {
    for (const std::string& text : texts) {
      const auto first = static_cast<unsigned char>(text[0]);
      by_first.at(first).push_back(static_cast<std::uint32_t>(all.size()));
      pairs.set(PairOf(first, static_cast<unsigned char>(text[1])));
      all.push_back(std::make_unique<Pattern>(text));
    }
  }
};

Redactor::Redactor() = default;

Redactor::~Redactor() {
  while (!texts_.empty()) Wipe(texts_.extract(texts_.begin()).value());
}

void Redactor::Add(std::string_view secret) {
  std::vector<std::string> forms = FormsOfSecret(secret);
  const std::lock_guard lock(mutex_);
  for (std::string& form : forms) {
    if (texts_.insert(form).second) patterns_.reset();
    Wipe(form);
  }
}

bool Redactor::empty() const {
  const std::lock_guard lock(mutex_);
  return texts_.empty();
}

std::shared_ptr<const Redactor::Patterns> Redactor::Current() const {
  const std::lock_guard lock(mutex_);
  if (!patterns_ && !texts_.empty()) patterns_ = std::make_shared<const Patterns>(texts_);
  return patterns_;
}

std::string Redactor::Redact(std::string_view text) const {
  Stream stream(*this);
  std::string out = stream.Push(text);
  out += stream.Finish();
  return out;
}

Json Redactor::RedactJson(const Json& value) const {
  if (value.is_string()) return Redact(value.get_ref<const std::string&>());
  if (value.is_number()) {
    return Redact(value.dump()) == kMask ? Json(kMask) : value;
  }
  if (value.is_array()) {
    Json array = Json::array();
    for (const Json& item : value) array.push_back(RedactJson(item));
    return array;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [key, item] : value.items()) {
    const std::string name = Redact(key);
    std::string unique = name;
    // Two keys that are equal now must not take each other's value away.
    for (int n = 2; object.contains(unique); ++n) unique = fmt::format("{} ({})", name, n);
    object[unique] = RedactJson(item);
  }
  return object;
}

Redactor::Stream::Stream(const Redactor& redactor) : redactor_(&redactor) {}
Redactor::Stream::~Stream() { Wipe(held_); }
Redactor::Stream::Stream(Stream&&) noexcept = default;

// Secrets were added since the last piece. Their beginnings may be in what is held back, so that is scanned anew.
void Redactor::Stream::Take(const std::shared_ptr<const Patterns>& patterns) {
  patterns_ = patterns;
  active_.clear();
  matches_.clear();  // they are found again
  is_active_.assign(patterns ? patterns->all.size() : 0, 0);
  position_ = held_begin_;
}

std::string Redactor::Stream::Push(std::string_view chunk) {
  auto patterns = redactor_->Current();
  std::string out;
  if (!patterns) return std::string(chunk);
  if (patterns != patterns_) {
    std::string again = std::move(held_);
    held_.clear();
    Take(patterns);
    Scan(again, out);
    Wipe(again);
  }
  Scan(chunk, out);
  return out;
}

std::string Redactor::Stream::Finish() {
  std::string out;
  active_.clear();
  std::fill(is_active_.begin(), is_active_.end(), std::uint8_t{0});
  Emit(position_, out);
  Wipe(held_);
  held_begin_ = position_ = shown_ = 0;
  return out;
}

void Redactor::Stream::Scan(std::string_view text, std::string& out) {
  // What nothing begins in goes to `out` in blocks, without a stop in `held_`.
  constexpr std::size_t kBlock = 64 << 10;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t kept = 0;  // bytes of `text` that are in held_ by now
  std::size_t i = 0;
  while (i < text.size()) {
    if (active_.empty()) {
      const std::size_t last = text.size() - 1;
      while (i < last && !patterns_->pairs.test(PairOf(bytes[i], bytes[i + 1]))) ++i;
    }
    position_ = held_begin_ + held_.size() + (i - kept);
    Step(bytes[i], i + 1 < text.size() ? bytes + i + 1 : nullptr);
    ++i;
    ++position_;
    if (i - kept >= kBlock) {
      held_.append(text, kept, i - kept);
      kept = i;
      Emit(HeldFrom(), out);
    }
  }
  held_.append(text, kept);
  Emit(HeldFrom(), out);
}

// One byte further. `next`: the byte after it, when there is one by now.
void Redactor::Stream::Step(unsigned char byte, const unsigned char* next) {
  std::size_t left = 0;
  for (Active& one : active_) {
    const Pattern& pattern = *patterns_->all[one.pattern];
    while (one.matched > 0 && static_cast<unsigned char>(pattern.text[one.matched]) != byte) {
      one.matched = pattern.border[one.matched];
    }
    if (static_cast<unsigned char>(pattern.text[one.matched]) == byte) ++one.matched;
    if (one.matched == pattern.text.size()) {
      AddMatch(position_ + 1 - pattern.text.size(), position_ + 1);
      one.matched = pattern.border[one.matched];
    }
    if (one.matched == 0) {
      is_active_[one.pattern] = 0;
    } else {
      active_[left++] = one;
    }
  }
  active_.resize(left);
  if (next != nullptr && !patterns_->pairs.test(PairOf(byte, *next))) return;
  for (const std::uint32_t index : patterns_->by_first[byte]) {
    if (is_active_[index] != 0) continue;
    if (next != nullptr && static_cast<unsigned char>(patterns_->all[index]->text[1]) != *next) continue;
    is_active_[index] = 1;
    active_.push_back({index, 1});
  }
}

// Matches come in the order of their ends.
void Redactor::Stream::AddMatch(std::uint64_t begin, std::uint64_t end) {
  while (!matches_.empty() && matches_.back().end > begin) {
    begin = std::min(begin, matches_.back().begin);
    matches_.pop_back();
  }
  matches_.push_back({begin, end});
}

// Where the first of the secrets would begin that may be under way.
std::uint64_t Redactor::Stream::HeldFrom() const {
  std::size_t longest = 0;
  for (const Active& one : active_) longest = std::max(longest, one.matched);
  return position_ - longest;
}

// Shows everything before `until`: no match that is still to come begins there.
void Redactor::Stream::Emit(std::uint64_t until, std::string& out) {
  const auto plain = [&](std::uint64_t end) {
    if (end <= shown_) return;
    out.append(held_, shown_ - held_begin_, end - shown_);
    shown_ = end;
  };
  while (!matches_.empty() && matches_.front().begin < until) {
    const Match match = matches_.front();
    matches_.pop_front();
    // One that overlaps what was replaced before is part of the same `***`.
    if (match.begin >= shown_) {
      plain(match.begin);
      out += kMask;
    }
    shown_ = std::max(shown_, match.end);
  }
  plain(until);
  const std::uint64_t drop = std::min(until, position_) - held_begin_;
  held_.erase(0, drop);
  held_begin_ += drop;
}

}  // namespace swamp

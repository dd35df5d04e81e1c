#include "cel/regex.h"

#include "util/text.h"

namespace swamp::cel {
namespace {

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::unique_ptr<re2::RE2> CompileRegex(std::string_view pattern, std::string& error) {
  // A pattern that is longer, or unfolds to more memory than this, is refused.
  constexpr std::size_t kLongestPattern = 10'000;
  if (pattern.size() > kLongestPattern) {
    error = "the pattern is too long";
    return nullptr;
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(std::int64_t{4} << 20);
  auto regex = std::make_unique<re2::RE2>(Piece(pattern), options);
  if (regex->ok()) return regex;
  error = Printable(regex->error(), 100);
  return nullptr;
}

bool MatchesRegex(const re2::RE2& regex, std::string_view text) {
  return regex.Match(Piece(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::uint64_t MatchSteps(const re2::RE2& regex, std::string_view text) {
  // RE2 reads a byte in about a nanosecond; when its automaton would need too much memory, it follows all
  // states of the pattern instead, of which some hundred take a microsecond.
  return text.size() / 4 + text.size() * static_cast<std::uint64_t>(regex.ProgramSize()) / 256;
}

const re2::RE2* RegexCache::Find(std::string_view pattern, std::string& error, std::uint64_t& steps) {
  constexpr std::size_t kMostRegexes = 16;
  std::string key(pattern);
  const auto known = regexes_.find(key);
  steps = 0;
  if (known != regexes_.end()) return known->second.get();
  std::unique_ptr<re2::RE2> regex = CompileRegex(pattern, error);
  // A pattern that is too large is found out only after it has been unfolded for tens of milliseconds.
  constexpr std::uint64_t kRefusedSteps = 30'000;
  steps = regex != nullptr ? static_cast<std::uint64_t>(regex->ProgramSize()) : kRefusedSteps + 64 * pattern.size();
  if (regex == nullptr) return nullptr;
  if (regexes_.size() >= kMostRegexes) regexes_.clear();
  return regexes_.emplace(std::move(key), std::move(regex)).first->second.get();
}

}  // namespace swamp::cel

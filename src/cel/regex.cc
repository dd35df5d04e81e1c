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

const re2::RE2* RegexCache::Find(std::string_view pattern, std::string& error) {
  constexpr std::size_t kMostRegexes = 16;
  std::string key(pattern);
  const auto known = regexes_.find(key);
  if (known != regexes_.end()) return known->second.get();
  std::unique_ptr<re2::RE2> regex = CompileRegex(pattern, error);
  if (regex == nullptr) return nullptr;
  if (regexes_.size() >= kMostRegexes) regexes_.clear();
  return regexes_.emplace(std::move(key), std::move(regex)).first->second.get();
}

}  // namespace swamp::cel

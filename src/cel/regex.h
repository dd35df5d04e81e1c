#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace swamp::cel {

// Patterns in RE2's syntax, matched in time linear in the text. Null: the pattern is none, and `error`
// says why.
std::unique_ptr<re2::RE2> CompileRegex(std::string_view pattern, std::string& error);

// Whether the pattern matches anywhere in the text. Safe to call from many threads with one regex.
bool MatchesRegex(const re2::RE2& regex, std::string_view text);

// How many steps of the budget a match is worth: its time grows with the text, at worst times the pattern.
std::uint64_t MatchSteps(const re2::RE2& regex, std::string_view text);

// Patterns that an evaluation has made itself, the latest of them kept. Not thread-safe.
class RegexCache {
 public:
  // Valid until the next call. Null and `error` as above. `steps`: what finding it is worth.
  const re2::RE2* Find(std::string_view pattern, std::string& error, std::uint64_t& steps);

 private:
  std::unordered_map<std::string, std::unique_ptr<re2::RE2>> regexes_;
};

}  // namespace swamp::cel

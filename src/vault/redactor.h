#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"

namespace swamp {

// Replaces secrets by `***` in everything that people or files may see.
//
// A secret is found as it is and as programs usually print it: JSON-escaped, base64 (standard and URL alphabet, at any of
// the three alignments, wrapped or not), URL-encoded, shell-quoted; of a value of several lines also each line of 8 or
// more characters. Where matches overlap, all that any of them covers becomes one `***`. Takes linear time in the text,
// whatever text and secrets are. Thread-safe. Forgotten values are wiped.
class Redactor {
  struct Patterns;

 public:
  Redactor();
  ~Redactor();
  Redactor(const Redactor&) = delete;
  Redactor& operator=(const Redactor&) = delete;

  // Values under 3 bytes are ignored: replacing them would only spoil the text.
  void Add(std::string_view secret);
  bool empty() const;

  std::string Redact(std::string_view text) const;
  // Strings and keys at any depth, and numbers that are a secret as a whole.
  template <std::same_as<Json> JsonType>
  Json Redact(const JsonType& value) const {
    return RedactJson(value);
  }

  // The same for text that comes in pieces: finds secrets across their borders. Holds back only what may be the beginning
  // of a secret. A secret that is added meanwhile is looked for from the next piece on. For one thread at a time.
  class Stream {
   public:
    explicit Stream(const Redactor& redactor);
    ~Stream();
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) = delete;

    // What can be shown by now.
    std::string Push(std::string_view chunk);
    // The rest; the stream starts anew.
    std::string Finish();

   private:
    struct Match {
      std::uint64_t begin;
      std::uint64_t end;
    };
    struct Active {
      std::size_t pattern;
      std::size_t matched;  // bytes of it that the text ends with
    };

    void Take(const std::shared_ptr<const Patterns>& patterns);
    void Scan(std::string_view text, std::string& out);
    void Step(unsigned char byte, const unsigned char* next);
    void AddMatch(std::uint64_t begin, std::uint64_t end);
    void Emit(std::uint64_t until, std::string& out);
    std::uint64_t HeldFrom() const;

    const Redactor* redactor_;
    std::shared_ptr<const Patterns> patterns_;
    std::vector<Active> active_;
    std::vector<std::uint8_t> is_active_;
    std::deque<Match> matches_;      // in order, not overlapping, not yet shown
    std::string held_;               // the bytes from held_begin_ to position_
    std::uint64_t held_begin_ = 0;
    std::uint64_t position_ = 0;     // bytes scanned
    std::uint64_t shown_ = 0;        // bytes shown or replaced; beyond position_ never
  };

 private:
  std::shared_ptr<const Patterns> Current() const;
  Json RedactJson(const Json& value) const;

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> texts_;
  mutable std::shared_ptr<const Patterns> patterns_;  // of texts_; null: to be made
};

}  // namespace swamp

#pragma once

#include <openssl/crypto.h>

#include <string>

namespace swamp {

// Overwrites a secret before its memory is given back.
inline void Wipe(std::string& secret) {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

// A text that is wiped at the end of its scope.
class WipedString {
 public:
  WipedString() = default;
  explicit WipedString(std::string text) : text_(std::move(text)) {}
  ~WipedString() { Wipe(text_); }
  WipedString(const WipedString&) = delete;
  WipedString& operator=(const WipedString&) = delete;
  WipedString(WipedString&& other) noexcept : text_(other.text_) { Wipe(other.text_); }
  WipedString& operator=(WipedString&& other) noexcept {
    if (this != &other) {
      Wipe(text_);
      text_ = other.text_;
      Wipe(other.text_);
    }
    return *this;
  }

  const std::string& text() const { return text_; }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

}  // namespace swamp

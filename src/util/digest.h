#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace swamp {

using Sha256Digest = std::array<std::uint8_t, 32>;

Sha256Digest Sha256(std::string_view bytes);
Sha256Digest HmacSha256(std::span<const std::uint8_t> key, std::string_view message);
// The MD5 of `bytes` as hex: what an S3 ETag of a plain PUT is. Not for security.
std::string Md5Hex(std::string_view bytes);
std::string Sha256Hex(std::string_view bytes);

// Lower-case hex.
std::string HexOf(std::span<const std::uint8_t> bytes);
// Standard alphabet with padding (RFC 4648); decoding also accepts no padding, and nothing else.
std::string Base64Encode(std::string_view bytes);
std::optional<std::string> Base64Decode(std::string_view text);

// A digest over pieces. Not thread-safe.
class Hasher {
 public:
  enum class Kind { kSha256, kMd5 };
  explicit Hasher(Kind kind = Kind::kSha256);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void Update(std::string_view bytes);
  // The digest as lower-case hex; the hasher starts anew.
  std::string FinishHex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swamp

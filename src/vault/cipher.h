#pragma once

#include <openssl/crypto.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swamp {

// A key of AES-256; wiped at the end.
struct AesKey {
  std::array<std::uint8_t, 32> bytes{};
  AesKey() = default;
  AesKey(const AesKey&) = default;
  AesKey& operator=(const AesKey&) = default;
  ~AesKey() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
};

inline constexpr std::size_t kGcmIvBytes = 12;
inline constexpr std::size_t kGcmTagBytes = 16;

// PBKDF2-HMAC-SHA256 with 100000 iterations: some 30 ms.
AesKey DeriveAesKey(std::string_view material, std::string_view salt);

// AES-256-GCM without additional data: the ciphertext followed by its tag. An `iv` serves once with a key.
std::string AesGcmEncrypt(const AesKey& key, std::string_view iv, std::string_view plaintext);
// Nothing: not this key, or not these bytes.
std::optional<std::string> AesGcmDecrypt(const AesKey& key, std::string_view iv, std::string_view data);

}  // namespace swamp

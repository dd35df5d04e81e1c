#include "util/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <stdexcept>

namespace swamp {
namespace {

const EVP_MD* AlgorithmOf(Hasher::Kind kind) {
  return kind == Hasher::Kind::kSha256 ? EVP_sha256() : EVP_md5();
}

template <std::size_t kSize>
std::array<std::uint8_t, kSize> DigestOf(std::string_view bytes, const EVP_MD* algorithm) {
  std::array<std::uint8_t, kSize> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, algorithm, nullptr) != 1 ||
      size != kSize) {
    throw std::logic_error("the digest algorithm is not available");
  }
  return digest;
}

}  // namespace

Sha256Digest Sha256(std::string_view bytes) { return DigestOf<32>(bytes, EVP_sha256()); }

std::string Sha256Hex(std::string_view bytes) { return HexOf(Sha256(bytes)); }

std::string Md5Hex(std::string_view bytes) { return HexOf(DigestOf<16>(bytes, EVP_md5())); }

Sha256Digest HmacSha256(std::span<const std::uint8_t> key, std::string_view message) {
  Sha256Digest digest{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest.data(),
           &size) == nullptr) {
    throw std::logic_error("HMAC-SHA-256 is not available");
  }
  return digest;
}

std::string HexOf(std::span<const std::uint8_t> bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string Base64Encode(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  // EVP_EncodeBlock writes a terminating NUL, for which std::string has room.
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

std::optional<std::string> Base64Decode(std::string_view text) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 == 0) {
    for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    buffer = (buffer << 6) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>((buffer >> bits) & 0xff);
    }
  }
  if ((buffer & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

struct Hasher::State {
  explicit State(Kind k) : kind(k), context(EVP_MD_CTX_new()) { Start(); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  void Start() const {
    if (EVP_DigestInit_ex(context, AlgorithmOf(kind), nullptr) != 1) {
      throw std::logic_error("the digest algorithm is not available");
    }
  }
  Kind kind;
  EVP_MD_CTX* context;
};

Hasher::Hasher(Kind kind) : state_(std::make_unique<State>(kind)) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::Update(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Hasher::FinishHex() {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  state_->Start();
  return HexOf({digest.data(), size});
}

}  // namespace swamp

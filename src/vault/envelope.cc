#include "vault/envelope.h"

#include <fmt/format.h>

#include "util/digest.h"
#include "util/error.h"
#include "util/json.h"
#include "util/random.h"
#include "vault/cipher.h"

namespace swamp {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr int kVersion = 2;

std::string RandomBytes(Random& random, std::size_t count) {
  std::string bytes(count, '\0');
  random.Fill({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

}  // namespace

Envelope Envelope::Parse(std::string_view text, const std::string& what) {
  const auto damaged = [&](std::string_view why) {
    return UserError("vault_decrypt_failed", fmt::format("{} is damaged: {}", what, why),
                     "Bring it back from a backup, or put the secret again.");
  };
  const auto json = TryParseJson(text);
  if (!json || !json->is_object()) throw damaged("it is no JSON object");
  const auto version = IntegerMember(*json, "version");
  if (!version) throw damaged("it has no version");
  if (*version != 1 && *version != kVersion) {
    throw UserError("vault_decrypt_failed",
                    fmt::format("{} has version {}, which this program cannot read", what, *version),
                    "It was written by a newer program.");
  }
  const auto bytes = [&](const char* key) {
    const auto member = StringMember(*json, key);
    auto decoded = member ? Base64Decode(*member) : std::nullopt;
    if (!decoded) throw damaged(fmt::format("{} is no base64", key));
    return std::move(*decoded);
  };
  Envelope envelope{.iv = bytes("iv"), .data = bytes("data"), .salt = bytes("salt"), .version = static_cast<int>(*version)};
  if (envelope.iv.size() != kGcmIvBytes) throw damaged("the iv has a wrong length");
  if (envelope.data.size() < kGcmTagBytes) throw damaged("the data are too short");
  return envelope;
}

std::string Envelope::ToJson() const {
  const Json json = {{"iv", Base64Encode(iv)},
                     {"data", Base64Encode(data)},
                     {"salt", Base64Encode(salt)},
                     {"version", version}};
  return json.dump(2);  // no line end at the end, as other programs write it
}

std::optional<std::string> Envelope::Open(std::string_view key_material) const {
  return AesGcmDecrypt(DeriveAesKey(key_material, salt), iv, data);
}

Envelope Envelope::Seal(Random& random, std::string_view key_material, std::string_view plaintext) {
  Envelope envelope{.iv = RandomBytes(random, kGcmIvBytes), .data = {}, .salt = RandomBytes(random, kSaltBytes)};
  envelope.data = AesGcmEncrypt(DeriveAesKey(key_material, envelope.salt), envelope.iv, plaintext);
  return envelope;
}

}  // namespace swamp

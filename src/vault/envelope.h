#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swamp {

class Random;

// One encrypted file of a local_encryption vault, as other programs read and write it: pretty JSON with `iv`, `data`
// (AES-256-GCM, tag at the end), `salt`, each in base64, and `version`.
struct Envelope {
  std::string iv;
  std::string data;
  std::string salt;
  int version = 2;

  // Throws UserError vault_decrypt_failed naming `what` when it is damaged or of an unknown version.
  static Envelope Parse(std::string_view text, const std::string& what);
  std::string ToJson() const;

  // Nothing: it was written with another key.
  std::optional<std::string> Open(std::string_view key_material) const;
  // With a fresh salt and iv.
  static Envelope Seal(Random& random, std::string_view key_material, std::string_view plaintext);
};

}  // namespace swamp

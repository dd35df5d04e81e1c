#include "vault/cipher.h"

#include <openssl/evp.h>

#include <climits>
#include <memory>
#include <stdexcept>

#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr int kIterations = 100'000;

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

CipherContext NewContext() {
  CipherContext context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  if (!context) throw std::bad_alloc();
  return context;
}

void Require(int result) {
  if (result != 1) throw std::logic_error("AES-256-GCM is not available");
}

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

int SizeOf(std::string_view text) {
  if (text.size() > INT_MAX - 64) throw std::length_error("too long to be encrypted");
  return static_cast<int>(text.size());
}

}  // namespace

AesKey DeriveAesKey(std::string_view material, std::string_view salt) {
  AesKey key;
  Require(PKCS5_PBKDF2_HMAC(material.data(), SizeOf(material), Bytes(salt), SizeOf(salt), kIterations, EVP_sha256(),
                            static_cast<int>(key.bytes.size()), key.bytes.data()));
  return key;
}

std::string AesGcmEncrypt(const AesKey& key, std::string_view iv, std::string_view plaintext) {
  if (iv.size() != kGcmIvBytes) throw std::logic_error("an iv of AES-GCM has 12 bytes");
  const CipherContext context = NewContext();
  Require(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key.bytes.data(), Bytes(iv)));
  std::string data(plaintext.size() + kGcmTagBytes, '\0');
  int count = 0;
  Require(EVP_EncryptUpdate(context.get(), Bytes(data), &count, Bytes(plaintext), SizeOf(plaintext)));
  Require(EVP_EncryptFinal_ex(context.get(), Bytes(data) + count, &count));
  Require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kGcmTagBytes, Bytes(data) + plaintext.size()));
  return data;
}

std::optional<std::string> AesGcmDecrypt(const AesKey& key, std::string_view iv, std::string_view data) {
  if (iv.size() != kGcmIvBytes || data.size() < kGcmTagBytes) return std::nullopt;
  const CipherContext context = NewContext();
  Require(EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key.bytes.data(), Bytes(iv)));
  const std::string_view ciphertext = data.substr(0, data.size() - kGcmTagBytes);
  std::string tag(data.substr(ciphertext.size()));
  std::string plaintext(ciphertext.size(), '\0');
  int count = 0;
  Require(EVP_DecryptUpdate(context.get(), Bytes(plaintext), &count, Bytes(ciphertext), SizeOf(ciphertext)));
  Require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kGcmTagBytes, tag.data()));
  unsigned char rest[EVP_MAX_BLOCK_LENGTH];
  if (EVP_DecryptFinal_ex(context.get(), rest, &count) != 1) {
    Wipe(plaintext);
    return std::nullopt;
  }
  return plaintext;
}

}  // namespace swamp

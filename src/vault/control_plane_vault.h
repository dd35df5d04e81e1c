#pragma once

#include <memory>
#include <optional>
#include <string>

#include "datastore/datastore.h"
#include "vault/provider.h"
#include "vault/vault_config.h"

namespace swamp {

struct AesKey;

// The program's own vault, for the secrets of tokens. It is in the datastore, so that each of its checkouts and servers can
// verify a token, but outside of what is synced and indexed:
//
//   _control/token-secrets/encryption-key   32 bytes, made once by a create-only write
//   _control/token-secrets/values/<key>     {"iv", "data", "version": 1}, base64; AES-256-GCM under that key
//
// Whoever may read the datastore may read the secrets: the datastore's own protection is theirs.
inline constexpr const char* kControlPlaneVault = "_token-secrets";

// What stands for its configuration, which no file has.
VaultConfig ControlPlaneVaultConfig();

// Throws besides StoreError: vault_key_missing (the key is gone, and is never made anew while values are there), and
// vault_decrypt_failed. Notes are not supported.
class ControlPlaneVault final : public VaultProvider {
 public:
  // Both outlive it.
  ControlPlaneVault(const Context& context, Datastore& datastore) : context_(context), datastore_(datastore) {}

  bool Supports(VaultAbility ability) const override;
  std::optional<std::string> Get(const std::string& key) override;
  void Put(const std::string& key, const std::string& value, const PutOptions& options) override;
  std::vector<std::string> List() override;
  bool Delete(const std::string& key) override;
  // False: there is one already, which stays.
  bool PutNew(const std::string& key, const std::string& value);
  // Deletes the secret while it is this one. Says whether it did.
  bool DeleteIf(const std::string& key, const std::string& value);

  std::optional<Json> GetNote(Note note, const std::string& key) override;
  void PutNote(Note note, const std::string& key, const Json& value) override;
  void DeleteNote(Note note, const std::string& key) override;

 private:
  Body Seal(const std::string& value);
  std::string Open(const std::string& key, const std::string& bytes);
  // Of several who need the key at once, all get the same one.
  AesKey MakeOrReadKey();
  std::optional<AesKey> ReadKey(ObjectStore& store);
  AesKey RequireKey(ObjectStore& store);
  UserError KeyMissing() const;

  const Context& context_;
  Datastore& datastore_;
};

// One value, sealed.
struct SealedValue {
  std::string iv;
  std::string data;

  // Throws UserError vault_decrypt_failed naming `what`.
  static SealedValue Parse(std::string_view text, const std::string& what);
  std::string ToJson() const;
};

}  // namespace swamp

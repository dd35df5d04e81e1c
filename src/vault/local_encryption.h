#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "vault/envelope.h"
#include "vault/key_material.h"
#include "vault/provider.h"
#include "vault/vault_config.h"

namespace swamp {

// Secrets in encrypted files on this machine, one a file, in the format and the folders of other programs of this kind:
//
//   <base_dir>/.swamp/secrets/local_encryption/<vault>/{.key, <key>.enc, .annotations/<key>.enc, .refresh/<key>.enc}
//
// SWAMP_VAULT_KEY_FILE_<NAME> (upper case, "-" as "_") names another key file, which is never made.
// Nothing of it ever goes to a datastore. Files are 0600 and folders 0700; writing is atomic and durable. A link that
// leads out of .swamp is UserError path_escape. Besides: vault_key_missing (never mended by a new key), with a key that
// doesn't fit vault_decrypt_failed (nothing is rewritten), vault_config_invalid.
class LocalEncryption final : public VaultProvider {
 public:
  LocalEncryption(const Context& context, const VaultConfig& vault, const std::filesystem::path& repo_root);

  bool Supports(VaultAbility) const override { return true; }
  std::optional<std::string> Get(const std::string& key) override;
  void Put(const std::string& key, const std::string& value, const PutOptions& options) override;
  std::vector<std::string> List() override;
  bool Delete(const std::string& key) override;
  std::optional<Json> GetNote(Note note, const std::string& key) override;
  void PutNote(Note note, const std::string& key, const Json& value) override;
  void DeleteNote(Note note, const std::string& key) override;

  // A new key for every file of the vault. Each is readable at any moment, by the key file or by the new key beside it
  // (`<key file>.next`); after a crash the next call goes on. Whoever calls holds the vault's lock. Answers how many files there were.
  // Throws vault_unsupported for an SSH key, and for a key file that others may use too unless `shared_key_file`;
  // vault_decrypt_failed when one can't be read, with nothing changed.
  std::size_t RotateKey(bool shared_key_file);
  // Removes every file of the vault, its key with them unless that stands elsewhere.
  void RemoveAll();

  // The folder of a vault's secrets.
  const std::filesystem::path& folder() const { return folder_; }
  // Where the key is kept, and whether that is an SSH key.
  const std::filesystem::path& key_place() const { return ssh_key_ ? *ssh_key_ : key_file_; }
  bool uses_ssh_key() const { return ssh_key_.has_value(); }
  // Whether a rotation was killed and waits to be gone on with.
  bool RotationPending() const;

 private:
  std::filesystem::path SecretPath(const std::string& key) const;
  std::filesystem::path NotePath(Note note, const std::string& key) const;
  void CheckWithin(const std::filesystem::path& path) const;
  void MakeFolder(const std::filesystem::path& folder);
  const KeyMaterial& Key();
  KeyMaterial LoadKey(bool may_create);
  KeyMaterial LoadOrCreateKeyFile(bool may_create);
  std::filesystem::path NextKeyFile() const;
  std::optional<std::string> Open(const Envelope& envelope);
  std::optional<std::string> Decrypt(const std::filesystem::path& path, const std::string& key);
  void Encrypt(const std::filesystem::path& path, const std::string& plaintext);
  void RequireFittingKey(const std::string& key);

  const Context& context_;
  std::string vault_name_;
  std::filesystem::path base_;
  std::filesystem::path folder_;
  bool auto_generate_ = false;
  std::filesystem::path key_file_;
  bool key_file_is_set_ = false;      // by config.key_file or the environment
  bool key_file_from_environment_ = false;
  std::optional<std::filesystem::path> ssh_key_;
  std::optional<KeyMaterial> key_;
};

// Secrets that follow a vault's new name. The copies are made before the configuration changes and the old ones go
// after it, so that at a crash the secrets stand at least under the name that counts.
class SecretsMove {
 public:
  // `from` and `to` differ in their names only. Throws already_exists when the new folder holds other secrets.
  SecretsMove(const Context& context, const VaultConfig& from, const VaultConfig& to,
              const std::filesystem::path& repo_root);
  // The new name counts.
  void Finish();
  // The old name stays.
  void Undo();

 private:
  const Context& context_;
  std::filesystem::path from_;
  std::filesystem::path to_;
  bool copied_ = false;  // the new folder holds them
  bool made_ = false;    // by this move
};

}  // namespace swamp

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"

namespace swamp {

// What is stored beside a secret: facts for people, and the command that renews it.
enum class Note { kAnnotation, kRefreshHook };

enum class VaultAbility { kPut, kList, kDelete, kAnnotations, kRefreshHooks };

// How a vault's type keeps its secrets. Keys have passed CheckSecretKey. Not thread-safe.
//
// Whoever asks for what the vault cannot do (Supports) gets UserError vault_unsupported, naming vault and ability.
// A value is wiped by whoever has it.
class VaultProvider {
 public:
  virtual ~VaultProvider() = default;

  virtual bool Supports(VaultAbility ability) const = 0;

  // Nothing: there is no such secret. Never an empty value in place of an error.
  virtual std::optional<std::string> Get(const std::string& key) = 0;

  struct PutOptions {
    Json labels = Json::object();  // strings; given to the backend as tags
    bool force = false;            // though the secrets that are there can't be read any more
  };
  virtual void Put(const std::string& key, const std::string& value, const PutOptions& options) = 0;
  // By name.
  virtual std::vector<std::string> List() = 0;
  // False: there was none.
  virtual bool Delete(const std::string& key) = 0;

  virtual std::optional<Json> GetNote(Note note, const std::string& key) = 0;
  virtual void PutNote(Note note, const std::string& key, const Json& value) = 0;
  virtual void DeleteNote(Note note, const std::string& key) = 0;
};

// A secret's name: not empty, at most 240 bytes of UTF-8 without control characters, "/", "\" and "..".
// Throws UserError validation_failed.
void CheckSecretKey(const std::string& key);

}  // namespace swamp

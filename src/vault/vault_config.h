#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datastore/config_tier.h"
#include "util/json.h"

namespace swamp {

// A vault's configuration: what stands in `vaults/<type>/<id>.yaml`. Never a secret.
struct VaultConfig {
  std::string id;
  std::string name;
  std::string type;
  Json config = Json::object();
  std::string created_at;
  bool audit_reads = false;
  Json other = Json::object();  // keys that this program doesn't know

  // Throws UserError vault_config_invalid, or yaml_invalid with line and column.
  static VaultConfig Parse(std::string_view yaml, const std::string& what);
  std::string ToYaml() const;
};

struct StoredVault {
  VaultConfig vault;
  Document document;
  // The document of the type that it was migrated from, where a migration was killed before it was removed.
  std::optional<Document> superseded;
};
// A file that is no vault's configuration, and why.
struct BrokenVault {
  std::string path;
  UserError error;
};
// Where a vault's document stands.
std::string PathOfVault(const VaultConfig& vault);

struct VaultType {
  std::string type;
  std::string name;
  std::string description;
};
// Types that can be created here.
const std::vector<VaultType>& VaultTypes();
// What a former type name is called now; the same name when it never changed.
std::string CurrentVaultTypeName(const std::string& type);

// The settings that a new vault of this type gets: checked, with the type's defaults. Throws unknown_vault_type,
// vault_type_unavailable, validation_failed.
Json NewVaultConfig(const Context& context, const std::string& type, const std::optional<Json>& given);

// The vaults of a repository. Reads the configuration that is here.
class Vaults {
 public:
  Vaults(const Context& context, ConfigTier& config) : context_(context), config_(config) {}

  // By name. A file that does not parse is left out: with a warning that names it, or in `broken` where that is given.
  std::vector<StoredVault> All(std::vector<BrokenVault>* broken = nullptr);
  // By name, else by id. `type` narrows. Throws vault_ambiguous naming both paths; when nothing fits and a
  // file did not parse, that file's error; vault_not_found with the vaults that there are.
  StoredVault Require(const std::string& name_or_id, const std::optional<std::string>& type = std::nullopt);

  // The same for a command that is going to change it: one that a peer has made since the last pull is
  // looked for in the datastore too. Ends a migration that was killed: its old document goes.
  StoredVault RequireForChange(const std::string& name_or_id, const std::optional<std::string>& type = std::nullopt);

 private:
  std::vector<StoredVault> Load(std::vector<BrokenVault>& broken);
  StoredVault FinishMigration(StoredVault stored);

  const Context& context_;
  ConfigTier& config_;
};

struct CreateVaultRequest {
  std::string type;
  std::string name;
  std::optional<Json> config;
  bool audit_reads = false;
};
// Throws unknown_vault_type, vault_type_unavailable, validation_failed, already_exists, and what publishing throws.
StoredVault CreateVault(const Context& context, ConfigTier& config, const CreateVaultRequest& request);

struct UpdateVaultRequest {
  StoredVault current;  // the version that the new text was made from
  std::string text;
};
// Replaces a vault's configuration; id and type cannot change. Throws vault_config_invalid, already_exists, config_conflict.
StoredVault UpdateVault(const Context& context, ConfigTier& config, const UpdateVaultRequest& request);
// The configuration that an update with this text would give.
VaultConfig CheckVaultText(const StoredVault& current, const std::string& text);

}  // namespace swamp

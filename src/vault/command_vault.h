#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "vault/provider.h"
#include "vault/vault_config.h"

namespace swamp {

// A vault whose secrets other programs keep. Its config has argument vectors, in which `{key}` stands for the secret's
// name:
//
//   get: [pass, show, "{key}"]          prints the value; its one line end is dropped, unless `raw: true`
//   put: [pass, insert, -m, "{key}"]    reads the value on standard input
//   list: [...]                         prints a name a line
//   delete: [...]
//
// All but `get` may be missing. No shell is involved, and no value is ever an argument. Programs run in the repository's
// folder for at most 30 s; one that fails is UserError vault_command_failed, without what it printed.
class CommandVault final : public VaultProvider {
 public:
  // Throws vault_config_invalid.
  CommandVault(const Context& context, const VaultConfig& vault, const std::filesystem::path& repo_root);

  // Why `config` cannot be a command vault's; nothing: it can.
  static std::optional<std::string> WhyInvalid(const Json& config);

  bool Supports(VaultAbility ability) const override;
  std::optional<std::string> Get(const std::string& key) override;
  void Put(const std::string& key, const std::string& value, const PutOptions& options) override;
  std::vector<std::string> List() override;
  bool Delete(const std::string& key) override;
  std::optional<Json> GetNote(Note note, const std::string& key) override;
  void PutNote(Note note, const std::string& key, const Json& value) override;
  void DeleteNote(Note note, const std::string& key) override;

 private:
  std::string Run(const char* action, const std::string& key, const std::string& input = {});
  bool IsListed(const std::string& key);

  const Context& context_;
  std::string name_;
  Json config_;
  std::filesystem::path folder_;
};

}  // namespace swamp

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vault/provider.h"
#include "vault/vault_config.h"

namespace swamp {

// The secrets of a file of `KEY=VALUE` lines, as many programs read theirs from: lines that are blank or begin with "#"
// are nothing, "export " in front is nothing either. A value in single quotes is taken as it is, one in double quotes
// with \n, \t, \", \\ and \$ and over several lines if need be; any other ends with its line, blanks around it don't count.
// Of a key that is there twice the last one counts. Nothing is expanded.
// Throws UserError vault_config_invalid naming `what` and the line.
std::map<std::string, std::string> ParseEnvFile(std::string_view text, const std::string& what);

// A vault that only reads such a file (config.path). Nobody else may be able to read it.
class EnvFileVault final : public VaultProvider {
 public:
  // A relative path counts from the repository; "~/" is the home folder. Throws vault_config_invalid.
  EnvFileVault(const Context& context, const VaultConfig& vault, const std::filesystem::path& repo_root);

  // Why `config` cannot be an env_file vault's; nothing: it can.
  static std::optional<std::string> WhyInvalid(const Json& config);

  bool Supports(VaultAbility ability) const override { return ability == VaultAbility::kList; }
  std::optional<std::string> Get(const std::string& key) override;
  void Put(const std::string& key, const std::string& value, const PutOptions& options) override;
  std::vector<std::string> List() override;
  bool Delete(const std::string& key) override;
  std::optional<Json> GetNote(Note note, const std::string& key) override;
  void PutNote(Note note, const std::string& key, const Json& value) override;
  void DeleteNote(Note note, const std::string& key) override;

 private:
  std::map<std::string, std::string> Read() const;
  [[noreturn]] void Refuse(const char* what) const;

  const Context& context_;
  std::string name_;
  std::filesystem::path path_;
};

}  // namespace swamp

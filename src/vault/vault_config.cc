#include "vault/vault_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "datastore/edit_document.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/random.h"
#include "util/text.h"
#include "util/yaml.h"
#include "vault/command_vault.h"
#include "vault/env_file_vault.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "vault";
constexpr const char* kLocalEncryption = "local_encryption";
constexpr const char* kCommand = "command";
constexpr const char* kEnvFile = "env_file";

bool IsNewName(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

std::optional<std::string> WhyUnsafeName(const std::string& name) {
  if (name.empty()) return "is empty";
  if (name == "." || name == "..") return "leads out of its folder";
  if (name.find_first_of("/\\") != std::string::npos || name.find('\0') != std::string::npos) {
    return "must not hold a slash, a backslash or NUL";
  }
  return std::nullopt;
}

VaultConfig ParseReplacement(const StoredVault& current, std::string& text) {
  const std::string what = "the new text of " + current.document.path;
  const Json json = ParseYaml(text, what);
  if (!json.is_object()) throw UserError("vault_config_invalid", what + " is not a map of keys to values");
  text = WithKeysKept(std::move(text), json,
                      {{"id", current.vault.id},
                       {"name", current.vault.name},
                       {"type", current.vault.type},
                       {"createdAt", current.vault.created_at}});
  VaultConfig next = VaultConfig::Parse(text, what);
  if (next.id != current.vault.id) {
    throw UserError("vault_config_invalid", fmt::format("the id of {} cannot change", current.vault.name));
  }
  if (next.type != current.vault.type) {
    throw UserError("vault_config_invalid",
                    fmt::format("the type of {} cannot change by an edit", current.vault.name),
                    "Use `swamp vault migrate`, which moves the secrets too.");
  }
  if (next.name != current.vault.name && !IsNewName(next.name)) {
    throw UserError("validation_failed", fmt::format("\"{}\" cannot be a vault's name", Printable(next.name, 80)),
                    "Use a-z, 0-9 and -, beginning with a letter.");
  }
  return next;
}

constexpr const char* kMigratedFrom = "migratedFrom";

void WarnOfUnknown(const Context& context, const std::string& type, const Json& config,
                   std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : config.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    context.log().Warn(kLog, fmt::format("{} has no setting \"{}\"", type, Printable(key, 60)));
  }
}

Json LocalEncryptionConfig(const Context& context, Json config) {
  WarnOfUnknown(context, kLocalEncryption, config, {"auto_generate", "key_file", "ssh_key_path", "base_dir"});
  for (const char* key : {"key_file", "ssh_key_path", "base_dir"}) {
    if (config.contains(key) && !config[key].is_string()) {
      throw UserError("validation_failed", fmt::format("config.{} has to be a string", key));
    }
  }
  if (config.contains("auto_generate") && !config["auto_generate"].is_boolean()) {
    throw UserError("validation_failed", "config.auto_generate has to be true or false");
  }
  // A key file is made by default; base_dir is left out, so that other checkouts find their own.
  if (config.contains("auto_generate") || config.contains("ssh_key_path")) return config;
  Json with_default = {{"auto_generate", true}};
  for (const auto& [key, value] : config.items()) with_default[key] = value;
  return with_default;
}

// Drops what another document names in `migratedFrom`: a migration was killed before it removed it.
void DropSuperseded(std::vector<StoredVault>& vaults) {
  std::set<std::string> dropped;
  for (StoredVault& one : vaults) {
    const auto from = StringMember(one.vault.other, kMigratedFrom);
    if (!from) continue;
    for (const StoredVault& other : vaults) {
      if (other.vault.id == one.vault.id && other.vault.name == one.vault.name && other.vault.type == *from) {
        one.superseded = other.document;
        dropped.insert(other.document.path);
      }
    }
  }
  std::erase_if(vaults, [&](const StoredVault& one) { return dropped.contains(one.document.path); });
}

}  // namespace

VaultConfig VaultConfig::Parse(std::string_view yaml, const std::string& what) {
  const Json json = ParseYaml(yaml, what);
  if (!json.is_object()) throw UserError("vault_config_invalid", what + " is not a map of keys to values");
  std::vector<std::string> problems;
  const auto string = [&](const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string() || found->get<std::string>().empty()) {
      problems.push_back(fmt::format("{} has to be a string", key));
      return std::string();
    }
    return found->get<std::string>();
  };
  VaultConfig vault;
  vault.id = string("id");
  vault.name = string("name");
  vault.type = string("type");
  if (const auto reason = WhyUnsafeName(vault.name); reason && !vault.name.empty()) {
    problems.push_back("name " + *reason);
  }
  if (const auto reason = WhyUnsafeName(vault.id); reason && !vault.id.empty()) problems.push_back("id " + *reason);
  for (const std::string& segment : Split(vault.type, '/')) {
    if (segment == ".." || segment == "." || segment.find('\\') != std::string::npos) {
      problems.emplace_back("type leads out of its folder");
    }
  }
  vault.created_at = StringMember(json, "createdAt").value_or("");
  if (const auto config = json.find("config"); config != json.end() && !config->is_null()) {
    if (config->is_object()) {
      vault.config = *config;
    } else {
      problems.emplace_back("config has to be a map");
    }
  }
  if (const auto audit = json.find("auditReads"); audit != json.end()) {
    if (audit->is_boolean()) {
      vault.audit_reads = audit->get<bool>();
    } else {
      problems.emplace_back("auditReads has to be true or false");
    }
  }
  static constexpr std::array<std::string_view, 6> kOwn = {"id", "name", "type", "config", "createdAt", "auditReads"};
  for (const auto& [key, value] : json.items()) {
    if (std::find(kOwn.begin(), kOwn.end(), key) == kOwn.end()) vault.other[key] = value;
  }
  if (!problems.empty()) {
    throw UserError("vault_config_invalid", fmt::format("{} is not a valid vault: {}", what, Join(problems, "; ")));
  }
  return vault;
}

std::string VaultConfig::ToYaml() const {
  Json json = {{"id", id}, {"name", name}, {"type", type}, {"config", config}, {"createdAt", created_at}};
  if (audit_reads) json["auditReads"] = true;
  for (const auto& [key, value] : other.items()) json[key] = value;
  return EmitYaml(json);
}

const std::vector<VaultType>& VaultTypes() {
  static const std::vector<VaultType> kTypes = {
      {kLocalEncryption, "Local Encryption", "Secrets in encrypted files on this machine (AES-256-GCM)"},
      {kCommand, "Command", "Secrets that programs of yours keep, such as pass or gopass"},
      {kEnvFile, "Env File", "Secrets of a KEY=VALUE file, read only"}};
  return kTypes;
}

std::string CurrentVaultTypeName(const std::string& type) {
  static const std::map<std::string, std::string> kRenamed = {{"aws", "@swamp/aws-sm"},
                                                              {"aws-sm", "@swamp/aws-sm"},
                                                              {"azure", "@swamp/azure-kv"},
                                                              {"azure-kv", "@swamp/azure-kv"},
                                                              {"1password", "@swamp/1password"}};
  const auto found = kRenamed.find(type);
  return found == kRenamed.end() ? type : found->second;
}

namespace {

// A type of which a vault can be made here, by its present name.
void CheckVaultType(const std::string& type) {
  const std::string current = CurrentVaultTypeName(type);
  if (current != type) {
    throw UserError("unknown_vault_type", fmt::format("the vault type \"{}\" is now called {}", type, current));
  }
  if (type != kLocalEncryption && type != kCommand && type != kEnvFile) {
    if (type.starts_with('@') && type.find('/') != std::string::npos &&
        type.find("..") == std::string::npos) {
      throw UserError("vault_type_unavailable",
                      fmt::format("the vault type {} comes with an extension, which this version cannot run yet",
                                  Printable(type, 80)),
                      "Use local_encryption, command or env_file.");
    }
    std::vector<std::string> names;
    for (const VaultType& one : VaultTypes()) names.push_back(one.type);
    throw UserError("unknown_vault_type", fmt::format("there is no vault type \"{}\"", Printable(type, 80)),
                    fmt::format("There are: {}. See `swamp vault type search`.", Join(names, ", ")));
  }
}

}  // namespace

std::vector<StoredVault> Vaults::Load(std::vector<BrokenVault>& broken) {
  std::vector<StoredVault> vaults;
  for (const std::string& path : config_.List(context_, "vaults")) {
    if (!path.ends_with(".yaml")) continue;
    auto document = config_.Read(context_, path);
    if (!document) continue;
    try {
      StoredVault stored{VaultConfig::Parse(document->bytes, config_.Locate(path).string()), {}, {}};
      const std::string current = CurrentVaultTypeName(stored.vault.type);
      if (current != stored.vault.type) {
        context_.log().Warn(kLog, fmt::format("{}: the vault type \"{}\" is now called {}", path, stored.vault.type,
                                              current));
        stored.vault.type = current;
      }
      stored.document = std::move(*document);
      vaults.push_back(std::move(stored));
    } catch (const IoError&) {
      throw;
    } catch (const UserError& error) {
      broken.push_back({path, error});
    }
  }
  DropSuperseded(vaults);
  std::stable_sort(vaults.begin(), vaults.end(), [](const StoredVault& a, const StoredVault& b) {
    return a.vault.name < b.vault.name;
  });
  return vaults;
}

std::vector<StoredVault> Vaults::All(std::vector<BrokenVault>* broken) {
  std::vector<BrokenVault> left_out;
  std::vector<StoredVault> vaults = Load(left_out);
  if (broken != nullptr) {
    *broken = std::move(left_out);
    return vaults;
  }
  for (const BrokenVault& one : left_out) context_.log().Warn(kLog, "left out: " + one.error.message());
  return vaults;
}

StoredVault Vaults::Require(const std::string& name_or_id, const std::optional<std::string>& type) {
  std::vector<BrokenVault> broken;
  const std::vector<StoredVault> vaults = Load(broken);
  std::vector<StoredVault> matches;
  const auto collect = [&](const auto& fits) {
    for (const StoredVault& one : vaults) {
      if (fits(one.vault)) matches.push_back(one);
    }
  };
  collect([&](const VaultConfig& vault) { return vault.name == name_or_id; });
  if (matches.empty()) collect([&](const VaultConfig& vault) { return vault.id == name_or_id; });
  if (type && matches.size() > 1) {
    std::erase_if(matches, [&](const StoredVault& one) { return one.vault.type != *type; });
  }
  if (matches.size() > 1) {
    std::vector<std::string> paths;
    for (const StoredVault& one : matches) paths.push_back(one.document.path);
    throw UserError("vault_ambiguous", fmt::format("\"{}\" is the name of more than one vault: {}",
                                                   Printable(name_or_id, 80), Join(paths, ", ")),
                    "Use the id of the one you mean, and give one of them another name.");
  }
  if (matches.size() == 1) {
    if (type && matches.front().vault.type != *type) {
      throw UserError("vault_not_found", fmt::format("the vault {} is of type {}, not {}", name_or_id,
                                                     matches.front().vault.type, *type));
    }
    for (const BrokenVault& one : broken) context_.log().Warn(kLog, "left out: " + one.error.message());
    return matches.front();
  }
  for (const BrokenVault& one : broken) {
    if (one.path.find(name_or_id) != std::string::npos) throw one.error;
  }
  if (!broken.empty()) throw broken.front().error;
  std::vector<std::string> names;
  for (const StoredVault& one : vaults) names.push_back(one.vault.name);
  const auto near = NearestWords(name_or_id, names);
  throw UserError("vault_not_found", fmt::format("Vault not found: {}", Printable(name_or_id, 80)),
                  fmt::format("{}{}", near.empty() ? std::string() : "Did you mean " + near.front() + "? ",
                              names.empty() ? "There are none yet: swamp vault create local_encryption <name>."
                                            : "There are: " + Join(names, ", ") + "."));
}

StoredVault Vaults::RequireForChange(const std::string& name_or_id, const std::optional<std::string>& type) {
  try {
    return FinishMigration(Require(name_or_id, type));
  } catch (const UserError& error) {
    if (error.code() != "vault_not_found") throw;
  }
  // It may be a peer's, or removed by a command that died before it published that: this makes up for both.
  config_.Begin(context_);
  return FinishMigration(Require(name_or_id, type));
}

StoredVault Vaults::FinishMigration(StoredVault stored) {
  if (!stored.vault.other.contains(kMigratedFrom)) return stored;
  const std::unique_ptr<ConfigChange> change = config_.Begin(context_);
  if (stored.superseded) {
    change->Remove(stored.superseded->path, stored.superseded->version);
    change->Publish();  // peers must not see both without the mark
  }
  const std::vector<std::string> mark = {kMigratedFrom};
  change->Replace(stored.document.path, RemoveYamlKey(stored.document.bytes, mark), stored.document.version);
  change->Publish();
  return Require(stored.vault.id);
}

std::string PathOfVault(const VaultConfig& vault) { return fmt::format("vaults/{}/{}.yaml", vault.type, vault.id); }

Json NewVaultConfig(const Context& context, const std::string& type, const std::optional<Json>& given) {
  CheckVaultType(type);
  if (given && !given->is_object()) throw UserError("validation_failed", "--config has to be a JSON object");
  Json config = given.value_or(Json::object());
  if (type == kLocalEncryption) return LocalEncryptionConfig(context, std::move(config));
  if (type == kEnvFile) {
    WarnOfUnknown(context, type, config, {"path"});
    if (const auto why = EnvFileVault::WhyInvalid(config)) throw UserError("validation_failed", *why);
    return config;
  }
  WarnOfUnknown(context, type, config, {"get", "list", "put", "delete", "raw"});
  if (const auto why = CommandVault::WhyInvalid(config)) throw UserError("validation_failed", *why);
  return config;
}

StoredVault CreateVault(const Context& context, ConfigTier& config, const CreateVaultRequest& request) {
  CheckVaultType(request.type);
  if (!IsNewName(request.name)) {
    throw UserError("validation_failed", fmt::format("\"{}\" cannot be a vault's name", Printable(request.name, 80)),
                    "Use a-z, 0-9 and -, beginning with a letter.");
  }
  StoredVault stored;
  stored.vault = {.id = context.random().Uuid(),
                  .name = request.name,
                  .type = request.type,
                  .config = NewVaultConfig(context, request.type, request.config),
                  .created_at = FormatTime(context.clock().Now()),
                  .audit_reads = request.audit_reads};

  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  for (const StoredVault& other : Vaults(context, config).All()) {
    if (other.vault.name == request.name) {
      throw UserError("already_exists", fmt::format("Vault already exists: {}", request.name),
                      fmt::format("It is {}.", other.document.path));
    }
  }
  stored.document.path = PathOfVault(stored.vault);
  stored.document.bytes = stored.vault.ToYaml();
  change->Create(stored.document.path, stored.document.bytes);
  change->Publish();
  return stored;
}

VaultConfig CheckVaultText(const StoredVault& current, const std::string& text) {
  std::string copy = text;
  return ParseReplacement(current, copy);
}

StoredVault UpdateVault(const Context& context, ConfigTier& config, const UpdateVaultRequest& request) {
  std::string text = request.text;
  VaultConfig next = ParseReplacement(request.current, text);
  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  if (next.name != request.current.vault.name) {
    for (const StoredVault& other : Vaults(context, config).All()) {
      if (other.vault.name == next.name) {
        throw UserError("already_exists", fmt::format("Vault already exists: {}", next.name));
      }
    }
  }
  const Document& old = request.current.document;
  change->Replace(old.path, text, old.version);
  change->Publish();
  return {std::move(next), {old.path, text, {}}, std::nullopt};
}

}  // namespace swamp

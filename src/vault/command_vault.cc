#include "vault/command_vault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "util/error.h"
#include "util/subprocess.h"
#include "util/text.h"
#include "vault/edit_secrets.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr std::array<const char*, 4> kActions = {"get", "list", "put", "delete"};
constexpr std::string_view kKeyMark = "{key}";
constexpr auto kTimeLimit = std::chrono::seconds(30);

bool IsCommand(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& word) { return word.is_string(); }) &&
         !value.front().get<std::string>().empty();
}

}  // namespace

std::optional<std::string> CommandVault::WhyInvalid(const Json& config) {
  if (!config.contains("get")) return "config.get has to be there";
  for (const auto& [key, value] : config.items()) {
    const bool action = std::find(kActions.begin(), kActions.end(), key) != kActions.end();
    if (action && !IsCommand(value)) return fmt::format("config.{} has to be a list: a program and its arguments", key);
    if (key == "raw" && !value.is_boolean()) return "config.raw has to be true or false";
  }
  return std::nullopt;
}

CommandVault::CommandVault(const Context& context, const VaultConfig& vault, const std::filesystem::path& repo_root)
    : context_(context), name_(vault.name), config_(vault.config), folder_(repo_root) {
  if (const auto why = WhyInvalid(config_)) {
    throw UserError("vault_config_invalid", fmt::format("the vault {}: {}", vault.name, *why));
  }
}

bool CommandVault::Supports(VaultAbility ability) const {
  switch (ability) {
    case VaultAbility::kPut:
      return config_.contains("put");
    case VaultAbility::kList:
      return config_.contains("list");
    case VaultAbility::kDelete:
      return config_.contains("delete");
    default:
      return false;
  }
}

std::string CommandVault::Run(const char* action, const std::string& key, const std::string& input) {
  if (!config_.contains(action)) {
    throw UserError("vault_unsupported", fmt::format("the vault {} (command) has no command to {}", name_, action));
  }
  SubprocessRequest request{.working_folder = folder_, .input = input};
  for (const Json& word : config_[action]) {
    const std::string argument = word.get<std::string>();
    // The program must not take a name for an option.
    if (argument == kKeyMark && key.starts_with('-')) {
      throw UserError("validation_failed",
                      fmt::format("\"{}\" cannot be a secret's name in the vault {}: it begins with -", key, name_));
    }
    request.arguments.push_back(ReplaceAll(argument, kKeyMark, key));
  }
  const std::string what = fmt::format("the command to {} of the vault {} ({})", action, name_, request.arguments.front());
  SubprocessResult result;
  try {
    result = RunSubprocess(context_.WithTimeout(kTimeLimit), request);
  } catch (const DeadlineExceeded&) {
    throw UserError("vault_command_failed", fmt::format("{} took longer than 30 s", what));
  }
  Wipe(request.input);
  Wipe(result.errors);  // it may hold secrets
  if (result.exit_code == 0) return std::move(result.output);
  Wipe(result.output);
  throw UserError("vault_command_failed", fmt::format("{} ended with exit code {}", what, result.exit_code),
                  "Run it by hand to see what it says.");
}

bool CommandVault::IsListed(const std::string& key) {
  const std::vector<std::string> keys = List();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::optional<std::string> CommandVault::Get(const std::string& key) {
  CheckSecretKey(key);
  std::string output;
  try {
    output = Run("get", key);
  } catch (const UserError& error) {
    // Only a listing can tell a secret that isn't there from a program that fails.
    if (error.code() != "vault_command_failed" || !config_.contains("list") || IsListed(key)) throw;
    return std::nullopt;
  }
  if (config_.value("raw", false)) return output;
  return ValueOfInput(std::move(output), fmt::format("the secret {} of the vault {}", key, name_));
}

void CommandVault::Put(const std::string& key, const std::string& value, const PutOptions&) {
  CheckSecretKey(key);
  Run("put", key, value);
}

std::vector<std::string> CommandVault::List() {
  std::vector<std::string> keys;
  for (const std::string& line : Split(Run("list", {}), '\n')) {
    const std::string key(Trim(line));
    if (!key.empty()) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool CommandVault::Delete(const std::string& key) {
  CheckSecretKey(key);
  if (config_.contains("list") && !IsListed(key)) return false;
  Run("delete", key);
  return true;
}

std::optional<Json> CommandVault::GetNote(Note, const std::string&) { return std::nullopt; }

void CommandVault::PutNote(Note, const std::string&, const Json&) {
  throw UserError("vault_unsupported", fmt::format("the vault {} (command) keeps no notes", name_));
}

void CommandVault::DeleteNote(Note, const std::string&) {}

}  // namespace swamp

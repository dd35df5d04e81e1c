#include "vault/env_file_vault.h"

#include <fmt/format.h>

#include "repo/find.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr std::uint64_t kLimit = 16 << 20;
constexpr unsigned kOthers = 0077;

class Reader {
 public:
  Reader(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  std::map<std::string, std::string> Run() {
    std::map<std::string, std::string> values;
    while (at_ < text_.size()) {
      const std::string_view line = Line();
      if (line.empty() || line.front() == '#') {
        SkipLine();
        continue;
      }
      std::string key = Key();
      values.insert_or_assign(std::move(key), Value());
      ++line_;
    }
    return values;
  }

 private:
  [[noreturn]] void Fail(std::string_view why) const {
    throw UserError("vault_config_invalid", fmt::format("{}, line {}: {}", what_, line_, why));
  }

  // The rest of the line, without blanks around it.
  std::string_view Line() const { return Trim(text_.substr(at_, text_.find('\n', at_) - at_)); }
  void SkipLine() {
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
  }

  std::string Key() {
    const std::size_t end = text_.find_first_of("=\n", at_);
    if (end == std::string_view::npos || text_[end] == '\n') Fail("it is not of the form KEY=VALUE");
    std::string_view key = Trim(text_.substr(at_, end - at_));
    constexpr std::string_view kExport = "export ";
    if (key.starts_with(kExport)) key = Trim(key.substr(kExport.size()));
    if (key.empty()) Fail("the key is empty");
    at_ = end + 1;
    return std::string(key);
  }

  std::string Value() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return Quoted(text_[at_]);
    const std::string value(Line());
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    return value;
  }

  std::string Quoted(char quote) {
    std::string value;
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) Fail("a quote is not closed");
      const char c = text_[at_];
      if (c == quote) break;
      if (c == '\n') ++line_;
      if (quote == '"' && c == '\\' && at_ + 1 < text_.size()) {
        value += Escaped(text_[++at_]);
      } else {
        value += c;
      }
    }
    ++at_;
    const std::string_view rest = Line();
    if (!rest.empty() && rest.front() != '#') Fail("something stands behind the closing quote");
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    return value;
  }

  static std::string Escaped(char c) {
    if (c == 'n') return "\n";
    if (c == 't') return "\t";
    if (c == '"' || c == '\\' || c == '$') return {c};
    return {'\\', c};
  }

  std::string_view text_;
  const std::string& what_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::map<std::string, std::string> ParseEnvFile(std::string_view text, const std::string& what) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return Reader(text, what).Run();
}

std::optional<std::string> EnvFileVault::WhyInvalid(const Json& config) {
  const auto path = StringMember(config, "path");
  if (!path || path->empty()) return "config.path has to name the file";
  return std::nullopt;
}

EnvFileVault::EnvFileVault(const Context& context, const VaultConfig& vault, const std::filesystem::path& repo_root)
    : context_(context), name_(vault.name) {
  if (const auto why = WhyInvalid(vault.config)) {
    throw UserError("vault_config_invalid", fmt::format("the vault {}: {}", vault.name, *why));
  }
  path_ = ExpandPath(context, *StringMember(vault.config, "path"), repo_root);
}

std::map<std::string, std::string> EnvFileVault::Read() const {
  const std::string what = fmt::format("the file {} of the vault {}", path_.string(), name_);
  const auto file = context_.files().Open(path_);
  if (!file) throw UserError("vault_config_invalid", what + " is not there");
  const FileInfo info = file->Info();
  if ((info.mode & kOthers) != 0) {
    throw UserError("vault_config_invalid",
                    fmt::format("{} may be read by others (mode {:04o}); it has to be 0600", what, info.mode),
                    fmt::format("chmod 600 {}", path_.string()));
  }
  const WipedString text(ReadFile(context_.files(), path_, kLimit).value_or(""));
  if (!IsValidUtf8(text.text())) throw UserError("vault_config_invalid", what + " is no UTF-8");
  return ParseEnvFile(text.text(), what);
}

std::optional<std::string> EnvFileVault::Get(const std::string& key) {
  CheckSecretKey(key);
  std::map<std::string, std::string> values = Read();
  std::optional<std::string> found;
  for (auto& [name, value] : values) {
    if (name == key) {
      found = std::move(value);
    } else {
      Wipe(value);
    }
  }
  return found;
}

std::vector<std::string> EnvFileVault::List() {
  std::vector<std::string> keys;
  std::map<std::string, std::string> values = Read();
  for (auto& [name, value] : values) {
    keys.push_back(name);
    Wipe(value);
  }
  return keys;
}

void EnvFileVault::Refuse(const char* what) const {
  throw UserError("vault_unsupported",
                  fmt::format("the vault {} (env_file) does not support {}: it only reads {}", name_, what, path_.string()),
                  "Change the file by hand.");
}

void EnvFileVault::Put(const std::string&, const std::string&, const PutOptions&) { Refuse("putting secrets"); }
bool EnvFileVault::Delete(const std::string&) { Refuse("deleting secrets"); }
std::optional<Json> EnvFileVault::GetNote(Note, const std::string&) { return std::nullopt; }
void EnvFileVault::PutNote(Note, const std::string&, const Json&) { Refuse("annotations"); }
void EnvFileVault::DeleteNote(Note, const std::string&) {}

}  // namespace swamp

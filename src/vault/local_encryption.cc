#include "vault/local_encryption.h"

#include <fmt/format.h>

#include <array>

#include "util/clock.h"
#include "util/environment.h"
#include "util/files.h"
#include "util/log.h"
#include "util/random.h"
#include "util/relative_path.h"
#include "vault/envelope.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "vault";
constexpr std::string_view kSuffix = ".enc";
constexpr const char* kKeyFileName = ".key";
constexpr std::uint64_t kSecretFileLimit = 256ULL << 20;

fs::path FolderOf(const fs::path& base, const std::string& vault) {
  return base / ".swamp" / "secrets" / "local_encryption" / vault;
}

fs::path Home(const Context& context) {
  const auto home = context.environment().GetNonEmpty("HOME");
  if (!home) throw UserError("no_home", "HOME is not set");
  return *home;
}

fs::path WithHome(const Context& context, const std::string& path) {
  return path.starts_with("~/") ? Home(context) / path.substr(2) : fs::path(path);
}

// A checkout elsewhere than where the vault was made: `base_dir` is that one's, and the secrets are here.
fs::path BaseOf(const Context& context, const VaultConfig& vault, const fs::path& repo_root) {
  const auto base_dir = StringMember(vault.config, "base_dir");
  if (!base_dir || base_dir->empty()) return repo_root;
  const fs::path base(*base_dir);
  if (base.is_relative()) return (repo_root / base).lexically_normal();
  if (!context.files().Stat(base) && context.files().Stat(FolderOf(repo_root, vault.name))) {
    context.log().Warn(kLog, fmt::format("the folder {} of the vault {} does not exist; its secrets in this repository "
                                         "are used",
                                         base.string(), vault.name));
    return repo_root;
  }
  return base;
}

// SWAMP_VAULT_KEY_FILE_MY_VAULT of "my-vault".
std::string KeyFileVariable(const std::string& vault) {
  std::string name = "SWAMP_VAULT_KEY_FILE_";
  for (const char c : vault) name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

std::string KeyOf(const std::string& file_name) { return file_name.substr(0, file_name.size() - kSuffix.size()); }

std::vector<std::string> SecretsIn(Files& files, const fs::path& folder) {
  std::vector<std::string> keys;
  for (const FolderEntry& entry : files.List(folder)) {
    if (entry.kind == FileKind::kFile && entry.name.ends_with(kSuffix) && entry.name.size() > kSuffix.size()) {
      keys.push_back(KeyOf(entry.name));
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

LocalEncryption::LocalEncryption(const Context& context, const VaultConfig& vault, const fs::path& repo_root)
    : context_(context), vault_name_(vault.name), base_(BaseOf(context, vault, repo_root)),
      folder_(FolderOf(base_, vault.name)), key_file_(folder_ / kKeyFileName) {
  if (const auto member = vault.config.find("auto_generate"); member != vault.config.end()) {
    if (!member->is_boolean()) {
      throw UserError("vault_config_invalid",
                      fmt::format("the vault {}: auto_generate has to be true or false", vault.name));
    }
    auto_generate_ = member->get<bool>();
  }
  if (const auto file = StringMember(vault.config, "key_file"); file && !file->empty()) {
    const fs::path path = WithHome(context, *file);
    key_file_ = path.is_relative() ? base_ / path : path;
    key_file_is_set_ = true;
  }
  if (const auto file = context.environment().GetNonEmpty(KeyFileVariable(vault.name))) {
    const fs::path path = WithHome(context, *file);
    key_file_ = path.is_relative() ? context.environment().WorkingDirectory() / path : path;
    key_file_is_set_ = key_file_from_environment_ = true;
  }
  if (const auto path = StringMember(vault.config, "ssh_key_path"); path && !path->empty()) {
    const fs::path key = WithHome(context, *path);
    ssh_key_ = key.is_relative() ? base_ / key : key;
  }
  if (!ssh_key_ && !auto_generate_) ssh_key_ = Home(context) / ".ssh" / "id_rsa";
}

void LocalEncryption::CheckWithin(const fs::path& path) const {
  if (IsWithin(context_.files(), path, base_ / ".swamp")) return;
  throw UserError("path_escape", fmt::format("{} is reached through a link that leads out of {}", path.string(),
                                             (base_ / ".swamp").string()));
}

fs::path LocalEncryption::SecretPath(const std::string& key) const {
  CheckSecretKey(key);
  const fs::path path = folder_ / (key + std::string(kSuffix));
  CheckWithin(path);
  return path;
}

fs::path LocalEncryption::NotePath(Note note, const std::string& key) const {
  CheckSecretKey(key);
  const fs::path path = folder_ / (note == Note::kAnnotation ? ".annotations" : ".refresh") / (key + std::string(kSuffix));
  CheckWithin(path);
  return path;
}

// Private, and itself durable.
void LocalEncryption::MakeFolder(const fs::path& folder) {
  Files& files = context_.files();
  if (files.Stat(folder)) return;
  std::vector<fs::path> parents;
  for (fs::path missing = folder; !files.Stat(missing); missing = missing.parent_path()) {
    parents.push_back(missing.parent_path());
  }
  files.CreateFolders(folder, 0700);
  files.Sync(parents);
}

const KeyMaterial& LocalEncryption::Key() {
  if (!key_) key_ = LoadKey(false);
  return *key_;
}

KeyMaterial LocalEncryption::LoadKey(bool may_create) {
  if (!ssh_key_) return LoadOrCreateKeyFile(may_create);
  try {
    return LoadSshKey(context_, *ssh_key_);
  } catch (const UserError& error) {
    if (!auto_generate_) throw;
    context_.log().Warn(kLog, fmt::format("{}; the key file of the vault {} is used", error.message(), vault_name_));
  }
  return LoadOrCreateKeyFile(may_create);
}

KeyMaterial LocalEncryption::LoadOrCreateKeyFile(bool may_create) {
  // In this order: another process makes the key before its first secret.
  const bool has_secrets = !List().empty();
  if (key_file_.parent_path() == folder_) CheckWithin(key_file_);
  if (auto key = LoadKeyFile(context_, key_file_)) return std::move(*key);
  if (has_secrets || !may_create || key_file_from_environment_) {
    throw UserError("vault_key_missing",
                    fmt::format("the key file {} of the vault {} is missing, and its secrets cannot be read without it",
                                key_file_.string(), vault_name_),
                    "Bring the key file back from a backup. Nothing was changed; a new key would not fit.");
  }
  MakeFolder(key_file_.parent_path());
  return CreateKeyFile(context_, key_file_);
}

std::filesystem::path LocalEncryption::NextKeyFile() const { return key_file_.native() + ".next"; }

bool LocalEncryption::RotationPending() const { return !ssh_key_ && context_.files().Stat(NextKeyFile()).has_value(); }

std::optional<std::string> LocalEncryption::Open(const Envelope& envelope) {
  const KeyMaterial& material = Key();
  if (envelope.version == 1 && !material.ssh_text.text().empty()) {
    if (auto plaintext = envelope.Open(material.ssh_text.text())) return plaintext;
  }
  if (auto plaintext = envelope.Open(material.bytes.text())) return plaintext;
  if (!RotationPending()) return std::nullopt;
  const auto next = LoadKeyFile(context_, NextKeyFile());
  return next ? envelope.Open(next->bytes.text()) : std::nullopt;
}

std::optional<std::string> LocalEncryption::Decrypt(const fs::path& path, const std::string& key) {
  constexpr int kTries = 2;
  for (int i = 0; i < kTries; ++i) {
    const auto text = ReadFile(context_.files(), path, kSecretFileLimit);
    if (!text) return std::nullopt;
    if (auto plaintext = Open(Envelope::Parse(*text, path.string()))) return plaintext;
    // The file or the key may be from before a rotation that has ended since.
    key_.reset();
  }
  throw UserError("vault_decrypt_failed",
                  fmt::format("the key of the vault {} does not fit the secret {}: the key file changed or the secret "
                              "was written with another key ({}, {})",
                              vault_name_, key, Key().source.string(), path.string()),
                  fmt::format("Bring the right key back, or put the secret again: swamp vault put {} {} --force.",
                              vault_name_, key));
}

void LocalEncryption::Encrypt(const fs::path& path, const std::string& plaintext) {
  // Anew each time: a rotation may have ended since this process read the key, and the old one is gone.
  key_ = LoadKey(true);
  MakeFolder(path.parent_path());
  const std::string text = Envelope::Seal(context_.random(), key_->bytes.text(), plaintext).ToJson();
  WriteFileAtomically(context_.files(), path, text, 0600);
}

std::optional<std::string> LocalEncryption::Get(const std::string& key) { return Decrypt(SecretPath(key), key); }

// A key that fits nothing that is there would make a vault of two keys, of which one is lost.
void LocalEncryption::RequireFittingKey(const std::string& key) {
  const std::vector<std::string> keys = List();
  if (keys.empty()) return;
  const bool there = std::find(keys.begin(), keys.end(), key) != keys.end();
  if (auto value = Get(there ? key : keys.front())) Wipe(*value);
}

void LocalEncryption::Put(const std::string& key, const std::string& value, const PutOptions& options) {
  const fs::path path = SecretPath(key);
  if (!options.force) RequireFittingKey(key);
  Encrypt(path, value);
  if (options.labels.empty()) return;
  Json annotation = GetNote(Note::kAnnotation, key).value_or(Json::object());
  annotation["updatedAt"] = FormatTime(context_.clock().Now());
  for (const auto& [name, label] : options.labels.items()) annotation["labels"][name] = label;
  PutNote(Note::kAnnotation, key, annotation);
}

std::vector<std::string> LocalEncryption::List() {
  CheckWithin(folder_);
  return SecretsIn(context_.files(), folder_);
}

bool LocalEncryption::Delete(const std::string& key) {
  const fs::path path = SecretPath(key);
  if (!context_.files().Remove(path)) return false;
  context_.files().Sync(std::array{folder_});
  return true;
}

std::optional<Json> LocalEncryption::GetNote(Note note, const std::string& key) {
  const fs::path path = NotePath(note, key);
  auto text = Decrypt(path, key);
  if (!text) return std::nullopt;
  const WipedString wiped(std::move(*text));
  auto json = TryParseJson(wiped.text());
  if (!json || !json->is_object()) {
    throw UserError("vault_decrypt_failed", fmt::format("{} holds no JSON object", path.string()));
  }
  return json;
}

void LocalEncryption::PutNote(Note note, const std::string& key, const Json& value) {
  Encrypt(NotePath(note, key), CompactJson(value));
}

void LocalEncryption::DeleteNote(Note note, const std::string& key) {
  const fs::path path = NotePath(note, key);
  if (context_.files().Remove(path)) context_.files().Sync(std::array{path.parent_path()});
}

// ---- rotating the key, removing ----

namespace {

constexpr std::array<const char*, 3> kFolders = {"", ".annotations", ".refresh"};
constexpr std::string_view kNextSuffix = ".next";

// What stands in a vault's folder with this ending, with "/".
std::vector<std::string> FilesEndingWith(Files& files, const fs::path& folder, std::string_view suffix) {
  std::vector<std::string> names;
  for (const char* sub : kFolders) {
    for (const FolderEntry& entry : files.List(folder / sub)) {
      if (entry.kind != FileKind::kFile || !entry.name.ends_with(suffix)) continue;
      names.push_back(*sub == '\0' ? entry.name : fmt::format("{}/{}", sub, entry.name));
    }
  }
  return names;
}

}  // namespace

std::size_t LocalEncryption::RotateKey(bool shared_key_file) {
  if (ssh_key_ && !auto_generate_) {
    throw UserError("vault_unsupported",
                    fmt::format("the key of the vault {} is the SSH key {}, which is not this program's to change", vault_name_,
                                ssh_key_->string()));
  }
  if (ssh_key_) {
    throw UserError("vault_unsupported", fmt::format("the vault {} has an SSH key and may have a key file", vault_name_),
                    "Take ssh_key_path out of its configuration first, once every secret is put again.");
  }
  if (key_file_is_set_ && !shared_key_file) {
    throw UserError("vault_unsupported",
                    fmt::format("the vault {} is told to use the key file {}, and other vaults may use it too", vault_name_,
                                key_file_.string()),
                    "If none does: --force.");
  }
  CheckWithin(folder_);
  Files& files = context_.files();
  const std::vector<std::string> names = FilesEndingWith(files, folder_, kSuffix);
  // Every one is read before anything is written.
  Key();
  for (const std::string& name : names) {
    if (auto plaintext = Decrypt(folder_ / name, KeyOf(name))) Wipe(*plaintext);
  }
  auto next = LoadKeyFile(context_, NextKeyFile());
  if (!next) next = CreateKeyFile(context_, NextKeyFile());
  std::vector<fs::path> folders = {folder_};
  for (const std::string& name : names) {
    auto plaintext = Decrypt(folder_ / name, KeyOf(name));
    if (!plaintext) continue;
    const WipedString wiped(std::move(*plaintext));
    const std::string text = Envelope::Seal(context_.random(), next->bytes.text(), wiped.text()).ToJson();
    WriteFileAtomically(files, (folder_ / name).native() + std::string(kNextSuffix), text, 0600);
    folders.push_back((folder_ / name).parent_path());
  }
  for (const std::string& name : names) {
    const fs::path beside = (folder_ / name).native() + std::string(kNextSuffix);
    if (files.Stat(beside)) files.Rename(beside, folder_ / name);
  }
  files.Sync(folders);
  files.Rename(NextKeyFile(), key_file_);
  files.Sync(std::array{key_file_.parent_path()});
  key_.reset();
  // Of a run that was killed, for secrets that were deleted since.
  for (const std::string& name : FilesEndingWith(files, folder_, std::string(kSuffix) + std::string(kNextSuffix))) {
    files.Remove(folder_ / name);
  }
  return names.size();
}

void LocalEncryption::RemoveAll() {
  CheckWithin(folder_);
  if (context_.files().Stat(folder_)) RemoveTree(context_.files(), folder_);
}

// ---- SecretsMove ----

namespace {

// The files of a vault's folder, with "/".
std::vector<std::string> FilesOf(Files& files, const fs::path& folder) {
  std::vector<std::string> names;
  for (const char* sub : kFolders) {
    for (const FolderEntry& entry : files.List(folder / sub)) {
      if (entry.kind == FileKind::kFile && !IsTemporaryName(entry.name)) {
        names.push_back(*sub == '\0' ? entry.name : fmt::format("{}/{}", sub, entry.name));
      }
    }
  }
  return names;
}

bool HoldsCopy(Files& files, const fs::path& from, const fs::path& to) {
  const std::vector<std::string> names = FilesOf(files, from);
  if (names != FilesOf(files, to)) return false;
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return ReadFile(files, from / name) == ReadFile(files, to / name); });
}

}  // namespace

SecretsMove::SecretsMove(const Context& context, const VaultConfig& from, const VaultConfig& to,
                         const fs::path& repo_root)
    : context_(context) {
  const fs::path base = BaseOf(context, from, repo_root);
  from_ = FolderOf(base, from.name);
  to_ = FolderOf(base, to.name);
  Files& files = context.files();
  for (const fs::path& folder : {from_, to_}) {
    if (!IsWithin(files, folder, base / ".swamp")) {
      throw UserError("path_escape", fmt::format("{} is a link that leads out of {}", folder.string(),
                                                 (base / ".swamp").string()));
    }
  }
  if (!files.Stat(from_)) return;
  if (files.Stat(to_)) {
    copied_ = HoldsCopy(files, from_, to_);
    if (copied_) return;  // of a run that was killed
    if (!SecretsIn(files, to_).empty()) {
      throw UserError("already_exists", fmt::format("the folder {} holds secrets already", to_.string()),
                      "They are of a vault that was called so. Choose another name, or move them away.");
    }
    RemoveTree(files, to_);
  }
  const fs::path building = to_.parent_path() / fmt::format(".{}.{}.tmp", to.name, context.random().Hex(8));
  for (const std::string& name : FilesOf(files, from_)) {
    files.CreateFolders((building / name).parent_path(), 0700);
    WriteFileAtomically(files, building / name, ReadFile(files, from_ / name).value_or(""), 0600);
  }
  files.CreateFolders(building, 0700);
  files.Rename(building, to_);
  files.Sync(std::array{to_.parent_path()});
  copied_ = made_ = true;
}

void SecretsMove::Finish() {
  if (copied_) RemoveTree(context_.files(), from_);
}

void SecretsMove::Undo() {
  if (made_) RemoveTree(context_.files(), to_);
}

}  // namespace swamp

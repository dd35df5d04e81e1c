#include "vault/key_material.h"

#include <fmt/format.h>

#include "util/clock.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/files.h"
#include "util/log.h"
#include "util/random.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "vault";
constexpr unsigned kOthers = 0077;
constexpr std::uint64_t kKeyFileLimit = 1 << 20;

constexpr std::string_view kOpenSshMagic{"openssh-key-v1\0", 15};

UserError Unsuitable(const std::string& what, std::string_view why, std::string hint = {}) {
  return {"vault_config_invalid", fmt::format("{} cannot serve as key material: {}", what, why), std::move(hint)};
}

// Nothing: no length and name follow the magic.
std::optional<std::string_view> OpenSshCipher(std::string_view body) {
  body.remove_prefix(kOpenSshMagic.size());
  if (body.size() < 4) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(body[i]);
  if (length > body.size() - 4) return std::nullopt;
  return body.substr(4, length);
}

}  // namespace

std::string SshKeyBody(const std::string& text, const std::string& what) {
  constexpr std::string_view kNoPassphrase = "Use a key without a passphrase: ssh-keygen -p -N '' on a copy.";
  if (text.find("Proc-Type: 4,ENCRYPTED") != std::string::npos) {
    throw Unsuitable(what, "it is protected by a passphrase", std::string(kNoPassphrase));
  }
  WipedString joined;
  for (const std::string& one : Split(text, '\n')) {
    const std::string_view line = Trim(one);
    if (line.starts_with("-----BEGIN") && line.find("PUBLIC KEY") != std::string_view::npos) {
      throw Unsuitable(what, "it is a public key", "Name the private key.");
    }
    if (line.empty() || line.starts_with("-----")) continue;
    joined.text() += line;
  }
  auto body = Base64Decode(joined.text());
  if (!body || body->empty()) {
    throw Unsuitable(what, "it is no private key in PEM or OpenSSH form",
                     text.starts_with("ssh-") ? "It looks like a public key: name the private one." : "");
  }
  if (body->starts_with(kOpenSshMagic)) {
    const auto cipher = OpenSshCipher(*body);
    if (!cipher) throw Unsuitable(what, "it is damaged");
    if (*cipher != "none") {
      throw Unsuitable(what, "it is protected by a passphrase", std::string(kNoPassphrase));
    }
  }
  return std::move(*body);
}

KeyMaterial LoadSshKey(const Context& context, const fs::path& path) {
  const auto file = context.files().Open(path);
  const std::string what = "the SSH key " + path.string();
  if (!file) throw Unsuitable(what, "there is no such file");
  const FileInfo info = file->Info();
  if ((info.mode & kOthers) != 0) {
    throw Unsuitable(what, fmt::format("its mode is {:04o}, so others may read it; it has to be 0600", info.mode),
                     fmt::format("chmod 600 {}", path.string()));
  }
  if (info.size > kKeyFileLimit) throw Unsuitable(what, "it is too long");
  KeyMaterial material;
  material.source = path;
  material.ssh_text.text().resize(info.size);
  material.ssh_text.text().resize(file->ReadAt(0, material.ssh_text.text()));
  material.bytes = WipedString(SshKeyBody(material.ssh_text.text(), what));
  return material;
}

std::optional<KeyMaterial> LoadKeyFile(const Context& context, const fs::path& path) {
  constexpr Duration kPatience(2000);
  constexpr Duration kPause(5);
  const Duration start = context.clock().Elapsed();
  for (;;) {
    const auto file = context.files().Open(path);
    if (!file) return std::nullopt;
    const FileInfo info = file->Info();
    if (info.size > 0) {
      if ((info.mode & kOthers) != 0) {
        context.log().Warn(kLog, fmt::format("others may read the key file {} (mode {:04o}): chmod 600 it", path.string(),
                                             info.mode));
      }
      KeyMaterial material;
      material.source = path;
      auto bytes = ReadFile(context.files(), path, kKeyFileLimit);
      if (!bytes) return std::nullopt;
      material.bytes = WipedString(std::move(*bytes));
      if (!material.bytes.text().empty()) return material;
    }
    if (context.clock().Elapsed() - start >= kPatience) break;
    context.clock().Sleep(context, kPause);
  }
  throw UserError("vault_key_missing", fmt::format("the key file {} is empty", path.string()),
                  "Bring it back from a backup. If the vault has no secrets yet, remove it.");
}

KeyMaterial CreateKeyFile(const Context& context, const fs::path& path) {
  KeyMaterial material;
  material.source = path;
  material.bytes.text() = context.random().Uuid() + context.random().Uuid();
  if (CreateFileExclusively(context.files(), path, material.bytes.text(), 0600)) return material;
  auto others = LoadKeyFile(context, path);
  if (!others) throw UserError("vault_key_missing", fmt::format("the key file {} has gone", path.string()));
  return std::move(*others);
}

}  // namespace swamp

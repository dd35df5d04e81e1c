#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "util/context.h"
#include "vault/wipe.h"

namespace swamp {

// What the keys of a local_encryption vault are derived from.
struct KeyMaterial {
  WipedString bytes;
  WipedString ssh_text;  // of an SSH key: the whole file, which files of version 1 were encrypted with; else empty
  std::filesystem::path source;
};

// The decoded body of an unencrypted SSH private key (OpenSSH or PEM). Throws UserError vault_config_invalid saying
// why `text` will not do; `what` names it.
std::string SshKeyBody(const std::string& text, const std::string& what);

// The same from a file that nobody else may read.
KeyMaterial LoadSshKey(const Context& context, const std::filesystem::path& path);

// The key file's bytes as they are; nothing: there is no such file. One that stays empty for two seconds (another process
// is making it) is UserError vault_key_missing. Warns when others may read it.
std::optional<KeyMaterial> LoadKeyFile(const Context& context, const std::filesystem::path& path);

// Makes a key file; when another process was faster, that one's counts.
KeyMaterial CreateKeyFile(const Context& context, const std::filesystem::path& path);

}  // namespace swamp

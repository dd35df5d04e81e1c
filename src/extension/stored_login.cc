#include "extension/stored_login.h"

#include "util/context.h"
#include "util/error.h"
#include "util/files.h"
#include "util/json.h"

namespace swamp {

std::optional<StoredLogin> ReadStoredLogin(const Context& context, const std::filesystem::path& config_folder) {
  const std::filesystem::path path = config_folder / "auth.json";
  const auto text = ReadFile(context.files(), path, 1 << 20);
  if (!text) return std::nullopt;
  const Json json = ParseJson(*text, path.string(), "login_invalid");
  const auto url = StringMember(json, "serverUrl");
  const auto key = StringMember(json, "apiKey");
  if (!url || !key) {
    throw UserError("login_invalid", path.string() + " holds no serverUrl and apiKey",
                    "Log in again, or remove the file.");
  }
  return StoredLogin{*url, *key};
}

}  // namespace swamp

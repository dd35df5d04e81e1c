#include "extension/open_registry.h"

#include <fmt/format.h>

#include "extension/folder_registry.h"
#include "extension/http_registry.h"
#include "extension/http_url.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kDefaultUrl = "https://swamp-club.com";
constexpr std::string_view kFileScheme = "file://";

// The folder of "file:///srv/extensions" (RFC 8089).
std::filesystem::path FolderOf(std::string_view url) {
  std::string_view path = url.substr(kFileScheme.size());
  if (path.starts_with("localhost/")) path.remove_prefix(std::string_view("localhost").size());
  const auto decoded = PercentDecode(path);
  if (!path.starts_with('/') || !decoded || decoded->find('\0') != std::string::npos) {
    throw UserError("registry_url_invalid",
                    fmt::format("\"{}\" names no folder of this machine", Printable(url, 100)),
                    "Write file:// and an absolute path: file:///srv/extensions.");
  }
  return std::filesystem::path(*decoded).lexically_normal();
}

}  // namespace

RegistryChoice ChooseRegistry(const Environment& environment,
                              const std::optional<std::string>& configured,
                              const std::optional<StoredLogin>& login) {
  RegistryChoice choice{std::string(kDefaultUrl), {}, true};
  if (const auto url = environment.GetNonEmpty("SWAMP_CLUB_URL")) {
    choice.url = *url;
  } else if (configured && !configured->empty()) {
    choice.url = *configured;
  } else if (login && !login->server_url.empty()) {
    choice.url = login->server_url;
  } else {
    choice.is_named = false;
  }
  if (const auto key = environment.GetNonEmpty("SWAMP_API_KEY")) {
    choice.api_key = *key;
  } else if (login) {
    const auto origin = OriginOf(choice.url);
    if (origin && origin == OriginOf(login->server_url)) choice.api_key = login->api_key;
  }
  return choice;
}

std::unique_ptr<Registry> OpenRegistry(const RegistryChoice& choice, HttpClient& client,
                                       std::string user_agent) {
  if (choice.url.starts_with(kFileScheme))
    return std::make_unique<FolderRegistry>(FolderOf(choice.url), choice.url);
  return std::make_unique<HttpRegistry>(
      client, HttpRegistrySettings{choice.url, choice.api_key, std::move(user_agent)});
}

}  // namespace swamp

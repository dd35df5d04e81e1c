#pragma once

#include <string>

#include "extension/http_url.h"
#include "extension/registry.h"

namespace swamp {

class HttpClient;
struct HttpRequest;
struct HttpResponse;

struct HttpRegistrySettings {
  std::string url;         // http(s), perhaps with a path, without query
  std::string api_key;     // empty: none is sent
  std::string user_agent;  // names this program and its version
};

// A registry that speaks the HTTP API of swamp-club.com (`/api/v1/extensions/...`).
//
// The key goes to the registry's own origin alone. Redirects are followed at most five times, never
// to another scheme than http(s) and never from https to http. A request may take 15 seconds, a
// download or an upload 120.
class HttpRegistry final : public Registry {
 public:
  // `client` is borrowed. Throws UserError registry_url_invalid.
  HttpRegistry(HttpClient& client, HttpRegistrySettings settings);

  const std::string& url() const override { return settings_.url; }
  std::optional<Json> Info(const Context& context, const ExtensionName& name) override;
  std::optional<Json> Latest(const Context& context, const ExtensionName& name,
                             Channel channel) override;
  std::optional<std::vector<RegistryVersion>> Versions(const Context& context,
                                                       const ExtensionName& name) override;
  std::optional<std::string> Checksum(const Context& context, const ExtensionName& name,
                                      const Version& version, Channel channel) override;
  std::string Download(const Context& context, const ExtensionName& name, const Version& version,
                       Channel channel, const std::filesystem::path& target) override;
  Json Search(const Context& context, const SearchQuery& query) override;
  void Publish(const Context& context, const Publication& publication) override;

 private:
  // Sends it, following redirects of a GET; failures without an answer become UserError.
  HttpResponse Send(const Context& context, HttpRequest request);
  HttpResponse Get(const Context& context, const std::string& path);
  // The object answered to a POST.
  Json Post(const Context& context, const std::string& path, const Json& body);

  HttpClient& client_;
  HttpRegistrySettings settings_;
  HttpOrigin origin_;
};

}  // namespace swamp

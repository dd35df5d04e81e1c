#pragma once

// An HttpClient for tests whose answers are a function of the requests.

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "util/context.h"
#include "util/http.h"

namespace swamp {

class ScriptedHttp final : public HttpClient {
 public:
  // A request as the server sees it: `body` is filled from the source.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  explicit ScriptedHttp(Handler handler) : handler_(std::move(handler)) {}

  HttpResponse Send(const Context& context, const HttpRequest& request) override {
    context.Check();
    HttpRequest seen = request;
    if (request.source != nullptr) {
      seen.body.resize(request.source->size());
      request.source->ReadAt(0, seen.body.data(), seen.body.size());
    }
    {
      const std::lock_guard lock(mutex_);
      requests.push_back(seen);
    }
    HttpResponse response = handler_(seen);
    const bool success = response.status >= 200 && response.status < 300;
    if (request.sink != nullptr && success) request.sink->Write(std::exchange(response.body, {}));
    return response;
  }

  std::vector<HttpRequest> requests;

 private:
  Handler handler_;
  std::mutex mutex_;
};

// The header of that name, in any case; "<none>" when there is none.
inline std::string HeaderOf(const HttpRequest& request, std::string_view name) {
  for (const auto& [header, value] : request.headers) {
    const bool same = std::equal(header.begin(), header.end(), name.begin(), name.end(),
                                 [](char a, char b) { return std::tolower(a) == std::tolower(b); });
    if (same) return value;
  }
  return "<none>";
}

// "PUT /a/b?c=d": without scheme and host.
inline std::string LineOf(const HttpRequest& request) {
  const std::size_t host = request.url.find("://") + 3;
  return request.method + " " +
         request.url.substr(std::min(request.url.find('/', host), request.url.size()));
}

}  // namespace swamp

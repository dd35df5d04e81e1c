#pragma once

#include <memory>
#include <mutex>

#include "util/http.h"

namespace swamp {

// HttpClient on libcurl: one thread does all input and output, callers wait for it. HTTP/1.1 only.
//
// The library is loaded and the thread started by the first Send. Connections are kept for further
// requests. Trusts `ca_file` in addition to the system's certificates, or else SSL_CERT_FILE and
// SSL_CERT_DIR in their place. Proxies: http_proxy, https_proxy, all_proxy and no_proxy, in lower
// case or else in upper case. Both by the Environment of the Context.
//
// Ends a Send within about 100 ms of its cancellation or deadline. Idle and connect time-outs are
// in real time, whatever the Context's clock. Throws besides what http.h says UserError
// library_missing.
class CurlHttpClient final : public HttpClient {
 public:
  CurlHttpClient();
  // No Send may be under way.
  ~CurlHttpClient() override;

  HttpResponse Send(const Context& context, const HttpRequest& request) override;

 private:
  class Loop;
  std::once_flag started_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace swamp

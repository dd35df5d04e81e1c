#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/error.h"
#include "util/time.h"

namespace swamp {

class Context;

// Bytes to send, readable more than once and from any offset. Thread-safe.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual std::uint64_t size() const = 0;
  // Fills `buffer` from `offset` on; fewer bytes only at the end. Throws IoError.
  virtual std::size_t ReadAt(std::uint64_t offset, char* buffer, std::size_t count) const = 0;
};

// Takes a response's body piece by piece. Called from another thread than the caller's, one call at a time.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // What was written before does not count: the request is being made again.
  virtual void Restart() = 0;
  // Throwing ends the request with that exception.
  virtual void Write(std::string_view bytes) = 0;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // http: or https:, already percent-encoded
  HttpHeaders headers;
  std::string body;                    // used when `source` is null
  const BodySource* source = nullptr;  // borrowed for the call
  // Where a 2xx body goes; null: into HttpResponse::body. Other bodies always go there.
  BodySink* sink = nullptr;
  std::uint64_t body_limit = 64ULL << 20;  // bytes of HttpResponse::body; more is an HttpFailure
  Duration connect_timeout{10'000};
  // No byte in either direction for this long ends the request.
  Duration idle_timeout{30'000};
  std::string ca_file;  // extra PEM roots; empty: SSL_CERT_FILE or the system's
  bool use_proxy = true;  // false: straight to the host, whatever the environment says
};

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;  // names in lower case
  std::string body;

  // The first header of that (lower-case) name; empty when there is none.
  std::string_view Header(std::string_view name) const;
};

// There was no complete answer.
class HttpFailure : public UserError {
 public:
  enum class Kind {
    kBadUrl,
    kNameNotFound,
    kNotConnected,  // refused, unreachable, connect time-out: the request was never sent
    kTls,           // handshake or certificate
    kTimeout,       // no answer within the idle time-out
    kBroken,        // the connection ended in the middle
    kTooLarge,      // the body went past `body_limit`
  };
  HttpFailure(Kind kind, std::string message)
      : UserError("http_failed", std::move(message)), kind_(kind) {}
  Kind kind() const { return kind_; }
  // Whether the server can have acted on the request.
  bool may_have_been_processed() const { return kind_ == Kind::kTimeout || kind_ == Kind::kBroken; }

 private:
  Kind kind_;
};

// Sends requests over kept-alive connections, many at a time. Thread-safe.
//
// Never follows a redirect and never sends a request twice by itself. Certificates are verified.
// HTTP(S)_PROXY and NO_PROXY are honoured. A 1xx or an HTTP error status is an answer, not a failure.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Throws HttpFailure, Cancelled, DeadlineExceeded, and what the source or the sink throws.
  virtual HttpResponse Send(const Context& context, const HttpRequest& request) = 0;
};

}  // namespace swamp

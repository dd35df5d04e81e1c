#pragma once

#include <chrono>
#include <optional>

#include "util/curl_api.h"

namespace swamp {

// Waits for the sockets and timers of a libcurl multi handle with epoll, and drives the transfers
// on which something happens. (curl_multi_perform would look at the sockets of all transfers each
// time.)
//
// For one thread, but for Wake.
class HttpPoller {
 public:
  using Clock = std::chrono::steady_clock;

  // Borrows both; `multi` calls back into this until it is cleaned up.
  HttpPoller(const CurlApi& api, CURLM* multi);
  ~HttpPoller();
  HttpPoller(const HttpPoller&) = delete;
  HttpPoller& operator=(const HttpPoller&) = delete;

  // Drives what is ready; waits for that, for Wake or for the moment `until`, whichever comes
  // first.
  void Run(Clock::time_point until);
  // Makes the Run under way, or the next one, return. From any thread.
  void Wake();

 private:
  static int OnSocket(CURL* handle, curl_socket_t socket, int what, void* self, void* known);
  static int OnTimer(CURLM* multi, long timeout_ms, void* self);

  const CurlApi& api_;
  CURLM* const multi_;
  int epoll_ = -1;
  int wake_ = -1;
  std::optional<Clock::time_point> timer_;  // when libcurl wants to be called
};

}  // namespace swamp

#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/curl_api.h"
#include "util/http.h"

namespace swamp {

class Environment;

// One request and its answer on a libcurl easy handle. The caller's thread makes it, waits and
// takes the result; in between it belongs to the I/O thread, which calls Attach, Idle, and Finish
// last.
class HttpTransfer {
 public:
  using Clock = std::chrono::steady_clock;

  // Borrows everything. Throws HttpFailure kBadUrl when the request can't be put on the wire.
  HttpTransfer(const CurlApi& api, const Environment& environment, const HttpRequest& request);
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  // The options that all requests have in common.
  static void Prepare(const CurlApi& api, CURL* handle);
  // Sets all that a request has of its own, over whatever the handle was used for before.
  void Attach(CURL* handle);
  CURL* handle() const { return handle_; }
  // When the request has to be given up unless something moves before.
  Clock::time_point idle_limit() const { return last_activity_ + request_.idle_timeout; }

  void Finish(CURLcode result);
  // Gives up on a connection on which nothing moves.
  void FinishIdle();

  // Whether the transfer has ended; waits for it at most so long.
  bool WaitFor(std::chrono::milliseconds limit);
  // After the end: the answer, or throws why there is none.
  HttpResponse TakeResponse();

 private:
  static std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t OnRead(char* buffer, std::size_t size, std::size_t count, void* self);
  static int OnReady(void* self, char* remote, char* local, int remote_port, int local_port);

  void TakeHeader(std::string_view line);
  void TakeBody(std::string_view piece);
  std::size_t GiveBody(char* buffer, std::size_t size);
  void SetMethodAndBody();
  void SetTrust();
  HttpFailure FailureOf(CURLcode result) const;
  void End();
  template <typename Value>
  void Set(CURLoption option, Value value) {
    api_.easy_setopt(handle_, option, value);
  }

  const CurlApi& api_;
  const HttpRequest& request_;
  std::string proxy_;
  std::string no_proxy_;
  std::string ca_file_;
  std::string ca_folder_;
  std::vector<std::string> header_lines_;
  std::vector<curl_slist> header_list_;
  std::string small_body_;  // of a source
  std::uint64_t body_size_ = 0;
  std::array<char, CURL_ERROR_SIZE> error_text_{};

  CURL* handle_ = nullptr;
  Clock::time_point last_activity_{};
  bool sent_ = false;        // a connection was there, and the request went out on it
  bool sent_twice_ = false;  // libcurl wanted to send it again
  std::uint64_t body_offset_ = 0;
  HttpResponse response_;
  std::exception_ptr failure_;

  std::mutex mutex_;
  std::condition_variable ended_signal_;
  bool ended_ = false;
};

}  // namespace swamp

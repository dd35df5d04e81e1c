#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace swamp::e2e {

// What happens to requests that fit.
struct ProxyRule {
  enum class Action {
    kFail,        // answer 503 with an S3 error body; nothing is forwarded
    kForbid,      // answer 403 AccessDenied
    kLoseAnswer,  // forward it, then end the connection without an answer
    kCut,         // end the connection without forwarding
    kHang,        // accept and never answer
  };
  Action action = Action::kFail;
  std::string method;    // empty: any
  std::string contains;  // part of the request's path and query, percent-encoded; empty: any
  int skip = 0;          // how many that fit pass first
  int times = -1;        // then how many are hit; -1: all
};

// An HTTP proxy on a port of its own in front of the S3 server: counts requests and does to them what a test asks
// for, or kills the client in the middle. Thread-safe.
class Proxy {
 public:
  // `upstream` is "http://host:port".
  explicit Proxy(const std::string& upstream);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::string url() const;

  void AddRule(ProxyRule rule);
  void ClearRules();

  // A bad network: of 1,000 requests so many are answered 503, cut before they are forwarded, or lose their answer.
  struct Weather {
    int fail = 0;
    int cut = 0;
    int lose_answer = 0;
    unsigned seed = 0;
  };
  void SetWeather(const Weather& weather);

  enum class Moment { kBefore, kAfter };
  // Calls `harm` when request number `index` (from 0, since now) arrives, before it is forwarded or after it took
  // effect. When that answers false, the connection ends without an answer; otherwise the request goes on.
  void HarmAt(int index, Moment moment, std::function<bool()> harm);
  void ForgetHarm();

  // "PUT /bucket/key" lines since the last call.
  std::vector<std::string> TakeRequests();

  // Of all proxies of this process since the last call: how many writes went through (creations, replacements, completions of
  // multipart uploads), and the request lines of those that bore no If-Match and no If-None-Match.
  struct Writes {
    int count = 0;
    std::vector<std::string> unconditional;
  };
  static Writes TakeWrites();

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace swamp::e2e

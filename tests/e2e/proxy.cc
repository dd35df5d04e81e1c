#include "proxy.h"

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <random>
#include <thread>

namespace swamp::e2e {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr std::uint64_t kBodyLimit = 1ULL << 30;

Response ErrorResponse(const Request& request, http::status status, const std::string& code) {
  Response response(status, request.version());
  response.set(http::field::content_type, "application/xml");
  response.body() = "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><RequestId>proxy</RequestId></Error>";
  response.prepare_payload();
  response.keep_alive(request.keep_alive());
  return response;
}

struct WriteLog {
  std::mutex mutex;
  Proxy::Writes writes;
};

WriteLog& AllWrites() {
  static WriteLog log;
  return log;
}

// A write changes what a key holds: the parts of a multipart upload don't, its completion does.
void NoteWrite(const Request& request, const std::string& line) {
  const bool part = line.find("partNumber=") != std::string::npos;
  const bool completion = request.method() == http::verb::post && line.find("uploadId=") != std::string::npos;
  if ((request.method() != http::verb::put || part) && !completion) return;
  const std::lock_guard lock(AllWrites().mutex);
  ++AllWrites().writes.count;
  if (request.find(http::field::if_match) == request.end() && request.find(http::field::if_none_match) == request.end())
    AllWrites().writes.unconditional.push_back(line);
}

}  // namespace

class Proxy::Server {
 public:
  explicit Server(const std::string& upstream) : acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    std::string rest = upstream.substr(upstream.find("://") + 3);
    while (!rest.empty() && rest.back() == '/') rest.pop_back();
    const std::size_t colon = rest.rfind(':');
    upstream_ = tcp::endpoint(asio::ip::make_address_v4(rest.substr(0, colon) == "localhost" ? "127.0.0.1" : rest.substr(0, colon)),
                              static_cast<unsigned short>(std::stoi(rest.substr(colon + 1))));
    port_ = acceptor_.local_endpoint().port();
    accepting_ = std::thread([this] { Accept(); });
  }

  ~Server() {
    stopping_ = true;
    beast::error_code ignored;
    {
      // Wakes the accept.
      tcp::socket socket(io_);
      socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port_), ignored);
    }
    accepting_.join();
    {
      const std::lock_guard lock(mutex_);
      for (tcp::socket* socket : open_) socket->shutdown(tcp::socket::shutdown_both, ignored);
    }
    for (std::thread& thread : sessions_) thread.join();
  }

  unsigned short port() const { return port_; }

  void AddRule(ProxyRule rule) {
    const std::lock_guard lock(mutex_);
    rules_.push_back(std::move(rule));
  }
  void ClearRules() {
    const std::lock_guard lock(mutex_);
    rules_.clear();
  }
  void SetWeather(const Weather& weather) {
    const std::lock_guard lock(mutex_);
    weather_ = weather;
    chance_.seed(weather.seed);
  }
  void HarmAt(int index, Moment moment, std::function<bool()> harm) {
    const std::lock_guard lock(mutex_);
    harm_index_ = seen_ + index;
    harm_moment_ = moment;
    harm_ = std::move(harm);
  }
  void ForgetHarm() {
    const std::lock_guard lock(mutex_);
    harm_ = nullptr;
  }
  std::vector<std::string> TakeRequests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }

 private:
  void Accept() {
    for (;;) {
      tcp::socket socket(io_);
      beast::error_code error;
      acceptor_.accept(socket, error);
      if (stopping_) return;
      if (error) continue;
      sessions_.emplace_back([this, client = std::make_shared<tcp::socket>(std::move(socket))] { Serve(*client); });
    }
  }

  struct Plan {
    std::optional<ProxyRule::Action> action;
    bool harm_before = false;
    bool harm_after = false;
  };

  Plan PlanFor(const Request& request) {
    const std::lock_guard lock(mutex_);
    const std::string line = std::string(request.method_string()) + " " + std::string(request.target());
    requests_.push_back(line);
    NoteWrite(request, line);
    Plan plan;
    if (harm_ && seen_ == harm_index_) {
      plan.harm_before = harm_moment_ == Moment::kBefore;
      plan.harm_after = harm_moment_ == Moment::kAfter;
    }
    ++seen_;
    for (ProxyRule& rule : rules_) {
      if (!rule.method.empty() && rule.method != request.method_string()) continue;
      if (!rule.contains.empty() && line.find(rule.contains) == std::string::npos) continue;
      if (rule.skip > 0) {
        --rule.skip;
        continue;
      }
      if (rule.times == 0) continue;
      if (rule.times > 0) --rule.times;
      plan.action = rule.action;
      break;
    }
    if (!plan.action) plan.action = ActionOfWeather();
    return plan;
  }

  std::optional<ProxyRule::Action> ActionOfWeather() {
    const int throw_of_dice = static_cast<int>(chance_() % 1000);
    if (throw_of_dice < weather_.fail) return ProxyRule::Action::kFail;
    if (throw_of_dice < weather_.fail + weather_.cut) return ProxyRule::Action::kCut;
    if (throw_of_dice < weather_.fail + weather_.cut + weather_.lose_answer) return ProxyRule::Action::kLoseAnswer;
    return std::nullopt;
  }

  // Whether the request goes on.
  bool Harm() {
    std::function<bool()> harm;
    {
      const std::lock_guard lock(mutex_);
      harm = harm_;
    }
    return !harm || harm();
  }

  void Serve(tcp::socket& client) {
    client.set_option(tcp::no_delay(true));
    {
      const std::lock_guard lock(mutex_);
      open_.push_back(&client);
    }
    try {
      ServeRequests(client);
    } catch (const std::exception&) {  // a connection that ended
    }
    const std::lock_guard lock(mutex_);
    open_.remove(&client);
    beast::error_code ignored;
    client.shutdown(tcp::socket::shutdown_both, ignored);
    client.close(ignored);
  }

  void ServeRequests(tcp::socket& client) {
    beast::flat_buffer buffer;
    std::unique_ptr<tcp::socket> server;
    for (;;) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(kBodyLimit);
      http::read(client, buffer, parser);
      const Request request = parser.release();
      const Plan plan = PlanFor(request);
      if (plan.harm_before && !Harm()) return;
      if (plan.action) {
        switch (*plan.action) {
          case ProxyRule::Action::kFail:
            http::write(client, ErrorResponse(request, http::status::service_unavailable, "ServiceUnavailable"));
            continue;
          case ProxyRule::Action::kForbid:
            http::write(client, ErrorResponse(request, http::status::forbidden, "AccessDenied"));
            continue;
          case ProxyRule::Action::kCut:
            return;
          case ProxyRule::Action::kHang: {
            char byte = 0;
            client.read_some(asio::buffer(&byte, 1));  // until the client gives up
            return;
          }
          case ProxyRule::Action::kLoseAnswer:
            break;
        }
      }
      const Response response = Forward(request, server);
      if (plan.harm_after && !Harm()) return;
      if (plan.action == ProxyRule::Action::kLoseAnswer) return;
      http::response_serializer<http::string_body> serializer(response);
      if (request.method() == http::verb::head) {
        http::write_header(client, serializer);
      } else {
        http::write(client, serializer);
      }
      if (!response.keep_alive()) return;
    }
  }

  Response Forward(const Request& request, std::unique_ptr<tcp::socket>& server) {
    const bool fresh = server == nullptr;
    if (fresh) {
      server = std::make_unique<tcp::socket>(io_);
      server->connect(upstream_);
      server->set_option(tcp::no_delay(true));
    }
    http::write(*server, request);
    beast::flat_buffer buffer;
    http::response_parser<http::string_body> parser;
    parser.body_limit(kBodyLimit);
    parser.skip(request.method() == http::verb::head);
    http::read(*server, buffer, parser);
    Response response = parser.release();
    if (!response.keep_alive()) server.reset();
    return response;
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  tcp::endpoint upstream_;
  unsigned short port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread accepting_;
  std::list<std::thread> sessions_;
  std::mutex mutex_;  // for what follows
  std::list<tcp::socket*> open_;
  std::vector<ProxyRule> rules_;
  std::vector<std::string> requests_;
  int seen_ = 0;
  int harm_index_ = 0;
  Moment harm_moment_ = Moment::kBefore;
  std::function<bool()> harm_;
  Weather weather_;
  std::mt19937 chance_;
};

Proxy::Proxy(const std::string& upstream) : server_(std::make_unique<Server>(upstream)) {}
Proxy::~Proxy() = default;

std::string Proxy::url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
void Proxy::AddRule(ProxyRule rule) { server_->AddRule(std::move(rule)); }
void Proxy::ClearRules() { server_->ClearRules(); }
void Proxy::SetWeather(const Weather& weather) { server_->SetWeather(weather); }
void Proxy::HarmAt(int index, Moment moment, std::function<bool()> harm) {
  server_->HarmAt(index, moment, std::move(harm));
}
void Proxy::ForgetHarm() { server_->ForgetHarm(); }
Proxy::Writes Proxy::TakeWrites() {
  const std::lock_guard lock(AllWrites().mutex);
  return std::exchange(AllWrites().writes, {});
}
std::vector<std::string> Proxy::TakeRequests() { return server_->TakeRequests(); }

}  // namespace swamp::e2e

#pragma once

// A small HTTP/1.1 server for tests, whose behaviour, good or bad, is a function.

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "util/text.h"

namespace swamp {

// The bytes of one connection; a TLS test has its own.
class TestStream {
 public:
  explicit TestStream(int fd) : fd_(fd) {}
  virtual ~TestStream() = default;
  // 0: the peer has closed, or it is broken.
  virtual std::size_t Read(char* buffer, std::size_t size) {
    const ssize_t count = ::recv(fd_, buffer, size, 0);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  virtual bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

struct TestRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

class TestConnection {
 public:
  explicit TestConnection(std::unique_ptr<TestStream> stream) : stream_(std::move(stream)) {}

  bool Send(std::string_view bytes) { return stream_->Write(bytes); }
  bool Respond(int status, std::string_view body, std::string_view more_headers = "") {
    return Send(fmt::format("HTTP/1.1 {} Any\r\nContent-Length: {}\r\n{}\r\n{}", status,
                            body.size(), more_headers, body));
  }
  // Ends the connection after the handler has returned.
  void Close() { closing_ = true; }
  bool closing() const { return closing_; }
  // Says nothing until the client or the server's owner ends the connection.
  void WaitUntilClosed() {
    char ignored[4096];
    while (stream_->Read(ignored, sizeof ignored) > 0) {
    }
    closing_ = true;
  }

  // Passes bytes on to and from another port, as a proxy does after CONNECT, until either side
  // ends.
  void Tunnel(int port) {
    const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    TestStream remote(other);
    bool open = ::connect(other, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    while (open) {
      pollfd ends[2] = {{stream_->fd(), POLLIN, 0}, {other, POLLIN, 0}};
      ::poll(ends, 2, -1);
      if (ends[0].revents != 0) open = Pass(*stream_, remote);
      if (open && ends[1].revents != 0) open = Pass(remote, *stream_);
    }
    ::close(other);
    closing_ = true;
  }

  // The head of the next request, without its body; nothing: the connection has ended.
  std::optional<TestRequest> ReadHead() {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return std::nullopt;
    }
    TestRequest request;
    const std::vector<std::string> lines = Split(buffer_.substr(0, end), '\n');
    const std::vector<std::string> first = Split(Trim(lines.at(0)), ' ');
    request.method = first.at(0);
    request.target = first.at(1);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const std::size_t colon = lines[i].find(':');
      request.headers[AsciiLower(lines[i].substr(0, colon))] = Trim(lines[i].substr(colon + 1));
    }
    buffer_.erase(0, end + 4);
    return request;
  }
  bool ReadBody(TestRequest& request) {
    const auto length = request.headers.find("content-length");
    const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
    while (buffer_.size() < size) {
      if (!Fill()) return false;
    }
    request.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return true;
  }

 private:
  static bool Pass(TestStream& from, TestStream& to) {
    char chunk[65536];
    const std::size_t count = from.Read(chunk, sizeof chunk);
    return count > 0 && to.Write({chunk, count});
  }

  bool Fill() {
    char chunk[65536];
    const std::size_t count = stream_->Read(chunk, sizeof chunk);
    buffer_.append(chunk, count);
    return count > 0;
  }

  std::unique_ptr<TestStream> stream_;
  std::string buffer_;
  bool closing_ = false;
};

class HttpTestServer {
 public:
  using Handler = std::function<void(const TestRequest&, TestConnection&)>;
  using StreamMaker = std::function<std::unique_ptr<TestStream>(int fd)>;

  // `handler` runs in a thread of its own for each connection.
  explicit HttpTestServer(Handler handler, StreamMaker make_stream = PlainStream,
                          const char* scheme = "http")
      : handler_(std::move(handler)), make_stream_(std::move(make_stream)), scheme_(scheme) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 128) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("a test server cannot listen");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }

  ~HttpTestServer() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }

  std::string url() const { return fmt::format("{}://127.0.0.1:{}", scheme_, port_); }
  int port() const { return port_; }
  int connections() const { return connections_; }
  int requests() const { return requests_; }
  bool stopping() const { return stopping_; }

  static std::unique_ptr<TestStream> PlainStream(int fd) {
    return std::make_unique<TestStream>(fd);
  }

 private:
  void Accept() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++connections_;
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd] { Serve(fd); });
    }
  }

  void Serve(int fd) {
    sigset_t pipe;  // raised by a TLS library that writes to a closed connection
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    if (auto stream = make_stream_(fd)) {
      TestConnection connection(std::move(stream));
      while (!connection.closing()) {
        auto request = connection.ReadHead();
        if (!request || !connection.ReadBody(*request)) break;
        ++requests_;
        handler_(*request, connection);
      }
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, fd);
    ::close(fd);
  }

  Handler handler_;
  StreamMaker make_stream_;
  const char* scheme_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0;
  std::atomic<int> requests_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace swamp

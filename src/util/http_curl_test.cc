#include "util/http_curl.h"

#include <gmock/gmock.h>

#include <chrono>
#include <latch>
#include <set>

#include "util/error.h"
#include "util/http_test_server.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

Duration Since(steady_clock::time_point start) {
  return std::chrono::duration_cast<Duration>(steady_clock::now() - start);
}

class StringSource final : public BodySource {
 public:
  explicit StringSource(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  std::size_t ReadAt(std::uint64_t offset, char* buffer, std::size_t count) const override {
    return bytes_.copy(buffer, count, static_cast<std::size_t>(offset));
  }

 private:
  std::string bytes_;
};

class CollectingSink final : public BodySink {
 public:
  void Restart() override { bytes.clear(); }
  void Write(std::string_view piece) override { bytes.append(piece); }
  std::string bytes;
};

class HttpCurl : public testing::Test {
 protected:
  HttpResponse Get(const std::string& url) {
    HttpRequest request;
    request.url = url;
    return client.Send(world.context, request);
  }
  HttpFailure FailureOf(const HttpRequest& request) {
    try {
      client.Send(world.context, request);
    } catch (const HttpFailure& failure) {
      EXPECT_EQ(failure.message().find('\n'), std::string::npos);
      return failure;
    }
    ADD_FAILURE() << "it was answered";
    return {HttpFailure::Kind::kBadUrl, ""};
  }
  static HttpRequest To(const std::string& url) {
    HttpRequest request;
    request.url = url;
    return request;
  }

  RealTimeWorld world;
  CurlHttpClient client;
};

TEST_F(HttpCurl, GetsStatusHeadersAndBody) {
  HttpTestServer server([](const TestRequest& request, TestConnection& connection) {
    EXPECT_EQ(request.method, "GET");
    EXPECT_EQ(request.target, "/a%20b?c=%2B");
    EXPECT_EQ(request.headers.count("content-length"), 0U);
    connection.Respond(418, "short and stout", "X-Tea-Pot:  Brown Betty \r\nETag: \"x\"\r\n");
  });
  const HttpResponse response = Get(server.url() + "/a%20b?c=%2B");
  EXPECT_EQ(response.status, 418);
  EXPECT_EQ(response.body, "short and stout");
  EXPECT_EQ(response.Header("x-tea-pot"), "Brown Betty");
  EXPECT_EQ(response.Header("etag"), "\"x\"");
  EXPECT_EQ(response.Header("absent"), "");
}

TEST_F(HttpCurl, SendsTheHeadersItIsGivenAndNoneThatChangeMeaning) {
  HttpTestServer server([](const TestRequest& request, TestConnection& connection) {
    EXPECT_EQ(request.headers.at("host"), "elsewhere.example");
    EXPECT_EQ(request.headers.at("x-empty"), "");
    EXPECT_EQ(request.headers.at("x-full"), "a  b");
    EXPECT_EQ(request.headers.count("expect"), 0U);
    EXPECT_EQ(request.headers.count("content-type"), 0U);
    EXPECT_EQ(request.headers.count("accept-encoding"), 0U);
    EXPECT_EQ(request.headers.at("content-length"), "2000000");
    connection.Respond(200, "");
  });
  HttpRequest request = To(server.url());
  request.method = "PUT";
  request.headers = {{"Host", "elsewhere.example"}, {"X-Empty", ""}, {"x-full", "a  b"}};
  request.body = std::string(2'000'000, 'x');
  EXPECT_EQ(client.Send(world.context, request).status, 200);
}

TEST_F(HttpCurl, SendsBodiesOfEverySize) {
  std::string received;
  HttpTestServer server([&](const TestRequest& request, TestConnection& connection) {
    received = request.body;
    connection.Respond(200, request.method);
  });
  for (const char* method : {"PUT", "POST"}) {
    for (const std::size_t size : {0U, 1U, 65'536U, 65'537U, 3'000'000U}) {
      const std::string bytes(size, 'b');
      const StringSource source(bytes);
      HttpRequest request = To(server.url());
      request.method = method;
      request.source = &source;
      EXPECT_EQ(client.Send(world.context, request).body, method);
      EXPECT_EQ(received, bytes);
      request.source = nullptr;
      request.body = bytes;
      EXPECT_EQ(client.Send(world.context, request).body, method);
      EXPECT_EQ(received, bytes);
    }
  }
}

TEST_F(HttpCurl, AHandleCarriesNothingOverToTheNextRequest) {
  std::vector<std::string> seen;
  HttpTestServer server([&](const TestRequest& request, TestConnection& connection) {
    seen.push_back(
        fmt::format("{} {} {}", request.method, request.body, request.headers.count("x-one")));
    connection.Respond(200, request.method == "HEAD" ? "" : "body");
  });
  const StringSource large(std::string(100'000, 'l'));
  HttpRequest put = To(server.url());
  put.method = "PUT";
  put.source = &large;
  put.headers = {{"x-one", "1"}};
  HttpRequest head = To(server.url());
  head.method = "HEAD";
  HttpRequest remove = To(server.url());
  remove.method = "DELETE";
  for (const HttpRequest& request : {put, head, To(server.url()), remove, put, To(server.url())}) {
    EXPECT_EQ(client.Send(world.context, request).status, 200);
  }
  const std::string body(100'000, 'l');
  EXPECT_THAT(seen, testing::ElementsAre("PUT " + body + " 1", "HEAD  0", "GET  0", "DELETE  0",
                                         "PUT " + body + " 1", "GET  0"));
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpCurl, HeadTellsTheLengthAndWaitsForNoBody) {
  HttpTestServer server([](const TestRequest& request, TestConnection& connection) {
    EXPECT_EQ(request.method, "HEAD");
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n");
  });
  HttpRequest request = To(server.url());
  request.method = "HEAD";
  const HttpResponse response = client.Send(world.context, request);
  EXPECT_EQ(response.Header("content-length"), "12345");
  EXPECT_EQ(response.body, "");
}

TEST_F(HttpCurl, KeepsConnections) {
  HttpTestServer server(
      [](const TestRequest&, TestConnection& connection) { connection.Respond(200, "x"); });
  for (int i = 0; i < 20; ++i) Get(server.url());
  EXPECT_EQ(server.requests(), 20);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpCurl, ManyCallersAtOnce) {
  constexpr int kCallers = 25;
  std::latch all_there(kCallers);
  HttpTestServer server([&](const TestRequest& request, TestConnection& connection) {
    // None is answered before all have come: they really are under way at the same time.
    if (request.target.starts_with("/first")) all_there.arrive_and_wait();
    connection.Respond(200, request.target);
  });
  world.executor.ForEach(
      world.context, kCallers, kCallers, [&](const Context& context, std::size_t i) {
        for (int round = 0; round < 20; ++round) {
          const std::string target =
              fmt::format("/{}/{}/{}", round == 0 ? "first" : "then", i, round);
          EXPECT_EQ(client.Send(context, To(server.url() + target)).body, target);
        }
      });
  EXPECT_EQ(server.requests(), kCallers * 20);
  EXPECT_LE(server.connections(), kCallers);
}

TEST_F(HttpCurl, ASinkTakesOnlyWhatSucceeded) {
  HttpTestServer server([](const TestRequest& request, TestConnection& connection) {
    connection.Respond(request.target == "/ok" ? 200 : 404, std::string(200'000, 'x'));
  });
  CollectingSink sink;
  HttpRequest request = To(server.url() + "/ok");
  request.sink = &sink;
  request.body_limit = 10;  // for answers that don't go to the sink
  EXPECT_EQ(client.Send(world.context, request).body, "");
  EXPECT_EQ(sink.bytes.size(), 200'000U);
  request.url = server.url() + "/missing";
  request.body_limit = 200'000;
  sink.bytes.clear();
  EXPECT_EQ(client.Send(world.context, request).body.size(), 200'000U);
  EXPECT_EQ(sink.bytes, "");
  request.body_limit = 199'999;
  EXPECT_EQ(FailureOf(request).kind(), HttpFailure::Kind::kTooLarge);
}

TEST_F(HttpCurl, WhatSinkAndSourceThrowReachesTheCaller) {
  HttpTestServer server([](const TestRequest&, TestConnection& connection) {
    connection.Respond(200, std::string(100'000, 'x'));
  });
  class ThrowingSink final : public BodySink {
   public:
    void Restart() override {}
    void Write(std::string_view) override { throw IoError("write", "/full", ENOSPC); }
  };
  class ThrowingSource final : public BodySource {
   public:
    std::uint64_t size() const override { return 1'000'000; }
    std::size_t ReadAt(std::uint64_t offset, char*, std::size_t count) const override {
      if (offset > 200'000) throw IoError("read", "/gone", EIO);
      return count;
    }
  };
  ThrowingSink sink;
  HttpRequest get = To(server.url());
  get.sink = &sink;
  EXPECT_THROW(client.Send(world.context, get), IoError);
  const ThrowingSource source;
  HttpRequest put = To(server.url());
  put.method = "PUT";
  put.source = &source;
  EXPECT_THROW(client.Send(world.context, put), IoError);
  EXPECT_EQ(Get(server.url()).status, 200);
}

TEST_F(HttpCurl, FollowsNoRedirect) {
  HttpTestServer elsewhere(
      [](const TestRequest&, TestConnection& connection) { connection.Respond(200, "elsewhere"); });
  HttpTestServer server([&](const TestRequest&, TestConnection& connection) {
    connection.Respond(301, "", fmt::format("Location: {}/\r\n", elsewhere.url()));
  });
  const HttpResponse response = Get(server.url());
  EXPECT_EQ(response.status, 301);
  EXPECT_EQ(response.Header("location"), elsewhere.url() + "/");
  EXPECT_EQ(elsewhere.requests(), 0);
}

TEST_F(HttpCurl, AnInterimAnswerIsNotTheAnswer) {
  HttpTestServer server([](const TestRequest&, TestConnection& connection) {
    connection.Send("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n");
    connection.Respond(200, "final");
  });
  const HttpResponse response = Get(server.url());
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "final");
  EXPECT_EQ(response.Header("x-early"), "");
}

TEST_F(HttpCurl, ReadsChunkedBodiesAndRefusesTornOnes) {
  HttpTestServer server([](const TestRequest& request, TestConnection& connection) {
    connection.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    if (request.target == "/whole") {
      connection.Send("0\r\n\r\n");
    } else {
      connection.Close();
    }
  });
  EXPECT_EQ(Get(server.url() + "/whole").body, "hello");
  EXPECT_EQ(FailureOf(To(server.url() + "/torn")).kind(), HttpFailure::Kind::kBroken);
}

TEST_F(HttpCurl, ABodyShorterThanPromisedIsBroken) {
  HttpTestServer server([](const TestRequest&, TestConnection& connection) {
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
    connection.Close();
  });
  CollectingSink sink;
  HttpRequest request = To(server.url());
  request.sink = &sink;
  const HttpFailure failure = FailureOf(request);
  EXPECT_EQ(failure.kind(), HttpFailure::Kind::kBroken);
  EXPECT_TRUE(failure.may_have_been_processed());
}

TEST_F(HttpCurl, AConnectionThatEndsWithoutAnAnswerIsBrokenAndNotTriedAgain) {
  HttpTestServer server([](const TestRequest&, TestConnection& connection) { connection.Close(); });
  HttpRequest request = To(server.url());
  request.method = "PUT";
  request.body = "x";
  const HttpFailure failure = FailureOf(request);
  EXPECT_EQ(failure.kind(), HttpFailure::Kind::kBroken);
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(HttpCurl, NeverSendsTwiceWhenAKeptConnectionDies) {
  HttpTestServer server([&](const TestRequest& request, TestConnection& connection) {
    if (request.method == "GET") {
      connection.Respond(200, "");
    } else {
      connection.Close();  // the request was read, and acted on for all the client knows
    }
  });
  Get(server.url());
  HttpRequest put = To(server.url());
  put.method = "PUT";
  put.body = "x";
  EXPECT_EQ(FailureOf(put).kind(), HttpFailure::Kind::kBroken);
  EXPECT_EQ(server.requests(), 2);
  EXPECT_EQ(Get(server.url()).status, 200);
}

TEST_F(HttpCurl, GarbageIsNoAnswer) {
  HttpTestServer server([](const TestRequest&, TestConnection& connection) {
    connection.Send("SSH-2.0-OpenSSH_9.2\r\n");
    connection.Close();
  });
  EXPECT_EQ(FailureOf(To(server.url())).kind(), HttpFailure::Kind::kBroken);
}

TEST_F(HttpCurl, ConnectionRefusedWasNeverSent) {
  std::string url;
  {
    const HttpTestServer gone([](const TestRequest&, TestConnection&) {});
    url = gone.url();
  }
  const HttpFailure failure = FailureOf(To(url + "/secret/path?token=1"));
  EXPECT_EQ(failure.kind(), HttpFailure::Kind::kNotConnected);
  EXPECT_FALSE(failure.may_have_been_processed());
  EXPECT_EQ(failure.message(), "cannot connect to " + url + ": Connection refused");
}

TEST_F(HttpCurl, AHostThatDoesNotExistIsSaid) {
  const HttpFailure failure = FailureOf(To("http://no-such-host.invalid:9/"));
  EXPECT_EQ(failure.kind(), HttpFailure::Kind::kNameNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("no-such-host.invalid"));
}

TEST_F(HttpCurl, RefusesWhatIsNoHttpUrl) {
  for (const char* url : {"", "ftp://host/", "file:///etc/passwd", "http://host/a b",
                          "http://host/\r\nX: y", "host/path", "http://:80:80/"}) {
    EXPECT_EQ(FailureOf(To(url)).kind(), HttpFailure::Kind::kBadUrl) << url;
  }
}

TEST_F(HttpCurl, AHeaderCannotSmuggleALine) {
  HttpRequest request = To("http://127.0.0.1:9/");
  request.headers = {{"x-writer", "ann\r\nX-Other: 1"}};
  EXPECT_EQ(FailureOf(request).kind(), HttpFailure::Kind::kBadUrl);
}

// DS-72
TEST_F(HttpCurl, AServerThatNeverAnswersIsIdle) {
  HttpTestServer server(
      [](const TestRequest&, TestConnection& connection) { connection.WaitUntilClosed(); });
  HttpRequest request = To(server.url());
  request.idle_timeout = Duration(300);
  const auto start = steady_clock::now();
  EXPECT_EQ(FailureOf(request).kind(), HttpFailure::Kind::kTimeout);
  EXPECT_GE(Since(start), Duration(290));
  EXPECT_LE(Since(start), Duration(1500));
}

TEST_F(HttpCurl, AServerThatDripsIsNotIdle) {
  HttpTestServer server([](const TestRequest&, TestConnection& connection) {
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
    for (int i = 0; i < 8; ++i) {
      std::this_thread::sleep_for(Duration(60));
      connection.Send("x");
    }
  });
  HttpRequest request = To(server.url());
  request.idle_timeout = Duration(250);
  EXPECT_EQ(client.Send(world.context, request).body, "xxxxxxxx");
}

TEST_F(HttpCurl, AServerThatReadsNothingIsIdleToo) {
  // It accepts by its backlog alone: the connection is there, and nobody reads from it.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 5), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  HttpRequest request = To(fmt::format("http://127.0.0.1:{}/", ntohs(address.sin_port)));
  request.method = "PUT";
  request.body = std::string(30'000'000, 'x');
  request.idle_timeout = Duration(300);
  EXPECT_EQ(FailureOf(request).kind(), HttpFailure::Kind::kTimeout);
  ::close(listener);
}

// DS-72
TEST_F(HttpCurl, ADeadlineEndsARequestThatDrips) {
  HttpTestServer* running = nullptr;
  HttpTestServer server([&](const TestRequest&, TestConnection& connection) {
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    while (!running->stopping() && connection.Send("x")) std::this_thread::sleep_for(Duration(20));
    connection.Close();
  });
  running = &server;
  const auto start = steady_clock::now();
  const Context limited = world.context.WithTimeout(Duration(400));
  EXPECT_THROW(client.Send(limited, To(server.url())), DeadlineExceeded);
  EXPECT_GE(Since(start), Duration(390));
  EXPECT_LE(Since(start), Duration(1000));
}

// DS-72
TEST_F(HttpCurl, CancellingEndsARequestInTheMiddle) {
  std::atomic<bool> begun = false;
  HttpTestServer server([&](const TestRequest&, TestConnection& connection) {
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nbegun");
    begun = true;
    connection.WaitUntilClosed();
  });
  steady_clock::time_point cancelled_at;
  std::jthread canceller([&] {
    while (!begun) std::this_thread::yield();
    cancelled_at = steady_clock::now();
    world.cancellation.Request(2);
  });
  CollectingSink sink;
  HttpRequest request = To(server.url());
  request.sink = &sink;
  EXPECT_THROW(client.Send(world.context, request), Cancelled);
  EXPECT_LE(Since(cancelled_at), Duration(500));
}

TEST_F(HttpCurl, ManyCancellationsLeaveTheClientWhole) {
  HttpTestServer server([](const TestRequest& request, TestConnection& connection) {
    if (request.target == "/slow") {
      connection.WaitUntilClosed();
    } else {
      connection.Respond(200, "fast");
    }
  });
  world.executor.ForEach(world.context, 40, 20, [&](const Context& context, std::size_t i) {
    if (i % 2 == 0) {
      EXPECT_EQ(client.Send(context, To(server.url() + "/fast")).body, "fast");
    } else {
      EXPECT_THROW(client.Send(context.WithTimeout(Duration(i)), To(server.url() + "/slow")),
                   DeadlineExceeded);
    }
  });
  EXPECT_EQ(Get(server.url()).body, "fast");
}

class HttpCurlInEnvironment : public HttpCurl {
 protected:
  using Variables = std::map<std::string, std::string>;
  HttpResponse Send(const HttpRequest& request, Variables variables) {
    FixedEnvironment environment(std::move(variables));
    World other{world.clock, world.random, world.files, environment, world.executor, world.log};
    return client.Send(Context(other, world.cancellation), request);
  }
};

// DS-73
TEST_F(HttpCurlInEnvironment, HonoursProxyVariables) {
  HttpTestServer proxy([](const TestRequest& request, TestConnection& connection) {
    connection.Respond(200, "proxied " + request.target);
  });
  HttpTestServer server(
      [](const TestRequest&, TestConnection& connection) { connection.Respond(200, "direct"); });
  HttpRequest request = To(server.url() + "/x");
  EXPECT_EQ(Send(request, {}).body, "direct");
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) {
    EXPECT_EQ(Send(request, {{name, proxy.url()}}).body, "proxied " + server.url() + "/x") << name;
  }
  EXPECT_EQ(Send(request, {{"https_proxy", proxy.url()}}).body, "direct");
  EXPECT_EQ(Send(request, {{"http_proxy", proxy.url()}, {"NO_PROXY", "a.example,127.0.0.1"}}).body,
            "direct");
  EXPECT_EQ(Send(request, {{"http_proxy", proxy.url()}, {"no_proxy", "*"}}).body, "direct");
  request.use_proxy = false;
  EXPECT_EQ(Send(request, {{"http_proxy", proxy.url()}}).body, "direct");
}

TEST_F(HttpCurlInEnvironment, ABadProxyIsSaidWithoutItsPassword) {
  for (const char* proxy :
       {"gopher://user:hunter2@127.0.0.1:1", "http://user:hunter2@no-such-proxy.invalid:1",
        "http://user:hunter2@:bad:port", "http://user:hunter2@127.0.0.1:1"}) {
    try {
      Send(To("http://127.0.0.1:9/"), {{"http_proxy", proxy}});
      FAIL() << "it was answered";
    } catch (const HttpFailure& failure) {
      EXPECT_NE(failure.kind(), HttpFailure::Kind::kBroken);
      EXPECT_THAT(failure.message(), Not(HasSubstr("hunter2")));
    }
  }
}

TEST_F(HttpCurl, AClientThatIsNeverUsedStartsNothing) {
  const auto threads = [] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      count += entry.exists() ? 1 : 0;
    }
    return count;
  };
  const int before = threads();
  { const CurlHttpClient unused; }
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace swamp

#include <gmock/gmock.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "util/http_curl.h"
#include "util/http_test_server.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using testing::HasSubstr;

template <auto kFree>
struct Freeing {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freeing<X509_free>>;

struct Identity {
  Key key;
  Certificate certificate;
};

// A certificate for `name` with the subject alternative names `names`, signed by `issuer` or by
// itself.
Identity NewIdentity(const char* name, const char* names, const Identity* issuer) {
  Identity identity{Key(EVP_EC_gen("P-256")), Certificate(X509_new())};
  X509* certificate = identity.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), issuer == nullptr ? 1 : 2);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, identity.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  const Identity& signer = issuer == nullptr ? identity : *issuer;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate.get()));
  const auto extend = [&](int kind, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  };
  extend(NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (names != nullptr) extend(NID_subject_alt_name, names);
  X509_sign(certificate, signer.key.get(), EVP_sha256());
  return identity;
}

class TlsStream final : public TestStream {
 public:
  TlsStream(int fd, SSL* ssl) : TestStream(fd), ssl_(ssl) {}
  ~TlsStream() override { SSL_free(ssl_); }
  std::size_t Read(char* buffer, std::size_t size) override {
    const int count = SSL_read(ssl_, buffer, static_cast<int>(size));
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  bool Write(std::string_view bytes) override {
    return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
  }

 private:
  SSL* ssl_;
};

// A server behind a private certification authority, whose certificate is in `ca_file`.
class HttpCurlTls : public testing::Test {
 protected:
  explicit HttpCurlTls(const char* names = "IP:127.0.0.1,DNS:localhost")
      : authority(NewIdentity("a private authority", nullptr, nullptr)),
        identity(NewIdentity("server", names, &authority)),
        ca_file((folder.path() / "ca.pem").native()) {
    FILE* file = std::fopen(ca_file.c_str(), "w");
    PEM_write_X509(file, authority.certificate.get());
    std::fclose(file);
    tls.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(tls.get(), identity.certificate.get());
    SSL_CTX_use_PrivateKey(tls.get(), identity.key.get());
    server = std::make_unique<HttpTestServer>(
        [](const TestRequest& request, TestConnection& connection) {
          if (request.target == "/close") {
            connection.Close();
          } else {
            connection.Respond(200, "over TLS");
          }
        },
        [this](int fd) -> std::unique_ptr<TestStream> {
          SSL* ssl = SSL_new(tls.get());
          SSL_set_fd(ssl, fd);
          if (SSL_accept(ssl) == 1) return std::make_unique<TlsStream>(fd, ssl);
          SSL_free(ssl);
          ERR_clear_error();
          return nullptr;
        },
        "https");
  }

  HttpRequest Request(const std::string& path = "/") const {
    HttpRequest request;
    request.url = server->url() + path;
    return request;
  }
  HttpResponse Send(const HttpRequest& request, std::map<std::string, std::string> variables = {}) {
    FixedEnvironment environment(std::move(variables));
    World other{world.clock, world.random, world.files, environment, world.executor, world.log};
    return client.Send(Context(other, world.cancellation), request);
  }
  HttpFailure FailureOf(const HttpRequest& request,
                        std::map<std::string, std::string> variables = {}) {
    try {
      Send(request, std::move(variables));
    } catch (const HttpFailure& failure) {
      return failure;
    }
    ADD_FAILURE() << "it was answered";
    return {HttpFailure::Kind::kBadUrl, ""};
  }

  struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  TemporaryFolder folder;
  Identity authority;
  Identity identity;
  std::string ca_file;
  std::unique_ptr<SSL_CTX, FreeContext> tls;
  RealTimeWorld world;
  std::unique_ptr<HttpTestServer> server;
  CurlHttpClient client;
};

// DS-73
TEST_F(HttpCurlTls, AnUntrustedCertificateIsAnErrorThatNamesTheHost) {
  const HttpFailure failure = FailureOf(Request());
  EXPECT_EQ(failure.kind(), HttpFailure::Kind::kTls);
  EXPECT_THAT(failure.message(), HasSubstr("https://127.0.0.1:" + std::to_string(server->port())));
  EXPECT_EQ(server->requests(), 0);
}

// DS-73
TEST_F(HttpCurlTls, TrustsTheFileOfTheRequestOrOfTheEnvironment) {
  HttpRequest with_file = Request();
  with_file.ca_file = ca_file;
  EXPECT_EQ(Send(with_file).body, "over TLS");
  EXPECT_EQ(Send(Request(), {{"SSL_CERT_FILE", ca_file}}).body, "over TLS");
  EXPECT_EQ(FailureOf(Request(), {{"SSL_CERT_FILE", "/no/such/file.pem"}}).kind(),
            HttpFailure::Kind::kTls);
  // A connection made with trust is not lent to a request that has none.
  EXPECT_EQ(FailureOf(Request()).kind(), HttpFailure::Kind::kTls);
}

TEST_F(HttpCurlTls, KeepsConnections) {
  HttpRequest request = Request();
  request.ca_file = ca_file;
  for (int i = 0; i < 10; ++i) Send(request);
  EXPECT_EQ(server->connections(), 1);
}

// DS-73
TEST_F(HttpCurlTls, GoesThroughTheProxyOfTheEnvironment) {
  std::string asked;
  HttpTestServer proxy([&](const TestRequest& head, TestConnection& connection) {
    asked = head.method + " " + head.target;
    connection.Send("HTTP/1.1 200 Connected\r\nETag: the proxy's\r\n\r\n");
    connection.Tunnel(server->port());
  });
  HttpRequest request = Request();
  request.ca_file = ca_file;
  for (int i = 0; i < 3; ++i) {
    const HttpResponse response = Send(request, {{"HTTPS_PROXY", proxy.url()}});
    EXPECT_EQ(response.body, "over TLS");
    EXPECT_EQ(response.Header("etag"), "");
  }
  EXPECT_EQ(asked, fmt::format("CONNECT 127.0.0.1:{}", server->port()));
  EXPECT_EQ(server->connections(), 1);
}

// DS-73
TEST_F(HttpCurlTls, AProxyThatRefusesIsNoConnection) {
  HttpTestServer proxy([](const TestRequest&, TestConnection& connection) {
    connection.Respond(407, "who are you?");
  });
  HttpRequest request = Request();
  request.ca_file = ca_file;
  EXPECT_EQ(FailureOf(request, {{"https_proxy", proxy.url()}}).kind(),
            HttpFailure::Kind::kNotConnected);
}

TEST_F(HttpCurlTls, AConnectionThatEndsWithoutAnAnswerIsBroken) {
  HttpRequest request = Request("/close");
  request.ca_file = ca_file;
  EXPECT_EQ(FailureOf(request).kind(), HttpFailure::Kind::kBroken);
}

class HttpCurlTlsOfAnother : public HttpCurlTls {
 protected:
  HttpCurlTlsOfAnother() : HttpCurlTls("DNS:another.example") {}
};

// DS-73
TEST_F(HttpCurlTlsOfAnother, ACertificateForAnotherHostIsRefused) {
  HttpRequest request = Request();
  request.ca_file = ca_file;
  EXPECT_EQ(FailureOf(request).kind(), HttpFailure::Kind::kTls);
  EXPECT_EQ(server->requests(), 0);
}

TEST(HttpCurlPlain, APlainServerBehindAnHttpsUrlIsNoTrustedConnection) {
  HttpTestServer server(
      [](const TestRequest&, TestConnection& connection) { connection.Respond(200, ""); });
  RealTimeWorld world;
  CurlHttpClient client;
  HttpRequest request;
  request.url = "https://127.0.0.1:" + std::to_string(server.port());
  request.idle_timeout = Duration(2000);
  try {
    client.Send(world.context, request);
    FAIL() << "it was answered";
  } catch (const HttpFailure& failure) {
    EXPECT_FALSE(failure.may_have_been_processed());
  }
}

}  // namespace
}  // namespace swamp

// S3Store against scripted answers: what it sends, and what it makes of each answer. How real
// servers behave is in s3_store_live_test.cc.

#include "objectstore/s3_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "objectstore/probe.h"
#include "objectstore/resolving_store.h"
#include "objectstore/scripted_http.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/test_world.h"
#include "util/text.h"

namespace swamp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kDate = "Tue, 01 Dec 2026 15:29:01 GMT";
constexpr const char* kSecret = "secretsecretsecret";
constexpr const char* kToken = "tokentokentoken";

HttpResponse Answer(int status, std::string body = {}, HttpHeaders headers = {}) {
  headers.emplace_back("date", kDate);
  headers.emplace_back("content-length", std::to_string(body.size()));
  return {status, std::move(headers), std::move(body)};
}

HttpResponse ErrorAnswer(int status, const std::string& code, HttpHeaders headers = {}) {
  return Answer(
      status,
      fmt::format(
          "<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>words of the server</Message>"
          "<RequestId>REQ1</RequestId></Error>",
          code),
      std::move(headers));
}

// Credentials that are new after each Forget.
class CountedCredentials final : public AwsCredentialProvider {
 public:
  explicit CountedCredentials(int& forgotten) : forgotten_(forgotten) {}
  AwsCredentials Get(const Context&) override {
    return {fmt::format("KEY{}", forgotten_), kSecret, kToken, std::nullopt};
  }
  void Forget(const AwsCredentials&) override { ++forgotten_; }

 private:
  int& forgotten_;
};

class S3StoreTest : public testing::Test {
 protected:
  S3StoreTest() {
    config.bucket = "bucket";
    config.prefix = "team/a";
    config.endpoint = "https://s3.example.com";
  }
  std::unique_ptr<S3Store> Open(S3Limits limits = {}) {
    S3ClientOptions options;
    options.config = config;
    options.region = "eu-west-1";
    options.request_timeout = Duration(12'345);
    options.ca_file = "/roots.pem";
    return std::make_unique<S3Store>(options, http, std::make_unique<CountedCredentials>(forgotten),
                                     limits);
  }
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const HttpRequest& request : http.requests) lines.push_back(LineOf(request));
    return lines;
  }
  PutResult Put(ObjectStore& store, const Condition& condition, const std::string& bytes = "bytes",
                const PutOptions& options = {}) {
    return store.Put(world.context, "key", Body::FromBytes(bytes), condition, options);
  }
  StoreError Thrown(const std::function<void()>& work) {
    try {
      work();
    } catch (const StoreError& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {StoreError::Kind::kInvalid, "", ""};
  }

  TestWorld world;
  S3Config config;
  int forgotten = 0;
  std::function<HttpResponse(const HttpRequest&)> serve = [](const HttpRequest&) {
    return Answer(200);
  };
  ScriptedHttp http{[this](const HttpRequest& request) { return serve(request); }};
};

TEST_F(S3StoreTest, PutSendsOneConditionalSignedRequest) {
  serve = [](const HttpRequest&) { return Answer(200, "", {{"etag", "\"abc\""}}); };
  PutOptions options;
  options.writer = "ann@build7";
  const PutResult result = Put(*Open(), Condition::Absent(), "bytes", options);
  EXPECT_TRUE(result.stored());
  EXPECT_EQ(result.etag.value, "abc");
  EXPECT_EQ(result.store_now, ParseHttpDate(kDate));
  ASSERT_EQ(http.requests.size(), 1U);
  const HttpRequest& request = http.requests[0];
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.url, "https://bucket.s3.example.com/team/a/key");
  EXPECT_EQ(request.body, "bytes");
  EXPECT_EQ(HeaderOf(request, "If-None-Match"), "*");
  EXPECT_EQ(HeaderOf(request, "If-Match"), "<none>");
  EXPECT_EQ(HeaderOf(request, "Host"), "bucket.s3.example.com");
  EXPECT_EQ(HeaderOf(request, "x-amz-content-sha256"), Sha256Hex("bytes"));
  EXPECT_EQ(HeaderOf(request, "x-amz-meta-swamp-writer"), "ann@build7");
  EXPECT_EQ(HeaderOf(request, "x-amz-security-token"), kToken);
  EXPECT_THAT(HeaderOf(request, "Authorization"),
              HasSubstr("Credential=KEY0/20261201/eu-west-1/s3/aws4_request"));
  EXPECT_THAT(HeaderOf(request, "Authorization"), HasSubstr("if-none-match"));
  EXPECT_EQ(request.idle_timeout, Duration(12'345));
  EXPECT_EQ(request.ca_file, "/roots.pem");
}

// DS-34
TEST_F(S3StoreTest, EveryRequestHonoursEndpointPathStyleAndPrefix) {
  config.force_path_style = true;
  config.endpoint = "http://store.example:9000";
  serve = [](const HttpRequest& request) {
    if (request.url.find("uploads=") != std::string::npos) {
      return Answer(
          200,
          "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>");
    }
    if (request.method == "GET" || request.method == "HEAD") return ErrorAnswer(404, "NoSuchKey");
    return Answer(200, "", {{"etag", "\"abc\""}});
  };
  const auto store = Open();
  StringSink sink;
  store->Get(world.context, "key", {}, sink);
  store->Head(world.context, "key");
  Put(*store, Condition::Absent());
  store->Delete(world.context, "key", {"e"});
  Thrown([&] { store->List(world.context, {}); });
  EXPECT_FALSE(ProbeStore(world.context, *store).safe());
  EXPECT_GE(http.requests.size(), 7U);
  for (const HttpRequest& request : http.requests) {
    EXPECT_TRUE(request.url.starts_with("http://store.example:9000/bucket/team/a/") ||
                request.url.starts_with("http://store.example:9000/bucket?"))
        << request.url;
    EXPECT_EQ(request.idle_timeout, Duration(12'345));
  }
}

// DS-44
TEST_F(S3StoreTest, EveryListingCarriesThePrefix) {
  serve = [](const HttpRequest&) {
    return Answer(
        200,
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>team/a/x</Key>"
        "<LastModified>2026-12-01T15:29:01.000Z</LastModified><ETag>\"e\"</ETag><Size>1</Size>"
        "</Contents></ListBucketResult>");
  };
  const auto store = Open();
  EXPECT_EQ(ListAll(world.context, *store, "").at(0).key, "x");
  ListOptions options;
  options.prefix = "x";
  options.continuation = "t&1";
  options.page_size = 7;
  store->List(world.context, options);
  EXPECT_THAT(Lines(),
              ElementsAre("GET /?encoding-type=url&list-type=2&max-keys=1000&prefix=team%2Fa%2F",
                          "GET "
                          "/?continuation-token=t%261&encoding-type=url&list-type=2&max-keys=7&"
                          "prefix=team%2Fa%2Fx"));
}

// DS-10, DS-44
TEST_F(S3StoreTest, AListingThatMakesNoSenseIsAnError) {
  std::string body;
  serve = [&](const HttpRequest&) { return Answer(200, body); };
  const auto store = Open();
  for (const char* bad :
       {"", "<ListBucketResult/>", "<html/>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>team/b/x</Key>"
        "<LastModified>2026-12-01T15:29:01.000Z</LastModified><ETag>\"e\"</ETag><Size>1</Size>"
        "</Contents></ListBucketResult>"}) {
    body = bad;
    EXPECT_EQ(Thrown([&] { ListAll(world.context, *store, ""); }).kind(),
              StoreError::Kind::kInvalid)
        << bad;
  }
}

// DS-69
TEST_F(S3StoreTest, EtagsAreOpaqueAndSentInTheFormThatTheServerTakes) {
  for (const auto& [header, kept, quoted, bare] : std::vector<std::array<std::string, 4>>{
           {"\"0cc1\"", "0cc1", "\"0cc1\"", "0cc1"},
           {"\"0cc1-3\"", "0cc1-3", "\"0cc1-3\"", "0cc1-3"},
           {"\"0CC1\"", "0CC1", "\"0CC1\"", "0CC1"},
           {"unquoted", "unquoted", "\"unquoted\"", "unquoted"},
           {"W/\"0cc1\"", "W/\"0cc1\"", "W/\"0cc1\"", "W/\"0cc1\""}}) {
    http.requests.clear();
    serve = [&](const HttpRequest&) { return Answer(200, "", {{"etag", header}}); };
    const auto store = Open();
    const ETag etag = Put(*store, Condition::Absent()).etag;
    EXPECT_EQ(etag.value, kept);
    Put(*store, Condition::Matches(etag));
    EXPECT_EQ(HeaderOf(http.requests.back(), "If-Match"), quoted);
    store->Delete(world.context, "key", etag);
    EXPECT_EQ(HeaderOf(http.requests.back(), "If-Match"), quoted);
    Capabilities bare_form;
    bare_form.bare_etags = true;
    store->Adopt(bare_form);
    Put(*store, Condition::Matches(etag));
    EXPECT_EQ(HeaderOf(http.requests.back(), "If-Match"), bare);
    EXPECT_EQ(HeaderOf(http.requests.back(), "If-None-Match"), "<none>");
  }
}

TEST_F(S3StoreTest, WhatEachAnswerToAPutMeans) {
  struct Case {
    HttpResponse answer;
    bool replaces;
    std::optional<StoreError::Kind> kind;  // nothing: refused
  };
  using Kind = StoreError::Kind;
  const Case cases[] = {
      {ErrorAnswer(412, "PreconditionFailed"), false, std::nullopt},
      {ErrorAnswer(412, "PreconditionFailed"), true, std::nullopt},
      {ErrorAnswer(404, "NoSuchKey"), true, std::nullopt},
      {ErrorAnswer(404, "NoSuchKey"), false, Kind::kInvalid},
      {ErrorAnswer(404, "NoSuchBucket"), true, Kind::kNoBucket},
      {Answer(404, "<html>not found</html>"), true, Kind::kInvalid},
      {ErrorAnswer(403, "AccessDenied"), true, Kind::kDenied},
      {ErrorAnswer(409, "ConditionalRequestConflict"), true, Kind::kUnknownOutcome},  // DS-66
      {ErrorAnswer(409, "OperationAborted"), false, Kind::kUnknownOutcome},
      {ErrorAnswer(500, "InternalError"), true, Kind::kUnknownOutcome},
      {ErrorAnswer(500, "UnknownError"), true, Kind::kUnknownOutcome},
      {ErrorAnswer(503, "ServiceUnavailable"), true, Kind::kUnknownOutcome},
      {Answer(502, "<html>"), true, Kind::kUnknownOutcome},
      {ErrorAnswer(503, "SlowDown"), true, Kind::kThrottled},
      {Answer(429), true, Kind::kThrottled},
      {ErrorAnswer(400, "RequestTimeout"), true, Kind::kUnknownOutcome},
      {ErrorAnswer(400, "XAmzContentSHA256Mismatch"), true, Kind::kInvalid},
      {ErrorAnswer(501, "NotImplemented"), true, Kind::kInvalid},
      {Answer(200), true, Kind::kUnknownOutcome},  // without an ETag
  };
  const auto store = Open();
  for (const Case& test : cases) {
    serve = [&](const HttpRequest&) { return test.answer; };
    const Condition condition = test.replaces ? Condition::Matches({"base"}) : Condition::Absent();
    if (test.kind) {
      EXPECT_EQ(Thrown([&] { Put(*store, condition); }).kind(), *test.kind) << test.answer.body;
    } else {
      EXPECT_FALSE(Put(*store, condition).stored()) << test.answer.body;
    }
  }
}

// DS-43
TEST_F(S3StoreTest, DeniedIsNeverAbsent) {
  serve = [](const HttpRequest& request) {
    return request.method == "HEAD" ? Answer(403) : ErrorAnswer(403, "AccessDenied");
  };
  const auto store = Open();
  StringSink sink;
  for (const auto& work : std::vector<std::function<void()>>{
           [&] { store->Get(world.context, "key", {}, sink); },
           [&] { store->Head(world.context, "key"); },
           [&] { store->Delete(world.context, "key", {"e"}); },
           [&] { Put(*store, Condition::Absent()); }, [&] { store->List(world.context, {}); }}) {
    const StoreError error = Thrown(work);
    EXPECT_EQ(error.kind(), StoreError::Kind::kDenied);
    EXPECT_EQ(error.code(), "store_access_denied");
    EXPECT_THAT(error.message(), HasSubstr("403 AccessDenied"));
  }
}

TEST_F(S3StoreTest, OnlyNoSuchKeyIsAbsent) {
  HttpResponse answer;
  serve = [&](const HttpRequest& request) {
    return request.method == "HEAD" ? Answer(404) : answer;
  };
  const auto store = Open();
  StringSink sink;
  answer = ErrorAnswer(404, "NoSuchKey");
  EXPECT_EQ(store->Get(world.context, "key", {}, sink).outcome, GetResult::Outcome::kAbsent);
  EXPECT_FALSE(store->Head(world.context, "key").has_value());
  EXPECT_EQ(store->Delete(world.context, "key", {"e"}), DeleteOutcome::kAbsent);
  for (const auto& [other, kind] : std::vector<std::pair<HttpResponse, StoreError::Kind>>{
           {ErrorAnswer(404, "NoSuchBucket"), StoreError::Kind::kNoBucket},
           {Answer(404, "<html><h1>404</h1></html>"), StoreError::Kind::kInvalid},
           {Answer(404), StoreError::Kind::kInvalid},
           {ErrorAnswer(503, "InternalError"), StoreError::Kind::kUnknownOutcome}}) {
    answer = other;
    EXPECT_EQ(Thrown([&] { store->Get(world.context, "key", {}, sink); }).kind(), kind)
        << other.body;
    EXPECT_EQ(Thrown([&] { store->Head(world.context, "key"); }).kind(), kind) << other.body;
    EXPECT_EQ(Thrown([&] { store->Delete(world.context, "key", {"e"}); }).kind(), kind)
        << other.body;
  }
}

TEST_F(S3StoreTest, HeadSeesAnObjectThatComesBetweenItsTwoRequests) {
  int requests = 0;
  serve = [&](const HttpRequest& request) {
    ++requests;
    if (requests == 1) return Answer(404);
    if (request.method == "GET") return Answer(416, "<Error><Code>InvalidRange</Code></Error>");
    return HttpResponse{200, {{"etag", "\"e\""}, {"content-length", "0"}}, ""};
  };
  EXPECT_EQ(Open()->Head(world.context, "key")->info.etag.value, "e");
}

TEST_F(S3StoreTest, GetChecksTheLengthAndTakesA304WithoutEtag) {
  const auto store = Open();
  GetOptions options;
  options.unless = ETag{"abc"};
  StringSink sink;
  serve = [](const HttpRequest& request) {
    EXPECT_EQ(HeaderOf(request, "If-None-Match"), "\"abc\"");
    return Answer(304);
  };
  EXPECT_EQ(store->Get(world.context, "key", options, sink).outcome,
            GetResult::Outcome::kUnchanged);
  serve = [](const HttpRequest&) {
    return HttpResponse{200, {{"etag", "\"e\""}, {"content-length", "5"}}, "four"};
  };
  EXPECT_EQ(Thrown([&] { store->Get(world.context, "key", {}, sink); }).kind(),
            StoreError::Kind::kInvalid);
  serve = [](const HttpRequest&) { return HttpResponse{200, {{"etag", "\"e\""}}, "four"}; };
  EXPECT_EQ(Thrown([&] { store->Get(world.context, "key", {}, sink); }).kind(),
            StoreError::Kind::kInvalid);
  serve = [](const HttpRequest&) {
    return HttpResponse{200, {{"etag", "\"e\""}, {"transfer-encoding", "chunked"}}, "four"};
  };
  EXPECT_EQ(store->Get(world.context, "key", {}, sink).state.info.size, 4U);
  serve = [](const HttpRequest&) { return Answer(206, "four", {{"etag", "\"e\""}}); };
  EXPECT_EQ(Thrown([&] { store->Get(world.context, "key", {}, sink); }).kind(),
            StoreError::Kind::kInvalid);
}

TEST_F(S3StoreTest, DeleteLooksFirstWhereItCannotBeConditional) {
  serve = [](const HttpRequest& request) {
    if (request.method == "DELETE") return Answer(204);
    return HttpResponse{200, {{"etag", "\"there\""}, {"content-length", "1"}}, ""};
  };
  const auto store = Open();
  Capabilities capabilities;
  capabilities.conditional_delete = false;
  store->Adopt(capabilities);
  EXPECT_EQ(store->Delete(world.context, "key", {"other"}), DeleteOutcome::kRefused);
  EXPECT_THAT(Lines(), ElementsAre("HEAD /team/a/key"));
  EXPECT_EQ(store->Delete(world.context, "key", {"there"}), DeleteOutcome::kDeleted);
  EXPECT_EQ(HeaderOf(http.requests.back(), "If-Match"), "<none>");
}

TEST_F(S3StoreTest, AnUnsafeStoreIsLookedAtBeforeAWriteWithoutCondition) {
  serve = [](const HttpRequest& request) {
    if (request.method == "PUT") return Answer(200, "", {{"etag", "\"new\""}});
    return HttpResponse{200, {{"etag", "\"there\""}, {"content-length", "1"}}, ""};
  };
  const auto store = Open();
  Capabilities capabilities;
  capabilities.conditional_create = false;
  capabilities.conditional_replace = false;
  store->Adopt(capabilities);
  EXPECT_FALSE(Put(*store, Condition::Absent()).stored());
  EXPECT_FALSE(Put(*store, Condition::Matches({"other"})).stored());
  EXPECT_TRUE(Put(*store, Condition::Matches({"there"})).stored());
  EXPECT_THAT(Lines(), ElementsAre("HEAD /team/a/key", "HEAD /team/a/key", "HEAD /team/a/key",
                                   "PUT /team/a/key"));
  EXPECT_EQ(HeaderOf(http.requests.back(), "If-Match"), "<none>");
}

TEST_F(S3StoreTest, ASkewedClockIsLearntOnceAndThenKnown) {
  world.clock.SetNow(*ParseHttpDate(kDate) - std::chrono::hours(2));
  std::vector<std::string> dates;
  serve = [&](const HttpRequest& request) {
    dates.push_back(HeaderOf(request, "x-amz-date"));
    if (!dates.back().starts_with("20261201T152901"))
      return ErrorAnswer(403, "RequestTimeTooSkewed");
    return Answer(200, "", {{"etag", "\"e\""}});
  };
  const auto store = Open();
  EXPECT_TRUE(Put(*store, Condition::Absent()).stored());
  EXPECT_TRUE(Put(*store, Condition::Absent()).stored());
  EXPECT_THAT(dates, ElementsAre("20261201T132901Z", "20261201T152901Z", "20261201T152901Z"));
}

TEST_F(S3StoreTest, ASkewThatCannotBeMendedIsSaidAfterOneTry) {
  serve = [](const HttpRequest&) { return ErrorAnswer(403, "RequestTimeTooSkewed"); };
  const StoreError error = Thrown([&] { Put(*Open(), Condition::Absent()); });
  EXPECT_THAT(error.hint(), HasSubstr("clock"));
  EXPECT_EQ(http.requests.size(), 2U);
}

TEST_F(S3StoreTest, ExpiredCredentialsAreAskedForAgainOnce) {
  for (const int status : {400, 403}) {
    http.requests.clear();
    forgotten = 0;
    serve = [&](const HttpRequest& request) {
      const bool fresh =
          HeaderOf(request, "Authorization").find("Credential=KEY1/") != std::string::npos;
      return fresh ? Answer(200, "", {{"etag", "\"e\""}}) : ErrorAnswer(status, "ExpiredToken");
    };
    EXPECT_TRUE(Put(*Open(), Condition::Absent()).stored());
    EXPECT_EQ(http.requests.size(), 2U);
    serve = [&](const HttpRequest&) { return ErrorAnswer(status, "ExpiredToken"); };
    const StoreError error = Thrown([&] { Put(*Open(), Condition::Absent()); });
    EXPECT_EQ(error.kind(), StoreError::Kind::kDenied);
    EXPECT_THAT(error.hint(), HasSubstr("session has expired"));
    EXPECT_EQ(http.requests.size(), 4U);
  }
}

// DS-71
TEST_F(S3StoreTest, ErrorsSayInOneLineWhatHappenedAndWhatToDo) {
  struct Case {
    HttpResponse answer;
    const char* message;  // its end
    const char* hint;
    const char* code;
  };
  const Case cases[] = {
      {ErrorAnswer(403, "AccessDenied"), ": 403 AccessDenied (request REQ1)", "s3:PutObject",
       "store_access_denied"},
      {ErrorAnswer(403, "InvalidAccessKeyId"), ": 403 InvalidAccessKeyId (request REQ1)",
       "rejects the credentials", "store_access_denied"},
      {ErrorAnswer(403, "SignatureDoesNotMatch"), ": 403 SignatureDoesNotMatch (request REQ1)",
       "rejects the credentials", "store_access_denied"},
      {ErrorAnswer(404, "NoSuchBucket"), ": 404 NoSuchBucket (request REQ1)",
       "Create the bucket \"bucket\"", "store_no_bucket"},
      {ErrorAnswer(301, "PermanentRedirect", {{"x-amz-bucket-region", "ap-south-1"}}),
       ": 301 PermanentRedirect (request REQ1)", "ap-south-1", "store_error"},
      {Answer(307, "", {{"location", "http://evil.example/"}}), ": 307",
       "Set `region` or `endpoint`", "store_error"},
      {Answer(400,
              "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-north-1</"
              "Region><RequestId>R</RequestId></Error>"),
       ": 400 AuthorizationHeaderMalformed (request R)", "eu-north-1", "store_error"},
      {ErrorAnswer(503, "SlowDown", {{"x-amz-request-id", "HDR"}}), ": 503 SlowDown (request HDR)",
       "pushConcurrency", "store_unreachable"},
      {Answer(502, "<html>Bad\nGateway</html>"), ": 502 with an answer that is not S3's",
       "Try again", "store_unreachable"},
      {Answer(500), ": 500", "Try again", "store_unreachable"},
      {ErrorAnswer(400, "EntityTooLarge"),
       ": 400 EntityTooLarge: words of the server (request REQ1)", "", "store_error"},
  };
  const auto store = Open();
  for (const Case& test : cases) {
    serve = [&](const HttpRequest&) { return test.answer; };
    const StoreError error = Thrown([&] { Put(*store, Condition::Absent()); });
    EXPECT_EQ(error.message(),
              std::string("cannot write \"key\" in s3://bucket/team/a at https://s3.example.com") +
                  test.message);
    EXPECT_THAT(error.hint(), HasSubstr(test.hint));
    EXPECT_EQ(error.code(), test.code);
    EXPECT_THAT(error.message() + error.hint(), Not(HasSubstr(kSecret)));
    EXPECT_THAT(error.message() + error.hint(), Not(HasSubstr(kToken)));
  }
  EXPECT_EQ(http.requests.size(), std::size(cases));  // no redirect was followed
}

// DS-71, DS-73
TEST_F(S3StoreTest, TheLackOfAnAnswerIsSaidToo) {
  struct Case {
    HttpFailure::Kind failure;
    StoreError::Kind kind;
    const char* hint;
  };
  const Case cases[] = {
      {HttpFailure::Kind::kBadUrl, StoreError::Kind::kInvalid, "endpoint"},
      {HttpFailure::Kind::kNameNotFound, StoreError::Kind::kUnreachable, "endpoint"},
      {HttpFailure::Kind::kNotConnected, StoreError::Kind::kUnreachable, "HTTPS_PROXY"},
      {HttpFailure::Kind::kTls, StoreError::Kind::kUnreachable, "SSL_CERT_FILE"},
      {HttpFailure::Kind::kTimeout, StoreError::Kind::kUnknownOutcome, "requestTimeoutMs"},
      {HttpFailure::Kind::kBroken, StoreError::Kind::kUnknownOutcome, "network"},
  };
  for (const Case& test : cases) {
    serve = [&](const HttpRequest&) -> HttpResponse {
      throw HttpFailure(test.failure, "what curl says");
    };
    const StoreError error = Thrown([&] { Put(*Open(), Condition::Absent()); });
    EXPECT_EQ(error.kind(), test.kind);
    EXPECT_THAT(error.hint(), HasSubstr(test.hint));
    EXPECT_EQ(
        error.message(),
        "cannot write \"key\" in s3://bucket/team/a at https://s3.example.com: what curl says");
  }
}

TEST_F(S3StoreTest, AKeyThatIsTooLongWithItsPrefixIsNotSent) {
  const std::string key = std::string(255, 'a') + "/" + std::string(255, 'b') + "/" +
                          std::string(255, 'c') + "/" + std::string(250, 'd');
  ASSERT_LE(key.size(), 1024U);
  EXPECT_EQ(Thrown([&] { Open()->Head(world.context, key); }).kind(), StoreError::Kind::kInvalid);
  EXPECT_TRUE(http.requests.empty());
}

// A server of multipart uploads; `complete` is its answer to the completion.
class S3StoreMultipart : public S3StoreTest {
 protected:
  S3StoreMultipart() {
    serve = [this](const HttpRequest& request) {
      if (request.method == "POST" && request.url.find("uploads=") != std::string::npos) {
        return Answer(200,
                      "<InitiateMultipartUploadResult><UploadId>up/1</UploadId></"
                      "InitiateMultipartUploadResult>");
      }
      if (request.method == "POST") return complete;
      if (request.method == "DELETE") return Answer(204);
      if (request.method == "PUT") {
        if (fail_part != 0 &&
            request.url.find(fmt::format("partNumber={}&", fail_part)) != std::string::npos) {
          return ErrorAnswer(500, "InternalError");
        }
        return Answer(200, "", {{"etag", "\"" + Md5Hex(request.body) + "\""}});
      }
      return head;
    };
  }
  static S3Limits SmallLimits() {
    S3Limits limits;
    limits.single_put = 10;
    limits.part = 4;
    return limits;
  }

  HttpResponse complete = Answer(
      200,
      "<CompleteMultipartUploadResult><ETag>\"whole-3\"</ETag></CompleteMultipartUploadResult>");
  HttpResponse head = Answer(404);
  int fail_part = 0;
};

TEST_F(S3StoreMultipart, StartsFillsAndCompletesUnderTheCondition) {
  PutOptions options;
  options.writer = "ann";
  const PutResult result =
      Put(*Open(SmallLimits()), Condition::Matches({"base"}), "0123456789x", options);
  EXPECT_TRUE(result.stored());
  EXPECT_EQ(result.etag.value, "whole-3");
  EXPECT_THAT(Lines(), ElementsAre("POST /team/a/key?uploads=",
                                   "PUT /team/a/key?partNumber=1&uploadId=up%2F1",
                                   "PUT /team/a/key?partNumber=2&uploadId=up%2F1",
                                   "PUT /team/a/key?partNumber=3&uploadId=up%2F1",
                                   "POST /team/a/key?uploadId=up%2F1"));
  EXPECT_EQ(http.requests[1].body + http.requests[2].body + http.requests[3].body, "0123456789x");
  EXPECT_EQ(HeaderOf(http.requests[0], "x-amz-meta-swamp-writer"), "ann");
  EXPECT_EQ(HeaderOf(http.requests[0], "If-Match"), "<none>");
  EXPECT_EQ(HeaderOf(http.requests[4], "If-Match"), "\"base\"");
  EXPECT_EQ(HeaderOf(http.requests[4], "x-amz-content-sha256"), Sha256Hex(http.requests[4].body));
  EXPECT_THAT(http.requests[4].body,
              HasSubstr(fmt::format("<Part><PartNumber>3</PartNumber><ETag>\"{}\"</ETag></Part>",
                                    Md5Hex("89x"))));
}

TEST_F(S3StoreMultipart, AbortsWhateverGoesWrong) {
  const auto aborted = [&] { return Lines().back() == "DELETE /team/a/key?uploadId=up%2F1"; };
  const auto store = Open(SmallLimits());
  fail_part = 2;
  EXPECT_EQ(Thrown([&] { Put(*store, Condition::Absent(), "0123456789x"); }).kind(),
            StoreError::Kind::kUnknownOutcome);
  EXPECT_TRUE(aborted());
  fail_part = 0;
  complete = ErrorAnswer(412, "PreconditionFailed");
  EXPECT_FALSE(Put(*store, Condition::Absent(), "0123456789x").stored());
  EXPECT_TRUE(aborted());
  // An error in the body of a 200.
  complete = ErrorAnswer(200, "InternalError");
  EXPECT_EQ(Thrown([&] { Put(*store, Condition::Absent(), "0123456789x"); }).kind(),
            StoreError::Kind::kUnknownOutcome);
  EXPECT_TRUE(aborted());
}

TEST_F(S3StoreMultipart, IsRefusedWhereItWouldNotBeConditional) {
  const auto store = Open(SmallLimits());
  Capabilities capabilities;
  capabilities.conditional_multipart = false;
  store->Adopt(capabilities);
  EXPECT_EQ(Thrown([&] { Put(*store, Condition::Absent(), "0123456789x"); }).kind(),
            StoreError::Kind::kInvalid);
  EXPECT_TRUE(http.requests.empty());
  EXPECT_EQ(Lines().size(), 0U);
}

TEST_F(S3StoreMultipart, BelowAClaimedNameItLooksFirst) {
  const auto store = Open(SmallLimits());
  Capabilities capabilities;
  capabilities.conditional_multipart = false;
  store->Adopt(capabilities);
  PutOptions claimed;
  claimed.name_is_claimed = true;
  head = HttpResponse{200, {{"etag", "\"there\""}, {"content-length", "1"}}, ""};
  EXPECT_FALSE(Put(*store, Condition::Absent(), "0123456789x", claimed).stored());
  EXPECT_TRUE(Put(*store, Condition::Matches({"there"}), "0123456789x", claimed).stored());
  EXPECT_EQ(HeaderOf(http.requests.back(), "If-Match"), "<none>");
}

TEST_F(S3StoreMultipart, AFileThatChangesMeanwhileIsNotCompleted) {
  const TemporaryFolder folder;
  WriteFileAtomically(world.files, folder.path() / "f", "0123456789x");
  const Body body =
      Body::FromFile(world.files.Open(folder.path() / "f"), Sha256Hex("what it was before"));
  const StoreError error = Thrown(
      [&] { Open(SmallLimits())->Put(world.context, "key", body, Condition::Absent(), {}); });
  EXPECT_THAT(error.message(), HasSubstr("changed while it was being sent"));
  EXPECT_EQ(LineOf(http.requests.back()), "DELETE /team/a/key?uploadId=up%2F1");
}

TEST_F(S3StoreMultipart, AnEtagThatTheAnswerLacksIsConfirmed) {
  complete =
      Answer(200, "<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>");
  std::string digests;
  for (const char* hex : {"eb62f6b9306db575c2d596b1279627a4", "6562c5c1f33db6e05a082a88cddab5ea"}) {
    for (std::size_t i = 0; i < 32; i += 2)
      digests += static_cast<char>(std::stoi(std::string(hex + i, 2), nullptr, 16));
  }
  ASSERT_EQ(Md5Hex("0123"), "eb62f6b9306db575c2d596b1279627a4");
  const std::string etag = Md5Hex(digests) + "-2";
  head = HttpResponse{200, {{"etag", "\"" + etag + "\""}, {"content-length", "8"}}, ""};
  PutOptions in_parts;
  in_parts.in_parts = true;
  const auto store = Open(SmallLimits());
  ASSERT_EQ(Md5Hex("4567"), "6562c5c1f33db6e05a082a88cddab5ea");
  EXPECT_EQ(Put(*store, Condition::Absent(), "01234567", in_parts).etag.value, etag);
  head = HttpResponse{200, {{"etag", "\"somebody else's\""}, {"content-length", "8"}}, ""};
  EXPECT_EQ(Thrown([&] { Put(*store, Condition::Absent(), "01234567", in_parts); }).kind(),
            StoreError::Kind::kUnknownOutcome);
}

// DS-04, over the whole stack: the connection breaks after the server has stored the object.
TEST_F(S3StoreTest, AResolvedPutWhoseAnswerWasLostIsStored) {
  std::string stored;
  serve = [&](const HttpRequest& request) -> HttpResponse {
    if (request.method == "PUT") {
      stored = request.body;
      throw HttpFailure(HttpFailure::Kind::kBroken, "broken");
    }
    return {
        200,
        {{"etag", "\"" + Md5Hex(stored) + "\""}, {"content-length", std::to_string(stored.size())}},
        ""};
  };
  ResolvingStore store(Open());
  const PutResult result = Put(store, Condition::Absent());
  EXPECT_TRUE(result.stored());
  EXPECT_EQ(result.etag.value, Md5Hex("bytes"));
  EXPECT_THAT(Lines(), ElementsAre("PUT /team/a/key", "HEAD /team/a/key"));
}

}  // namespace
}  // namespace swamp

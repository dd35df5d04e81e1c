#include "extension/http_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"
#include "util/digest.h"

namespace swamp {
namespace {

using ::testing::AllOf;
using testing::CodeOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::MessageOf;
using ::testing::Not;
using testing::ScriptedHttp;
using ::testing::SizeIs;
using testing::TempWorld;

const std::string kApi = "GET https://club.example/api/v1/extensions/";
const std::string kX = kApi + "%40c%2Fx";
const std::string kDownload = kX + "@2026.01.01.1/download";

class HttpRegistryTest : public ::testing::Test {
 protected:
  std::string Download(Channel channel = Channel::kStable) {
    return registry_.Download(world_.context(), name_, version_, channel, world_.root / "a.tar.gz");
  }

  TempWorld world_;
  ScriptedHttp http_;
  ExtensionName name_ = *ExtensionName::Parse("@c/x");
  Version version_ = *Version::Parse("2026.01.01.1");
  HttpRegistry registry_{http_, {"https://club.example/", "secret", "swamp/1"}};
};

TEST_F(HttpRegistryTest, EX19_SendsNamesAndQueriesPercentEncoded) {
  http_.On(kX, 200, R"({"name":"@c/x","latestVersion":"2026.01.01.1"})");
  EXPECT_EQ((*registry_.Info(world_.context(), name_))["name"], "@c/x");
  http_.On(
      kApi +
          "search?q=a%26b%3Dc%20%23&collective=c&label=one&label=two&channel=beta&perPage=5&page=2",
      200, R"({"extensions":[],"meta":{"total":0,"page":2,"perPage":5}})");
  SearchQuery query;
  query.text = "a&b=c #";
  query.collective = "c";
  query.labels = {"one", "two"};
  query.channels = {"beta"};
  query.per_page = 5;
  query.page = 2;
  EXPECT_EQ(registry_.Search(world_.context(), query)["meta"]["page"], 2);
}

TEST_F(HttpRegistryTest, SaysWhenThereIsNoSuchThing) {
  EXPECT_FALSE(registry_.Info(world_.context(), name_));
  EXPECT_FALSE(registry_.Versions(world_.context(), name_));
  EXPECT_FALSE(registry_.Checksum(world_.context(), name_, version_, Channel::kStable));
  EXPECT_FALSE(registry_.Latest(world_.context(), name_, Channel::kStable));
  http_.On(kX + "/latest?channel=beta", 410, R"({"error":"gone"})");
  EXPECT_FALSE(registry_.Latest(world_.context(), name_, Channel::kBeta));
}

TEST_F(HttpRegistryTest, ReadsAllPagesOfVersions) {
  http_.On(
      kX + "/versions", 200,
      R"({"versions":[{"version":"2026.01.01.2","channel":"beta","publishedAt":"t"},{"version":"odd"}],)"
      R"("meta":{"total":3,"page":1,"perPage":2}})");
  http_.On(
      kX + "/versions?page=2", 200,
      R"({"versions":[{"version":"2026.01.01.1","yankedAt":"t"}],"meta":{"total":3,"page":2,"perPage":2}})");
  const auto versions = registry_.Versions(world_.context(), name_);
  ASSERT_THAT(*versions, SizeIs(2));
  EXPECT_EQ((*versions)[0].channel, Channel::kBeta);
  EXPECT_FALSE((*versions)[0].withdrawn);
  EXPECT_TRUE((*versions)[1].withdrawn);
}

TEST_F(HttpRegistryTest, EndsWhenARegistryCountsMoreVersionsThanItShows) {
  http_.On(kX + "/versions", 200,
           R"({"versions":[{"version":"2026.01.01.1"}],"meta":{"total":99}})");
  http_.On(kX + "/versions?page=2", 200, R"({"versions":[],"meta":{"total":99}})");
  EXPECT_THAT(*registry_.Versions(world_.context(), name_), SizeIs(1));
}

TEST_F(HttpRegistryTest, EX24_SendsTheKeyOnAllItsRequestsAndToNoOtherHost) {
  http_.On(kX, 200, "{}");
  http_.On(kX + "/latest", 200, "{}");
  http_.On(kX + "/versions", 200, R"({"versions":[]})");
  http_.On(kX + "@2026.01.01.1/checksum", 200, R"({"checksum":"AB"})");
  http_.On(kApi + "search?q=&perPage=20&page=1", 200, R"({"extensions":[]})");
  http_.On(kDownload, 302, "", {{"location", "https://bucket.example/k?X-Amz-Signature=1"}});
  http_.On("GET https://bucket.example/k?X-Amz-Signature=1", 200, "bytes");
  registry_.Info(world_.context(), name_);
  registry_.Latest(world_.context(), name_, Channel::kStable);
  registry_.Versions(world_.context(), name_);
  EXPECT_EQ(registry_.Checksum(world_.context(), name_, version_, Channel::kStable), "ab");
  registry_.Search(world_.context(), {});
  EXPECT_EQ(Download(), Sha256Hex("bytes"));
  EXPECT_EQ(world_.Read("a.tar.gz"), "bytes");
  ASSERT_THAT(http_.seen, SizeIs(7));
  for (const ScriptedHttp::Seen& seen : http_.seen) {
    const bool own = seen.request.starts_with("GET https://club.example/");
    EXPECT_EQ(seen.api_key, own ? "secret" : "none") << seen.request;
  }
}

TEST_F(HttpRegistryTest, EX24_TakesAnotherPortForAnotherHost) {
  http_.On(kDownload, 302, "", {{"location", "https://club.example:8443/a"}});
  http_.On("GET https://club.example:8443/a", 302, "", {{"location", "https://club.example/b"}});
  http_.On("GET https://club.example/b", 200, "bytes");
  Download();
  EXPECT_EQ(http_.seen[1].api_key, "none");
  EXPECT_EQ(http_.seen[2].api_key, "secret");
}

TEST_F(HttpRegistryTest, EX24_FollowsAtMostFiveRedirectsAndOnlyToHttps) {
  http_.On(kDownload, 302, "", {{"location", "/again"}});
  http_.On("GET https://club.example/again", 302, "", {{"location", "/again"}});
  EXPECT_EQ(CodeOf([&] { Download(); }), "registry_answer_invalid");
  EXPECT_THAT(http_.seen, SizeIs(6));
  EXPECT_FALSE(world_.Exists("a.tar.gz"));
  for (const char* location : {"http://club.example/a", "file:///etc/passwd", "gopher://x"}) {
    ScriptedHttp http;
    http.On(kDownload, 302, "", {{"location", location}});
    HttpRegistry registry(http, {"https://club.example", "secret", ""});
    EXPECT_EQ(CodeOf([&] {
                registry.Download(world_.context(), name_, version_, Channel::kStable,
                                  world_.root / "a.tar.gz");
              }),
              "registry_answer_invalid")
        << location;
    EXPECT_THAT(http.seen, SizeIs(1));
  }
}

TEST_F(HttpRegistryTest, EX25_TellsAWithdrawnVersionFromAnUnknownOne) {
  EXPECT_EQ(CodeOf([&] { Download(); }), "version_not_found");
  http_.On(kDownload + "?channel=rc", 410, R"({"error":"yanked"})");
  EXPECT_THAT(MessageOf([&] { Download(Channel::kRc); }), HasSubstr("swamp extension update @c/x"));
  EXPECT_EQ(CodeOf([&] { Download(Channel::kRc); }), "version_withdrawn");
}

struct StatusCase {
  int status;
  const char* body;
  const char* code;
  const char* part;
};

TEST_F(HttpRegistryTest, GivesEachFailureItsCodeAndTheRegistrysWords) {
  for (const StatusCase& test :
       {StatusCase{401, R"({"error":"no key"})", "not_authenticated", "no key"},
        {403, R"({"message":"scope read"})", "missing_scope", "scope read"},
        {429, "{}", "rate_limited", "Try again in 30 s."},
        {400, R"({"error":"bad\u001b[2J"})", "registry_refused", "bad\\x1b[2J"},
        {500, R"({"error":"oops"})", "registry_unavailable", "oops"},
        {502, "<html>secret page</html>", "registry_unavailable", "a web page"},
        {404, "<!doctype html>x", "registry_unavailable", "a web page"},
        {200, "<html>portal</html>", "registry_unavailable", "a web page"},
        {200, "{", "registry_answer_invalid", "is not valid JSON"},
        {200, "[]", "registry_answer_invalid", "not a JSON object"}}) {
    ScriptedHttp http;
    http.On(kX, test.status, test.body, {{"retry-after", "30"}});
    HttpRegistry registry(http, {"https://club.example", "", ""});
    EXPECT_EQ(CodeOf([&] { registry.Info(world_.context(), name_); }), test.code) << test.body;
    EXPECT_THAT(
        MessageOf([&] { registry.Info(world_.context(), name_); }),
        AllOf(HasSubstr(test.part), Not(HasSubstr("secret page")), Not(HasSubstr("portal"))));
  }
}

TEST_F(HttpRegistryTest, NamesItsOwnTimeLimitAndLeavesTheCallersAlone) {
  const auto slow = [&](const Context& context, const HttpRequest&) -> HttpResponse {
    world_.clock.Sleep(context, Duration(1'000'000));
    return {};
  };
  http_.On(kX, slow);
  http_.On(kDownload, slow);
  EXPECT_THAT(MessageOf([&] { registry_.Info(world_.context(), name_); }),
              HasSubstr("within 15 s"));
  EXPECT_THAT(MessageOf([&] { Download(); }), HasSubstr("within 2 min"));
  EXPECT_THROW(registry_.Info(world_.context().WithTimeout(Duration(1000)), name_),
               DeadlineExceeded);
}

TEST_F(HttpRegistryTest, TurnsFailuresOfTheConnectionIntoItsOwn) {
  http_.On(kX, [](const Context&, const HttpRequest&) -> HttpResponse {
    throw HttpFailure(HttpFailure::Kind::kNotConnected, "connection refused");
  });
  EXPECT_THAT(MessageOf([&] { registry_.Info(world_.context(), name_); }),
              HasSubstr("https://club.example can't be reached: connection refused"));
  http_.On(kX + "/latest", [](const Context&, const HttpRequest& request) -> HttpResponse {
    EXPECT_EQ(request.body_limit, kMaxAnswerBytes);
    throw HttpFailure(HttpFailure::Kind::kTooLarge, "too large");
  });
  EXPECT_EQ(CodeOf([&] { registry_.Latest(world_.context(), name_, Channel::kStable); }),
            "registry_answer_invalid");
}

TEST_F(HttpRegistryTest, PublishesInThreeSteps) {
  world_.Write("p.tar.gz", "archive");
  http_.On("POST https://club.example/api/v1/extensions/push", 200,
           R"({"uploadUrl":"https://bucket.example/put?sig=1","s3Key":"k","extensionId":"id"})");
  http_.On("PUT https://bucket.example/put?sig=1", 200);
  http_.On("POST https://club.example/api/v1/extensions/confirm", 200, R"({"message":"ok"})");
  const Manifest manifest = ParseManifest(
      "manifestVersion: 1\nname: '@c/x'\nversion: 2026.01.01.1\nmodels: [a.ts]\nlabels: [l]\n",
      "manifest.yaml");
  const Publication publication{manifest, Channel::kBeta, world_.root / "p.tar.gz", "abc", 7};
  registry_.Publish(world_.context(), publication);
  ASSERT_THAT(http_.seen, SizeIs(3));
  EXPECT_EQ(http_.seen[1].body, "archive");
  EXPECT_EQ(http_.seen[1].api_key, "none");
  EXPECT_EQ(Json::parse(http_.seen[2].body)["s3Key"], "k");
  EXPECT_EQ(Json::parse(http_.seen[2].body)["checksum"], "abc");

  http_.On("POST https://club.example/api/v1/extensions/push", 409,
           R"({"error":"2026.01.01.1 is there"})");
  registry_.Publish(world_.context(), publication);
  EXPECT_EQ(CodeOf([&] { registry_.Publish(world_.context(), publication); }), "version_exists");
}

TEST(HttpRegistryUrl, MustBeAPlainAddress) {
  ScriptedHttp http;
  for (const char* url : {"", "club.example", "ftp://x", "https://u:p@x", "https://x?y=1"}) {
    EXPECT_EQ(CodeOf([&] { HttpRegistry(http, {url, "", ""}); }), "registry_url_invalid") << url;
  }
  EXPECT_EQ(HttpRegistry(http, {"https://x/base//", "", ""}).url(), "https://x/base");
}

}  // namespace
}  // namespace swamp

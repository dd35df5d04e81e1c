#include "objectstore/s3_config.h"

#include <gmock/gmock.h>

#include "util/error.h"

namespace swamp {
namespace {

using testing::HasSubstr;

UserError ErrorOf(const char* json) {
  try {
    ParseS3Config(ParseJson(json, "a test"));
  } catch (const UserError& error) {
    return error;
  }
  ADD_FAILURE() << json << " was accepted";
  return {"", ""};
}

TEST(S3Config, ReadsEveryKey) {
  const S3Config config = ParseS3Config(ParseJson(R"({
    "bucket": "my.bucket-1", "prefix": "/team/a/", "region": "eu-west-1", "endpoint": "https://s3.example.com:9000",
    "forcePathStyle": true, "pullConcurrency": 1000, "pushConcurrency": 1, "requestTimeoutMs": 600000})",
                                                  "a test"));
  EXPECT_EQ(config.bucket, "my.bucket-1");
  EXPECT_EQ(config.prefix, "team/a");
  EXPECT_EQ(config.region, "eu-west-1");
  EXPECT_EQ(config.endpoint, "https://s3.example.com:9000");
  EXPECT_TRUE(config.force_path_style);
  EXPECT_EQ(config.pull_concurrency, 1000);
  EXPECT_EQ(config.push_concurrency, 1);
  EXPECT_EQ(config.request_timeout, Duration(600'000));
}

TEST(S3Config, HasDefaults) {
  const S3Config config = ParseS3Config(ParseJson(R"({"bucket": "abc"})", "a test"));
  EXPECT_EQ(config.prefix, "");
  EXPECT_FALSE(config.force_path_style);
  EXPECT_EQ(config.pull_concurrency, 50);
  EXPECT_EQ(config.push_concurrency, 25);
  EXPECT_EQ(config.request_timeout, std::nullopt);
}

TEST(S3Config, RefusesWhatCannotBeAndNamesTheKey) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "bucket"},
      {R"({"bucket": 5})", "bucket"},
      {R"({"bucket": "ab"})", "bucket"},
      {R"({"bucket": "Upper"})", "bucket"},
      {R"({"bucket": "-abc"})", "bucket"},
      {R"({"bucket": "abc."})", "bucket"},
      {R"({"bucket": "a..b"})", "bucket"},
      {R"({"bucket": "a/b"})", "bucket"},
      {R"({"bucket": "abc", "prefix": "a/../b"})", "prefix"},
      {R"({"bucket": "abc", "prefix": "a//b"})", "prefix"},
      {R"({"bucket": "abc", "region": "eu west"})", "region"},
      {R"({"bucket": "abc", "region": "evil.example/"})", "region"},
      {R"({"bucket": "abc", "endpoint": "s3.example.com"})", "endpoint"},
      {R"({"bucket": "abc", "endpoint": "ftp://s3.example.com"})", "endpoint"},
      {R"({"bucket": "abc", "endpoint": "https://"})", "endpoint"},
      {R"({"bucket": "abc", "endpoint": "file://host/folder"})", "endpoint"},
      {R"({"bucket": "abc", "endpoint": "https://a b"})", "endpoint"},
      {R"({"bucket": "abc", "endpoint": "https://host/?x"})", "endpoint"},
      {R"({"bucket": "abc", "forcePathStyle": "yes"})", "forcePathStyle"},
      {R"({"bucket": "abc", "pullConcurrency": 0})", "pullConcurrency"},
      {R"({"bucket": "abc", "pullConcurrency": 1001})", "pullConcurrency"},
      {R"({"bucket": "abc", "pushConcurrency": 2.5})", "pushConcurrency"},
      {R"({"bucket": "abc", "pushConcurrency": 99999999999999999999})", "pushConcurrency"},
      {R"({"bucket": "abc", "requestTimeoutMs": 999})", "requestTimeoutMs"},
      {R"({"bucket": "abc", "requestTimeoutMs": "1000"})", "requestTimeoutMs"},
      {R"({"bucket": "abc", "accessKeyId": "x"})", "accessKeyId"},
  };
  for (const auto& [json, key] : cases) {
    const UserError error = ErrorOf(json);
    EXPECT_EQ(error.code(), "datastore_config_invalid") << json;
    EXPECT_THAT(error.message(), HasSubstr("\"" + std::string(key) + "\"")) << json;
  }
  EXPECT_EQ(ErrorOf("[]").code(), "datastore_config_invalid");
}

TEST(S3Config, SuggestsTheKeyThatWasMeant) {
  EXPECT_EQ(ErrorOf(R"({"bucket": "abc", "forcepathstyle": true})").hint(),
            "Did you mean forcePathStyle?");
}

TEST(S3Config, NeverShowsAPasswordInAnEndpoint) {
  const UserError error = ErrorOf(R"({"bucket": "abc", "endpoint": "https://user:hunter2@host"})");
  EXPECT_THAT(error.message() + error.hint(), testing::Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace swamp

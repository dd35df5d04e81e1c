#include "objectstore/s3_endpoint.h"

#include <gtest/gtest.h>

namespace swamp {
namespace {

struct Case {
  const char* name;
  const char* endpoint;
  const char* bucket;
  const char* region;
  bool force_path_style;
  const char* host;
  const char* url;  // of the key "a b/c+d"
};

class S3EndpointOf : public testing::TestWithParam<Case> {};

TEST_P(S3EndpointOf, IsAsS3WantsIt) {
  S3Config config;
  config.endpoint = GetParam().endpoint;
  config.bucket = GetParam().bucket;
  config.force_path_style = GetParam().force_path_style;
  const S3Endpoint endpoint(config, GetParam().region);
  EXPECT_EQ(endpoint.host(), GetParam().host);
  EXPECT_EQ(endpoint.UrlOf(endpoint.PathOf("a b/c+d"), ""), GetParam().url);
}

INSTANTIATE_TEST_SUITE_P(
    Addresses, S3EndpointOf,
    testing::Values(Case{"Aws", "", "abc", "eu-west-1", false, "abc.s3.eu-west-1.amazonaws.com",
                         "https://abc.s3.eu-west-1.amazonaws.com/a%20b/c%2Bd"},
                    Case{"AwsChina", "", "abc", "cn-north-1", false,
                         "abc.s3.cn-north-1.amazonaws.com.cn",
                         "https://abc.s3.cn-north-1.amazonaws.com.cn/a%20b/c%2Bd"},
                    Case{"AwsPathStyle", "", "abc", "us-east-1", true, "s3.us-east-1.amazonaws.com",
                         "https://s3.us-east-1.amazonaws.com/abc/a%20b/c%2Bd"},
                    Case{"DotsUnderTls", "", "a.b.c", "us-east-1", false,
                         "s3.us-east-1.amazonaws.com",
                         "https://s3.us-east-1.amazonaws.com/a.b.c/a%20b/c%2Bd"},
                    Case{"DotsInTheClear", "http://s3.example", "a.b.c", "x", false,
                         "a.b.c.s3.example", "http://a.b.c.s3.example/a%20b/c%2Bd"},
                    Case{"VirtualHost", "https://S3.Example.com/", "abc", "x", false,
                         "abc.s3.example.com", "https://abc.s3.example.com/a%20b/c%2Bd"},
                    Case{"Address", "http://127.0.0.1:9000", "abc", "x", false, "127.0.0.1:9000",
                         "http://127.0.0.1:9000/abc/a%20b/c%2Bd"},
                    Case{"AddressOfSix", "http://[::1]:9000", "abc", "x", false, "[::1]:9000",
                         "http://[::1]:9000/abc/a%20b/c%2Bd"},
                    Case{"Localhost", "https://localhost:9000", "abc", "x", false, "localhost:9000",
                         "https://localhost:9000/abc/a%20b/c%2Bd"},
                    Case{"OwnPort", "https://s3.example.com:443", "abc", "x", true,
                         "s3.example.com", "https://s3.example.com/abc/a%20b/c%2Bd"},
                    Case{"OtherPort", "http://s3.example.com:443", "abc", "x", true,
                         "s3.example.com:443", "http://s3.example.com:443/abc/a%20b/c%2Bd"},
                    Case{"BasePath", "https://gateway.example.com/s3/", "abc", "x", true,
                         "gateway.example.com", "https://gateway.example.com/s3/abc/a%20b/c%2Bd"}),
    [](const auto& test) { return test.param.name; });

TEST(S3Endpoint, TheBucketHasAPathOfItsOwn) {
  S3Config config;
  config.bucket = "abc";
  EXPECT_EQ(S3Endpoint(config, "x").PathOf(""), "/");
  config.force_path_style = true;
  const S3Endpoint endpoint(config, "x");
  EXPECT_EQ(endpoint.PathOf(""), "/abc");
  EXPECT_EQ(endpoint.UrlOf(endpoint.PathOf(""), "list-type=2"),
            "https://s3.x.amazonaws.com/abc?list-type=2");
}

}  // namespace
}  // namespace swamp

#include "objectstore/aws_signature.h"

#include <gtest/gtest.h>

#include "objectstore/aws_credentials.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string AuthorizationOf(const AwsRequest& request) { return request.headers.back().second; }

std::string SignatureOf(const AwsRequest& request) {
  const std::string authorization = AuthorizationOf(request);
  return authorization.substr(authorization.find("Signature=") + 10);
}

// AWS's "aws-sig-v4-test-suite"
// (docs.aws.amazon.com/general/latest/gr/signature-v4-test-suite.html, now in
// github.com/awslabs/aws-c-auth/tests/aws-signing-test-suite/v4): requests of a made-up service and
// their signatures.
struct SuiteCase {
  const char* name;
  const char* method;
  const char* path;
  std::vector<std::pair<std::string, std::string>> query;
  HttpHeaders headers;
  const char* session_token;
  const char* signature;
};

class AwsTestSuite : public testing::TestWithParam<SuiteCase> {};

TEST_P(AwsTestSuite, SignatureIsAsPublished) {
  const SuiteCase& test = GetParam();
  AwsRequest request;
  request.method = test.method;
  const std::string path = PercentEncode(test.path, "/");
  request.path = path;
  for (const auto& [name, value] : test.query) {
    request.query.emplace_back(PercentEncode(name), PercentEncode(value));
  }
  request.headers = test.headers;
  request.headers.emplace_back("Host", "example.amazonaws.com");
  request.payload_sha256 = kNothing;
  const AwsCredentials credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                                   test.session_token, std::nullopt};
  AwsSigner("us-east-1", "service").Sign(request, credentials, *ParseTime("2015-08-30T12:36:00Z"));
  EXPECT_EQ(SignatureOf(request), test.signature) << AuthorizationOf(request);
}

INSTANTIATE_TEST_SUITE_P(
    Published, AwsTestSuite,
    testing::Values(
        SuiteCase{"get_vanilla",
                  "GET",
                  "/",
                  {},
                  {},
                  "",
                  "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        SuiteCase{"post_vanilla",
                  "POST",
                  "/",
                  {},
                  {},
                  "",
                  "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        SuiteCase{"get_vanilla_query_order_key_case",
                  "GET",
                  "/",
                  {{"Param2", "value2"}, {"Param1", "value1"}},
                  {},
                  "",
                  "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        SuiteCase{"get_vanilla_utf8_query",
                  "GET",
                  "/",
                  {{"\xe1\x88\xb4", "bar"}},
                  {},
                  "",
                  "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
        SuiteCase{"get_utf8",
                  "GET",
                  "/\xe1\x88\xb4",
                  {},
                  {},
                  "",
                  "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
        SuiteCase{"get_space",
                  "GET",
                  "/example space/",
                  {},
                  {},
                  "",
                  "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
        SuiteCase{"get_unreserved",
                  "GET",
                  "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                  {},
                  {},
                  "",
                  "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
        SuiteCase{"get_header_key_duplicate",
                  "GET",
                  "/",
                  {},
                  {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
                  "",
                  "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
        SuiteCase{"get_header_value_order",
                  "GET",
                  "/",
                  {},
                  {{"My-Header1", "value4"},
                   {"My-Header1", "value1"},
                   {"My-Header1", "value3"},
                   {"My-Header1", "value2"}},
                  "",
                  "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
        SuiteCase{"get_header_value_trim",
                  "GET",
                  "/",
                  {},
                  {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
                  "",
                  "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
        SuiteCase{"post_header_key_sort",
                  "POST",
                  "/",
                  {},
                  {{"My-Header1", "value1"}},
                  "",
                  "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
        SuiteCase{"post_header_value_case",
                  "POST",
                  "/",
                  {},
                  {{"My-Header1", "VALUE1"}},
                  "",
                  "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
        SuiteCase{"get_vanilla_with_session_token",
                  "GET",
                  "/",
                  {},
                  {},
                  "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
                  "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"}),
    [](const auto& test) { return test.param.name; });

// The examples of docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
class S3Examples : public testing::Test {
 protected:
  AwsRequest Request(std::string_view method, std::string_view path,
                     std::string_view payload_sha256) {
    AwsRequest request;
    request.method = method;
    request.path = path;
    request.headers = {{"Host", "examplebucket.s3.amazonaws.com"},
                       {"x-amz-content-sha256", std::string(payload_sha256)}};
    request.payload_sha256 = payload_sha256;
    return request;
  }
  void Sign(AwsRequest& request) {
    signer.Sign(
        request,
        {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "", std::nullopt},
        *ParseTime("2013-05-24T00:00:00Z"));
  }

  AwsSigner signer{"us-east-1", "s3"};
};

TEST_F(S3Examples, GetObject) {
  AwsRequest request = Request("GET", "/test.txt", kNothing);
  request.headers.emplace_back("Range", "bytes=0-9");
  Sign(request);
  EXPECT_EQ(AuthorizationOf(request),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST_F(S3Examples, PutObject) {
  AwsRequest request = Request("PUT", "/test%24file.text",
                               "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
  request.headers.emplace_back("Date", "Fri, 24 May 2013 00:00:00 GMT");
  request.headers.emplace_back("x-amz-storage-class", "REDUCED_REDUNDANCY");
  Sign(request);
  EXPECT_EQ(SignatureOf(request),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST_F(S3Examples, GetBucketLifecycle) {
  AwsRequest request = Request("GET", "/", kNothing);
  request.query = {{"lifecycle", ""}};
  Sign(request);
  EXPECT_EQ(SignatureOf(request),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST_F(S3Examples, ListObjects) {
  AwsRequest request = Request("GET", "/", kNothing);
  request.query = {{"prefix", "J"}, {"max-keys", "2"}};
  Sign(request);
  EXPECT_EQ(SignatureOf(request),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_F(S3Examples, TheKeptKeyFollowsDayAndSecret) {
  const auto sign = [&](const char* secret, const char* time, AwsSigner& with) {
    AwsRequest request = Request("GET", "/", kNothing);
    with.Sign(request, {"id", secret, "", std::nullopt}, *ParseTime(time));
    return SignatureOf(request);
  };
  for (const char* secret : {"one", "two", "one"}) {
    for (const char* time :
         {"2026-12-01T23:59:59Z", "2026-12-02T00:00:00Z", "2026-12-01T23:59:59Z"}) {
      AwsSigner fresh("us-east-1", "s3");
      EXPECT_EQ(sign(secret, time, signer), sign(secret, time, fresh));
    }
  }
}

}  // namespace
}  // namespace swamp

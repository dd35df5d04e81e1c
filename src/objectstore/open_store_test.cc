#include "objectstore/open_store.h"

#include <gmock/gmock.h>

#include "objectstore/scripted_http.h"
#include "util/error.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using testing::HasSubstr;

class OpenStoreTest : public testing::Test {
 protected:
  OpenStoreTest() {
    variables = {{"HOME", folder.path().native()},
                 {"AWS_ACCESS_KEY_ID", "id"},
                 {"AWS_SECRET_ACCESS_KEY", "secret"}};
    config.bucket = "bucket";
  }
  // The request by which a store of this configuration looks at a key.
  HttpRequest Request() {
    FixedEnvironment environment(variables);
    World other{world.clock, world.random, world.files, environment, world.executor, world.log};
    const Context context(other, world.cancellation);
    OpenStore(context, config, http)->Head(context, "key");
    return http.requests.back();
  }

  TestWorld world;
  TemporaryFolder folder;
  std::map<std::string, std::string> variables;
  S3Config config;
  ScriptedHttp http{[](const HttpRequest& request) {
    return request.method == "GET" ? HttpResponse{404, {}, "<Error><Code>NoSuchKey</Code></Error>"}
                                   : HttpResponse{404, {}, ""};
  }};
};

TEST_F(OpenStoreTest, TheRegionIsTheFirstThatIsSet) {
  const auto region = [&] {
    const std::string scope = HeaderOf(Request(), "authorization");
    return scope.substr(0, scope.find("/s3/aws4_request"));
  };
  EXPECT_THAT(region(), HasSubstr("/us-east-1"));
  WriteFileAtomically(world.files, folder.path() / ".aws/config",
                      "[default]\nregion = eu-north-1\n");
  EXPECT_THAT(region(), HasSubstr("/eu-north-1"));
  variables["AWS_DEFAULT_REGION"] = "eu-south-1";
  EXPECT_THAT(region(), HasSubstr("/eu-south-1"));
  variables["AWS_REGION"] = "eu-west-1";
  EXPECT_THAT(region(), HasSubstr("/eu-west-1"));
  EXPECT_THAT(Request().url, HasSubstr("https://bucket.s3.eu-west-1.amazonaws.com/key"));
  config.region = "ap-south-1";
  EXPECT_THAT(region(), HasSubstr("/ap-south-1"));
}

TEST_F(OpenStoreTest, TheTimeoutIsTheConfigsOrTheEnvironmentsWhereItMakesSense) {
  EXPECT_EQ(Request().idle_timeout, Duration(30'000));
  for (const char* nonsense : {"", "0", "999", "600001", "abc", "5000x", "99999999999999"}) {
    variables["SWAMP_S3_REQUEST_TIMEOUT_MS"] = nonsense;
    EXPECT_EQ(Request().idle_timeout, Duration(30'000)) << nonsense;
  }
  variables["SWAMP_S3_REQUEST_TIMEOUT_MS"] = "5000";
  EXPECT_EQ(Request().idle_timeout, Duration(5'000));
  EXPECT_EQ(Request().connect_timeout, Duration(5'000));
  config.request_timeout = Duration(60'000);
  EXPECT_EQ(Request().idle_timeout, Duration(60'000));
  EXPECT_EQ(Request().connect_timeout, Duration(10'000));
}

// DS-73
TEST_F(OpenStoreTest, TheCertificatesAreThoseOfTheEnvironmentOrTheProfile) {
  EXPECT_EQ(Request().ca_file, "");
  WriteFileAtomically(world.files, folder.path() / ".aws/config",
                      "[default]\nca_bundle = /profile.pem\n");
  EXPECT_EQ(Request().ca_file, "/profile.pem");
  variables["AWS_CA_BUNDLE"] = "/environment.pem";
  EXPECT_EQ(Request().ca_file, "/environment.pem");
}

TEST_F(OpenStoreTest, AFileEndpointIsAFolderWithoutCredentials) {
  variables.clear();
  std::filesystem::create_directories(folder.path() / "a b/bucket");
  config.endpoint = "file://" + folder.path().native() + "/a%20b";
  config.prefix = "team/x";
  const auto store = OpenStore(world.context, config, http);
  EXPECT_TRUE(store->Put(world.context, "k/ey", Body::FromBytes("bytes"), Condition::Absent(), {})
                  .stored());
  EXPECT_EQ(ReadFile(world.files, folder.path() / "a b/bucket/team/x/k/ey"), "bytes");
  EXPECT_EQ(store->Describe(), (folder.path() / "a b/bucket/team/x").native());
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(OpenStoreTest, AFolderThatIsNotThereIsAMissingBucket) {
  config.endpoint = "file://" + folder.path().native();
  const auto store = OpenStore(world.context, config, http);
  try {
    store->Head(world.context, "key");
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), "store_no_bucket");
    EXPECT_THAT(error.hint(), HasSubstr("mkdir -p " + (folder.path() / "bucket").native()));
  }
}

}  // namespace
}  // namespace swamp

#include "objectstore/aws_credentials.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "objectstore/object_store.h"
#include "objectstore/scripted_http.h"
#include "util/test_world.h"
#include "util/text.h"

namespace swamp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

HttpResponse Text(int status, std::string body) { return {status, {}, std::move(body)}; }

// The document of containers and EC2.
std::string Document(const std::string& id,
                     const std::string& expiration = "2026-12-01T20:00:00Z") {
  return fmt::format(
      R"({{"Code":"Success","AccessKeyId":"{}","SecretAccessKey":"sECRET","Token":"tOKEN",)"
      R"("Expiration":"{}"}})",
      id, expiration);
}

std::string StsAnswer(const std::string& action, const std::string& id) {
  return fmt::format(
      "<{0}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{0}Result><Credentials>"
      "<AccessKeyId>{1}</AccessKeyId><SecretAccessKey>sECRET</SecretAccessKey>"
      "<SessionToken>tOKEN</SessionToken><Expiration>2026-12-01T20:00:00Z</Expiration></"
      "Credentials>"
      "</{0}Result></{0}Response>",
      action, id);
}

class AwsCredentialsTest : public testing::Test {
 protected:
  AwsCredentialsTest() {
    variables = {{"HOME", folder.path().native()}, {"AWS_EC2_METADATA_DISABLED", "true"}};
  }

  void WriteFile(const std::string& name, const std::string& text) {
    WriteFileAtomically(world.files, folder.path() / name, text);
  }
  AwsCredentials Ask() { return Ask(*std::make_unique<AwsCredentialChain>(http, "eu-west-1")); }
  AwsCredentials Ask(AwsCredentialChain& chain) {
    FixedEnvironment environment(variables);
    World other{world.clock, world.random, world.files, environment, world.executor, world.log};
    return chain.Get(Context(other, world.cancellation));
  }
  StoreError Thrown() {
    try {
      Ask();
    } catch (const StoreError& error) {
      EXPECT_THAT(error.message() + error.hint(), Not(HasSubstr("sECRET")));
      EXPECT_THAT(error.message() + error.hint(), Not(HasSubstr("tOKEN")));
      return error;
    }
    ADD_FAILURE() << "there were credentials";
    return {StoreError::Kind::kInvalid, "", ""};
  }

  TestWorld world;  // its clock stands at 2026-12-01T15:29:01
  TemporaryFolder folder;
  std::map<std::string, std::string> variables;
  std::function<HttpResponse(const HttpRequest&)> serve =
      [](const HttpRequest& request) -> HttpResponse {
    throw HttpFailure(HttpFailure::Kind::kNotConnected, "cannot connect to " + request.url);
  };
  ScriptedHttp http{[this](const HttpRequest& request) { return serve(request); }};
};

TEST_F(AwsCredentialsTest, TheEnvironmentComesFirst) {
  WriteFile(".aws/credentials",
            "[default]\naws_access_key_id=FILE\naws_secret_access_key=sECRET\n");
  EXPECT_EQ(Ask().access_key_id, "FILE");
  variables["AWS_ACCESS_KEY_ID"] = "ENV";
  variables["AWS_SECRET_ACCESS_KEY"] = "sECRET";
  EXPECT_EQ(Ask(), (AwsCredentials{"ENV", "sECRET", "", std::nullopt}));
  variables["AWS_SESSION_TOKEN"] = "tOKEN";
  EXPECT_EQ(Ask().session_token, "tOKEN");
  variables.erase("AWS_ACCESS_KEY_ID");
  EXPECT_THAT(Thrown().message(), HasSubstr("only one of AWS_ACCESS_KEY_ID"));
}

TEST_F(AwsCredentialsTest, ProfilesAreReadFromBothFiles) {
  WriteFile(
      ".aws/config",
      "# a comment\n[default]\nregion = eu-west-1\n\n[profile dev] \naws_access_key_id = CONFIG\n"
      "aws_secret_access_key = sECRET\ns3 =\n  aws_access_key_id = NESTED\n"
      "[profile \"two words\"]\naws_access_key_id=QUOTED ; with a "
      "comment\naws_secret_access_key=sECRET\n");
  WriteFile(".aws/credentials",
            "[shared]\naws_access_key_id=SHARED\r\naws_secret_access_key=sECRET\r\n"
            "aws_session_token = tOKEN\r\n[dev]\naws_access_key_id=CREDENTIALS\n");
  variables["AWS_PROFILE"] = "shared";
  EXPECT_EQ(Ask(), (AwsCredentials{"SHARED", "sECRET", "tOKEN", std::nullopt}));
  variables["AWS_PROFILE"] = "dev";
  EXPECT_EQ(Ask().access_key_id, "CREDENTIALS");
  variables["AWS_PROFILE"] = "two words";
  EXPECT_EQ(Ask().access_key_id, "QUOTED");
  variables["AWS_PROFILE"] = "missing";
  EXPECT_THAT(Thrown().message(), HasSubstr("\"missing\": there is no such profile"));
}

TEST_F(AwsCredentialsTest, TheFilesMayBeElsewhere) {
  WriteFile("else/config", "[profile a]\ncredential_process = /bin/echo '{}'\n");
  WriteFile("else/credentials",
            "[default]\naws_access_key_id=ELSE\naws_secret_access_key=sECRET\n");
  variables["AWS_SHARED_CREDENTIALS_FILE"] = (folder.path() / "else/credentials").native();
  EXPECT_EQ(Ask().access_key_id, "ELSE");
  variables["AWS_CONFIG_FILE"] = "~/else/config";
  variables["AWS_PROFILE"] = "a";
  EXPECT_THAT(Thrown().message(), HasSubstr("no AccessKeyId"));
}

TEST_F(AwsCredentialsTest, NoneAtAllIsAnErrorThatSaysWhatToDo) {
  const StoreError error = Thrown();
  EXPECT_EQ(error.kind(), StoreError::Kind::kDenied);
  EXPECT_THAT(error.hint(), HasSubstr("AWS_PROFILE"));
  EXPECT_TRUE(http.requests.empty());
}

class AwsCredentialProcess : public AwsCredentialsTest {
 protected:
  void Use(const std::string& script) {
    WriteFile("helper", "#!/bin/sh\n" + script);
    world.files.SetMode(folder.path() / "helper", 0755);
    WriteFile(".aws/config", "[default]\ncredential_process = \"" +
                                 (folder.path() / "helper").native() + "\" --for 'a b'\n");
  }
};

TEST_F(AwsCredentialProcess, IsRunWithoutAShell) {
  Use(R"([ "$1 $2" = '--for a b' ] && echo '{"Version":1,"AccessKeyId":"PROCESS","SecretAccessKey":"sECRET",)"
      R"("SessionToken":"tOKEN","Expiration":"2026-12-01T18:29:01+02:00"}')");
  EXPECT_EQ(Ask(),
            (AwsCredentials{"PROCESS", "sECRET", "tOKEN", ParseTime("2026-12-01T16:29:01Z")}));
}

TEST_F(AwsCredentialProcess, ItsFailuresAreSaidWithoutItsOutput) {
  Use("echo sECRET; echo 'log in first' >&2; exit 7");
  EXPECT_THAT(Thrown().message(), HasSubstr("exit code 7: log in first"));
  Use("echo sECRET");
  EXPECT_THAT(Thrown().message(), HasSubstr("no JSON"));
  Use("echo '{\"AccessKeyId\":\"x\",\"tOKEN\":1}'");
  EXPECT_THAT(Thrown().message(), HasSubstr("has no AccessKeyId and SecretAccessKey"));
  WriteFile(".aws/config", "[default]\ncredential_process = /no/such/program\n");
  EXPECT_THAT(Thrown().message(), HasSubstr("/no/such/program"));
  WriteFile(".aws/config", "[default]\ncredential_process = 'open\n");
  EXPECT_THAT(Thrown().message(), HasSubstr("open quote"));
}

TEST_F(AwsCredentialsTest, WebIdentityOfAPod) {
  WriteFile("token", "the.pods.token\n");
  variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = (folder.path() / "token").native();
  variables["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/pod";
  variables["AWS_ROLE_SESSION_NAME"] = "session";
  serve = [](const HttpRequest& request) {
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.url, "https://sts.eu-west-1.amazonaws.com/");
    EXPECT_EQ(request.body,
              "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fpod&"
              "RoleSessionName=session&Version=2011-06-15&WebIdentityToken=the.pods.token");
    EXPECT_EQ(HeaderOf(request, "authorization"), "<none>");
    return Text(200, StsAnswer("AssumeRoleWithWebIdentity", "WEB"));
  };
  EXPECT_EQ(Ask(), (AwsCredentials{"WEB", "sECRET", "tOKEN", ParseTime("2026-12-01T20:00:00Z")}));
  serve = [](const HttpRequest&) {
    return Text(
        400,
        "<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>sECRET</Message></Error>"
        "</ErrorResponse>");
  };
  EXPECT_THAT(Thrown().message(), HasSubstr("role/pod: 400 ExpiredTokenException"));
  variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/no/such/token";
  EXPECT_THAT(Thrown().message(), HasSubstr("/no/such/token"));
}

TEST_F(AwsCredentialsTest, ARoleIsTakenOnFromItsSourceProfile) {
  WriteFile(".aws/config",
            "[profile role]\nrole_arn = arn:role\nsource_profile = base\nexternal_id = ext "
            "1\nregion = us-west-2\n"
            "[profile base]\naws_access_key_id = BASE\naws_secret_access_key = sECRET\n"
            "[profile chained]\nrole_arn = arn:second\nsource_profile = role\n"
            "[profile self]\nrole_arn = arn:self\nsource_profile = self\naws_access_key_id = SELF\n"
            "aws_secret_access_key = sECRET\n"
            "[profile ring1]\nrole_arn = arn:1\nsource_profile = ring2\n"
            "[profile ring2]\nrole_arn = arn:2\nsource_profile = ring1\n"
            "[profile mfa]\nrole_arn = arn:m\nsource_profile = base\nmfa_serial = arn:phone\n"
            "[profile lost]\nrole_arn = arn:l\n"
            "[profile env]\nrole_arn = arn:e\ncredential_source = Environment\n");
  std::vector<std::string> signers;
  serve = [&](const HttpRequest& request) {
    const std::string authorization = HeaderOf(request, "authorization");
    signers.push_back(authorization.substr(authorization.find('=') + 1,
                                           authorization.find('/') - authorization.find('=') - 1));
    return Text(200, StsAnswer("AssumeRole", fmt::format("ROLE{}", signers.size())));
  };
  variables["AWS_PROFILE"] = "role";
  EXPECT_EQ(Ask().access_key_id, "ROLE1");
  EXPECT_EQ(http.requests.back().url, "https://sts.us-west-2.amazonaws.com/");
  EXPECT_THAT(http.requests.back().body,
              HasSubstr("ExternalId=ext%201&RoleArn=arn%3Arole&RoleSessionName=swamp-"));
  EXPECT_THAT(HeaderOf(http.requests.back(), "authorization"),
              HasSubstr("/us-west-2/sts/aws4_request"));
  variables["AWS_PROFILE"] = "chained";
  EXPECT_EQ(Ask().access_key_id, "ROLE3");
  variables["AWS_PROFILE"] = "self";
  EXPECT_EQ(Ask().access_key_id, "ROLE4");
  EXPECT_THAT(signers, ElementsAre("BASE", "BASE", "ROLE2", "SELF"));
  variables["AWS_PROFILE"] = "ring1";
  EXPECT_THAT(Thrown().message(), HasSubstr("leads back to itself"));
  variables["AWS_PROFILE"] = "mfa";
  EXPECT_THAT(Thrown().message(), HasSubstr("second factor"));
  variables["AWS_PROFILE"] = "lost";
  EXPECT_THAT(Thrown().message(), HasSubstr("without a source_profile"));
  variables["AWS_PROFILE"] = "env";
  EXPECT_THAT(Thrown().message(), HasSubstr("the source of its role has no credentials"));
}

class AwsSingleSignOn : public AwsCredentialsTest {
 protected:
  AwsSingleSignOn() {
    WriteFile(
        ".aws/config",
        "[profile sso]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Dev Ops\n"
        "[sso-session corp]\nsso_region = eu-central-1\nsso_start_url = "
        "https://corp.awsapps.com/start\n"
        "[profile old]\nsso_start_url = https://corp.awsapps.com/start\nsso_region = us-east-1\n"
        "sso_account_id = 1\nsso_role_name = r\n");
    variables["AWS_PROFILE"] = "sso";
  }
  void LogIn(const std::string& file, const std::string& expires) {
    WriteFile(".aws/sso/cache/" + file + ".json",
              R"({"accessToken":"tOKEN-of-sso","expiresAt":")" + expires + "\"}");
  }
  // printf corp | sha1sum
  const std::string session_file = "ee0bfd2552fbd840c02cc48b6e823320543c450f";
};

TEST_F(AwsSingleSignOn, UsesTheTokenThatALoginLeft) {
  LogIn(session_file, "2026-12-01T16:00:00Z");
  serve = [](const HttpRequest& request) {
    EXPECT_EQ(request.url,
              "https://portal.sso.eu-central-1.amazonaws.com/federation/"
              "credentials?account_id=123&role_name=Dev%20Ops");
    EXPECT_EQ(HeaderOf(request, "x-amz-sso_bearer_token"), "tOKEN-of-sso");
    return Text(
        200,
        R"({"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"sECRET","sessionToken":"tOKEN",)"
        R"("expiration":1796155200000}})");
  };
  EXPECT_EQ(Ask(), (AwsCredentials{"SSO", "sECRET", "tOKEN", Time(Duration(1796155200000))}));
}

TEST_F(AwsSingleSignOn, KnowsTheOlderFormWithoutASession) {
  variables["AWS_PROFILE"] = "old";
  // printf https://corp.awsapps.com/start | sha1sum
  LogIn("a51746d4aa793ae07b25e90c3a5db96fc7832bd7", "2026-12-01T16:00:00Z");
  serve = [](const HttpRequest& request) {
    EXPECT_THAT(request.url, HasSubstr("https://portal.sso.us-east-1.amazonaws.com/"));
    return Text(403, "{}");
  };
  EXPECT_THAT(Thrown().message(), HasSubstr("it answers 403"));
}

TEST_F(AwsSingleSignOn, SaysHowToLogIn) {
  EXPECT_EQ(Thrown().hint(), "Log in: aws sso login --profile sso");
  LogIn(session_file, "2026-12-01T15:00:00Z");
  EXPECT_THAT(Thrown().message(), HasSubstr("the login has expired"));
  LogIn(session_file, "2026-12-01T16:00:00Z");
  serve = [](const HttpRequest&) { return Text(401, "{}"); };
  EXPECT_THAT(Thrown().message(), HasSubstr("the login has expired"));
  EXPECT_EQ(Thrown().hint(), "Log in: aws sso login --profile sso");
}

TEST_F(AwsCredentialsTest, ContainersAreAskedAtTheirEndpoint) {
  WriteFile("token", "from-a-file\n");
  serve = [](const HttpRequest& request) {
    EXPECT_FALSE(request.use_proxy);
    return Text(200, Document(request.url + " " + HeaderOf(request, "authorization")));
  };
  variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/creds";
  EXPECT_EQ(Ask(), (AwsCredentials{"http://169.254.170.2/v2/creds <none>", "sECRET", "tOKEN",
                                   ParseTime("2026-12-01T20:00:00Z")}));
  variables.erase("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "in-variable";
  variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost:1234/c";
  EXPECT_EQ(Ask().access_key_id, "http://localhost:1234/c in-variable");
  variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = (folder.path() / "token").native();
  variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://[fd00:ec2::23]/c";
  EXPECT_EQ(Ask().access_key_id, "http://[fd00:ec2::23]/c from-a-file");
  variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "https://agent.example/c";
  EXPECT_EQ(Ask().access_key_id, "https://agent.example/c from-a-file");
  const std::size_t before = http.requests.size();
  for (const char* url :
       {"http://evil.example/c", "http://169.254.170.2.evil.example/",
        "http://localhost@evil.example/", "http://169.254.169.254/c", "file:///etc/passwd"}) {
    variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url;
    EXPECT_THAT(Thrown().message(), HasSubstr("another machine without https")) << url;
  }
  EXPECT_EQ(http.requests.size(), before);
}

TEST_F(AwsCredentialsTest, AContainerThatDoesNotAnswerIsUnreachable) {
  variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/creds";
  EXPECT_EQ(Thrown().kind(), StoreError::Kind::kUnreachable);
}

TEST_F(AwsCredentialsTest, TheMachinesRoleByItsMetadataService) {
  variables.erase("AWS_EC2_METADATA_DISABLED");
  serve = [](const HttpRequest& request) {
    EXPECT_FALSE(request.use_proxy);
    EXPECT_LE(request.connect_timeout, Duration(1000));
    if (request.method == "PUT") {
      EXPECT_EQ(request.url, "http://169.254.169.254/latest/api/token");
      EXPECT_EQ(HeaderOf(request, "X-aws-ec2-metadata-token-ttl-seconds"), "21600");
      return Text(200, "imds-token");
    }
    EXPECT_EQ(HeaderOf(request, "X-aws-ec2-metadata-token"), "imds-token");
    const std::string base = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
    if (request.url == base) return Text(200, "my role\n");
    EXPECT_EQ(request.url, base + "my%20role");
    return Text(200, Document("MACHINE"));
  };
  EXPECT_EQ(Ask().access_key_id, "MACHINE");
  EXPECT_EQ(http.requests.size(), 3U);
}

TEST_F(AwsCredentialsTest, AMachineWithoutTheServiceOrARoleHasNoCredentials) {
  variables.erase("AWS_EC2_METADATA_DISABLED");
  EXPECT_THAT(Thrown().message(), HasSubstr("no AWS credentials: none in"));
  serve = [](const HttpRequest& request) {
    return request.method == "PUT" ? Text(200, "t") : Text(404, "");
  };
  EXPECT_THAT(Thrown().message(), HasSubstr("no AWS credentials: none in"));
}

TEST_F(AwsCredentialsTest, TheMetadataServiceMayBeElsewhere) {
  variables.erase("AWS_EC2_METADATA_DISABLED");
  variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:1338/";
  Thrown();
  EXPECT_EQ(http.requests.back().url, "http://127.0.0.1:1338/latest/api/token");
  variables.erase("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  variables["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"] = "IPv6";
  Thrown();
  EXPECT_EQ(http.requests.back().url, "http://[fd00:ec2::254]/latest/api/token");
}

// Credentials that expire 30 minutes after they were asked for.
class AwsCredentialsThatExpire : public AwsCredentialsTest {
 protected:
  AwsCredentialsThatExpire() {
    variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/c";
    serve = [this](const HttpRequest&) {
      const Time expires = world.clock.Now() + std::chrono::minutes(30);
      return Text(200, Document(fmt::format("KEY{}", http.requests.size()), FormatTime(expires)));
    };
  }
  AwsCredentialChain chain{http, "eu-west-1"};
};

TEST_F(AwsCredentialsThatExpire, AreKeptUntilFiveMinutesBefore) {
  EXPECT_EQ(Ask(chain).access_key_id, "KEY1");
  world.clock.Advance(std::chrono::minutes(24));
  EXPECT_EQ(Ask(chain).access_key_id, "KEY1");
  world.clock.Advance(std::chrono::minutes(2));
  EXPECT_EQ(Ask(chain).access_key_id, "KEY2");
}

TEST_F(AwsCredentialsThatExpire, ServeOnWhileTheirSourceIsOutOfOrder) {
  Ask(chain);
  serve = [](const HttpRequest&) { return Text(500, ""); };
  world.clock.Advance(std::chrono::minutes(26));
  EXPECT_EQ(Ask(chain).access_key_id, "KEY1");
  world.clock.Advance(std::chrono::minutes(5));
  EXPECT_THROW(Ask(chain), StoreError);
}

TEST_F(AwsCredentialsThatExpire, AreAskedForAgainWhenForgotten) {
  const AwsCredentials first = Ask(chain);
  chain.Forget(first);
  EXPECT_EQ(Ask(chain).access_key_id, "KEY2");
  chain.Forget(first);  // by another caller, who had the old ones too
  EXPECT_EQ(Ask(chain).access_key_id, "KEY2");
}

}  // namespace
}  // namespace swamp

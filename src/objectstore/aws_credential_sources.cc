#include "objectstore/aws_credential_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "objectstore/aws_credential_error.h"
#include "objectstore/aws_role.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/environment.h"
#include "util/files.h"
#include "util/http.h"
#include "util/json.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr Duration kProcessTime{60'000};
constexpr Duration kMachineTime{1'000};
constexpr Duration kContainerTime{5'000};

// The document that credential_process, containers and EC2 answer with. Only the name of the token
// differs.
AwsCredentials ParseCredentials(std::string_view text, const char* token_key,
                                std::string_view source) {
  const auto json = TryParseJson(text);
  if (!json) throw CredentialsRefused(source, "what it answers is no JSON");
  AwsCredentials credentials;
  credentials.access_key_id = StringMember(*json, "AccessKeyId").value_or("");
  credentials.secret_access_key = StringMember(*json, "SecretAccessKey").value_or("");
  credentials.session_token = StringMember(*json, token_key).value_or("");
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    throw CredentialsRefused(source, "its answer has no AccessKeyId and SecretAccessKey");
  }
  if (const auto expiration = StringMember(*json, "Expiration")) {
    credentials.expires = ParseTime(*expiration);
    if (!credentials.expires)
      throw CredentialsRefused(source, "its answer has an Expiration that is no time");
  }
  return credentials;
}

// Ends the program's noise after its first line, which says what is wrong.
std::string FirstLine(std::string_view text) {
  return Printable(Trim(text.substr(0, text.find('\n'))), 200);
}

AwsCredentials ProcessCredentials(const Context& context, const std::string& command) {
  const std::string source = "credential_process";
  SubprocessRequest request;
  const auto words = SplitShellWords(command);
  if (!words || words->empty())
    throw CredentialsRefused(source, "its command line has an open quote, or is empty");
  request.arguments = *words;
  SubprocessResult result;
  try {
    result = RunSubprocess(context.WithTimeout(kProcessTime), request);
  } catch (const DeadlineExceeded&) {
    context.Check();
    throw CredentialsRefused(
        source, fmt::format("it did not end within {}", DescribeDuration(kProcessTime)));
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    throw CredentialsRefused(source, error.message());
  }
  if (result.exit_code != 0) {
    throw CredentialsRefused(source, fmt::format("it ended with exit code {}: {}", result.exit_code,
                                                 FirstLine(result.errors)));
  }
  return ParseCredentials(result.output, "SessionToken", source);
}

// A host that a credential may be asked of without TLS: this machine, or the agents of ECS and EKS.
bool IsTrustedWithoutTls(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return false;
  url.remove_prefix(kScheme.size());
  url = url.substr(0, url.find_first_of("/?#"));
  if (url.find('@') != std::string_view::npos) return false;
  const std::string_view host =
      url.starts_with('[') ? url.substr(0, url.find(']') + 1) : url.substr(0, url.find(':'));
  constexpr std::array<std::string_view, 6> kHosts = {
      "localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
  return std::find(kHosts.begin(), kHosts.end(), host) != kHosts.end();
}

// Walks from a profile to the one that its role is taken on from.
class ProfileResolver {
 public:
  ProfileResolver(const Context& context, HttpClient& http, const std::string& region,
                  const AwsProfiles& profiles)
      : context_(context), http_(http), region_(region), profiles_(profiles) {}

  std::optional<AwsCredentials> Resolve(const std::string& name) {
    const AwsProfiles::Settings* settings = profiles_.Find(name);
    if (settings == nullptr) return std::nullopt;
    const auto setting = [&](const char* key) {
      const auto found = settings->find(key);
      return found == settings->end() ? std::string() : found->second;
    };
    AwsRole role;
    role.arn = setting("role_arn");
    role.session_name = setting("role_session_name");
    role.external_id = setting("external_id");
    role.region = setting("region").empty() ? region_ : setting("region");
    if (!role.arn.empty() && !setting("web_identity_token_file").empty()) {
      return AssumeRoleWithWebIdentity(context_, http_, role, setting("web_identity_token_file"));
    }
    // A role that is taken on from its own profile's keys ends the walk there.
    if (!role.arn.empty() && !walked_.contains(name)) {
      if (!setting("mfa_serial").empty()) {
        throw CredentialsRefused(
            Named(name),
            "its role wants a code of a second factor, which this program does "
            "not ask for");
      }
      walked_.insert(name);
      return AssumeRole(context_, http_, role,
                        Source(name, setting("source_profile"), setting("credential_source")));
    }
    if (!setting("aws_access_key_id").empty()) {
      if (setting("aws_secret_access_key").empty()) {
        throw CredentialsRefused(Named(name),
                                 "it has an aws_access_key_id without aws_secret_access_key");
      }
      return AwsCredentials{setting("aws_access_key_id"), setting("aws_secret_access_key"),
                            setting("aws_session_token"), std::nullopt};
    }
    if (!setting("sso_account_id").empty()) return SingleSignOn(name, *settings);
    if (!setting("credential_process").empty())
      return ProcessCredentials(context_, setting("credential_process"));
    return std::nullopt;
  }

 private:
  static std::string Named(const std::string& profile) {
    return fmt::format("the AWS profile \"{}\"", Printable(profile, 60));
  }

  AwsCredentials Source(const std::string& name, const std::string& source_profile,
                        const std::string& credential_source) {
    std::optional<AwsCredentials> source;
    if (!source_profile.empty()) {
      if (source_profile != name && walked_.contains(source_profile)) {
        throw CredentialsRefused(Named(name), "its source_profile leads back to itself");
      }
      source = Resolve(source_profile);
    } else if (credential_source == "Environment") {
      source = EnvironmentCredentials(context_);
    } else if (credential_source == "EcsContainer") {
      source = ContainerCredentials(context_, http_);
    } else if (credential_source == "Ec2InstanceMetadata") {
      source = MachineCredentials(context_, http_);
    } else {
      throw CredentialsRefused(Named(name),
                               "it has a role_arn without a source_profile or a credential_source");
    }
    if (!source) throw CredentialsRefused(Named(name), "the source of its role has no credentials");
    return *source;
  }

  AwsCredentials SingleSignOn(const std::string& name, const AwsProfiles::Settings& settings) {
    SsoAccount account;
    const AwsProfiles::Settings* session = &settings;
    const auto find = [](const AwsProfiles::Settings& from, const char* key) {
      const auto found = from.find(key);
      return found == from.end() ? std::string() : found->second;
    };
    account.cache_key = find(settings, "sso_session");
    if (!account.cache_key.empty()) {
      session = profiles_.FindSsoSession(account.cache_key);
      if (session == nullptr)
        throw CredentialsRefused(Named(name), "its sso_session is not in the config file");
    } else {
      account.cache_key = find(settings, "sso_start_url");
    }
    account.region = find(*session, "sso_region");
    account.account_id = find(settings, "sso_account_id");
    account.role_name = find(settings, "sso_role_name");
    account.profile = name;
    account.cache_folder = profiles_.folder() / "sso" / "cache";
    return SsoCredentials(context_, http_, account);
  }

  const Context& context_;
  HttpClient& http_;
  const std::string& region_;
  const AwsProfiles& profiles_;
  std::set<std::string> walked_;
};

}  // namespace

std::optional<AwsCredentials> EnvironmentCredentials(const Context& context) {
  const Environment& environment = context.environment();
  const auto id = environment.GetNonEmpty("AWS_ACCESS_KEY_ID");
  const auto secret = environment.GetNonEmpty("AWS_SECRET_ACCESS_KEY");
  if (!id && !secret) return std::nullopt;
  if (!id || !secret) {
    throw CredentialsRefused("the environment",
                             fmt::format("it sets only one of AWS_ACCESS_KEY_ID and "
                                         "AWS_SECRET_ACCESS_KEY"));
  }
  return AwsCredentials{*id, *secret, environment.GetNonEmpty("AWS_SESSION_TOKEN").value_or(""),
                        std::nullopt};
}

std::optional<AwsCredentials> WebIdentityCredentials(const Context& context, HttpClient& http,
                                                     const std::string& region) {
  const Environment& environment = context.environment();
  const auto file = environment.GetNonEmpty("AWS_WEB_IDENTITY_TOKEN_FILE");
  const auto arn = environment.GetNonEmpty("AWS_ROLE_ARN");
  if (!file || !arn) return std::nullopt;
  AwsRole role;
  role.arn = *arn;
  role.session_name = environment.GetNonEmpty("AWS_ROLE_SESSION_NAME").value_or("");
  role.region = region;
  return AssumeRoleWithWebIdentity(context, http, role, *file);
}

std::optional<AwsCredentials> ProfileCredentials(const Context& context, HttpClient& http,
                                                 const std::string& region,
                                                 const AwsProfiles& profiles) {
  if (profiles.chosen_by_name() && profiles.Find(profiles.chosen()) == nullptr) {
    throw CredentialsRefused(
        fmt::format("the AWS profile \"{}\"", Printable(profiles.chosen(), 60)),
        "there is no such profile in the AWS config and credentials files");
  }
  return ProfileResolver(context, http, region, profiles).Resolve(profiles.chosen());
}

std::optional<AwsCredentials> ContainerCredentials(const Context& context, HttpClient& http) {
  const std::string source = "the container's credentials endpoint";
  const Environment& environment = context.environment();
  HttpRequest request;
  if (const auto relative = environment.GetNonEmpty("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")) {
    request.url = "http://169.254.170.2" + *relative;
  } else if (const auto full = environment.GetNonEmpty("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
    request.url = *full;
  } else {
    return std::nullopt;
  }
  if (!request.url.starts_with("https://") && !IsTrustedWithoutTls(request.url)) {
    throw CredentialsRefused(
        source, "AWS_CONTAINER_CREDENTIALS_FULL_URI names another machine without https");
  }
  std::string token = environment.GetNonEmpty("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
  if (const auto file = environment.GetNonEmpty("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    const auto text = ReadFile(context.files(), *file);
    if (!text)
      throw CredentialsRefused(source, fmt::format("there is no token file {}", Printable(*file)));
    token = Trim(*text);
  }
  if (!token.empty()) request.headers.emplace_back("Authorization", token);
  request.use_proxy = false;
  request.connect_timeout = kContainerTime;
  request.idle_timeout = kContainerTime;
  const HttpResponse response = AskForCredentials(context, http, request, source);
  if (response.status != 200)
    throw CredentialsRefused(source, fmt::format("it answers {}", response.status));
  return ParseCredentials(response.body, "Token", source);
}

std::optional<AwsCredentials> MachineCredentials(const Context& context, HttpClient& http) {
  const std::string source = "the machine's metadata service";
  const Environment& environment = context.environment();
  if (AsciiLower(environment.Get("AWS_EC2_METADATA_DISABLED").value_or("")) == "true")
    return std::nullopt;
  std::string base = environment.GetNonEmpty("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("");
  if (base.empty()) {
    const std::string mode =
        AsciiLower(environment.Get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").value_or(""));
    base = mode == "ipv6" ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
  }
  while (base.ends_with('/')) base.pop_back();

  HttpRequest request;
  request.use_proxy = false;
  request.connect_timeout = kMachineTime;
  request.idle_timeout = kMachineTime;
  request.method = "PUT";
  request.url = base + "/latest/api/token";
  request.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
  std::string token;
  try {
    const HttpResponse response = http.Send(context, request);
    if (response.status != 200) return std::nullopt;
    token = Trim(response.body);
  } catch (const HttpFailure&) {
    return std::nullopt;  // this is no such machine
  }
  request.method = "GET";
  request.headers = {{"X-aws-ec2-metadata-token", token}};
  const std::string roles_url = base + "/latest/meta-data/iam/security-credentials/";
  request.url = roles_url;
  const HttpResponse roles = AskForCredentials(context, http, request, source);
  if (roles.status == 404) return std::nullopt;  // a machine without a role
  if (roles.status != 200)
    throw CredentialsRefused(source, fmt::format("it answers {}", roles.status));
  const std::string_view role = Trim(std::string_view(roles.body).substr(0, roles.body.find('\n')));
  request.url = roles_url + PercentEncode(role);
  const HttpResponse response = AskForCredentials(context, http, request, source);
  if (response.status != 200)
    throw CredentialsRefused(source, fmt::format("it answers {}", response.status));
  return ParseCredentials(response.body, "Token", source);
}

}  // namespace swamp

#include "objectstore/aws_role.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "objectstore/aws_credential_error.h"
#include "objectstore/aws_signature.h"
#include "objectstore/xml_reader.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/environment.h"
#include "util/files.h"
#include "util/json.h"
#include "util/random.h"
#include "util/text.h"

namespace swamp {
namespace {

using Form = std::vector<std::pair<std::string, std::string>>;

std::string ServiceUrl(const Context& context, const char* variable, std::string_view host,
                       const std::string& region) {
  if (auto url = context.environment().GetNonEmpty(variable)) {
    while (url->ends_with('/')) url->pop_back();
    return *url;
  }
  return fmt::format("https://{}.{}.amazonaws.com{}", host, region,
                     region.starts_with("cn-") ? ".cn" : "");
}

std::string HostOf(std::string_view url) {
  url.remove_prefix(std::min(url.size(), url.find("://") + 3));
  return std::string(url.substr(0, url.find('/')));
}

std::string SessionName(const Context& context, const AwsRole& role) {
  return role.session_name.empty() ? "swamp-" + context.random().Hex(8) : role.session_name;
}

// Sends a form to the service, signed if there is somebody to sign for.
AwsCredentials AskForRole(const Context& context, HttpClient& http, const AwsRole& role, Form form,
                          const std::string& action, const AwsCredentials* signer) {
  const std::string source = fmt::format("the role {}", Printable(role.arn, 120));
  form.emplace_back("Action", action);
  form.emplace_back("Version", "2011-06-15");
  form.emplace_back("RoleArn", role.arn);
  form.emplace_back("RoleSessionName", SessionName(context, role));
  if (!role.external_id.empty()) form.emplace_back("ExternalId", role.external_id);
  for (auto& [name, value] : form) value = PercentEncode(value);

  const std::string url = ServiceUrl(context, "AWS_ENDPOINT_URL_STS", "sts", role.region);
  HttpRequest request;
  request.method = "POST";
  request.url = url + "/";
  request.body = CanonicalQuery(std::move(form));
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}, {"Host", HostOf(url)}};
  request.ca_file = context.environment().GetNonEmpty("AWS_CA_BUNDLE").value_or("");
  if (signer != nullptr) {
    const std::string payload_sha256 = Sha256Hex(request.body);
    AwsRequest signing{request.method, "/", {}, request.headers, payload_sha256};
    AwsSigner(role.region, "sts").Sign(signing, *signer, context.clock().Now());
    request.headers = std::move(signing.headers);
  }
  const HttpResponse response = AskForCredentials(context, http, request, source);
  std::map<std::string, std::string> texts = XmlTexts(response.body);
  if (response.status != 200) {
    throw CredentialsRefused(source, fmt::format("{} {}", response.status,
                                                 Printable(texts["ErrorResponse/Error/Code"], 60)));
  }
  const std::string base = fmt::format("{0}Response/{0}Result/Credentials/", action);
  AwsCredentials credentials{texts[base + "AccessKeyId"], texts[base + "SecretAccessKey"],
                             texts[base + "SessionToken"], ParseTime(texts[base + "Expiration"])};
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty() ||
      !credentials.expires) {
    throw CredentialsRefused(source, "the answer has no credentials");
  }
  return credentials;
}

std::string Sha1Hex(std::string_view bytes) {
  std::array<std::uint8_t, 20> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  return HexOf(digest);
}

}  // namespace

AwsCredentials AssumeRole(const Context& context, HttpClient& http, const AwsRole& role,
                          const AwsCredentials& source) {
  return AskForRole(context, http, role, {}, "AssumeRole", &source);
}

AwsCredentials AssumeRoleWithWebIdentity(const Context& context, HttpClient& http,
                                         const AwsRole& role,
                                         const std::filesystem::path& token_file) {
  const auto token = ReadFile(context.files(), token_file);
  if (!token) {
    throw CredentialsRefused(
        fmt::format("the role {}", Printable(role.arn, 120)),
        fmt::format("there is no token file {}", Printable(token_file.native())));
  }
  return AskForRole(context, http, role, {{"WebIdentityToken", std::string(Trim(*token))}},
                    "AssumeRoleWithWebIdentity", nullptr);
}

AwsCredentials SsoCredentials(const Context& context, HttpClient& http, const SsoAccount& account) {
  const std::string source =
      fmt::format("single sign-on (profile \"{}\")", Printable(account.profile, 60));
  const std::string log_in =
      fmt::format("Log in: aws sso login --profile {}", Printable(account.profile, 60));
  const auto text =
      ReadFile(context.files(), account.cache_folder / (Sha1Hex(account.cache_key) + ".json"));
  const auto cached = text ? TryParseJson(*text) : std::nullopt;
  const auto token = cached ? StringMember(*cached, "accessToken") : std::nullopt;
  if (!token) throw CredentialsRefused(source, "nobody has logged in", log_in);
  const auto expires = ParseTime(StringMember(*cached, "expiresAt").value_or(""));
  if (!expires || *expires <= context.clock().Now())
    throw CredentialsRefused(source, "the login has expired", log_in);

  HttpRequest request;
  request.url =
      fmt::format("{}/federation/credentials?account_id={}&role_name={}",
                  ServiceUrl(context, "AWS_ENDPOINT_URL_SSO", "portal.sso", account.region),
                  PercentEncode(account.account_id), PercentEncode(account.role_name));
  request.headers = {{"x-amz-sso_bearer_token", *token}};
  request.ca_file = context.environment().GetNonEmpty("AWS_CA_BUNDLE").value_or("");
  const HttpResponse response = AskForCredentials(context, http, request, source);
  if (response.status == 401) throw CredentialsRefused(source, "the login has expired", log_in);
  const auto answer = TryParseJson(response.body);
  if (response.status != 200 || !answer || !answer->contains("roleCredentials")) {
    throw CredentialsRefused(source, fmt::format("it answers {}", response.status));
  }
  const Json& role = (*answer)["roleCredentials"];
  AwsCredentials credentials;
  credentials.access_key_id = StringMember(role, "accessKeyId").value_or("");
  credentials.secret_access_key = StringMember(role, "secretAccessKey").value_or("");
  credentials.session_token = StringMember(role, "sessionToken").value_or("");
  if (const auto expiration = IntegerMember(role, "expiration"))
    credentials.expires = Time(Duration(*expiration));
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    throw CredentialsRefused(source, "its answer has no credentials");
  }
  return credentials;
}

}  // namespace swamp

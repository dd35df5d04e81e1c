#pragma once

#include <filesystem>
#include <string>

#include "objectstore/aws_credentials.h"

namespace swamp {

class Context;
class HttpClient;

struct AwsRole {
  std::string arn;
  std::string session_name;  // empty: one is made up
  std::string external_id;   // empty: none
  std::string region;        // whose Security Token Service is asked
};

// Credentials for a role, of the Security Token Service
// (docs.aws.amazon.com/STS/latest/APIReference). AWS_ENDPOINT_URL_STS names another address for it.
// Both throw StoreError: kDenied, kUnreachable.
AwsCredentials AssumeRole(const Context& context, HttpClient& http, const AwsRole& role,
                          const AwsCredentials& source);
AwsCredentials AssumeRoleWithWebIdentity(const Context& context, HttpClient& http,
                                         const AwsRole& role,
                                         const std::filesystem::path& token_file);

struct SsoAccount {
  std::string cache_key;  // whose digest names the file with the token
  std::filesystem::path cache_folder;
  std::string region;
  std::string account_id;
  std::string role_name;
  std::string profile;  // for the hint
};

// Credentials for a role of IAM Identity Center, by the token that `aws sso login` has left
// (docs.aws.amazon.com/singlesignon/latest/PortalAPIReference/API_GetRoleCredentials.html).
// AWS_ENDPOINT_URL_SSO names another address for it. Throws StoreError: kDenied, kUnreachable.
AwsCredentials SsoCredentials(const Context& context, HttpClient& http, const SsoAccount& account);

}  // namespace swamp

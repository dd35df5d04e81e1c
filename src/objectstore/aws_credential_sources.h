#pragma once

#include <optional>
#include <string>

#include "objectstore/aws_credentials.h"
#include "objectstore/aws_profile.h"

namespace swamp {

class Context;
class HttpClient;

// The sources of credentials one by one, as aws_credentials.h orders them. Each answers nothing
// when it is not set up, and throws StoreError when it is and does not work: kDenied, or
// kUnreachable when it does not answer.

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
std::optional<AwsCredentials> EnvironmentCredentials(const Context& context);

// AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN, AWS_ROLE_SESSION_NAME: as in a Kubernetes pod.
std::optional<AwsCredentials> WebIdentityCredentials(const Context& context, HttpClient& http,
                                                     const std::string& region);

// Whatever a profile is set up with; a chosen profile that doesn't exist is an error.
std::optional<AwsCredentials> ProfileCredentials(const Context& context, HttpClient& http,
                                                 const std::string& region,
                                                 const AwsProfiles& profiles);

// AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI: as in ECS and EKS.
std::optional<AwsCredentials> ContainerCredentials(const Context& context, HttpClient& http);

// The instance metadata service of EC2, version 2. A machine that has none answers within a second
// or not at all, and then it is not set up.
std::optional<AwsCredentials> MachineCredentials(const Context& context, HttpClient& http);

}  // namespace swamp

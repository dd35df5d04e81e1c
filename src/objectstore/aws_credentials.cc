#include "objectstore/aws_credentials.h"

#include "objectstore/aws_credential_sources.h"
#include "objectstore/object_store.h"
#include "util/clock.h"
#include "util/context.h"

namespace swamp {
namespace {

constexpr std::chrono::minutes kRenewBefore{5};

AwsCredentials AskTheSources(const Context& context, HttpClient& http, const std::string& region) {
  if (auto found = EnvironmentCredentials(context)) return *found;
  if (auto found = WebIdentityCredentials(context, http, region)) return *found;
  const AwsProfiles profiles = AwsProfiles::Load(context);
  if (auto found = ProfileCredentials(context, http, region, profiles)) return *found;
  if (auto found = ContainerCredentials(context, http)) return *found;
  if (auto found = MachineCredentials(context, http)) return *found;
  throw StoreError(
      StoreError::Kind::kDenied,
      "no AWS credentials: none in the environment, the profile \"" + profiles.chosen() +
          "\", the container or the machine",
      "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in (for example: "
      "aws sso login).");
}

}  // namespace

AwsCredentials AwsCredentialChain::Get(const Context& context) {
  const std::lock_guard lock(mutex_);
  const Time now = context.clock().Now();
  if (cached_ && (!cached_->expires || *cached_->expires - kRenewBefore > now)) return *cached_;
  try {
    cached_ = AskTheSources(context, http_, region_);
  } catch (const StoreError&) {
    const bool still_valid = cached_ && *cached_->expires > now;
    if (!still_valid) throw;
  }
  return *cached_;
}

void AwsCredentialChain::Forget(const AwsCredentials& expired) {
  const std::lock_guard lock(mutex_);
  if (cached_ == expired) cached_.reset();
}

}  // namespace swamp

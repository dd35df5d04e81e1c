#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "util/time.h"

namespace swamp {

class Context;
class HttpClient;

struct AwsCredentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;    // empty: none
  std::optional<Time> expires;  // nothing: they don't

  bool operator==(const AwsCredentials&) const = default;
};

// Where signatures get their credentials from. Thread-safe.
class AwsCredentialProvider {
 public:
  virtual ~AwsCredentialProvider() = default;
  // Throws StoreError: kDenied when there are none or their source refuses, kUnreachable when it
  // does not answer. No message holds a secret.
  virtual AwsCredentials Get(const Context& context) = 0;
  // A store says that these have expired: the next Get asks their source again.
  virtual void Forget(const AwsCredentials& expired) = 0;
};

class FixedAwsCredentials final : public AwsCredentialProvider {
 public:
  explicit FixedAwsCredentials(AwsCredentials credentials) : credentials_(std::move(credentials)) {}
  AwsCredentials Get(const Context&) override { return credentials_; }
  void Forget(const AwsCredentials&) override {}

 private:
  const AwsCredentials credentials_;
};

// The sources that AWS's own programs know, in their order
// (docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html): the environment, web
// identity, the profile (roles, keys, single sign-on, credential_process), the container's
// endpoint, the machine's (IMDSv2). The first that is set up counts; if it fails, the error names
// it.
//
// Asked again 5 minutes before they expire; old ones serve on while their source is out of order.
class AwsCredentialChain final : public AwsCredentialProvider {
 public:
  // Borrows `http`. `region` is where a role is asked for.
  AwsCredentialChain(HttpClient& http, std::string region)
      : http_(http), region_(std::move(region)) {}

  AwsCredentials Get(const Context& context) override;
  void Forget(const AwsCredentials& expired) override;

 private:
  HttpClient& http_;
  const std::string region_;
  std::mutex mutex_;  // held while a source is asked, so that it is asked once
  std::optional<AwsCredentials> cached_;
};

}  // namespace swamp

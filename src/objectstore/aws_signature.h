#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/digest.h"
#include "util/http.h"
#include "util/time.h"

namespace swamp {

struct AwsCredentials;

// The parts of a request that its signature covers.
struct AwsRequest {
  std::string_view method;
  std::string_view path;  // percent-encoded, as it stands in the URL
  // Percent-encoded names and values, in any order.
  std::vector<std::pair<std::string, std::string>> query;
  HttpHeaders headers;              // with Host; names in any case
  std::string_view payload_sha256;  // lower-case hex, or "UNSIGNED-PAYLOAD"
};

// "a=1&b=": the query as it stands in the URL and in the signature, sorted.
std::string CanonicalQuery(std::vector<std::pair<std::string, std::string>> query);

// Signs requests in their headers by AWS Signature Version 4
// (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv4.html; for S3:
// docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). Thread-safe.
class AwsSigner {
 public:
  AwsSigner(std::string region, std::string service)
      : region_(std::move(region)), service_(std::move(service)) {}

  // Adds X-Amz-Date, X-Amz-Security-Token where there is one, and Authorization, which covers all
  // headers of the request. S3 wants X-Amz-Content-Sha256 among them before.
  void Sign(AwsRequest& request, const AwsCredentials& credentials, Time now);

  const std::string& region() const { return region_; }

 private:
  Sha256Digest KeyFor(const AwsCredentials& credentials, std::string_view date);

  const std::string region_;
  const std::string service_;
  // Deriving a key takes four HMACs, and it holds for a day.
  std::mutex mutex_;
  std::string key_date_;
  std::string key_secret_;
  Sha256Digest key_{};
};

}  // namespace swamp

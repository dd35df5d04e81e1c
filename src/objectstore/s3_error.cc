#include "objectstore/s3_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "util/text.h"

namespace swamp {
namespace {

using Kind = StoreError::Kind;

// Codes as in docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and as Ceph RGW sends
// them.
constexpr std::array<std::string_view, 5> kExpired = {"ExpiredToken", "ExpiredTokenException",
                                                      "TokenRefreshRequired", "RequestExpired",
                                                      "InvalidToken"};
constexpr std::array<std::string_view, 7> kRejected = {
    "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidSecurity", "InvalidClientTokenId",
    "NotSignedUp",        "AuthFailure",           "UserSuspended"};
constexpr std::array<std::string_view, 4> kWrongRegion = {
    "PermanentRedirect", "AuthorizationHeaderMalformed", "TemporaryRedirect",
    "IllegalLocationConstraintException"};

template <std::size_t kSize>
bool IsOneOf(std::string_view code, const std::array<std::string_view, kSize>& codes) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

struct Diagnosis {
  Kind kind = Kind::kInvalid;
  std::string hint;
};

Diagnosis WrongRegion(const S3Config& config, const HttpResponse& response,
                      const S3ErrorBody& error) {
  std::string region(response.Header("x-amz-bucket-region"));
  if (region.empty()) region = error.region;
  if (!region.empty()) {
    return {Kind::kInvalid,
            fmt::format("The bucket is in the region {}: set `region` to that in the "
                        "datastore's config.",
                        Printable(region, 40))};
  }
  return {
      Kind::kInvalid,
      fmt::format(
          "The store refers to another address for the bucket \"{}\". Set `region` or `endpoint` "
          "in the datastore's config to where it is.",
          config.bucket)};
}

Diagnosis Diagnose(const S3Config& config, const HttpResponse& response, const S3ErrorBody& error) {
  const int status = response.status;
  if (SaysExpired(error)) {
    return {Kind::kDenied,
            "The session has expired. Log in again (for example: aws sso login), then run the "
            "command again."};
  }
  if (IsOneOf(error.code, kRejected)) {
    return {Kind::kDenied,
            "The store rejects the credentials. Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "or the "
            "profile that AWS_PROFILE names."};
  }
  if (error.code == "RequestTimeTooSkewed") {
    return {Kind::kDenied, "The clock of this machine is wrong. Set it."};
  }
  if (error.code == "NoSuchBucket" || error.code == "InvalidBucketName") {
    return {Kind::kNoBucket,
            fmt::format("Create the bucket \"{}\", or correct `bucket`, `region` or `endpoint` "
                        "in the datastore's config.",
                        config.bucket)};
  }
  if ((status >= 300 && status < 400) || IsOneOf(error.code, kWrongRegion)) {
    return WrongRegion(config, response, error);
  }
  if (status == 429 || error.code == "SlowDown") {
    return {Kind::kThrottled,
            "The store asks for fewer requests. Lower `pushConcurrency` or `pullConcurrency`, or "
            "try later."};
  }
  if (status == 401 || status == 403) {
    return {
        Kind::kDenied,
        "These credentials may not do this. Below the datastore's prefix they need s3:GetObject, "
        "s3:PutObject, s3:DeleteObject and s3:ListBucket."};
  }
  const bool transient = status == 408 || status == 409 || (status >= 500 && status != 501) ||
                         error.code == "RequestTimeout";
  if (transient)
    return {Kind::kUnknownOutcome, "The store is busy or out of order. Try again later."};
  if (status == 404 || status == 405) {
    return {Kind::kInvalid,
            "Check that `endpoint` in the datastore's config is that of an S3 server."};
  }
  return {Kind::kInvalid, ""};
}

}  // namespace

bool SaysExpired(const S3ErrorBody& error) { return IsOneOf(error.code, kExpired); }

StoreError S3ErrorFor(std::string_view subject, const S3Config& config,
                      const HttpResponse& response, const S3ErrorBody& error) {
  Diagnosis diagnosis = Diagnose(config, response, error);
  std::string message = fmt::format("{}: {}", subject, response.status);
  if (!error.code.empty()) {
    message += " " + Printable(error.code, 60);
  } else if (!response.body.empty()) {
    message += " with an answer that is not S3's";
  }
  // The server's own words only where the code leaves it open what is wrong.
  if (diagnosis.hint.empty() && !error.message.empty())
    message += ": " + Printable(error.message, 200);
  std::string request_id(response.Header("x-amz-request-id"));
  if (request_id.empty()) request_id = error.request_id;
  if (!request_id.empty()) message += fmt::format(" (request {})", Printable(request_id, 80));
  return {diagnosis.kind, std::move(message), std::move(diagnosis.hint)};
}

StoreError S3ErrorFor(std::string_view subject, const HttpFailure& failure) {
  Diagnosis diagnosis;
  switch (failure.kind()) {
    case HttpFailure::Kind::kBadUrl:
      diagnosis = {Kind::kInvalid, "Check `endpoint` in the datastore's config."};
      break;
    case HttpFailure::Kind::kNameNotFound:
      diagnosis = {Kind::kUnreachable,
                   "Check the network, and `endpoint` and `region` in the datastore's config."};
      break;
    case HttpFailure::Kind::kNotConnected:
      diagnosis = {
          Kind::kUnreachable,
          "Check the network, HTTPS_PROXY and NO_PROXY, and `endpoint` in the datastore's config."};
      break;
    case HttpFailure::Kind::kTls:
      diagnosis = {
          Kind::kUnreachable,
          "If the certificate comes from a private authority, name its file in AWS_CA_BUNDLE or "
          "SSL_CERT_FILE."};
      break;
    case HttpFailure::Kind::kTimeout:
      diagnosis = {Kind::kUnknownOutcome,
                   "Check the network, or raise `requestTimeoutMs` in the datastore's config."};
      break;
    case HttpFailure::Kind::kBroken:
      diagnosis = {Kind::kUnknownOutcome, "Check the network and try again."};
      break;
    case HttpFailure::Kind::kTooLarge:
      break;
  }
  return {diagnosis.kind, fmt::format("{}: {}", subject, failure.message()),
          std::move(diagnosis.hint)};
}

}  // namespace swamp

#include "objectstore/s3_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "objectstore/s3_error.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/text.h"

namespace swamp {
namespace {

// Error bodies and listings; objects go to sinks.
constexpr std::uint64_t kAnswerLimit = 16U << 20;
constexpr Duration kConnectTimeout{10'000};
// S3 allows 15 minutes; a 403 without a code is laid to the clock from this difference on.
constexpr Duration kSkewFrom{10 * 60'000};
constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

}  // namespace

S3Client::S3Client(S3ClientOptions options, HttpClient& http,
                   std::unique_ptr<AwsCredentialProvider> credentials)
    : options_(std::move(options)),
      endpoint_(options_.config, options_.region),
      prefix_(options_.config.prefix.empty() ? "" : options_.config.prefix + "/"),
      http_(http),
      credentials_(std::move(credentials)),
      signer_(options_.region, "s3") {}

std::string S3Client::Describe() const {
  std::string name = "s3://" + options_.config.bucket;
  if (!options_.config.prefix.empty()) name += "/" + options_.config.prefix;
  return name + " at " + endpoint_.origin();
}

std::string S3Client::Subject(const S3Request& request) const {
  const std::string what =
      request.key.empty() ? "" : fmt::format(" \"{}\"", Printable(request.key));
  return fmt::format("cannot {}{} in {}", request.operation, what, Describe());
}

StoreError S3Client::ErrorOf(const S3Request& request, const HttpFailure& failure) const {
  return S3ErrorFor(Subject(request), failure);
}

StoreError S3Client::ErrorOf(const S3Request& request, const HttpResponse& response) const {
  return S3ErrorFor(Subject(request), options_.config, response, ParseS3Error(response.body));
}

StoreError S3Client::Refusal(const S3Request& request, std::string_view reason) const {
  return {StoreError::Kind::kInvalid, fmt::format("{}: {}", Subject(request), reason), ""};
}

StoreError S3Client::Nonsense(const S3Request& request, std::string_view reason) const {
  return Refusal(request, fmt::format("the answer makes no sense: {}", reason));
}

Time S3Client::ServerTime(const Context& context, const HttpResponse& response) const {
  if (const auto date = ParseHttpDate(response.Header("date"))) return *date;
  return context.clock().Now() + Duration(clock_offset_);
}

// Whether the signature was refused because our clock is wrong, and we now know by how much.
bool S3Client::LearnClock(const Context& context, const HttpResponse& response,
                          const S3ErrorBody& error) {
  const auto date = ParseHttpDate(response.Header("date"));
  if (!date) return false;
  const Duration offset = *date - context.clock().Now();
  const Duration change = std::chrono::abs(offset - Duration(clock_offset_));
  const bool skewed =
      error.code == "RequestTimeTooSkewed" || (error.code.empty() && change >= kSkewFrom);
  if (!skewed) return false;
  clock_offset_ = offset.count();
  return true;
}

HttpResponse S3Client::SendOnce(const Context& context, const S3Request& request,
                                const AwsCredentials& credentials) {
  std::string payload_sha256(kEmptySha256);
  if (request.source != nullptr) {
    payload_sha256 = request.source_sha256;
  } else if (!request.body.empty()) {
    payload_sha256 = Sha256Hex(request.body);
  }
  AwsRequest signing;
  signing.method = request.method;
  const std::string path = endpoint_.PathOf(request.key.empty() ? "" : prefix_ + request.key);
  signing.path = path;
  for (const auto& [name, value] : request.query) {
    signing.query.emplace_back(PercentEncode(name), PercentEncode(value));
  }
  signing.headers = request.headers;
  signing.headers.emplace_back("Host", endpoint_.host());
  signing.headers.emplace_back("X-Amz-Content-Sha256", payload_sha256);
  signing.payload_sha256 = payload_sha256;
  signer_.Sign(signing, credentials, context.clock().Now() + Duration(clock_offset_));

  HttpRequest http_request;
  http_request.method = request.method;
  http_request.url = endpoint_.UrlOf(path, CanonicalQuery(std::move(signing.query)));
  http_request.headers = std::move(signing.headers);
  http_request.source = request.source;
  if (request.source == nullptr) http_request.body = request.body;
  http_request.sink = request.sink;
  http_request.body_limit = kAnswerLimit;
  http_request.connect_timeout = std::min(kConnectTimeout, options_.request_timeout);
  http_request.idle_timeout = options_.request_timeout;
  http_request.ca_file = options_.ca_file;
  try {
    return http_.Send(context, http_request);
  } catch (const HttpFailure& failure) {
    throw ErrorOf(request, failure);
  }
}

HttpResponse S3Client::Send(const Context& context, const S3Request& request) {
  bool clock_learnt = false;
  bool credentials_renewed = false;
  for (;;) {
    const AwsCredentials credentials = credentials_->Get(context);
    HttpResponse response = SendOnce(context, request, credentials);
    if (response.status != 400 && response.status != 401 && response.status != 403) return response;
    const S3ErrorBody error = ParseS3Error(response.body);
    if (!clock_learnt && response.status == 403 && LearnClock(context, response, error)) {
      clock_learnt = true;
    } else if (!credentials_renewed && SaysExpired(error)) {
      credentials_renewed = true;
      credentials_->Forget(credentials);
    } else {
      return response;
    }
  }
}

bool SaysNoSuchKey(const HttpResponse& response) {
  return response.status == 404 && ParseS3Error(response.body).code == "NoSuchKey";
}

}  // namespace swamp

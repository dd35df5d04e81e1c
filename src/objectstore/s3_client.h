#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objectstore/aws_credentials.h"
#include "objectstore/aws_signature.h"
#include "objectstore/object_store.h"
#include "objectstore/s3_endpoint.h"
#include "objectstore/s3_xml.h"
#include "util/http.h"

namespace swamp {

struct S3ClientOptions {
  S3Config config;
  std::string region;
  Duration request_timeout{30'000};
  std::string ca_file;  // see HttpRequest
};

struct S3Request {
  std::string_view operation;  // for messages: "read"
  std::string method = "GET";
  std::string key;  // relative to the prefix; empty: the bucket
  std::vector<std::pair<std::string, std::string>> query;  // not encoded yet
  HttpHeaders headers;
  std::string body;                    // used when `source` is null
  const BodySource* source = nullptr;  // borrowed, with its digest:
  std::string source_sha256;
  BodySink* sink = nullptr;
};

// Signed requests to one bucket below one prefix. Thread-safe.
//
// What can be said before a request takes effect is mended here, once: a signature that is refused
// for the clock of this machine or for credentials that have expired. No redirect is followed.
class S3Client {
 public:
  // Borrows `http`.
  S3Client(S3ClientOptions options, HttpClient& http,
           std::unique_ptr<AwsCredentialProvider> credentials);

  // Any answer. Throws StoreError when there is none.
  HttpResponse Send(const Context& context, const S3Request& request);

  // What to throw for an answer that is not the one hoped for.
  StoreError ErrorOf(const S3Request& request, const HttpResponse& response) const;
  // An error of kind kInvalid, for this reason; Nonsense lays it to the answer.
  StoreError Refusal(const S3Request& request, std::string_view reason) const;
  StoreError Nonsense(const S3Request& request, std::string_view reason) const;

  // The prefix with a "/" behind it, or "".
  const std::string& prefix() const { return prefix_; }
  // The server's clock at this answer.
  Time ServerTime(const Context& context, const HttpResponse& response) const;
  std::string Describe() const;

 private:
  HttpResponse SendOnce(const Context& context, const S3Request& request,
                        const AwsCredentials& credentials);
  bool LearnClock(const Context& context, const HttpResponse& response, const S3ErrorBody& error);
  std::string Subject(const S3Request& request) const;
  StoreError ErrorOf(const S3Request& request, const HttpFailure& failure) const;

  const S3ClientOptions options_;
  const S3Endpoint endpoint_;
  const std::string prefix_;
  HttpClient& http_;
  const std::unique_ptr<AwsCredentialProvider> credentials_;
  AwsSigner signer_;
  // How far the server's clock is ahead of ours, in ms.
  std::atomic<std::int64_t> clock_offset_ = 0;
};

// Whether a 404 says that the object, and nothing else, is missing.
bool SaysNoSuchKey(const HttpResponse& response);

}  // namespace swamp

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "objectstore/object_store.h"
#include "objectstore/s3_client.h"

namespace swamp {

class S3MultipartUpload;

struct S3Limits {
  // The longest body that goes as one PUT, and the least size of a part of a longer one. S3 takes
  // 5 GiB at once, and parts from 5 MiB on
  // (docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html).
  std::uint64_t single_put = 5ULL << 30;
  std::uint64_t part = 64ULL << 20;
};

// A bucket on a server that speaks the S3 protocol, or the part of it below a prefix: keys are
// relative to the prefix, and rights below it are enough.
//
// - A body goes as one conditional PUT. One that is too long for that goes in parts, which is
// refused
//   where completing can't be made conditional and the name isn't claimed.
// - Where conditions can't be relied on (capabilities), Put looks first and then writes.
// - The writer is kept as the metadata "swamp-writer".
// - `store_now` is the server's Date, last_modified has whole seconds.
class S3Store final : public ObjectStore {
 public:
  S3Store(S3ClientOptions options, HttpClient& http,
          std::unique_ptr<AwsCredentialProvider> credentials, S3Limits limits = {});

  GetResult Get(const Context& context, const std::string& key, const GetOptions& options,
                BodySink& sink) override;
  std::optional<ObjectState> Head(const Context& context, const std::string& key) override;
  PutResult Put(const Context& context, const std::string& key, const Body& body,
                const Condition& condition, const PutOptions& options) override;
  DeleteOutcome Delete(const Context& context, const std::string& key,
                       const ETag& expected) override;
  ListPage List(const Context& context, const ListOptions& options) override;
  Capabilities capabilities() const override { return capabilities_; }
  void Adopt(const Capabilities& capabilities) override { capabilities_ = capabilities; }
  std::string Describe() const override { return client_.Describe(); }

 private:
  S3Request NewRequest(std::string_view operation, const std::string& key) const;
  std::string IfMatch(const ETag& etag) const;
  bool SendsCondition(const Condition& condition) const;
  HttpHeaders PutHeaders(const Condition& condition, const PutOptions& options) const;
  ObjectState StateOf(const Context& context, const S3Request& request,
                      const HttpResponse& response) const;
  bool LooksRight(const Context& context, const std::string& key, const Condition& condition);
  PutResult PutWhole(const Context& context, const std::string& key, const Body& body,
                     const Condition& condition, const PutOptions& options);
  PutResult PutInParts(const Context& context, const std::string& key, const Body& body,
                       const Condition& condition, const PutOptions& options);
  ETag EtagOfParts(const Context& context, const std::string& key, const S3MultipartUpload& upload);

  S3Client client_;
  const S3Limits limits_;
  Capabilities capabilities_;
};

}  // namespace swamp

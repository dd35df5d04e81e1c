#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "objectstore/s3_client.h"

namespace swamp {

// A body sent in parts (docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html): started,
// filled, and then either completed or aborted, which frees what was sent.
class S3MultipartUpload {
 public:
  // Starts it. `headers` are those of the object.
  S3MultipartUpload(S3Client& client, const Context& context, std::string key, HttpHeaders headers);

  // Sends the body, in parts of at least `part_size` bytes. Throws StoreError kInvalid when its
  // bytes are no longer those that its digest was made of.
  void SendParts(const Context& context, const Body& body, std::uint64_t part_size);
  // The answer to the completion under `conditions`: 200 with a <CompleteMultipartUploadResult>, or
  // an error, which S3 may also send after a 200.
  HttpResponse Complete(const Context& context, HttpHeaders conditions);
  // The ETag that the object gets where ETags are MD5s: that of the parts' MD5s, and their number.
  std::string Md5Etag() const;
  // As well as can be, also when the context was cancelled.
  void Abort(const Context& context) noexcept;

  // For messages about Complete.
  S3Request CompletionRequest() const;

 private:
  std::string SendPart(const Context& context, const BodySource& part, const std::string& sha256);

  S3Client& client_;
  const std::string key_;
  std::string upload_id_;
  std::vector<std::string> part_etags_;  // as the server wrote them, quotes included
};

}  // namespace swamp

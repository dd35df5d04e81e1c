#include "objectstore/s3_multipart.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "objectstore/xml_reader.h"
#include "util/context.h"
#include "util/digest.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::uint64_t kMostParts = 10'000;
constexpr std::size_t kChunk = std::size_t{256} << 10;
constexpr Duration kAbortTime{10'000};

// A stretch of another source.
class Part final : public BodySource {
 public:
  Part(const BodySource& whole, std::uint64_t start, std::uint64_t size)
      : whole_(whole), start_(start), size_(size) {}
  std::uint64_t size() const override { return size_; }
  std::size_t ReadAt(std::uint64_t offset, char* buffer, std::size_t count) const override {
    if (offset >= size_) return 0;
    return whole_.ReadAt(start_ + offset, buffer,
                         static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - offset)));
  }

 private:
  const BodySource& whole_;
  const std::uint64_t start_;
  const std::uint64_t size_;
};

// The digest of `part`, whose bytes go into `whole` too.
std::string Sha256Of(const Context& context, const Part& part, Hasher& whole) {
  Hasher hasher;
  std::string chunk(kChunk, '\0');
  for (std::uint64_t offset = 0; offset < part.size();) {
    context.Check();
    const std::size_t count = part.ReadAt(offset, chunk.data(), chunk.size());
    hasher.Update({chunk.data(), count});
    whole.Update({chunk.data(), count});
    offset += count;
  }
  return hasher.FinishHex();
}

}  // namespace

S3MultipartUpload::S3MultipartUpload(S3Client& client, const Context& context, std::string key,
                                     HttpHeaders headers)
    : client_(client), key_(std::move(key)) {
  S3Request request;
  request.operation = "start writing";
  request.method = "POST";
  request.key = key_;
  request.query = {{"uploads", ""}};
  request.headers = std::move(headers);
  const HttpResponse response = client_.Send(context, request);
  if (response.status != 200) throw client_.ErrorOf(request, response);
  upload_id_ = XmlTexts(response.body)["InitiateMultipartUploadResult/UploadId"];
  if (upload_id_.empty()) throw client_.Nonsense(request, "it names no upload");
}

void S3MultipartUpload::SendParts(const Context& context, const Body& body,
                                  std::uint64_t part_size) {
  const std::uint64_t size = std::max(part_size, (body.size() + kMostParts - 1) / kMostParts);
  Hasher whole;
  std::uint64_t start = 0;
  do {  // an empty body has one part too
    const Part part(body, start, std::min(size, body.size() - start));
    part_etags_.push_back(SendPart(context, part, Sha256Of(context, part, whole)));
    start += part.size();
  } while (start < body.size());
  if (whole.FinishHex() != body.sha256_hex()) {
    throw StoreError(
        StoreError::Kind::kInvalid,
        fmt::format("the file for \"{}\" changed while it was being sent", Printable(key_)),
        "Something else writes to it. Run the command again.");
  }
}

std::string S3MultipartUpload::SendPart(const Context& context, const BodySource& part,
                                        const std::string& sha256) {
  S3Request request;
  request.operation = "write a part of";
  request.method = "PUT";
  request.key = key_;
  request.query = {{"partNumber", std::to_string(part_etags_.size() + 1)},
                   {"uploadId", upload_id_}};
  request.source = &part;
  request.source_sha256 = sha256;
  const HttpResponse response = client_.Send(context, request);
  if (response.status != 200) throw client_.ErrorOf(request, response);
  std::string etag(response.Header("etag"));
  if (etag.empty()) throw client_.Nonsense(request, "it has no ETag");
  return etag;
}

std::string S3MultipartUpload::Md5Etag() const {
  std::string digests;
  for (const std::string& etag : part_etags_) {
    const std::string hex = WithoutQuotes(etag);
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      unsigned byte = 0;
      std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
      digests += static_cast<char>(byte);
    }
  }
  return fmt::format("{}-{}", Md5Hex(digests), part_etags_.size());
}

S3Request S3MultipartUpload::CompletionRequest() const {
  S3Request request;
  request.operation = "write";
  request.method = "POST";
  request.key = key_;
  request.query = {{"uploadId", upload_id_}};
  return request;
}

HttpResponse S3MultipartUpload::Complete(const Context& context, HttpHeaders conditions) {
  S3Request request = CompletionRequest();
  request.headers = std::move(conditions);
  request.body = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < part_etags_.size(); ++i) {
    const std::string etag = ReplaceAll(ReplaceAll(part_etags_[i], "&", "&amp;"), "<", "&lt;");
    request.body +=
        fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, etag);
  }
  request.body += "</CompleteMultipartUpload>";
  return client_.Send(context, request);
}

void S3MultipartUpload::Abort(const Context& context) noexcept {
  try {
    Cancellation none;
    S3Request request;
    request.operation = "give up writing";
    request.method = "DELETE";
    request.key = key_;
    request.query = {{"uploadId", upload_id_}};
    client_.Send(Context(context.world(), none).WithTimeout(kAbortTime), request);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the error that led here is the one to show.
  }
}

}  // namespace swamp

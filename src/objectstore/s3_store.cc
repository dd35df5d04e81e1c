#include "objectstore/s3_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "objectstore/object_key.h"
#include "objectstore/s3_multipart.h"
#include "objectstore/xml_reader.h"
#include "util/context.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kLongestKey = 1024;  // bytes, the prefix included
constexpr std::string_view kWriterHeader = "x-amz-meta-swamp-writer";

std::optional<std::uint64_t> ContentLength(const HttpResponse& response) {
  const std::string_view text = response.Header("content-length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return length;
}

// Counts what goes through, and ends the transfer when it becomes too much.
class CountingSink final : public BodySink {
 public:
  CountingSink(BodySink& inner, std::uint64_t limit, const S3Client& client,
               const S3Request& request)
      : inner_(inner), limit_(limit), client_(client), request_(request) {}
  void Restart() override {
    count_ = 0;
    inner_.Restart();
  }
  void Write(std::string_view piece) override {
    if (piece.size() > limit_ - count_) {
      throw client_.Refusal(request_, fmt::format("it has more than {} bytes", limit_));
    }
    count_ += piece.size();
    inner_.Write(piece);
  }
  std::uint64_t count() const { return count_; }

 private:
  BodySink& inner_;
  const std::uint64_t limit_;
  const S3Client& client_;
  const S3Request& request_;
  std::uint64_t count_ = 0;
};

}  // namespace

S3Store::S3Store(S3ClientOptions options, HttpClient& http,
                 std::unique_ptr<AwsCredentialProvider> credentials, S3Limits limits)
    : client_(std::move(options), http, std::move(credentials)), limits_(limits) {}

S3Request S3Store::NewRequest(std::string_view operation, const std::string& key) const {
  CheckKey(operation, key);
  if (client_.prefix().size() + key.size() > kLongestKey) {
    throw StoreError(
        StoreError::Kind::kInvalid,
        fmt::format("cannot {} \"{}\": with the prefix before it, it is longer than {} bytes",
                    operation, Printable(key), kLongestKey),
        "");
  }
  S3Request request;
  request.operation = operation;
  request.key = key;
  return request;
}

std::string S3Store::IfMatch(const ETag& etag) const {
  if (capabilities_.bare_etags || etag.value.starts_with("W/")) return etag.value;
  return "\"" + etag.value + "\"";
}

// What the headers of an answer say of the object.
ObjectState S3Store::StateOf(const Context& context, const S3Request& request,
                             const HttpResponse& response) const {
  ObjectState state;
  state.info.key = request.key;
  state.info.etag.value = WithoutQuotes(response.Header("etag"));
  if (state.info.etag.value.empty()) throw client_.Nonsense(request, "it has no ETag");
  state.store_now = client_.ServerTime(context, response);
  state.info.last_modified =
      ParseHttpDate(response.Header("last-modified")).value_or(state.store_now);
  const std::string_view writer = response.Header(kWriterHeader);
  state.writer = PercentDecode(writer).value_or(std::string(writer));
  return state;
}

GetResult S3Store::Get(const Context& context, const std::string& key, const GetOptions& options,
                       BodySink& sink) {
  S3Request request = NewRequest("read", key);
  CountingSink counting(sink, options.size_limit, client_, request);
  request.sink = &counting;
  if (options.unless) request.headers.emplace_back("If-None-Match", IfMatch(*options.unless));
  const HttpResponse response = client_.Send(context, request);
  GetResult result;
  if (response.status == 304) {
    result.outcome = GetResult::Outcome::kUnchanged;
    return result;
  }
  if (SaysNoSuchKey(response)) return result;
  if (response.status != 200) throw client_.ErrorOf(request, response);
  // The HTTP client has seen the end of a body with a length or in chunks; any other might be torn.
  const auto length = ContentLength(response);
  if (length ? *length != counting.count() : response.Header("transfer-encoding").empty()) {
    throw client_.Nonsense(request, "its length cannot be checked");
  }
  result.outcome = GetResult::Outcome::kFound;
  result.state = StateOf(context, request, response);
  result.state.info.size = counting.count();
  return result;
}

std::optional<ObjectState> S3Store::Head(const Context& context, const std::string& key) {
  S3Request request = NewRequest("look at", key);
  request.method = "HEAD";
  // An answer to HEAD has no body that says why there is nothing, and a missing bucket, say, must
  // not pass for a missing object. So the same is asked as a GET of one byte, which explains
  // itself.
  S3Request why = request;
  why.method = "GET";
  why.headers.emplace_back("Range", "bytes=0-0");
  for (int attempt = 0; attempt < 3; ++attempt) {
    const HttpResponse response = client_.Send(context, request);
    if (response.status == 200) {
      const auto length = ContentLength(response);
      if (!length) throw client_.Nonsense(request, "it has no length");
      ObjectState state = StateOf(context, request, response);
      state.info.size = *length;
      return state;
    }
    StringSink byte;
    why.sink = &byte;
    const HttpResponse explanation = client_.Send(context, why);
    if (SaysNoSuchKey(explanation)) return std::nullopt;
    const bool is_there_now =
        explanation.status == 200 || explanation.status == 206 || explanation.status == 416;
    if (!is_there_now) throw client_.ErrorOf(request, explanation);
  }
  throw StoreError(
      StoreError::Kind::kUnknownOutcome,
      fmt::format("cannot look at \"{}\" in {}: it comes and goes", Printable(key), Describe()),
      "Try again.");
}

bool S3Store::SendsCondition(const Condition& condition) const {
  return condition.etag() ? capabilities_.conditional_replace : capabilities_.conditional_create;
}

HttpHeaders S3Store::PutHeaders(const Condition& condition, const PutOptions& options) const {
  HttpHeaders headers;
  if (SendsCondition(condition)) {
    if (condition.etag()) {
      headers.emplace_back("If-Match", IfMatch(*condition.etag()));
    } else {
      headers.emplace_back("If-None-Match", "*");
    }
  }
  if (!options.writer.empty())
    headers.emplace_back(kWriterHeader, PercentEncode(options.writer, "@:+"));
  return headers;
}

bool S3Store::LooksRight(const Context& context, const std::string& key,
                         const Condition& condition) {
  const auto state = Head(context, key);
  return condition.etag() ? state && state->info.etag == *condition.etag() : !state;
}

PutResult S3Store::Put(const Context& context, const std::string& key, const Body& body,
                       const Condition& condition, const PutOptions& options) {
  const bool in_parts = options.in_parts || body.size() > limits_.single_put;
  if (in_parts && !options.in_parts && !capabilities_.conditional_multipart &&
      !options.name_is_claimed) {
    throw StoreError(
        StoreError::Kind::kInvalid,
        fmt::format("cannot write \"{}\" in {}: it has {} bytes, and this store cannot take more "
                    "than {} at once without risk to what others write",
                    Printable(key), Describe(), body.size(), limits_.single_put),
        "Keep files of this size elsewhere.");
  }
  const bool server_decides = SendsCondition(condition) && (!in_parts || options.in_parts ||
                                                            capabilities_.conditional_multipart);
  if (!server_decides && !LooksRight(context, key, condition)) return {};
  return in_parts ? PutInParts(context, key, body, condition, options)
                  : PutWhole(context, key, body, condition, options);
}

PutResult S3Store::PutWhole(const Context& context, const std::string& key, const Body& body,
                            const Condition& condition, const PutOptions& options) {
  S3Request request = NewRequest("write", key);
  request.method = "PUT";
  request.headers = PutHeaders(condition, options);
  request.source = &body;
  request.source_sha256 = body.sha256_hex();
  const HttpResponse response = client_.Send(context, request);
  const bool replaces_nothing = condition.etag() && SaysNoSuchKey(response);
  if (response.status == 412 || replaces_nothing) return {};
  if (response.status != 200 && response.status != 201) throw client_.ErrorOf(request, response);
  PutResult result;
  result.outcome = PutResult::Outcome::kStored;
  result.etag.value = WithoutQuotes(response.Header("etag"));
  if (result.etag.value.empty()) {
    throw StoreError(StoreError::Kind::kUnknownOutcome,
                     client_.Nonsense(request, "it has no ETag").message(), "");
  }
  result.store_now = client_.ServerTime(context, response);
  return result;
}

PutResult S3Store::PutInParts(const Context& context, const std::string& key, const Body& body,
                              const Condition& condition, const PutOptions& options) {
  HttpHeaders headers = PutHeaders(condition, options);
  const auto is_condition = [](const auto& header) { return header.first.starts_with("If-"); };
  const auto middle = std::stable_partition(headers.begin(), headers.end(), is_condition);
  HttpHeaders conditions;
  if (options.in_parts || capabilities_.conditional_multipart)
    conditions.assign(headers.begin(), middle);
  S3MultipartUpload upload(client_, context, NewRequest("write", key).key,
                           HttpHeaders(middle, headers.end()));
  try {
    upload.SendParts(context, body, limits_.part);
    const HttpResponse response = upload.Complete(context, std::move(conditions));
    const bool replaces_nothing = condition.etag() && SaysNoSuchKey(response);
    if (response.status == 412 || replaces_nothing) {
      upload.Abort(context);
      return {};
    }
    const auto texts = XmlTexts(response.body);
    if (response.status != 200 || !texts.contains("CompleteMultipartUploadResult")) {
      // Also an error that follows a 200: S3 begins its answer before it has put the parts
      // together.
      HttpResponse refusal = response;
      if (refusal.status == 200) refusal.status = 500;
      throw client_.ErrorOf(upload.CompletionRequest(), refusal);
    }
    PutResult result;
    result.outcome = PutResult::Outcome::kStored;
    result.store_now = client_.ServerTime(context, response);
    const auto etag = texts.find("CompleteMultipartUploadResult/ETag");
    if (etag != texts.end()) result.etag.value = WithoutQuotes(etag->second);
    if (result.etag.value.empty()) result.etag = EtagOfParts(context, key, upload);
    return result;
  } catch (...) {
    upload.Abort(context);
    throw;
  }
}

// Ceph RGW 16 completes without naming the ETag.
ETag S3Store::EtagOfParts(const Context& context, const std::string& key,
                          const S3MultipartUpload& upload) {
  const auto state = Head(context, key);
  if (state && state->info.etag.value == upload.Md5Etag()) return state->info.etag;
  throw StoreError(StoreError::Kind::kUnknownOutcome,
                   client_.Refusal(upload.CompletionRequest(), "the answer has no ETag").message(),
                   "");
}

DeleteOutcome S3Store::Delete(const Context& context, const std::string& key,
                              const ETag& expected) {
  S3Request request = NewRequest("delete", key);
  request.method = "DELETE";
  if (capabilities_.conditional_delete) {
    request.headers.emplace_back("If-Match", IfMatch(expected));
  } else {
    const auto state = Head(context, key);
    if (!state) return DeleteOutcome::kAbsent;
    if (state->info.etag != expected) return DeleteOutcome::kRefused;
  }
  const HttpResponse response = client_.Send(context, request);
  if (response.status == 200 || response.status == 204) return DeleteOutcome::kDeleted;
  if (response.status == 412) return DeleteOutcome::kRefused;
  if (SaysNoSuchKey(response)) return DeleteOutcome::kAbsent;
  throw client_.ErrorOf(request, response);
}

ListPage S3Store::List(const Context& context, const ListOptions& options) {
  S3Request request;
  request.operation = "list";
  const std::string& prefix = client_.prefix();
  request.query = {{"list-type", "2"},
                   {"encoding-type", "url"},
                   {"max-keys", std::to_string(std::clamp(options.page_size, 1, 1000))},
                   {"prefix", prefix + options.prefix}};
  if (options.folders) request.query.emplace_back("delimiter", "/");
  if (!options.continuation.empty())
    request.query.emplace_back("continuation-token", options.continuation);
  const HttpResponse response = client_.Send(context, request);
  if (response.status != 200) throw client_.ErrorOf(request, response);
  S3Listing listing;
  const std::string problem = ParseS3Listing(response.body, listing);
  if (!problem.empty()) throw client_.Nonsense(request, problem);
  const auto without_prefix = [&](std::string& key) {
    if (!key.starts_with(prefix + options.prefix)) {
      throw client_.Nonsense(request, fmt::format("it has the key {}, which was not asked for", Printable(key, 120)));
    }
    key.erase(0, prefix.size());
  };
  for (ObjectInfo& info : listing.objects) without_prefix(info.key);
  for (std::string& folder : listing.folders) without_prefix(folder);
  return {std::move(listing.objects), std::move(listing.folders), std::move(listing.next_token)};
}

}  // namespace swamp

#include "objectstore/object_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/digest.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10;

std::string CodeOf(StoreError::Kind kind) {
  switch (kind) {
    case StoreError::Kind::kUnreachable:
    case StoreError::Kind::kUnknownOutcome:
    case StoreError::Kind::kThrottled:
      return "store_unreachable";
    case StoreError::Kind::kDenied:
      return "store_access_denied";
    case StoreError::Kind::kNoBucket:
      return "store_no_bucket";
    case StoreError::Kind::kInvalid:
      break;
  }
  return "store_error";
}

std::string HashOf(const BodySource& source, Hasher::Kind kind) {
  Hasher hasher(kind);
  const std::uint64_t size = source.size();
  std::string chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, size)), '\0');
  for (std::uint64_t offset = 0; offset < size;) {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), size - offset));
    const std::size_t count = source.ReadAt(offset, chunk.data(), wanted);
    hasher.Update({chunk.data(), count});
    offset += count;
  }
  return hasher.FinishHex();
}

}  // namespace

StoreError::StoreError(Kind kind, std::string message, std::string hint)
    : UserError(CodeOf(kind), std::move(message), std::move(hint)), kind_(kind) {}

Body Body::FromBytes(std::string bytes) {
  Body body;
  body.sha256_hex_ = Sha256Hex(bytes);
  body.size_ = bytes.size();
  body.bytes_ = std::move(bytes);
  return body;
}

Body Body::FromFile(std::unique_ptr<InputFile> file) {
  Body body = FromFile(std::move(file), {});
  body.sha256_hex_ = HashOf(body, Hasher::Kind::kSha256);
  return body;
}

Body Body::FromFile(std::unique_ptr<InputFile> file, std::string sha256_hex) {
  Body body;
  body.size_ = file->Info().size;
  body.file_ = std::move(file);
  body.sha256_hex_ = std::move(sha256_hex);
  return body;
}

std::uint64_t Body::size() const { return size_; }

std::size_t Body::ReadAt(std::uint64_t offset, char* buffer, std::size_t count) const {
  if (offset >= size_) return 0;
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - offset));
  if (!file_) return bytes_.copy(buffer, wanted, static_cast<std::size_t>(offset));
  const std::size_t got = file_->ReadAt(offset, {buffer, wanted});
  if (got < wanted) {
    throw StoreError(StoreError::Kind::kInvalid, "a file became shorter while it was being sent",
                     "Something else writes to it. Run the command again.");
  }
  return got;
}

std::string Body::Md5HexNow() const { return HashOf(*this, Hasher::Kind::kMd5); }

std::optional<ObjectWithBytes> GetBytes(const Context& context, ObjectStore& store,
                                        const std::string& key, std::uint64_t limit) {
  StringSink sink;
  GetOptions options;
  options.size_limit = limit;
  GetResult result = store.Get(context, key, options, sink);
  if (!result.found()) return std::nullopt;
  return ObjectWithBytes{std::move(result.state), std::move(sink.bytes)};
}

namespace {

// Hands over each page of a listing, to its end.
template <typename TakePage>
void ForEachPage(const Context& context, ObjectStore& store, ListOptions options, const TakePage& take) {
  const auto nonsense = [&](std::string_view why) {
    return StoreError(StoreError::Kind::kInvalid, fmt::format("cannot list \"{}\": {}", Printable(options.prefix, 120), why), "");
  };
  std::string last;
  for (;;) {
    ListPage page = store.List(context, options);
    for (const std::string* first : {page.objects.empty() ? nullptr : &page.objects.front().key,
                                     page.folders.empty() ? nullptr : &page.folders.front()}) {
      if (first != nullptr && *first <= last) throw nonsense("a page does not follow the one before it");
    }
    if (!page.objects.empty()) last = std::max(last, page.objects.back().key);
    if (!page.folders.empty()) last = std::max(last, page.folders.back());
    std::string next = std::move(page.continuation);
    take(std::move(page));
    if (next.empty()) return;
    if (next == options.continuation) throw nonsense("the same page comes again and again");
    options.continuation = std::move(next);
  }
}

}  // namespace

std::vector<ObjectInfo> ListAll(const Context& context, ObjectStore& store, const std::string& prefix) {
  std::vector<ObjectInfo> all;
  ForEachPage(context, store, {.prefix = prefix, .continuation = {}},
              [&](ListPage page) { std::move(page.objects.begin(), page.objects.end(), std::back_inserter(all)); });
  return all;
}

std::vector<std::string> ListFolderNames(const Context& context, ObjectStore& store, const std::string& prefix) {
  std::vector<std::string> names;
  ForEachPage(context, store, {.prefix = prefix, .continuation = {}, .folders = true}, [&](const ListPage& page) {
    for (const std::string& folder : page.folders) {
      names.push_back(folder.substr(prefix.size(), folder.size() - prefix.size() - 1));
    }
  });
  return names;
}

}  // namespace swamp

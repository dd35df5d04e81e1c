#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/files.h"
#include "util/http.h"
#include "util/time.h"

namespace swamp {

// The version of an object as the store names it: opaque, compared byte by byte, kept without quotes.
// Equal versions have equal ETags; equal bytes need not.
struct ETag {
  std::string value;
  bool operator==(const ETag&) const = default;
};

struct ObjectInfo {
  std::string key;
  ETag etag;
  std::uint64_t size = 0;  // bytes
  Time last_modified{};    // by the store's clock, often to the second only
};

// What is known of one object, at one moment of the store's clock.
struct ObjectState {
  ObjectInfo info;
  Time store_now{};    // the store's clock at the answer; last_modified counts on the same clock
  std::string writer;  // who wrote it ("user@host"), where the store keeps that; else empty
};

// Bytes to store: in memory, or an open file. Their digests are computed once.
class Body final : public BodySource {
 public:
  static Body FromBytes(std::string bytes);
  // Reads the file once for its digest; later reads see the same file even if its name is reused.
  static Body FromFile(std::unique_ptr<InputFile> file);
  // The same without that read, for a caller that has just hashed this very open file.
  static Body FromFile(std::unique_ptr<InputFile> file, std::string sha256_hex);

  std::uint64_t size() const override;
  std::size_t ReadAt(std::uint64_t offset, char* buffer, std::size_t count) const override;
  const std::string& sha256_hex() const { return sha256_hex_; }
  // Reads the bytes again when they are a file's.
  std::string Md5HexNow() const;
  // The bytes, if they are in memory.
  const std::string* bytes() const { return file_ ? nullptr : &bytes_; }

 private:
  std::string bytes_;
  std::unique_ptr<InputFile> file_;
  std::uint64_t size_ = 0;
  std::string sha256_hex_;
};

// What has to be true of a key for a write to happen. There is no unconditional write.
class Condition {
 public:
  static Condition Absent() { return {}; }
  static Condition Matches(ETag etag) { return Condition(std::move(etag)); }
  // Nothing: the key must be absent.
  const std::optional<ETag>& etag() const { return etag_; }

 private:
  Condition() = default;
  explicit Condition(ETag etag) : etag_(std::move(etag)) {}
  std::optional<ETag> etag_;
};

struct PutOptions {
  std::string writer;  // kept with the object where the store can
  // The key lies below a name that this caller alone owns (it won a create-only write), so that a
  // store whose multipart completion ignores conditions may still take a body of over 5 GiB.
  bool name_is_claimed = false;
  // Send the body in parts however short it is, where the store knows parts at all: lets the probe
  // see whether conditions hold then too.
  bool in_parts = false;
};

struct PutResult {
  enum class Outcome {
    kStored,
    kRefused,  // the condition did not hold; nothing was written
  };
  Outcome outcome = Outcome::kRefused;
  ETag etag;         // kStored: of the new version
  Time store_now{};  // kStored: the store's clock at the answer
  // kStored: refused, but the very bytes are there, and no request of ours can have put them.
  bool found_same = false;

  bool stored() const { return outcome == Outcome::kStored; }
};

enum class DeleteOutcome {
  kDeleted,
  kAbsent,   // it was gone already
  kRefused,  // another version is there; nothing was deleted
};

struct GetOptions {
  std::optional<ETag> unless;             // answer kUnchanged when this version is still there
  std::uint64_t size_limit = UINT64_MAX;  // a larger object is a StoreError of kind kInvalid
};

struct GetResult {
  enum class Outcome { kFound, kAbsent, kUnchanged };
  Outcome outcome = Outcome::kAbsent;
  ObjectState state;  // kFound only

  bool found() const { return outcome == Outcome::kFound; }
};

struct ListOptions {
  std::string prefix;            // byte-wise; may be empty
  std::string continuation;      // ListPage::continuation of the page before, or empty
  int page_size = 1000;          // at most this many, objects and folders together; 1 to 1000
  bool folders = false;          // what is below a "/" after the prefix is told of by one folder, not key by key
};

struct ListPage {
  std::vector<ObjectInfo> objects;  // in UTF-8 byte order of their keys
  std::vector<std::string> folders;  // ListOptions::folders: whole prefixes, each ending in "/", in the same order
  std::string continuation;         // empty: this was the last page
};

// What a store can be relied on for, as the probe found it (probe.h).
struct Capabilities {
  bool conditional_create = true;       // PUT If-None-Match: *
  bool conditional_replace = true;      // PUT If-Match
  bool replace_refuses_missing = true;  // PUT If-Match of a missing key writes nothing
  bool conditional_delete = true;       // DELETE If-Match
  bool conditional_multipart = true;    // CompleteMultipartUpload with conditions
  bool bare_etags = false;              // If-Match wants the ETag without quotes

  // Whether conditional writes hold, on which everything rests.
  bool safe() const { return conditional_create && conditional_replace; }
  // Whether a removed path needs a tombstone, because deleting can't be made conditional.
  bool needs_tombstones() const { return !conditional_delete || !replace_refuses_missing; }
  bool operator==(const Capabilities&) const = default;
};

// A call that was not answered as hoped. Its message is one line: operation, key, status, the store's
// code and request id, and never a credential; its hint says what to do.
class StoreError : public UserError {
 public:
  enum class Kind {
    kUnreachable,     // store_unreachable: never sent
    kUnknownOutcome,  // store_unreachable: time-out, broken connection, 5xx, 409: it may have taken effect
    kThrottled,       // store_unreachable: 429 or 503 SlowDown: it did not take effect
    kDenied,          // store_access_denied: 403; says nothing of whether the key exists
    kNoBucket,        // store_no_bucket
    kInvalid,         // store_error: a request or an answer that makes no sense
  };
  StoreError(Kind kind, std::string message, std::string hint);
  Kind kind() const { return kind_; }
  // Whether another try may fare better.
  bool transient() const {
    return kind_ == Kind::kUnreachable || kind_ == Kind::kUnknownOutcome || kind_ == Kind::kThrottled;
  }

 private:
  Kind kind_;
};

// A flat map from keys to byte strings with compare-and-swap: the only door to a bucket.
//
// Thread-safe. Every call may take seconds and ends early through its Context. A call that returns has
// been answered by the store; one that throws a StoreError of kind kUnknownOutcome may or may not have
// taken effect, and the caller has to find out by reading (resolving_store.h does so).
// Keys are UTF-8, 1 to 1024 bytes, relative, without empty, "." or ".." segments (relative_path.h); others are refused with
// a StoreError of kind kInvalid before anything is sent. Keys in a listing are whatever is there.
//
// All makes pass one suite: object_store_suite.h.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // The body goes to `sink` as it arrives; on kFound all of it has been written and its length was right.
  // kAbsent means a clean 404, never an error.
  virtual GetResult Get(const Context& context, const std::string& key, const GetOptions& options,
                        BodySink& sink) = 0;
  virtual std::optional<ObjectState> Head(const Context& context, const std::string& key) = 0;
  virtual PutResult Put(const Context& context, const std::string& key, const Body& body,
                        const Condition& condition, const PutOptions& options) = 0;
  // Deletes the version `expected`. Atomic where capabilities().conditional_delete; elsewhere the
  // version is looked at just before, and a write that comes between the two is lost: only for keys
  // that have one writer.
  virtual DeleteOutcome Delete(const Context& context, const std::string& key, const ETag& expected) = 0;
  // A page that claims to be complete and isn't is an error, never a short answer.
  virtual ListPage List(const Context& context, const ListOptions& options) = 0;

  virtual Capabilities capabilities() const = 0;
  // Takes over what a probe found. Not while other calls are under way.
  virtual void Adopt(const Capabilities& capabilities) = 0;
  // "s3://bucket/prefix at https://host" or "/folder": for messages; no credentials.
  virtual std::string Describe() const = 0;
};

// Collects a body in memory. `bytes` is whole when Get has returned kFound.
class StringSink final : public BodySink {
 public:
  void Restart() override { bytes.clear(); }
  void Write(std::string_view piece) override { bytes.append(piece); }
  std::string bytes;
};

struct ObjectWithBytes {
  ObjectState state;
  std::string bytes;
};

// Get into memory, for small objects: more than `limit` bytes is an error. Nothing: absent.
std::optional<ObjectWithBytes> GetBytes(const Context& context, ObjectStore& store, const std::string& key,
                                        std::uint64_t limit = 64ULL << 20);
// All pages of a listing.
std::vector<ObjectInfo> ListAll(const Context& context, ObjectStore& store, const std::string& prefix);
// The names between the prefix and the next "/", of all keys that have one there: a request for a thousand of them.
std::vector<std::string> ListFolderNames(const Context& context, ObjectStore& store, const std::string& prefix);

}  // namespace swamp

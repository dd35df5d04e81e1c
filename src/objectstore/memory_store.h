#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "objectstore/object_store.h"

namespace swamp {

class Clock;

// How a make of S3 server treats conditions. The differences were measured on the real ones
// (docs/s3-guide.md, "S3 servers").
struct ServerBehaviour {
  enum class ReplaceMissing { kRefused, kCreates };

  bool create_condition = true;   // PUT If-None-Match: * is looked at
  bool replace_condition = true;  // PUT If-Match is looked at
  bool delete_condition = true;   // DELETE If-Match is looked at
  bool multipart_condition = true;
  bool only_bare_etags = false;  // an If-Match in quotes matches nothing
  ReplaceMissing replace_missing = ReplaceMissing::kRefused;
  bool opaque_etags = false;  // ETags that are not the MD5 of the body, as with KMS

  static ServerBehaviour Aws() { return {}; }
  static ServerBehaviour CephRgw();
  static ServerBehaviour OldMinio();
  static ServerBehaviour Unsafe();

  // What a probe of such a server finds.
  Capabilities ToCapabilities() const;
};

// The server's side of a store in memory: objects, and the clock that stamps them. Thread-safe;
// never waits, sleeps or starts a thread.
class MemoryBucket {
 public:
  using RequestHook = std::function<void(std::string_view method, const std::string& key)>;

  explicit MemoryBucket(Clock& clock, ServerBehaviour behaviour = {})
      : clock_(clock), behaviour_(behaviour) {}

  // Called before each request is served, with no lock held: counts requests, or gives way to
  // others. Not while requests are under way.
  void SetRequestHook(RequestHook hook) { hook_ = std::move(hook); }

  // Foreign hands: writes or removes an object whatever is there. Answers the new version.
  ETag Plant(const std::string& key, std::string bytes);
  bool Erase(const std::string& key);
  std::optional<std::string> Peek(const std::string& key) const;
  std::size_t size() const;

 private:
  friend class MemoryStore;

  struct Object {
    // Shared by the bucket and the readers that are still copying from a version replaced
    // meanwhile.
    std::shared_ptr<const std::string> bytes;
    ETag etag;
    Time last_modified{};
    std::string writer;
  };

  void Request(std::string_view method, const std::string& key) const {
    if (hook_) hook_(method, key);
  }
  ETag NewEtag(const std::string& bytes);
  ObjectState StateOf(const std::string& key, const Object& object) const;

  Clock& clock_;
  const ServerBehaviour behaviour_;
  RequestHook hook_;
  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::uint64_t version_ = 0;
};

// A client of a MemoryBucket; several may share one. It sends what an S3 client would send for its
// capabilities: where conditions can't be relied on it looks first and then writes, as two
// requests.
class MemoryStore final : public ObjectStore {
 public:
  // Borrows the bucket.
  explicit MemoryStore(MemoryBucket& bucket) : bucket_(bucket) {}

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
  std::string Describe() const override { return "a bucket in memory"; }

 private:
  bool Holds(const std::string& key, const Condition& condition, const PutOptions& options) const;

  MemoryBucket& bucket_;
  Capabilities capabilities_;
};

}  // namespace swamp

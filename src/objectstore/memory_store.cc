#include "objectstore/memory_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "objectstore/object_key.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/digest.h"
#include "util/text.h"

namespace swamp {

ServerBehaviour ServerBehaviour::CephRgw() {
  ServerBehaviour behaviour;
  behaviour.delete_condition = false;
  behaviour.multipart_condition = false;
  behaviour.only_bare_etags = true;
  return behaviour;
}

ServerBehaviour ServerBehaviour::OldMinio() {
  ServerBehaviour behaviour;
  behaviour.delete_condition = false;
  behaviour.multipart_condition = false;
  behaviour.replace_missing = ReplaceMissing::kCreates;
  return behaviour;
}

ServerBehaviour ServerBehaviour::Unsafe() {
  ServerBehaviour behaviour;
  behaviour.create_condition = false;
  behaviour.replace_condition = false;
  behaviour.delete_condition = false;
  behaviour.multipart_condition = false;
  return behaviour;
}

Capabilities ServerBehaviour::ToCapabilities() const {
  Capabilities capabilities;
  capabilities.conditional_create = create_condition;
  capabilities.conditional_replace = replace_condition;
  capabilities.replace_refuses_missing =
      replace_condition && replace_missing == ReplaceMissing::kRefused;
  capabilities.conditional_delete = delete_condition;
  capabilities.conditional_multipart = multipart_condition;
  capabilities.bare_etags = only_bare_etags;
  return capabilities;
}

ETag MemoryBucket::NewEtag(const std::string& bytes) {
  ++version_;
  return {Md5Hex(behaviour_.opaque_etags ? fmt::format("version {}", version_) : bytes)};
}

ETag MemoryBucket::Plant(const std::string& key, std::string bytes) {
  const std::lock_guard lock(mutex_);
  Object object;
  object.etag = NewEtag(bytes);
  object.bytes = std::make_shared<const std::string>(std::move(bytes));
  object.last_modified = clock_.Now();
  return (objects_[key] = std::move(object)).etag;
}

bool MemoryBucket::Erase(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return objects_.erase(key) > 0;
}

std::optional<std::string> MemoryBucket::Peek(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return std::nullopt;
  return *found->second.bytes;
}

std::size_t MemoryBucket::size() const {
  const std::lock_guard lock(mutex_);
  return objects_.size();
}

ObjectState MemoryBucket::StateOf(const std::string& key, const Object& object) const {
  // Last-Modified is a header with whole seconds.
  const auto seconds = std::chrono::floor<std::chrono::seconds>(object.last_modified);
  return {{key, object.etag, object.bytes->size(), seconds}, clock_.Now(), object.writer};
}

GetResult MemoryStore::Get(const Context& context, const std::string& key,
                           const GetOptions& options, BodySink& sink) {
  context.Check();
  CheckKey("read", key);
  bucket_.Request("GET", key);
  std::shared_ptr<const std::string> bytes;
  GetResult result;
  {
    const std::lock_guard lock(bucket_.mutex_);
    const auto found = bucket_.objects_.find(key);
    if (found == bucket_.objects_.end()) return result;
    if (options.unless == found->second.etag) {
      result.outcome = GetResult::Outcome::kUnchanged;
      return result;
    }
    bytes = found->second.bytes;
    result.outcome = GetResult::Outcome::kFound;
    result.state = bucket_.StateOf(key, found->second);
  }
  if (bytes->size() > options.size_limit) {
    throw StoreError(
        StoreError::Kind::kInvalid,
        fmt::format("cannot read \"{}\": it has more than {} bytes", key, options.size_limit), "");
  }
  sink.Write(*bytes);
  return result;
}

std::optional<ObjectState> MemoryStore::Head(const Context& context, const std::string& key) {
  context.Check();
  CheckKey("look at", key);
  bucket_.Request("HEAD", key);
  const std::lock_guard lock(bucket_.mutex_);
  const auto found = bucket_.objects_.find(key);
  if (found == bucket_.objects_.end()) return std::nullopt;
  return bucket_.StateOf(key, found->second);
}

// The bucket's mutex is held. What the server makes of the condition that the client has sent.
bool MemoryStore::Holds(const std::string& key, const Condition& condition,
                        const PutOptions& options) const {
  const ServerBehaviour& server = bucket_.behaviour_;
  if (options.in_parts && !server.multipart_condition) return true;
  const auto found = bucket_.objects_.find(key);
  const bool exists = found != bucket_.objects_.end();
  if (!condition.etag()) return !exists || !server.create_condition;
  if (!server.replace_condition) return true;
  if (server.only_bare_etags && !capabilities_.bare_etags) return false;
  if (!exists) return server.replace_missing == ServerBehaviour::ReplaceMissing::kCreates;
  return found->second.etag == *condition.etag();
}

PutResult MemoryStore::Put(const Context& context, const std::string& key, const Body& body,
                           const Condition& condition, const PutOptions& options) {
  context.Check();
  CheckKey("write", key);
  const bool server_decides =
      condition.etag() ? capabilities_.conditional_replace : capabilities_.conditional_create;
  if (!server_decides) {
    const auto state = Head(context, key);
    const bool holds = condition.etag() ? state && state->info.etag == *condition.etag() : !state;
    if (!holds) return {};
  }
  std::string bytes(static_cast<std::size_t>(body.size()), '\0');
  body.ReadAt(0, bytes.data(), bytes.size());

  bucket_.Request("PUT", key);
  const std::lock_guard lock(bucket_.mutex_);
  if (server_decides && !Holds(key, condition, options)) return {};
  MemoryBucket::Object& object = bucket_.objects_[key];
  object.etag = bucket_.NewEtag(bytes);
  object.bytes = std::make_shared<const std::string>(std::move(bytes));
  object.last_modified = bucket_.clock_.Now();
  object.writer = options.writer;
  return {PutResult::Outcome::kStored, object.etag, object.last_modified};
}

DeleteOutcome MemoryStore::Delete(const Context& context, const std::string& key,
                                  const ETag& expected) {
  context.Check();
  CheckKey("delete", key);
  if (!capabilities_.conditional_delete) {
    const auto state = Head(context, key);
    if (!state) return DeleteOutcome::kAbsent;
    if (state->info.etag != expected) return DeleteOutcome::kRefused;
  }
  bucket_.Request("DELETE", key);
  const std::lock_guard lock(bucket_.mutex_);
  if (capabilities_.conditional_delete && bucket_.behaviour_.delete_condition) {
    const auto found = bucket_.objects_.find(key);
    if (found == bucket_.objects_.end()) return DeleteOutcome::kAbsent;
    if (found->second.etag != expected) return DeleteOutcome::kRefused;
  }
  // A server that ignores the condition answers 204 for a missing key too.
  bucket_.objects_.erase(key);
  return DeleteOutcome::kDeleted;
}

ListPage MemoryStore::List(const Context& context, const ListOptions& options) {
  context.Check();
  bucket_.Request("LIST", options.prefix);
  const auto page_size = static_cast<std::size_t>(std::clamp(options.page_size, 1, 1000));
  ListPage page;
  const std::lock_guard lock(bucket_.mutex_);
  auto next = options.continuation < options.prefix
                  ? bucket_.objects_.lower_bound(options.prefix)
                  : bucket_.objects_.upper_bound(options.continuation);
  // No key has a byte 0xff, so this comes after all that begin so.
  const auto behind = [](const std::string& folder) { return folder + "\xff"; };
  std::string last;
  while (next != bucket_.objects_.end() && next->first.starts_with(options.prefix)) {
    if (page.objects.size() + page.folders.size() == page_size) {
      page.continuation = last;
      break;
    }
    const std::string& key = next->first;
    const std::size_t slash = options.folders ? key.find('/', options.prefix.size()) : std::string::npos;
    if (slash != std::string::npos) {
      page.folders.push_back(key.substr(0, slash + 1));
      last = behind(page.folders.back());
      next = bucket_.objects_.lower_bound(last);
      continue;
    }
    page.objects.push_back({key, next->second.etag, next->second.bytes->size(),
                            std::chrono::floor<std::chrono::seconds>(next->second.last_modified)});
    last = key;
    ++next;
  }
  return page;
}

}  // namespace swamp

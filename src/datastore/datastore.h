#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "datastore/lock.h"
#include "datastore/pull.h"
#include "datastore/push.h"
#include "datastore/replica.h"
#include "datastore/settings.h"
#include "objectstore/open_store.h"
#include "repo/repository.h"
#include "util/http.h"

namespace swamp {

// How a Datastore reaches the world; what tests and the trace option change.
struct DatastoreParts {
  HttpClient& http;
  bool use_locks = true;                         // off: shows that nothing rests on locks
  // Wraps the store below the retries; for tests.
  std::function<std::unique_ptr<ObjectStore>(std::unique_ptr<ObjectStore>)> decorate_store;
  std::optional<std::filesystem::path> trace_file;  // one line a store call
};

// A repository's datastore, opened. Used by one thread; nothing touches the network before it is needed.
class Datastore {
 public:
  Datastore(const Context& context, const Repository& repo, DatastoreSettings settings, const DatastoreParts& parts);
  ~Datastore();

  const DatastoreSettings& settings() const { return settings_; }
  // Whether there is a bucket with a cache here (or else one folder that is used as it is).
  bool synced() const { return settings_.kind == DatastoreSettings::Kind::kS3; }
  // The folder that holds the tier files on this machine: the datastore's own, or the cache.
  const std::filesystem::path& tier_root() const { return tier_root_; }
  // Tier files that the datastore's `directories` leave out stay in the repository.
  std::filesystem::path FolderOf(std::string_view tier_folder) const;
  // Versions of this checkout that lost.
  ConflictFolder conflicts() const;

  // The bucket, or the folder seen as one, with retries. Reading needs nothing more.
  ObjectStore& store(const Context& context);
  // The same for writing: what the store can do has been found out (once per cache) and is enough.
  // Throws UserError store_unsafe.
  ObjectStore& WritableStore(const Context& context);
  // What the store was found to be able to do; nothing: not found out yet. synced() only.
  std::optional<Capabilities> KnownCapabilities(const Context& context);
  // Throws UserError datastore_missing when the folder that others share is not there (a share that is not
  // mounted): an empty one in its place would look as if everything had been deleted.
  void RequireFolder() const;
  // synced() only.
  Replica& replica(const Context& context);
  // The bucket's part that belongs to another namespace, for reading only. synced() only.
  std::unique_ptr<ObjectStore> StoreOfNamespace(const Context& context, const std::string& slug);
  // Which datastore this is, whatever the namespace. Asks nobody.
  std::string SharedPlace() const;

  // The lock on the whole datastore (of this namespace).
  std::unique_ptr<StoreLock> Lock(const Context& context);
  // The lock on one model ("type/id"), for what writes its data. While somebody holds the lock on the whole datastore, none
  // is given. Throws lock_timeout naming the holder of either.
  std::unique_ptr<StoreLock> LockModel(const Context& context, const std::string& model);

  // Pull and Push within the time limit; throws UserError sync_timeout past it. synced() only.
  PullReport Pull(const Context& context, PullScope scope, PullEffort effort = PullEffort::kWhatChanged);
  // Of the data only one model's ("type/id"), and nothing else.
  PullReport PullModelData(const Context& context, const std::string& model);
  PullReport PullFolder(const Context& context, const std::string& folder);
  // Brings here what lazy pulls left out (hydrate.h).
  void Hydrate(const Context& context, std::span<const std::string> paths);
  PushReport Push(const Context& context, const PushOptions& request = {});
  // Other work under the same limit.
  void WithinSyncTimeout(const Context& context, std::string_view what, const std::function<void(const Context&)>& work);
  void set_sync_timeout(Duration timeout) { settings_.sync_timeout = timeout; }

  // "s3://bucket/prefix at https://host", "/folder": for messages.
  std::string Describe() const;

 private:
  std::filesystem::path CacheRoot(const Context& context, const Repository& repo);
  std::unique_ptr<ObjectStore> OpenBucket(const Context& context, const std::optional<std::string>& name_space);
  std::unique_ptr<ObjectStore> Decorate(std::unique_ptr<ObjectStore> opened);
  template <typename Work>
  auto WithinTimeLimit(const Context& context, std::string_view what, Work work);

  Files& files_;
  std::filesystem::path repo_root_;
  DatastoreSettings settings_;
  DatastoreParts parts_;
  std::optional<S3Config> s3_config_;  // synced() only
  std::string identity_;               // synced() only: which bucket this is
  std::filesystem::path tier_root_;
  std::unique_ptr<ObjectStore> store_;
  ObjectStore* bare_store_ = nullptr;  // within store_, for the probe
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<Replica> replica_;
  bool probed_ = false;
};

}  // namespace swamp

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "datastore/datastore.h"
#include "extension/installed_set.h"
#include "extension/pending_record.h"
#include "repo/repository.h"

namespace swamp {

// The lockfile where the repository keeps it: in the datastore's config/ tier, shared by all its checkouts, or
// (without managed config) in the repository's own `extensions/models/`.
//
// Every change is the transaction of docs/managed-config.md: fetched fresh, merged entry by entry, put on record
// before it is published, published by one conditional write, replayed three ways when that failed. One
// process of a checkout at a time.
class SharedLockfile final : public InstalledSet {
 public:
  // Throws UserError datastore_missing.
  SharedLockfile(const Context& context, const Repository& repo, Datastore& datastore);

  Lockfile Read(const Context& context) override;
  Lockfile Change(const Context& context, const Decide& decide, const ApplyLocally& apply_locally) override;
  void Republish(const Context& context) override;
  bool HasPendingRecord() const;

  // Where the lockfile stands on this machine.
  const std::filesystem::path& local_path() const { return local_path_; }

 private:
  struct Fetched {
    Lockfile lockfile;
    std::optional<ETag> etag;  // nothing: there is no object
    std::string bytes;
  };

  ObjectStore& Store(const Context& context);
  Fetched Fetch(const Context& context);
  PendingRecord ReadRecord() const;
  void WriteRecord(const PendingChanges& changes);
  Lockfile ReadLocal() const;
  void Follow(const Context& context, const std::string& bytes, const ETag& etag);
  void Tell(const Context& context);
  void TellSuperseded(const Context& context, const std::vector<std::string>& names, bool certain) const;

  Files& files_;
  std::filesystem::path repo_root_;
  Datastore& datastore_;
  bool managed_;
  std::filesystem::path local_path_;
  std::string key_;  // in the store
  std::filesystem::path record_path_;
  std::unique_ptr<ObjectStore> own_store_;  // without managed config: the lockfile's folder
};

// The repository's own lockfile, whether or not managed config is on: what a migration starts from.
std::filesystem::path RepositoryLockfilePath(const Context& context, const Repository& repo);

}  // namespace swamp

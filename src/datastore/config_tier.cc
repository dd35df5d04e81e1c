#include "datastore/config_tier.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/definitions_tier.h"
#include "objectstore/directory_store.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/relative_path.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "datastore·config";
constexpr const char* kAutomatic = "auto-definitions";
constexpr std::uint64_t kDocumentLimit = 64 << 20;

std::string HowToResolve(const std::string& tier_path) {
  return fmt::format("Compare: swamp datastore conflicts show {0}. Then: swamp datastore conflicts resolve {0} "
                     "--keep local|remote.",
                     tier_path);
}

std::vector<std::string> DocumentsBelow(Files& files, const fs::path& root, const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : ListFilesBelow(files, root / folder)) {
    const bool hidden = name.starts_with('.') || name.find("/.") != std::string::npos;
    if (!hidden) paths.push_back(folder + "/" + name);
  }
  return paths;
}

std::optional<Document> ReadDocument(Files& files, const fs::path& root, const std::string& path) {
  auto bytes = ReadFile(files, JoinSafely(root, path, "this command"), kDocumentLimit);
  if (!bytes) return std::nullopt;
  std::string version = Sha256Hex(*bytes);
  return Document{path, std::move(*bytes), std::move(version)};
}

// ---- a folder, read and written directly ----

// The documents as files below `root`. Writing goes through a store on that folder, whose conditional
// writes hold among processes.
class FolderConfigTier final : public ConfigTier {
 public:
  FolderConfigTier(fs::path root, fs::path side_folder, std::string tier_prefix, ConflictFolder conflicts,
                   bool managed)
      : root_(std::move(root)),
        side_folder_(std::move(side_folder)),
        tier_prefix_(std::move(tier_prefix)),
        conflicts_(std::move(conflicts)),
        managed_(managed) {}

  std::optional<Document> Read(const Context& context, const std::string& path) override {
    return ReadDocument(context.files(), root_, path);
  }
  std::vector<std::string> List(const Context& context, const std::string& folder) override {
    return DocumentsBelow(context.files(), root_, folder);
  }
  void Refresh(const Context&) override {}
  std::unique_ptr<ConfigChange> Begin(const Context& context) override;
  fs::path Locate(const std::string& path) const override { return root_ / path; }
  bool managed() const override { return managed_; }

  const fs::path& root() const { return root_; }
  const fs::path& side_folder() const { return side_folder_; }
  const ConflictFolder& conflicts() const { return conflicts_; }
  std::string TierPathOf(const std::string& path) const { return tier_prefix_ + path; }

 private:
  fs::path root_;
  fs::path side_folder_;
  std::string tier_prefix_;
  ConflictFolder conflicts_;
  bool managed_;
};

class FolderConfigChange final : public ConfigChange {
 public:
  FolderConfigChange(const Context& context, const FolderConfigTier& tier)
      : context_(context),
        tier_(tier),
        store_({.bucket = tier.root(), .prefix = {}, .side_folder = tier.side_folder()}),
        writer_(context.environment().Holder()) {}

  void Create(const std::string& path, std::string_view bytes) override {
    if (!Put(path, bytes, Condition::Absent())) throw DocumentExists(path);
  }

  void Replace(const std::string& path, std::string_view bytes, const std::string& version) override {
    const auto current = GetBytes(context_, store_, path, kDocumentLimit);
    if (current && Sha256Hex(current->bytes) == version &&
        Put(path, bytes, Condition::Matches(current->state.info.etag))) {
      return;
    }
    const std::string tier_path = tier_.TierPathOf(path);
    throw EditConflictError(tier_path, tier_.conflicts().Keep(context_, tier_path, bytes));
  }

  void Remove(const std::string& path, const std::string& version) override {
    const auto current = GetBytes(context_, store_, path, kDocumentLimit);
    if (!current) return;
    if (Sha256Hex(current->bytes) == version &&
        store_.Delete(context_, path, current->state.info.etag) != DeleteOutcome::kRefused) {
      return;
    }
    throw ConflictError({.kind = PushConflict::Kind::kRemoval, .path = tier_.TierPathOf(path)},
                        context_.clock().Now());
  }

  std::vector<Lost> PublishAll() override { return {}; }

 private:
  bool Put(const std::string& path, std::string_view bytes, const Condition& condition) {
    return store_.Put(context_, path, Body::FromBytes(std::string(bytes)), condition, {.writer = writer_}).stored();
  }

  Context context_;
  const FolderConfigTier& tier_;
  DirectoryStore store_;
  std::string writer_;
};

std::unique_ptr<ConfigChange> FolderConfigTier::Begin(const Context& context) {
  context.files().CreateFolders(root_);
  return std::make_unique<FolderConfigChange>(context, *this);
}

// ---- a bucket, through the cache ----

class SyncedConfigTier final : public ConfigTier {
 public:
  // `prefix`: what comes before a document's path: "config/", or nothing for those in auto-definitions/.
  SyncedConfigTier(Datastore& datastore, std::string prefix)
      : datastore_(datastore), prefix_(std::move(prefix)), root_(datastore.tier_root() / prefix_) {}

  std::optional<Document> Read(const Context& context, const std::string& path) override {
    FillOnce(context);
    return ReadDocument(context.files(), root_, path);
  }
  std::vector<std::string> List(const Context& context, const std::string& folder) override {
    FillOnce(context);
    return DocumentsBelow(context.files(), root_, folder);
  }
  void Refresh(const Context& context) override {
    if (prefix_.empty()) {
      datastore_.PullFolder(context, kAutomatic);
    } else {
      datastore_.Pull(context, PullScope::kConfig);
    }
    filled_ = true;
  }
  std::unique_ptr<ConfigChange> Begin(const Context& context) override;
  fs::path Locate(const std::string& path) const override { return root_ / path; }
  bool managed() const override { return true; }

 private:
  // A cache that was never filled, or deleted since, is filled by the first command that reads.
  void FillOnce(const Context& context) {
    if (filled_) return;
    filled_ = true;
    if (datastore_.replica(context).cache().state().HasBases()) return;
    try {
      Refresh(context);
    } catch (const StoreError& error) {
      if (!error.transient()) throw;
      context.log().Warn(kLog, fmt::format("the cache is empty and the datastore cannot be reached: {}",
                                           error.message()));
    }
  }

  Datastore& datastore_;
  std::string prefix_;
  fs::path root_;
  bool filled_ = false;
};

void PublishEarlierChanges(const Context& context, Datastore& datastore) {
  for (const PushConflict& conflict : datastore.Push(context).conflicts) {
    context.log().Warn(kLog, ConflictError(conflict, context.clock().Now()).message());
  }
}

// Nothing can be lost by going on without the bucket: what is written here is checked against it by its push.
template <typename Work>
void IfReachable(const Context& context, const Work& work) {
  try {
    work();
  } catch (const StoreError& error) {
    if (!error.transient()) throw;
    context.log().Warn(kLog, fmt::format("the datastore cannot be reached, going on with the cache: {}",
                                         error.message()));
  }
}

class SyncedConfigChange final : public ConfigChange {
 public:
  SyncedConfigChange(const Context& context, Datastore& datastore, std::string prefix)
      : context_(context), datastore_(datastore), prefix_(std::move(prefix)), cache_(datastore.replica(context).cache()) {}

  void Create(const std::string& path, std::string_view bytes) override {
    Cache::WriteOutcome outcome = cache_.Write(context_, TierPathOf(path), bytes, Expected::AbsentAndSettled());
    if (outcome == Cache::WriteOutcome::kRemovalPending) {
      // First the removal, of this or another command: the new document is not an edit of the removed one. Only where
      // the bucket can't be reached the two become one change.
      IfReachable(context_, [&] { PublishEarlierChanges(context_, datastore_); });
      outcome = cache_.Write(context_, TierPathOf(path), bytes, Expected::Absent());
    }
    if (outcome != Cache::WriteOutcome::kWritten) throw DocumentExists(path);
    created_.insert(TierPathOf(path));
    changed_[TierPathOf(path)] = Sha256Hex(bytes);
  }

  void Replace(const std::string& path, std::string_view bytes, const std::string& version) override {
    const std::string tier_path = TierPathOf(path);
    if (cache_.Write(context_, tier_path, bytes, Expected::Version(version)) != Cache::WriteOutcome::kWritten) {
      throw EditConflictError(tier_path, cache_.conflicts().Keep(context_, tier_path, bytes));
    }
    changed_[tier_path] = Sha256Hex(bytes);
  }

  void Remove(const std::string& path, const std::string& version) override {
    const std::string tier_path = TierPathOf(path);
    if (!cache_.files().Stat(cache_.PathOf(tier_path))) return;
    cache_.state().SetValue(state_key::kLostRemoval + tier_path, "");
    if (cache_.Remove(context_, tier_path, Expected::Version(version)) != Cache::WriteOutcome::kWritten) {
      throw ConflictError({.kind = PushConflict::Kind::kRemoval, .path = tier_path}, context_.clock().Now());
    }
    removed_[tier_path] = version;
  }

  std::vector<Lost> PublishAll() override {
    PushReport report;
    try {
      report = datastore_.Push(context_);
    } catch (const Cancelled&) {
      throw;
    } catch (const UserError& error) {
      throw Unpublished(error);
    }
    std::vector<Lost> lost;
    AddConflictsToldElsewhere(report);
    for (PushConflict& conflict : report.conflicts) {
      if (!changed_.contains(conflict.path) && !removed_.contains(conflict.path)) {
        context_.log().Warn(kLog, ConflictError(conflict, context_.clock().Now()).message());
        continue;
      }
      Lost one{.path = conflict.path.substr(prefix_.size()),
               .at = context_.clock().Now()};
      one.created_here = conflict.kind == PushConflict::Kind::kEdited && created_.contains(conflict.path);
      // The command fails as if the peer's document had been there from the start: nothing to keep.
      if (one.created_here) cache_.files().Remove(conflict.local_copy);
      one.conflict = std::move(conflict);
      lost.push_back(std::move(one));
    }
    return lost;
  }

 private:
  std::string TierPathOf(const std::string& path) const { return prefix_ + path; }

  // Another process of this checkout may have pushed our change along with its own, and been told that a peer was
  // faster: this command must not call it done.
  void AddConflictsToldElsewhere(PushReport& report) {
    const auto told = [&](const std::string& path) {
      return std::any_of(report.conflicts.begin(), report.conflicts.end(),
                         [&](const PushConflict& conflict) { return conflict.path == path; });
    };
    for (const auto& [path, version] : removed_) {
      if (told(path) || cache_.state().Value(state_key::kLostRemoval + path) != version) continue;
      report.conflicts.push_back({.kind = PushConflict::Kind::kRemoval, .path = path});
    }
    for (const auto& [path, ours] : changed_) {
      const auto local = cache_.Inspect(path, std::nullopt);
      if (told(path) || (local && local->sha256 == ours)) continue;
      if (const auto copy = KeptCopy(path, ours)) {
        const auto kind = local ? PushConflict::Kind::kEdited : PushConflict::Kind::kRemovedByPeer;
        report.conflicts.push_back({.kind = kind, .path = path, .local_copy = *copy});
      }
    }
  }

  std::optional<fs::path> KeptCopy(const std::string& path, const std::string& version) const {
    for (const ConflictFolder::Copy& copy : cache_.conflicts().List()) {
      if (copy.path != path) continue;
      if (Sha256Hex(ReadFile(cache_.files(), copy.file).value_or("")) == version) return copy.file;
    }
    return std::nullopt;
  }

  UserError Unpublished(const UserError& cause) const {
    std::vector<std::string> paths;
    for (const auto& [path, version] : changed_) paths.push_back(path);
    for (const auto& [path, version] : removed_) paths.push_back(path);
    return UserError("managed_config_unpublished",
                     fmt::format("the change is made here but not published ({}): {}", fmt::join(paths, ", "),
                                 cause.message()),
                     fmt::format("{}{}It is recorded; `swamp datastore sync` or the next change publishes it.",
                                 cause.hint(), cause.hint().empty() ? "" : " "));
  }

  Context context_;
  Datastore& datastore_;
  std::string prefix_;
  Cache& cache_;
  std::map<std::string, std::string> changed_;  // tier path: SHA-256 of what was written
  std::map<std::string, std::string> removed_;  // tier path: the version that was removed
  std::set<std::string> created_;
};

std::unique_ptr<ConfigChange> SyncedConfigTier::Begin(const Context& context) {
  IfReachable(context, [&] {
    Refresh(context);
    if (!UnpublishedPaths(datastore_.replica(context).cache()).empty()) PublishEarlierChanges(context, datastore_);
  });
  return std::make_unique<SyncedConfigChange>(context, datastore_, prefix_);
}

std::string ByPeer(const std::string& peer, const std::optional<Time>& time, Time now) {
  std::string text = peer.empty() ? "another checkout" : "another checkout (" + peer;
  if (time && now > *time) {
    text += fmt::format("{}{} ago", peer.empty() ? " (" : ", ", DescribeDuration(now - *time));
    return text + ")";
  }
  return peer.empty() ? text : text + ")";
}

}  // namespace

void ConfigChange::Publish() {
  const std::vector<Lost> lost = PublishAll();
  if (lost.empty()) return;
  if (lost.front().created_here) throw DocumentExists(lost.front().path, lost.front().conflict.peer);
  throw ConflictError(lost.front().conflict, lost.front().at);
}

DocumentExists::DocumentExists(const std::string& path, const std::string& peer)
    : UserError("already_exists", fmt::format("{} exists already{}", path,
                                              peer.empty() ? std::string() : " (created by " + peer + ")")),
      peer_(peer) {}

UserError ConflictError(const PushConflict& conflict, Time now) {
  const std::string peer = ByPeer(conflict.peer, conflict.peer_time, now);
  switch (conflict.kind) {
    case PushConflict::Kind::kEdited:
      return {"config_conflict",
              fmt::format("{} was changed by {} too; theirs is in place, yours is kept as {}", conflict.path, peer,
                          conflict.local_copy.string()),
              HowToResolve(conflict.path)};
    case PushConflict::Kind::kRemovedByPeer:
      return {"config_conflict",
              fmt::format("{} was removed by {} while it was changed here; your version is kept as {}",
                          conflict.path, peer, conflict.local_copy.string()),
              HowToResolve(conflict.path)};
    case PushConflict::Kind::kRemoval:
      return {"config_conflict",
              fmt::format("{} was not removed: {} has changed it since this checkout last saw it", conflict.path,
                          peer),
              "Look at the new version, then run the command again to remove it."};
    case PushConflict::Kind::kImmutable:
      return {"config_conflict",
              fmt::format("{} has other content in the datastore than here; both were left as they are",
                          conflict.path),
              "A data version is written once: find out which program wrote it a second time."};
  }
  return {"config_conflict", conflict.path};
}

UserError EditConflictError(const std::string& tier_path, const fs::path& copy) {
  return {"config_conflict",
          fmt::format("{} was changed by another checkout or command since this one started from it; that version "
                      "stays, yours is kept as {}",
                      tier_path, copy.string()),
          HowToResolve(tier_path)};
}

std::unique_ptr<ConfigTier> OpenConfigTier(const Repository& repo, Datastore& datastore) {
  const DatastoreSettings& settings = datastore.settings();
  if (!settings.managed_config) {
    // The user's own folders, in version control.
    return std::make_unique<FolderConfigTier>(repo.root, repo.swamp_folder() / "locks", "",
                                              datastore.conflicts(), false);
  }
  if (datastore.synced()) return std::make_unique<SyncedConfigTier>(datastore, "config/");
  datastore.RequireFolder();
  return std::make_unique<FolderConfigTier>(datastore.tier_root() / "config",
                                            datastore.tier_root() / ".datastore-locks", "config/",
                                            datastore.conflicts(), true);
}

std::unique_ptr<ConfigTier> OpenAutoDefinitionsTier(const Repository& repo, Datastore& datastore) {
  const fs::path root = datastore.FolderOf(kAutomatic).parent_path();
  const bool held = root == datastore.tier_root();
  if (held && datastore.synced()) return std::make_unique<SyncedConfigTier>(datastore, "");
  datastore.RequireFolder();
  return std::make_unique<FolderConfigTier>(root, held ? root / ".datastore-locks" : repo.swamp_folder() / "locks", "",
                                            datastore.conflicts(), true);
}

}  // namespace swamp

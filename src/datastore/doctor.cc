#include "datastore/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "datastore/name_space.h"
#include "datastore/status.h"
#include "datastore/tombstone.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using Status = DoctorCheck::Status;

constexpr std::string_view kProbePrefix = ".datastore-probe-";
constexpr std::string_view kLockSuffix = "/.lock";
// A command that is still at work may own what is younger.
constexpr Duration kLeftoverAge = std::chrono::hours(1);

std::string Number(std::size_t count, std::string_view noun) { return Count(count, noun); }

// All that is below the datastore's own scope in the bucket.
struct Listing {
  std::map<std::string, ObjectInfo> files;  // of tier folders, tombstones included
  std::set<std::string> tombstones;
  std::vector<std::string> locks;
  std::vector<std::string> probes;
  std::vector<std::string> foreign;
  std::vector<std::string> escaping;
};

bool IsReserved(const std::string& key) {
  static const std::set<std::string_view> kKeys = {kLegacyIndexKey, kNamespaceKey, kMetaKey, kCatalogExportKey};
  return kKeys.contains(key) || (key.starts_with(kIndexPrefix) && key.ends_with(".json")) || key.starts_with("_control/");
}

class Examination {
 public:
  Examination(const Context& context, const Repository& repo, Datastore& datastore, const DoctorRequest& request)
      : context_(context), files_(context.files()), repo_(repo), datastore_(datastore), request_(request) {
    report_.type = datastore.settings().type;
    report_.is_default = !datastore.synced() && datastore.settings().is_default;
  }

  DoctorReport Run() {
    if (CheckHealth()) {
      CheckNamespace();
      if (datastore_.synced()) {
        ListBucket();
        CheckIndexDocuments();
        CheckEntries();
        CheckKeys();
        CheckTombstones();
      } else {
        ListFolderLocks();
      }
      CheckLocks();
      CheckLeftovers();
      CheckLostExtensions();
    }
    return std::move(report_);
  }

 private:
  ObjectStore& Store() { return datastore_.store(context_); }
  Cache& LocalCache() { return datastore_.replica(context_).cache(); }

  DoctorCheck& Add(std::string name, Status status, std::string detail) {
    report_.checks.push_back(
        {.name = std::move(name), .status = status, .detail = std::move(detail), .paths = {}, .repair = {}});
    return report_.checks.back();
  }

  // A finding that `repair` mends: by `mend` now, or it is only said how.
  template <typename Mend>
  void AddMendable(std::string name, Status status, std::string detail, std::vector<std::string> paths, std::string repair,
                   const Mend& mend) {
    DoctorCheck& check = Add(std::move(name), status, std::move(detail));
    check.paths = std::move(paths);
    check.repair = std::move(repair);
    if (!request_.repair) {
      report_.repairable = true;
      return;
    }
    mend();
    check.repaired = true;
  }

  // ---- health ----

  bool CheckHealth() {
    const DatastoreStatus status = GetDatastoreStatus(context_, repo_, datastore_);
    Add("health", status.healthy ? Status::kPass : Status::kFail, status.message);
    if (!status.unpublished_paths.empty() || status.unpublished_lockfile) {
      DoctorCheck& check = Add("unpublished", Status::kWarn, "this checkout has changes that the datastore lacks");
      check.paths = status.unpublished_paths;
      if (status.unpublished_lockfile) check.paths.emplace_back(kLockfilePath);
      check.repair = "swamp datastore sync";
    }
    if (!status.conflicts.empty()) {
      DoctorCheck& check = Add("conflicts", Status::kWarn, "versions of this checkout are kept aside");
      for (const ConflictFolder::Copy& copy : status.conflicts) check.paths.push_back(copy.path);
      check.repair = "swamp datastore conflicts list";
    }
    if (!status.healthy) return false;
    if (datastore_.synced()) {
      if (!status.conditional_writes) {
        Add("conditional-writes", Status::kPass, "not found out yet: the first write does");
      } else if (*status.conditional_writes) {
        Add("conditional-writes", Status::kPass, "the store honours them");
      } else {
        Add("conditional-writes", Status::kFail, "the store ignores them: changes of two checkouts can overwrite each other");
      }
    }
    return true;
  }

  void CheckNamespace() {
    const auto& slug = datastore_.settings().name_space;
    if (!slug) return;
    const auto claim = ReadNamespaceClaim(context_, Store(), *slug);
    if (claim && claim->repo_id == repo_.id()) {
      Add("namespace", Status::kPass, fmt::format("\"{}\" is registered for this repository", *slug));
    } else if (claim) {
      Add("namespace", Status::kFail, fmt::format("\"{}\" is registered for another repository ({})", *slug,
                                                  Printable(claim->repo_id, 60)))
          .repair = "swamp datastore namespace set <another>";
    } else {
      AddMendable("namespace", Status::kFail, fmt::format("\"{}\" is not registered", *slug), {}, "registers it",
                  [&] { ClaimNamespace(context_, datastore_.WritableStore(context_), *slug, repo_.id()); });
    }
  }

  // ---- objects ----

  void ListBucket() {
    std::vector<std::string> unknown;
    std::set<std::string> claimed;
    ListOptions options;
    do {
      ListPage page = Store().List(context_, options);
      for (ObjectInfo& object : page.objects) {
        if (WhyUnsafePath(object.key)) {
          listing_.escaping.push_back(object.key);
        } else {
          Sort(std::move(object), unknown, claimed);
        }
      }
      options.continuation = page.continuation;
    } while (!options.continuation.empty());
    // Beside the namespaces, what is in one belongs to its owner.
    for (std::string& key : unknown) {
      if (!claimed.contains(std::string(TopFolderOf(key)))) listing_.foreign.push_back(std::move(key));
    }
  }

  void Sort(ObjectInfo object, std::vector<std::string>& unknown, std::set<std::string>& claimed) {
    const std::string key = object.key;
    if (key == kLockKey || (key.starts_with("data/") && key.ends_with(kLockSuffix))) {
      listing_.locks.push_back(key);
    } else if (key.starts_with(kProbePrefix)) {
      listing_.probes.push_back(key);
    } else if (ClassOf(key) != PathClass::kLocal) {
      if (IsTombstoneObject(object)) listing_.tombstones.insert(key);
      listing_.files.emplace(key, std::move(object));
    } else if (!IsReserved(key)) {
      const std::string top(TopFolderOf(key));
      if (key == top + "/" + std::string(kNamespaceKey) && !datastore_.settings().name_space) claimed.insert(top);
      unknown.push_back(key);
    }
  }

  bool IsTombstoneObject(const ObjectInfo& object) {
    if (object.size > kMaxTombstoneSize) return false;
    const auto bytes = GetBytes(context_, Store(), object.key);
    return bytes && IsTombstone(bytes->bytes);
  }

  // ---- the index ----

  // A shard or the meta document that can't be read, and shards that the meta document doesn't name.
  void CheckIndexDocuments() {
    RemoteIndex& index = datastore_.replica(context_).index();
    std::vector<std::string> broken;
    std::vector<std::string> escaping;
    std::set<std::string> partitions;
    for (const auto& [partition, etag] : index.ListShards(context_)) {
      partitions.insert(partition);
      const auto object = GetBytes(context_, Store(), ShardKey(partition), 1ULL << 30);
      const auto shard = object ? IndexShard::Parse(object->bytes) : std::nullopt;
      if (object && !shard) {
        broken.push_back(partition);
        continue;
      }
      if (!shard) continue;
      bool unsafe = false;
      for (const auto& [path, entry] : shard->Entries()) {
        if (WhyUnsafePath(path)) {
          escaping.push_back(Printable(path));
          unsafe = true;
        } else if (datastore_.replica(context_).Holds(path) && PartitionOf(path) == partition) {
          entries_.emplace(path, entry);
        }
      }
      if (unsafe) unsafe_.push_back(partition);
    }
    const auto object = GetBytes(context_, Store(), std::string(kMetaKey));
    const auto meta = object ? IndexMeta::Parse(object->bytes) : std::nullopt;
    std::vector<std::string> unnamed;
    for (const std::string& partition : partitions) {
      if (!meta || !meta->partitions.contains(partition)) unnamed.push_back(partition);
    }
    const bool meta_broken = object && !meta;
    if (broken.empty() && unnamed.empty() && !meta_broken) {
      Add("index-documents", Status::kPass, Number(partitions.size(), "shard"));
    } else {
      std::vector<std::string> paths;
      for (const std::string& partition : broken) paths.push_back(ShardKey(partition));
      if (meta_broken || !unnamed.empty()) paths.emplace_back(kMetaKey);
      AddMendable("index-documents", Status::kFail, "documents of the index are unreadable or incomplete", paths,
                  "makes them anew from the objects", [&] {
                    datastore_.WritableStore(context_);
                    for (const std::string& partition : broken) RewriteShard(partition);
                    index.CommitMeta(context_, {partitions.begin(), partitions.end()}, std::nullopt,
                                     context_.environment().Holder());
                  });
    }
    if (escaping.empty()) return;
    AddMendable("index-escapes", Status::kFail, "the index names paths that lead out of the datastore; readers refuse them",
                std::move(escaping), "takes them out of the index", [&] {
                  datastore_.WritableStore(context_);
                  for (const std::string& partition : unsafe_) RewriteShard(partition);
                });
  }

  // As it can be read, without entries that nobody may follow.
  void RewriteShard(const std::string& partition) {
    RemoteIndex& index = datastore_.replica(context_).index();
    for (int attempt = 1; attempt <= kMaxSwapAttempts; ++attempt) {
      RemoteIndex::ShardState state = index.ReadShard(context_, partition);
      for (const auto& [path, entry] : state.shard.Entries()) {
        if (WhyUnsafePath(path)) state.shard.Remove(path);
      }
      const Condition same = state.etag.value.empty() ? Condition::Absent() : Condition::Matches(state.etag);
      if (Store().Put(context_, ShardKey(partition), Body::FromBytes(state.shard.Serialize()), same, {}).stored()) return;
      BackOff(context_, attempt);
    }
    throw UserError("store_busy", ShardKey(partition) + " kept changing", "Run the command again.");
  }

  void CheckEntries() {
    std::vector<std::string> gone;
    std::vector<std::string> wrong;
    for (const auto& [path, entry] : entries_) {
      const auto found = listing_.files.find(path);
      if (found == listing_.files.end() || listing_.tombstones.contains(path)) {
        gone.push_back(path);
      } else if (found->second.size != entry.size) {
        wrong.push_back(path);
      }
    }
    std::vector<std::string> missing;
    for (const auto& [path, object] : listing_.files) {
      if (datastore_.replica(context_).Holds(path) && !entries_.contains(path) && !listing_.tombstones.contains(path)) {
        missing.push_back(path);
      }
    }
    if (gone.empty() && wrong.empty() && missing.empty()) {
      Add("index", Status::kPass, fmt::format("{} and their objects agree", Number(entries_.size(), "entry")));
    }
    if (!gone.empty()) {
      const std::string detail = Number(gone.size(), "entry") + " without an object";
      AddMendable("index-gone", Status::kFail, detail, gone,
                  "uploads what this checkout has, and takes the rest out of the index", [&] { BringBack(gone); });
    }
    if (!missing.empty()) {
      AddMendable("index-missing", Status::kFail, Number(missing.size(), "object") + " that the index doesn't name", missing,
                  "enters them", [&] { LookAgain(missing); });
    }
    if (!wrong.empty()) {
      AddMendable("index-differs", Status::kFail, Number(wrong.size(), "entry") + " that doesn't fit its object", wrong,
                  "makes the entries fit", [&] { LookAgain(wrong); });
    }
  }

  // The index learns what is there by the way of every push.
  void LookAgain(const std::vector<std::string>& paths) {
    {
      const Cache::Guard guard = LocalCache().Lock(context_);
      std::vector<std::string> free;
      for (const std::string& path : paths) {
        if (!LocalCache().state().FindDirty(path)) free.push_back(path);
      }
      LocalCache().state().MarkDirty(free, DirtyKind::kAnnounce);
    }
    datastore_.Push(context_, {.only = paths});
  }

  // Of a path that the bucket has lost, this checkout's copy of the very version goes back, if nothing has taken its place.
  void BringBack(const std::vector<std::string>& paths) {
    {
      const Cache::Guard guard = LocalCache().Lock(context_);
      StateDb& state = LocalCache().state();
      for (const std::string& path : paths) {
        if (state.FindDirty(path)) continue;
        const auto base = state.FindBase(path);
        const auto local = LocalCache().Inspect(path, std::nullopt);
        const bool ours = base && !base->gone() && local && local->sha256 == base->sha256 &&
                          !listing_.tombstones.contains(path) && ClassOf(path) != PathClass::kLockfile;
        if (ours) state.Settle({.forget = {path}});
        state.MarkDirty(path, ours ? DirtyKind::kWrite : DirtyKind::kAnnounce);
      }
    }
    datastore_.Push(context_, {.only = paths});
  }

  // ---- keys ----

  void CheckKeys() {
    if (!listing_.escaping.empty()) {
      DoctorCheck& check = Add("escaping-keys", Status::kFail, "keys that lead out of the datastore; readers refuse them");
      for (const std::string& key : listing_.escaping) check.paths.push_back(Printable(key));
      check.repair = "remove them with another S3 client";
    }
    if (listing_.foreign.empty()) {
      Add("foreign-keys", Status::kPass, "none");
      return;
    }
    DoctorCheck& check = Add("foreign-keys", Status::kWarn,
                             Number(listing_.foreign.size(), "object") + " that no part of the datastore owns; left alone");
    for (const std::string& key : listing_.foreign) check.paths.push_back(Printable(key));
  }

  void CheckTombstones() {
    if (listing_.tombstones.empty()) return;
    std::vector<std::string> plain;
    for (const std::string& key : listing_.tombstones) {
      const auto bytes = GetBytes(context_, Store(), key);
      // One that keeps a number has to stay, or the number would be used twice.
      if (bytes && bytes->bytes == kTombstone) plain.push_back(key);
    }
    const std::string detail = fmt::format("{} of removed paths", Number(listing_.tombstones.size(), "tombstone"));
    DoctorCheck& check = Add("tombstones", Status::kPass, detail);
    if (!request_.repair || !request_.purge_tombstones) return;
    for (const std::string& key : plain) {
      const auto bytes = GetBytes(context_, datastore_.WritableStore(context_), key);
      if (bytes && bytes->bytes == kTombstone) Store().Delete(context_, key, bytes->state.info.etag);
    }
    check.detail += fmt::format("; {} purged", plain.size());
    check.repaired = !plain.empty();
  }

  // ---- locks and leftovers ----

  void ListFolderLocks() {
    listing_.locks.emplace_back(kLockKey);
    for (const ObjectInfo& object : ListAll(context_, Store(), "data/")) {
      if (object.key.ends_with(kLockSuffix)) listing_.locks.push_back(object.key);
    }
  }

  void CheckLocks() {
    std::vector<std::string> stale;
    std::size_t held = 0;
    for (const std::string& key : listing_.locks) {
      const auto view = LookAtLock(context_, Store(), key);
      if (!view) continue;
      ++held;
      if (view->stale()) stale.push_back(key);
    }
    if (stale.empty()) {
      Add("locks", Status::kPass, held == 0 ? "nobody holds one" : Number(held, "lock") + " held");
      return;
    }
    AddMendable("locks", Status::kFail, Number(stale.size(), "lock") + " whose holder is dead", stale, "removes them", [&] {
      datastore_.WritableStore(context_);
      for (const std::string& key : stale) {
        const auto view = LookAtLock(context_, Store(), key);
        if (view && view->stale()) BreakLock(context_, Store(), key);
      }
    });
  }

  void CheckLeftovers() {
    std::vector<std::string> found;
    for (const std::string& key : listing_.probes) {
      const auto object = Store().Head(context_, key);
      if (object && object->store_now - object->info.last_modified > kLeftoverAge) found.push_back(key);
    }
    const std::size_t probes = found.size();
    for (const std::string& folder : datastore_.settings().directories) {
      FindTemporary(datastore_.tier_root() / folder, found);
    }
    if (found.empty()) {
      Add("interrupted-uploads", Status::kPass, "none");
      return;
    }
    AddMendable("interrupted-uploads", Status::kWarn, Number(found.size(), "leftover") + " of commands that were killed", found,
                "removes them", [&] {
                  for (std::size_t i = 0; i < found.size(); ++i) {
                    if (i >= probes) {
                      files_.Remove(found[i]);
                    } else if (const auto object = Store().Head(context_, found[i])) {
                      datastore_.WritableStore(context_).Delete(context_, found[i], object->info.etag);
                    }
                  }
                });
  }

  void FindTemporary(const fs::path& folder, std::vector<std::string>& found) {
    for (const FolderEntry& entry : files_.List(folder)) {
      const fs::path path = folder / entry.name;
      if (entry.kind == FileKind::kFolder) {
        FindTemporary(path, found);
      } else if (entry.kind == FileKind::kFile && IsTemporaryName(entry.name)) {
        const auto info = files_.Stat(path);
        const Time changed{std::chrono::floor<Duration>(std::chrono::nanoseconds(info ? info->mtime_ns : 0))};
        if (info && context_.clock().Now() - changed > kLeftoverAge) found.push_back(path.string());
      }
    }
  }

  void CheckLostExtensions() {
    if (!request_.find_lost_extensions) return;
    const std::vector<std::string> lost = request_.find_lost_extensions(context_);
    if (lost.empty()) {
      Add("lockfile", Status::kPass, "it names every extension that is installed here");
      return;
    }
    DoctorCheck& check = Add("lockfile", Status::kWarn,
                             "extensions are installed here that the lockfile no longer names, and nobody here removed them: a "
                             "peer did, or their entries were lost");
    check.paths = lost;
    check.repair = "swamp extension pull <name>, or swamp extension rm <name>";
  }

  const Context& context_;
  Files& files_;
  const Repository& repo_;
  Datastore& datastore_;
  const DoctorRequest& request_;
  DoctorReport report_;
  Listing listing_;
  std::map<std::string, IndexEntry> entries_;
  std::vector<std::string> unsafe_;  // partitions whose shards name unsafe paths
};

}  // namespace

DoctorCheck::Status DoctorReport::overall() const {
  Status worst = Status::kPass;
  for (const DoctorCheck& check : checks) {
    if (!check.repaired) worst = std::max(worst, check.status);
  }
  return worst;
}

DoctorReport ExamineDatastore(const Context& context, const Repository& repo, Datastore& datastore,
                              const DoctorRequest& request) {
  return Examination(context, repo, datastore, request).Run();
}

}  // namespace swamp

#include "extension/shared_lockfile.h"

#include <fmt/format.h>

#include "datastore/status.h"
#include "datastore/tombstone.h"
#include "objectstore/directory_store.h"
#include "objectstore/resolving_store.h"
#include "repo/find.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/rules.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "extension·lockfile";
constexpr const char* kLockfileName = "upstream_extensions.json";
constexpr const char* kTransactionLock = ".swamp/managed-config-lockfile.lock";
constexpr std::uint64_t kLimit = 64 << 20;

// An explicit pull of what is there already leaves a mark that others can see (see kRepulledAt).
void MarkRepulls(const Context& context, LockfileDelta& delta, const Lockfile& remote) {
  for (auto& [name, entry] : delta.set) {
    const Json* there = remote.Find(name);
    if (there != nullptr && SameEntry(entry, *there)) entry[kRepulledAt] = FormatTime(context.clock().Now());
  }
}

UserError Unavailable(const UserError& cause) {
  return {"managed_lockfile_unavailable",
          fmt::format("the shared extension lockfile cannot be read, so nothing was changed: {}", cause.message()),
          cause.hint()};
}

UserError Unpublished(const UserError& cause) {
  return {"managed_config_unpublished",
          fmt::format("the change of the extension lockfile is made here but not published: {}", cause.message()),
          fmt::format("{}{}It is on record; `swamp datastore sync` or the next extension command publishes it.",
                      cause.hint(), cause.hint().empty() ? "" : " ")};
}

}  // namespace

fs::path RepositoryLockfilePath(const Context& context, const Repository& repo) {
  std::string folder = "extensions/models";
  if (const auto configured = repo.marker.String("modelsDir"); configured && !configured->empty()) folder = *configured;
  if (const auto variable = context.environment().GetNonEmpty("SWAMP_MODELS_DIR")) folder = *variable;
  return ExpandPath(context, folder, repo.root) / kLockfileName;
}

SharedLockfile::SharedLockfile(const Context& context, const Repository& repo, Datastore& datastore)
    : files_(context.files()),
      repo_root_(repo.root),
      datastore_(datastore),
      managed_(datastore.settings().managed_config),
      record_path_(repo.root / kPendingLockfileRecord) {
  if (managed_) datastore.RequireFolder();
  local_path_ = managed_ ? datastore.tier_root() / std::string(kLockfilePath) : RepositoryLockfilePath(context, repo);
  key_ = managed_ ? std::string(kLockfilePath) : kLockfileName;
}

ObjectStore& SharedLockfile::Store(const Context& context) {
  if (managed_) return datastore_.WritableStore(context);
  if (!own_store_) {
    files_.CreateFolders(local_path_.parent_path());
    own_store_ = std::make_unique<ResolvingStore>(std::make_unique<DirectoryStore>(
        DirectoryStoreOptions{.bucket = local_path_.parent_path(),
                              .prefix = {},
                              .side_folder = repo_root_ / ".swamp" / "locks"}));
  }
  return *own_store_;
}

bool SharedLockfile::HasPendingRecord() const { return files_.Stat(record_path_).has_value(); }

PendingRecord SharedLockfile::ReadRecord() const {
  const auto text = ReadFile(files_, record_path_, kLimit);
  return text ? PendingRecord::Parse(*text) : PendingRecord();
}

void SharedLockfile::WriteRecord(const PendingChanges& changes) {
  if (!changes.empty()) {
    WriteFileAtomically(files_, record_path_, PendingRecord(changes).Serialize(), 0644);
  } else if (files_.Remove(record_path_)) {
    const fs::path folder = record_path_.parent_path();
    files_.Sync(std::span(&folder, 1));
  }
}

Lockfile SharedLockfile::ReadLocal() const {
  const auto text = ReadFile(files_, local_path_, kLimit);
  return text && !IsTombstone(*text) ? Lockfile::Parse(*text, local_path_.string()) : Lockfile();
}

Lockfile SharedLockfile::Read(const Context& context) {
  if (managed_ && datastore_.synced() && !files_.Stat(local_path_) &&
      !datastore_.replica(context).cache().state().HasBases()) {
    // A cache that was never filled, or deleted since.
    try {
      datastore_.Pull(context, PullScope::kConfig);
    } catch (const StoreError& error) {
      if (!error.transient()) throw;
      context.log().Warn(kLog, "the cache is empty and the datastore cannot be reached: " + error.message());
    }
  }
  const Lockfile local = ReadLocal();
  return ReplayChanges(ReadRecord().ChangesGiven(local), local).lockfile;
}

SharedLockfile::Fetched SharedLockfile::Fetch(const Context& context) {
  auto object = GetBytes(context, Store(context), key_, kLimit);
  if (!object) return {};
  Fetched fetched{{}, object->state.info.etag, std::move(object->bytes)};
  if (!IsTombstone(fetched.bytes)) {
    fetched.lockfile = Lockfile::Parse(fetched.bytes, managed_ ? "the shared " + key_ : local_path_.string());
  }
  return fetched;
}

void SharedLockfile::TellSuperseded(const Context& context, const std::vector<std::string>& names, bool certain) const {
  if (!certain) return;
  for (const std::string& name : names) {
    context.log().Warn(kLog, fmt::format("an unpublished change of {} was dropped, because another checkout has changed "
                                         "its entry since; theirs stays. To set yours again, run the extension command "
                                         "for {} again",
                                         name, name));
  }
}

Lockfile SharedLockfile::Change(const Context& context, const Decide& decide, const ApplyLocally& apply_locally) {
  const auto turn = files_.Lock(context, repo_root_ / kTransactionLock, datastore_.settings().lock_timeout);
  if (!turn) {
    throw UserError("lock_timeout", "another process of this checkout is changing the extension lockfile",
                    "Run the command again when it has ended.");
  }
  std::unique_ptr<StoreLock> lock;
  Fetched fetched;
  try {
    lock = managed_ ? datastore_.Lock(context) : NoLock();
    fetched = Fetch(context);
  } catch (const StoreError& error) {
    throw Unavailable(error);
  }
  bool applied = false;
  for (int attempt = 1;; ++attempt) {
    const PendingRecord record = ReadRecord();
    const ReplayResult replay = ReplayChanges(record.ChangesGiven(ReadLocal()), fetched.lockfile);
    TellSuperseded(context, replay.superseded, record.certain());
    LockfileDelta delta = decide(replay.lockfile);
    if (managed_) MarkRepulls(context, delta, fetched.lockfile);
    PendingChanges outstanding = replay.outstanding;
    AddDelta(outstanding, delta, fetched.lockfile);
    // On record first: a crash from here on loses nothing.
    if (!RuleOff(Rule::kPendingRecordFirst)) WriteRecord(outstanding);
    if (!applied) {
      try {
        apply_locally(delta);
      } catch (...) {
        WriteRecord(replay.outstanding);
        throw;
      }
      applied = true;
    }
    Lockfile next = RuleOff(Rule::kMergeByEntry) ? ReadLocal() : replay.lockfile;
    next.Apply(delta);
    try {
      if (next == fetched.lockfile) {
        if (fetched.etag) {
          Follow(context, fetched.bytes, *fetched.etag);
          // What was on record stands there already: the command that put it there may have died before it said so.
          if (!record.empty()) Tell(context);
        }
        WriteRecord({});
        return next;
      }
      lock->EnsureHeld(context);
      const std::string bytes = next.Serialize();
      const PutResult result =
          Store(context).Put(context, key_, Body::FromBytes(bytes),
                             fetched.etag ? Condition::Matches(*fetched.etag) : Condition::Absent(),
                             {.writer = context.environment().Holder()});
      if (result.stored()) {
        Follow(context, bytes, result.etag);
        Tell(context);
        WriteRecord({});
        lock->Release(context);
        return next;
      }
      if (attempt >= kMaxSwapAttempts) {
        throw UserError("store_busy", "the shared lockfile kept changing", "Run the command again.");
      }
      BackOff(context, attempt);
      fetched = Fetch(context);
    } catch (const Cancelled&) {
      throw;
    } catch (const UserError& error) {
      throw Unpublished(error);
    }
  }
}

// The copy here becomes what the store holds.
void SharedLockfile::Follow(const Context& context, const std::string& bytes, const ETag& etag) {
  if (!managed_ || !datastore_.synced()) return;
  Cache& cache = datastore_.replica(context).cache();
  const Cache::Guard guard = cache.Lock(context);
  if (IsTombstone(bytes)) {
    files_.Remove(local_path_);
    cache.state().Settle({.set = {{.path = key_, .etag = etag, .sha256 = {}, .entry = {}}}});
    return;
  }
  WriteFileAtomically(files_, local_path_, bytes);
  const auto info = files_.Stat(local_path_);
  const auto before = cache.state().FindBase(key_);
  cache.state().Settle({.set = {{.path = key_,
                                 .etag = etag,
                                 .size = bytes.size(),
                                 .sha256 = Sha256Hex(bytes),
                                 .local_mtime_ns = info ? info->mtime_ns : 0,
                                 .local_size = bytes.size(),
                                 .entry = before ? before->entry : std::string()}},
                        .forget = {},
                        .handled = {},
                        .values = {}});
}

// The index learns of the lockfile as it is.
void SharedLockfile::Tell(const Context& context) {
  if (managed_ && datastore_.synced()) Announce(context, datastore_.replica(context), key_);
}

void SharedLockfile::Republish(const Context& context) {
  if (!HasPendingRecord()) return;
  Refresh(context);
}

}  // namespace swamp

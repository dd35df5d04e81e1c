#include "datastore/namespace_migration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <set>

#include "datastore/marker_version.h"
#include "datastore/moved_away.h"
#include "datastore/name_space.h"
#include "datastore/status.h"
#include "datastore/tombstone.h"
#include "util/clock.h"
#include "util/executor.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 1000;
constexpr int kLooks = 25;  // under way at a time
constexpr std::size_t kNamed = 10;  // paths that a message lists

// One file of the source.
struct Move {
  std::string path;
  std::uint64_t size = 0;
  std::string sha256;
  bool crosses = true;  // false: kept out of the bucket by `exclude`
  bool there = false;   // the target has the same bytes already
};

// The vault's trail is this checkout's own and read where it is.
bool StaysHere(const std::string& path) {
  return ClassOf(path) == PathClass::kLocal || path.starts_with("audit/vault-audit-");
}

std::string Sha256Of(Files& files, const fs::path& path) {
  const auto file = files.Open(path);
  return file ? DigestFile(*file, false).sha256 : std::string();
}

std::string Listed(const std::vector<std::string>& paths) {
  std::string text;
  for (std::size_t i = 0; i < paths.size() && i < kNamed; ++i) text += "\n  " + Printable(paths[i]);
  if (paths.size() > kNamed) text += fmt::format("\n  and {} more", paths.size() - kNamed);
  return text;
}

[[noreturn]] void ThrowDiffering(const std::vector<std::string>& paths, std::string_view done) {
  throw UserError("namespace_conflict",
                  fmt::format("{} in both places with different content:{}\n{}",
                              paths.size() == 1 ? "one path is" : fmt::format("{} paths are", paths.size()),
                              Listed(paths), done),
                  "Settle each at one of the two places (`swamp datastore namespace set` and `unset` lead to them), then "
                  "run this again.");
}

// Copies with the file's mode; durable on return. False: something has the name already.
bool CopyNew(Files& files, const fs::path& from, const fs::path& to) {
  const auto input = files.Open(from);
  if (!input) throw IoError("read", from.native(), ENOENT);
  const auto output = files.Create(to, input->Info().mode & 0777);
  std::string buffer(256 << 10, '\0');
  for (std::uint64_t offset = 0;;) {
    const std::size_t count = input->ReadAt(offset, buffer);
    output->Append(std::string_view(buffer.data(), count));
    offset += count;
    if (count < buffer.size()) break;
  }
  output->Close(Durability::kSynced);
  if (!output->CommitExclusive()) return false;
  const fs::path folder = to.parent_path();
  files.Sync(std::span(&folder, 1));
  return true;
}

// Whoever runs a method holds a lock on its model, and asks for none while the whole datastore is locked.
void WaitForModels(const Context& context, Datastore& datastore) {
  const Duration start = context.clock().Elapsed();
  for (;;) {
    const LockStatus status = GetLockStatus(context, datastore);
    const auto held = std::find_if(status.models.begin(), status.models.end(),
                                   [](const auto& one) { return !one.second.stale(); });
    if (held == status.models.end()) return;
    if (context.clock().Elapsed() - start >= datastore.settings().lock_timeout) {
      throw UserError("lock_timeout",
                      fmt::format("the model {} is locked by {} on {} (pid {}), for {} now", Printable(held->first),
                                  Printable(held->second.info.holder, 100), Printable(held->second.info.hostname, 100),
                                  held->second.info.pid, DescribeDuration(held->second.age)),
                      "Wait for that command to end. A lock whose holder is dead is removed by `swamp datastore lock release "
                      "--force --model <type/id>`.");
    }
    context.clock().Sleep(context, std::chrono::seconds(1));
  }
}

class NamespaceMove {
 public:
  NamespaceMove(const Context& context, Datastore& from, Datastore& to,
            const NamespaceMigrateRequest& request, NamespaceMigrateResult& result)
      : context_(context), files_(context.files()), from_(from), to_(to), request_(request), result_(result) {}

  void Look() {
    Bring(from_);
    Bring(to_);
    ListFiles();
    std::vector<std::string> differing;
    for (Move& move : moves_) {
      const fs::path target = Target(move);
      if (!files_.Stat(target)) continue;
      move.there = Sha256Of(files_, target) == move.sha256;
      // What can be made again needs no care: the target's stays.
      if (!move.there && ClassOf(move.path) != PathClass::kDerived) differing.push_back(move.path);
    }
    if (!differing.empty()) ThrowDiffering(differing, "Nothing was moved.");
  }

  void CopyAll() {
    for (std::size_t first = 0; first < moves_.size(); first += kBatch) {
      const auto batch = std::span(moves_).subspan(first, std::min(kBatch, moves_.size() - first));
      for (const Move& move : batch) {
        context_.Check();
        if (move.there || files_.Stat(Target(move))) continue;
        if (!CopyNew(files_, Source(move), Target(move)) && Sha256Of(files_, Target(move)) != move.sha256) {
          ThrowDiffering({move.path}, "What was copied until then is at both places.");
        }
      }
      if (to_.synced()) {
        ForgetWhatIsGone(batch);
        Record(batch);
      }
    }
    if (to_.synced()) Publish();
  }

  // Takes away from the old place what is safe at the new one. `ensure_alone`: throws when another migration may be under way.
  void RemoveOld(const std::function<void()>& ensure_alone) {
    std::vector<std::string> left;
    if (from_.synced()) {
      std::vector<std::string> paths;
      for (const Move& move : moves_) paths.push_back(move.path);
      BeginMovingAway(FromCache().state(), paths);
    }
    for (const Move& move : moves_) {
      context_.Check();
      if (!IsSafe(move) || !RemoveOne(move)) left.push_back(move.path);
    }
    if (from_.synced()) {
      const PushReport report = from_.Push(context_, {.moving_away = true});
      for (const PushConflict& conflict : report.conflicts) left.push_back(conflict.path);
      removed_by_others_.insert(report.found_gone.begin(), report.found_gone.end());
      EndMovingAway(FromCache().state());
      MoveConflictCopies();
    }
    if (!removed_by_others_.empty()) {
      ensure_alone();
      RemoveCopies();
    }
    if (left.empty()) return;
    result_.notes.push_back(fmt::format("{} changed meanwhile and left at the old place:{}",
                                        left.size() == 1 ? "one path was" : fmt::format("{} paths were", left.size()),
                                        Listed(left)));
  }

 private:
  fs::path Source(const Move& move) const { return from_.tier_root() / move.path; }
  fs::path Target(const Move& move) const { return to_.tier_root() / move.path; }
  Cache& FromCache() { return from_.replica(context_).cache(); }
  Cache& ToCache() { return to_.replica(context_).cache(); }

  // Makes what is here of a datastore all that there is of it.
  void Bring(Datastore& datastore) {
    if (!datastore.synced()) return;
    if (request_.confirmed && !datastore.replica(context_).cache().state().AllDirty().empty()) {
      for (const PushConflict& conflict : datastore.Push(context_).conflicts) {
        result_.notes.push_back(fmt::format("{} was changed by another checkout as well, whose version stays{}", conflict.path,
                                            conflict.local_copy.empty() ? std::string()
                                                                        : "; yours is kept under .conflicts"));
      }
    }
    std::vector<std::string> missing;
    const PullReport report = datastore.Pull(context_, PullScope::kAll, PullEffort::kEverything);
    for (const PathProblem& problem : report.problems) {
      if (!problem.message.starts_with("path_escape")) missing.push_back(problem.path + ": " + problem.message);
    }
    if (missing.empty()) return;
    throw UserError("sync_incomplete", "some paths could not be pulled, and nothing was moved:" + Listed(missing),
                    "`swamp doctor datastores` looks closer.");
  }

  void ListFiles() {
    const ExcludePatterns excludes(from_.settings().exclude);
    for (const std::string& name : from_.settings().directories) {
      NamespaceMigrateResult::Folder folder{
          .name = name, .source = from_.tier_root() / name, .destination = to_.tier_root() / name, .skipped = {}};
      for (const std::string& below : ListFilesBelow(files_, folder.source)) {
        const std::string path = name + "/" + below;
        if (StaysHere(path)) {
          if (path.find("/.") == std::string::npos && !path.starts_with("config/pulled-extensions/")) {
            folder.skipped.push_back(below);
          }
          continue;
        }
        const auto info = files_.Stat(folder.source / below);
        if (!info || info->kind != FileKind::kFile) continue;
        Move move{.path = path, .size = info->size, .sha256 = {}, .crosses = !excludes.Match(path)};
        if (from_.synced()) {
          if (const auto local = FromCache().Inspect(path, FromCache().state().FindBase(path))) move.sha256 = local->sha256;
        } else {
          move.sha256 = Sha256Of(files_, folder.source / below);
        }
        ++folder.files;
        folder.bytes += move.size;
        moves_.push_back(std::move(move));
      }
      result_.total_files += folder.files;
      result_.total_bytes += folder.bytes;
      if (folder.files > 0 || !folder.skipped.empty()) result_.folders.push_back(std::move(folder));
    }
  }

  // What is here of the new place may be gone from its bucket: a migration the other way that died says so to nobody.
  void ForgetWhatIsGone(std::span<const Move> batch) {
    StateDb& state = ToCache().state();
    std::vector<Base> known;
    for (const Move& move : batch) {
      if (!move.there || !move.crosses) continue;
      if (auto base = state.FindBase(move.path); base && !base->gone()) known.push_back(std::move(*base));
    }
    ObjectStore& store = to_.store(context_);
    std::vector<char> gone(known.size());
    context_.executor().ForEach(context_, known.size(), kLooks, [&](const Context& context, std::size_t i) {
      const auto object = store.Head(context, known[i].path);
      gone[i] = !object || object->info.etag != known[i].etag;
    });
    StateDb::Settlement settlement;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (gone[i] != 0) settlement.forget.push_back(known[i].path);
    }
    const Cache::Guard guard = ToCache().Lock(context_);
    state.Settle(settlement);
  }

  // Puts on record what the bucket's new place has still to get.
  void Record(std::span<const Move> batch) {
    std::vector<std::string> paths;
    StateDb& state = ToCache().state();
    for (const Move& move : batch) {
      if (!move.crosses) continue;
      const auto base = state.FindBase(move.path);
      if ((!base || base->gone()) && !state.FindDirty(move.path)) paths.push_back(move.path);
    }
    if (paths.empty()) return;
    const Cache::Guard guard = ToCache().Lock(context_);
    state.MarkDirty(paths, DirtyKind::kWrite);
  }

  void Publish() {
    std::vector<PushConflict> conflicts = to_.Push(context_).conflicts;
    if (AdoptTombstones(conflicts)) conflicts = to_.Push(context_).conflicts;
    std::vector<std::string> differing;
    for (const PushConflict& conflict : conflicts) differing.push_back(conflict.path);
    if (!differing.empty()) {
      ThrowDiffering(differing, "Another checkout was faster; nothing was removed from the old place.");
    }
  }

  // A name that was here before, was moved away and comes back with the number that it had: its tombstone's number was
  // never anybody else's.
  bool AdoptTombstones(const std::vector<PushConflict>& conflicts) {
    bool any = false;
    for (const PushConflict& conflict : conflicts) {
      if (ClassOf(conflict.path) != PathClass::kMarker) continue;
      const auto object = GetBytes(context_, to_.store(context_), conflict.path, 1 << 20);
      if (!object || !IsTombstone(object->bytes)) continue;
      const auto ours = ReadFile(files_, to_.tier_root() / conflict.path, 1 << 20);
      if (!ours || HighestVersionOf(object->bytes) > MarkerVersion(*ours)) continue;
      const Cache::Guard guard = ToCache().Lock(context_);
      ToCache().state().Settle(
          {.set = {{.path = conflict.path, .etag = object->state.info.etag, .sha256 = {}, .entry = {}}}});
      any = true;
    }
    return any;
  }

  // Whether the new place is known to have these very bytes (or, of what can be made again, any).
  bool IsSafe(const Move& move) {
    if (ClassOf(move.path) == PathClass::kDerived) return files_.Stat(Target(move)).has_value();
    if (!to_.synced() || !move.crosses) return Sha256Of(files_, Target(move)) == move.sha256;
    const auto base = ToCache().state().FindBase(move.path);
    return base && base->sha256 == move.sha256;
  }

  // What somebody had removed from the old place by the time when this migration copied it is not to live on at the new one. What was
  // there before may have come by a migration that removed the old one then.
  void RemoveCopies() {
    std::vector<std::string> gone;
    for (const Move& move : moves_) {
      if (move.there || !removed_by_others_.contains(move.path)) continue;
      gone.push_back(move.path);
      if (to_.synced()) {
        ToCache().Remove(context_, move.path, Expected::Version(move.sha256));
      } else if (const auto copy = to_.store(context_).Head(context_, move.path); copy && Sha256Of(files_, Target(move)) == move.sha256) {
        to_.store(context_).Delete(context_, move.path, copy->info.etag);
      }
    }
    if (gone.empty()) return;
    if (to_.synced()) to_.Push(context_);
    result_.notes.push_back("removed by somebody else meanwhile, and so at both places:" + Listed(gone));
  }

  // False: it is no longer the version that was copied.
  bool RemoveOne(const Move& move) {
    if (!from_.synced()) {
      ObjectStore& store = from_.store(context_);
      const auto object = store.Head(context_, move.path);
      if (object && Sha256Of(files_, Source(move)) != move.sha256) return false;
      const DeleteOutcome deleted = object ? store.Delete(context_, move.path, object->info.etag) : DeleteOutcome::kAbsent;
      if (deleted == DeleteOutcome::kRefused) return false;
      if (deleted == DeleteOutcome::kAbsent) removed_by_others_.insert(move.path);
      RemoveEmptyFolders(files_, Source(move).parent_path(), from_.tier_root());
      return true;
    }
    if (move.crosses) {
      return FromCache().Remove(context_, move.path, Expected::Version(move.sha256)) == Cache::WriteOutcome::kWritten;
    }
    files_.Remove(Source(move));
    RemoveEmptyFolders(files_, Source(move).parent_path(), from_.tier_root());
    return true;
  }

  // Versions of this checkout's that lost are shown by the commands that look at the new place.
  void MoveConflictCopies() {
    const fs::path old = FromCache().root() / ".conflicts";
    const fs::path now = ToCache().root() / ".conflicts";
    for (const std::string& below : ListFilesBelow(files_, old)) {
      if (files_.Stat(now / below)) continue;
      files_.CreateFolders((now / below).parent_path());
      files_.Rename(old / below, now / below);
    }
  }

  const Context& context_;
  Files& files_;
  Datastore& from_;
  Datastore& to_;
  const NamespaceMigrateRequest& request_;
  NamespaceMigrateResult& result_;
  std::vector<Move> moves_;
  std::set<std::string> removed_by_others_;  // from the old place, before this migration could
};

// The namespace to move to or from. A migration out that has come past the marker is known by the claim it left.
std::string SlugOf(const Context& context, const Repository& repo, const DatastoreParts& parts,
                   const DatastoreSettings& settings, const NamespaceMigrateRequest& request) {
  if (settings.name_space) return *settings.name_space;
  std::vector<std::string> own;
  if (request.reverse) {
    for (const NamespaceClaim& claim : ListNamespaces(context, repo, parts).namespaces) {
      if (claim.repo_id == repo.id()) own.push_back(claim.slug);
    }
  }
  if (own.size() == 1) return own.front();
  throw UserError("namespace_not_set",
                  own.empty() ? "this repository uses no namespace"
                              : fmt::format("this repository uses no namespace and has registered several: {}", Join(own, ", ")),
                  "Register or choose one with `swamp datastore namespace set <slug>`.");
}

// False: nothing outside the namespaces is known to be this repository's, and there is nothing. What another repository puts there
// from now on is not to be moved.
bool RequireOwnPlace(const Context& context, const Repository& repo, Datastore& named, Datastore& unnamed,
                     const std::string& slug, const NamespaceMigrateRequest& request) {
  const auto claim = ReadNamespaceClaim(context, named.store(context), slug);
  if (claim && claim->repo_id != repo.id()) {
    ClaimNamespace(context, named.store(context), slug, repo.id());  // says whose it is
  }
  bool own = OwnsUnnamed(context, claim, unnamed, repo.id());
  if (!own && HasTierFiles(context, unnamed)) {
    throw UserError("namespace_foreign",
                    "the files outside every namespace may be another repository's: nothing shows that they are this one's",
                    request.reverse ? "Stay in the namespace, or set the repository up at another place."
                                    : "Run this in the checkout that used them before the namespace was set.");
  }
  // From now on what is there is ours, in whichever state a crash leaves it.
  if (request.confirmed && (request.reverse || own)) {
    ClaimNamespace(context, named.WritableStore(context), slug, repo.id(), /*owns_unnamed=*/true);
  } else if (request.confirmed) {
    ClaimNamespace(context, named.WritableStore(context), slug, repo.id());
  }
  return own || request.reverse;
}

}  // namespace

NamespaceMigrateResult MigrateNamespace(const Context& context, const Repository& repo, const DatastoreParts& parts,
                                        const NamespaceMigrateRequest& request) {
  const DatastoreSettings settings = ResolveDatastore(context, repo);
  const std::string slug = SlugOf(context, repo, parts, settings, request);
  const Repository inside = InNamespace(repo, slug);
  const Repository outside = InNamespace(repo, std::nullopt);
  Datastore named(context, inside, ResolveDatastore(context, inside), parts);
  Datastore unnamed(context, outside, ResolveDatastore(context, outside), parts);
  unnamed.RequireFolder();
  Datastore& from = request.reverse ? named : unnamed;
  Datastore& to = request.reverse ? unnamed : named;

  NamespaceMigrateResult result{.slug = slug,
                                .place = {},
                                .reverse = request.reverse,
                                .confirmed = request.confirmed,
                                .synced = named.synced(),
                                .folders = {},
                                .notes = {}};
  result.place = to.synced() ? to.store(context).Describe() : to.tier_root().string();
  if (!RequireOwnPlace(context, repo, named, unnamed, slug, request)) return result;
  std::unique_ptr<StoreLock> outer;
  std::unique_ptr<StoreLock> inner;
  if (request.confirmed) {
    outer = unnamed.Lock(context);
    inner = named.Lock(context);
    if (parts.use_locks) {
      WaitForModels(context, unnamed);
      WaitForModels(context, named);
    }
  }
  NamespaceMove migration(context, from, to, request, result);
  migration.Look();
  if (!request.confirmed) return result;
  migration.CopyAll();
  for (std::string& note : request.side.carry(context, from, to)) result.notes.push_back(std::move(note));
  const auto ensure_alone = [&] {
    outer->EnsureHeld(context);
    inner->EnsureHeld(context);
  };
  ensure_alone();
  if (request.leave) SaveNamespace(context, repo, std::nullopt);
  migration.RemoveOld(ensure_alone);
  request.side.drop(context, from, to);
  inner->Release(context);
  outer->Release(context);
  return result;
}

}  // namespace swamp

#include "datastore/push.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <set>
#include <unordered_map>

#include "datastore/marker_version.h"
#include "datastore/moved_away.h"
#include "datastore/tombstone.h"
#include "datastore/upload.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/executor.h"
#include "util/log.h"
#include "util/rules.h"

namespace swamp {
namespace {

// Uploads whose outcomes are recorded in one go.
constexpr std::size_t kBatch = 1000;
// Immutable files that are announced in one go.
constexpr std::size_t kAnnounceBatch = 5000;
constexpr std::string_view kPushLock = ".datastore-push.lock";
// How often the index is looked after while others commit at the same time.
constexpr int kRecheckRounds = 3;
constexpr Duration kPushLockWait = std::chrono::minutes(10);

struct Candidate {
  std::string path;
  DirtyKind kind = DirtyKind::kWrite;
  std::optional<DirtyRow> row;  // nothing: found by a walk, and not recorded yet
  std::optional<Base> base;
  std::uint64_t highest_version = 0;  // of a `latest` marker that is removed: what its name ever had
};

// The order of the phases: a reader that follows the index or a marker never meets a missing file.
int PhaseOf(const Candidate& candidate) {
  if (candidate.kind == DirtyKind::kAnnounce) return 4;
  if (candidate.kind == DirtyKind::kRemove) return 3;
  switch (ClassOf(candidate.path)) {
    case PathClass::kImmutable:
      return 0;
    case PathClass::kMarker:
      return 2;
    default:
      return 1;
  }
}

// The file of a data version that claims its number: its create-only write has one winner, whatever the contents are.
bool IsClaim(const Candidate& candidate) {
  return candidate.kind == DirtyKind::kWrite && candidate.path.ends_with("/metadata.yaml");
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool ByPhase(const Candidate& a, const Candidate& b) { return PhaseOf(a) < PhaseOf(b); }

// A writer holds the cache's lock from the record of its change to the change itself: without it another process's row
// could be taken for one whose file is not there, or is as it was.
std::vector<DirtyRow> RecordedChanges(const Context& context, Cache& cache) {
  const Cache::Guard guard = cache.Lock(context);
  return cache.state().AllDirty();
}

bool IsWanted(const PushOptions& request, const std::string& path) {
  return request.only.empty() || std::any_of(request.only.begin(), request.only.end(),
                                             [&](const std::string& prefix) { return path.starts_with(prefix); });
}

// The bases of paths that come folder by folder: read a shard's worth at a time.
class BaseReader {
 public:
  explicit BaseReader(StateDb& state) : state_(state) {}

  std::optional<Base> Find(const std::string& path) {
    if (const std::string partition = PartitionOf(path); partition != partition_) {
      bases_.clear();
      for (Base& base : state_.BasesOfPartition(partition)) {
        std::string key = base.path;
        bases_.emplace(std::move(key), std::move(base));
      }
      partition_ = partition;
    }
    const auto found = bases_.find(path);
    return found == bases_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  StateDb& state_;
  std::optional<std::string> partition_;
  std::unordered_map<std::string, Base> bases_;
};

// Changes that are on record.
std::vector<Candidate> FindRecorded(const Context& context, Replica& replica, const PushOptions& request) {
  Cache& cache = replica.cache();
  std::vector<Candidate> candidates;
  for (DirtyRow& row : RecordedChanges(context, cache)) {
    if (!replica.Holds(row.path) || !IsWanted(request, row.path)) continue;
    Candidate candidate{.path = row.path, .kind = row.kind};
    candidate.base = cache.state().FindBase(row.path);
    if (ClassOf(row.path) == PathClass::kMarker) candidate.highest_version = cache.HighestRemoved(row.path);
    candidate.row = std::move(row);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

// Changes that nobody recorded, one by one.
void Walk(Replica& replica, const PushOptions& request, const std::function<void(Candidate)>& visit) {
  Cache& cache = replica.cache();
  BaseReader bases(cache.state());
  cache.ForEachFile(replica.options().folders, replica.options().excludes, [&](const std::string& path) {
    // The lockfile is published by its own transaction only.
    if (ClassOf(path) == PathClass::kLockfile || !IsWanted(request, path)) return;
    Candidate candidate{.path = path};
    candidate.base = bases.Find(path);
    auto local = cache.Inspect(path, candidate.base);
    const auto is_clean = [&] { return local && candidate.base && Cache::IsClean(*local, *candidate.base); };
    if (!is_clean()) {
      // The base was read a while ago, and another process may have pulled or pushed the file since.
      candidate.base = cache.state().FindBase(path);
      local = cache.Inspect(path, candidate.base);
    }
    if (!local || cache.state().FindDirty(path)) return;
    if (is_clean() && !RuleOff(Rule::kUnmodifiedNeverUploaded)) return;
    visit(std::move(candidate));
  });
}

IndexEntry EntryFor(const UploadOutcome& outcome) {
  return {.size = outcome.size,
          .last_modified = FormatTime(outcome.modified),
          .local_mtime = FormatTime(Time(std::chrono::floor<Duration>(
              std::chrono::nanoseconds(outcome.local.mtime_ns)))),
          .sha256 = outcome.sha256};
}

// Changes that a walk found are put on record like all others, so that a crash between an upload and its
// announcement is made up for.
void Record(StateDb& state, std::span<Candidate> candidates) {
  std::vector<std::string> found;
  for (const Candidate& candidate : candidates) {
    if (!candidate.row) found.push_back(candidate.path);
  }
  std::int64_t seq = state.MarkDirty(found, DirtyKind::kWrite);
  for (Candidate& candidate : candidates) {
    if (!candidate.row) candidate.row = DirtyRow{.path = candidate.path, .kind = DirtyKind::kWrite, .seq = seq++};
  }
}

class Pusher {
 public:
  Pusher(const Context& context, Replica& replica)
      : context_(context), replica_(replica), cache_(replica.cache()), state_(replica.cache().state()) {}

  // What is recorded and, when asked for, what a walk finds.
  PushReport RunAll(const PushOptions& request) {
    cache_.FinishPlacing(context_);
    if (!request.moving_away) EndMovingAway(state_);
    std::vector<Candidate> candidates = FindRecorded(context_, replica_, request);
    if (candidates.size() > kAnnounceBatch) PublishImmutable(candidates);
    if (request.walk) {
      std::vector<Candidate> immutable;
      Walk(replica_, request, [&](Candidate found) {
        (PhaseOf(found) == 0 ? immutable : candidates).push_back(std::move(found));
        if (immutable.size() >= kAnnounceBatch) PublishImmutable(immutable);
      });
      std::move(immutable.begin(), immutable.end(), std::back_inserter(candidates));
    }
    return Run(std::move(candidates));
  }

  PushReport Run(std::vector<Candidate> candidates) {
    known_ = KnownMeta(state_);
    if (candidates.empty()) return std::move(report_);
    std::stable_sort(candidates.begin(), candidates.end(), ByPhase);
    Record(state_, candidates);
    const auto first_mutable = std::find_if(candidates.begin(), candidates.end(),
                                            [](const Candidate& one) { return PhaseOf(one) > 0; });
    const auto immutable = static_cast<std::size_t>(first_mutable - candidates.begin());
    ExecuteImmutable(std::span(candidates).first(immutable));
    // One process of a checkout at a time: the next must build on the bases that this one sets.
    const auto lock = cache_.files().Lock(context_, cache_.root() / kPushLock, kPushLockWait);
    if (!lock) {
      throw UserError("cache_busy", "another process of this checkout has been publishing for ten minutes",
                      "End that process, then run `swamp datastore sync`.");
    }
    candidates = AsTheyAreNow(std::span(candidates).subspan(immutable));
    for (int phase = 1; phase <= 4; ++phase) {
      const auto begin = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const Candidate& one) { return PhaseOf(one) == phase; });
      const auto end = std::find_if(begin, candidates.end(),
                                    [&](const Candidate& one) { return PhaseOf(one) != phase; });
      Execute({begin, end});
    }
    AnnounceAll();
    return std::move(report_);
  }

 private:
  // Uploads and announces the immutable files among many candidates and takes them off the list, so that memory grows
  // neither with the number of files nor with that of index entries. Any number of such pushes may come before the one
  // with everything else.
  void PublishImmutable(std::vector<Candidate>& candidates) {
    const auto first_other = std::stable_partition(candidates.begin(), candidates.end(),
                                                   [](const Candidate& one) { return PhaseOf(one) == 0; });
    std::vector<Candidate> others(std::make_move_iterator(first_other), std::make_move_iterator(candidates.end()));
    candidates.erase(first_other, candidates.end());
    // The files of one version are near each other, and its claim is before the rest.
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.path < b.path; });
    for (std::size_t first = 0; first < candidates.size(); first += kAnnounceBatch) {
      const auto batch = std::span(candidates).subspan(first, std::min(kAnnounceBatch, candidates.size() - first));
      known_ = KnownMeta(state_);
      Record(state_, batch);
      ExecuteImmutable(batch);
      AnnounceAll();
    }
    candidates = std::move(others);
  }

  // Another process of this checkout may have published some of these meanwhile, and changed them again: a removal
  // that is done already must not take what was made at its path since.
  std::vector<Candidate> AsTheyAreNow(std::span<const Candidate> found_before) {
    std::set<std::string> paths;
    for (const Candidate& one : found_before) paths.insert(one.path);
    std::vector<Candidate> now = FindRecorded(context_, replica_, {});
    std::stable_sort(now.begin(), now.end(), ByPhase);
    std::erase_if(now, [&](const Candidate& one) { return PhaseOf(one) == 0 || !paths.contains(one.path); });
    return now;
  }

  // ---- uploading ----

  // Claims first: of a version that a peer has, nothing of ours goes up. A claim is announced with the rest of its version.
  void ExecuteImmutable(std::span<Candidate> candidates) {
    const auto others = std::stable_partition(candidates.begin(), candidates.end(), IsClaim);
    holding_ = true;
    Execute({candidates.begin(), others});
    holding_ = false;
    const auto lost = std::stable_partition(others, candidates.end(),
                                            [&](const Candidate& one) { return !lost_versions_.contains(FolderOf(one.path)); });
    Execute({others, lost});
    for (auto& [candidate, outcome] : std::exchange(held_, {})) ToAnnounce(candidate, outcome);
    state_.Settle(std::exchange(uploaded_, {}));
  }

  void Execute(std::span<Candidate> candidates) {
    for (std::size_t first = 0; first < candidates.size(); first += kBatch) {
      const auto batch = candidates.subspan(first, std::min(kBatch, candidates.size() - first));
      std::vector<std::optional<UploadOutcome>> outcomes(batch.size());
      std::exception_ptr failure;
      try {
        context_.executor().ForEach(context_, batch.size(), replica_.options().push_concurrency,
                                    [&](const Context& context, std::size_t i) {
                                      context.Check();
                                      outcomes[i] = Transfer(context, batch[i]);
                                    });
      } catch (...) {
        failure = std::current_exception();
      }
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (outcomes[i]) Take(batch[i], std::move(*outcomes[i]));
      }
      // What this checkout has put there is its base from now on, however the rest goes; the rows stay, so that
      // the next push comes by again until the index knows.
      state_.Settle(std::exchange(uploaded_, {}));
      // What did go up is announced even when something else didn't: the sooner others see it, the better.
      if (failure) {
        AnnounceQuietly();
        std::rethrow_exception(failure);
      }
    }
  }

  UploadOutcome Transfer(const Context& context, const Candidate& candidate) {
    UploadOutcome outcome;
    if (candidate.kind == DirtyKind::kWrite) {
      outcome = UploadFile(context, replica_, candidate.path, candidate.base);
    } else if (candidate.kind == DirtyKind::kRemove) {
      outcome = RemoveObject(context, replica_, candidate.path, candidate.base, candidate.row->removed,
                             candidate.highest_version);
    }
    if (outcome.kind != UploadOutcome::Kind::kNothing || !candidate.row) return outcome;
    // Nothing to change, but an earlier push may have ended between its upload and the index.
    return LookAtObject(context, replica_, candidate.path, candidate.base);
  }

  // ---- taking the outcome over ----

  void Take(const Candidate& candidate, UploadOutcome outcome) {
    using Kind = UploadOutcome::Kind;
    switch (outcome.kind) {
      case Kind::kNothing:
        return;
      case Kind::kStored:
        ++report_.files_pushed;
        [[fallthrough]];
      case Kind::kConverged:
      case Kind::kLooked:
        if (holding_) {
          held_.emplace_back(candidate, std::move(outcome));
        } else {
          ToAnnounce(candidate, outcome);
        }
        return;
      case Kind::kRemoved:
        ++report_.files_removed;
        if (outcome.found_gone) report_.found_gone.push_back(candidate.path);
        RemoveLeftover(candidate, outcome);
        ToAnnounce(candidate, outcome);
        return;
      case Kind::kTookTheirs:
        ++report_.files_taken;
        // The row stays until the index knows: what is in the bucket may be a merge that we made.
        if (BringHere(candidate, outcome, Row::kStays, Ours::kDropped)) ToAnnounce(candidate, outcome);
        return;
      case Kind::kConflict: {
        // The row stays until the index knows: theirs may be an earlier upload of ours that nobody announced.
        const auto copy = BringHere(candidate, outcome, Row::kStays, Ours::kKept);
        if (!copy) return;
        ToAnnounce(candidate, outcome);
        report_.conflicts.push_back({.kind = outcome.theirs_is_gone ? PushConflict::Kind::kRemovedByPeer
                                                                    : PushConflict::Kind::kEdited,
                                     .path = candidate.path,
                                     .local_copy = *copy,
                                     .peer = outcome.peer,
                                     .peer_time = TimeOf(outcome)});
        return;
      }
      case Kind::kPeerStays:
        if (!BringHere(candidate, outcome, Row::kLooks, Ours::kDropped)) return;
        report_.conflicts.push_back({.kind = PushConflict::Kind::kRemoval,
                                     .path = candidate.path,
                                     .local_copy = {},
                                     .peer = outcome.peer,
                                     .peer_time = TimeOf(outcome)});
        return;
      case Kind::kRefused:
        if (IsClaim(candidate)) lost_versions_.insert(FolderOf(candidate.path));
        RememberNumber(outcome);
        if (outcome.theirs_is_gone && ClassOf(candidate.path) == PathClass::kImmutable) {
          KeepAside(candidate, outcome);
          return;
        }
        if (outcome.theirs_is_gone && !NamesAVersionHere(candidate.path)) {
          // The name was removed with all that this marker could name.
          if (BringHere(candidate, outcome, Row::kStays, Ours::kDropped)) ToAnnounce(candidate, outcome);
          return;
        }
        report_.conflicts.push_back({.kind = PushConflict::Kind::kImmutable,
                                     .path = candidate.path,
                                     .local_copy = cache_.PathOf(candidate.path),
                                     .peer = outcome.peer,
                                     .peer_time = std::nullopt});
        return;
    }
  }

  // A peer has ended the version before its content came (model/records.h): it never will be one.
  void KeepAside(const Candidate& candidate, const UploadOutcome& outcome) {
    const Cache::Guard guard = cache_.Lock(context_);
    const std::filesystem::path copy = cache_.MoveToConflicts(context_, candidate.path);
    if (candidate.row) state_.Settle({.handled = {*candidate.row}});
    report_.conflicts.push_back({.kind = PushConflict::Kind::kImmutable,
                                 .path = candidate.path,
                                 .local_copy = copy,
                                 .peer = outcome.peer,
                                 .peer_time = std::nullopt});
  }

  static std::optional<Time> TimeOf(const UploadOutcome& outcome) {
    return outcome.modified == Time{} ? std::nullopt : std::optional(outcome.modified);
  }

  bool NamesAVersionHere(const std::string& marker) const {
    const auto bytes = ReadFile(cache_.files(), cache_.PathOf(marker));
    const std::uint64_t version = bytes ? MarkerVersion(*bytes) : 0;
    const std::string folder = marker.substr(0, marker.rfind('/') + 1) + std::to_string(version);
    return version != 0 && cache_.files().Stat(cache_.PathOf(folder)).has_value();
  }

  // So that the next number of the name is a new one.
  void RememberNumber(const UploadOutcome& outcome) {
    if (outcome.highest_version == 0) return;
    const Cache::Guard guard = cache_.Lock(context_);
    cache_.RememberRemoved(outcome.path, outcome.highest_version);
  }

  // A command died between the record of its removal and the removal itself, and the file is still here.
  void RemoveLeftover(const Candidate& candidate, const UploadOutcome& outcome) {
    const Cache::Guard guard = cache_.Lock(context_);
    const auto row = state_.FindDirty(outcome.path);
    if (!row || row->seq != candidate.row->seq) return;
    const auto local = cache_.Inspect(outcome.path, std::nullopt);
    if (local && local->sha256 == row->removed) cache_.files().Remove(cache_.PathOf(outcome.path));
  }

  enum class Row {
    kStays,  // until the index knows
    kLooks,  // the next push looks whether the index knows
  };
  enum class Ours { kKept, kDropped };

  // The bucket's version comes here, in place of the file that was offered to it; returns where that is
  // kept. Nothing: the file has been changed again meanwhile, and the next push deals with it.
  std::optional<std::filesystem::path> BringHere(const Candidate& candidate, UploadOutcome& outcome, Row row_after,
                                                 Ours ours) {
    const std::string& path = candidate.path;
    const Cache::Guard guard = cache_.Lock(context_);
    const auto row = state_.FindDirty(path);
    if (row.has_value() != candidate.row.has_value() || (row && row->seq != candidate.row->seq)) {
      return std::nullopt;
    }
    const auto local = cache_.Inspect(path, std::nullopt);
    if (candidate.kind == DirtyKind::kWrite && (!local || local->sha256 != outcome.local.sha256)) {
      return std::nullopt;
    }
    std::filesystem::path copy;
    if (ours == Ours::kKept) copy = cache_.MoveToConflicts(context_, path);
    StateDb::Settlement settlement;
    if (candidate.row && row_after == Row::kLooks) settlement.handled.push_back(*candidate.row);
    if (outcome.kind == UploadOutcome::Kind::kPeerStays && candidate.row)
      settlement.values.emplace_back(state_key::kLostRemoval + path, candidate.row->removed);
    Base base{.path = path, .etag = outcome.etag, .size = outcome.size, .sha256 = outcome.sha256, .entry = {}};
    if (outcome.sha256.empty()) {
      cache_.files().Remove(cache_.PathOf(path));
    } else {
      WriteFileAtomically(cache_.files(), cache_.PathOf(path), outcome.theirs);
      const auto info = cache_.files().Stat(cache_.PathOf(path));
      outcome.local = {outcome.size, info ? info->mtime_ns : 0, outcome.sha256};
      base.local_mtime_ns = outcome.local.mtime_ns;
      base.local_size = outcome.size;
    }
    if (outcome.etag.value.empty()) {
      settlement.forget.push_back(path);
    } else {
      settlement.set.push_back(std::move(base));
    }
    state_.Settle(settlement);
    if (row_after == Row::kLooks) state_.MarkDirty(path, DirtyKind::kAnnounce);
    return copy;
  }

  // ---- announcing ----

  void ToAnnounce(const Candidate& candidate, const UploadOutcome& outcome) {
    using Kind = UploadOutcome::Kind;
    const bool looked = outcome.kind == Kind::kLooked;
    IndexChange change{.path = candidate.path, .entry = std::nullopt, .seen = outcome.seen, .etag = outcome.etag,
                       .repairs = looked};
    Base base{.path = candidate.path, .etag = outcome.etag, .size = outcome.size, .sha256 = outcome.sha256,
              .entry = {}};
    const bool gone = outcome.kind == Kind::kRemoved || outcome.theirs_is_gone;
    if (!gone) {
      change.entry = EntryFor(outcome);
      base.local_mtime_ns = outcome.local.mtime_ns;
      base.local_size = outcome.local.size;
      if (outcome.kind == Kind::kStored || outcome.kind == Kind::kConverged) uploaded_.set.push_back(base);
      base.entry = change.entry->Signature();
    }
    if (looked) {
      // The file here is not touched by a look at the object; only the entry's signature is new, and only when
      // the file is of that object: a newer one has still to be pulled.
      if (candidate.base && !candidate.base->gone() && candidate.base->etag == outcome.etag && !gone) {
        Base same = *candidate.base;
        same.entry = base.entry;
        announced_.set.push_back(std::move(same));
      } else if (!gone) {
        // A process that died may have taken away what was here; and a pull passes over what it has seen already.
        cache_.LookAgain(candidate.path);
      }
    } else if (gone && outcome.etag.value.empty()) {
      announced_.forget.push_back(candidate.path);
    } else {
      announced_.set.push_back(std::move(base));
    }
    if (candidate.row) announced_.handled.push_back(*candidate.row);
    changes_[PartitionOf(candidate.path)].push_back(std::move(change));
  }

  using Changes = std::map<std::string, std::vector<IndexChange>>;  // by partition

  void AnnounceAll() {
    if (changes_.empty()) return;
    // Once there is a meta document, readers follow the shards alone.
    if (!known_ && replica_.index().ReadMeta(context_, std::nullopt).state.before_shards) {
      replica_.index().AdoptLegacy(context_);
    }
    MergeShards(changes_);
    UpdateLegacy();
    RemoteIndex::Commit commit =
        replica_.index().CommitMeta(context_, PartitionsOf(changes_), known_, replica_.options().writer);
    const bool alone = commit.followed_known;
    const int rounds = RuleOff(Rule::kLateIndexWrites) ? 0 : kRecheckRounds;
    for (int round = 0; !commit.followed_known && round < rounds; ++round) {
      const Changes wrong = FindOvertaken();
      if (!MergeShards(wrong)) break;
      commit = replica_.index().CommitMeta(context_, PartitionsOf(wrong), commit.state, replica_.options().writer);
    }
    commit.followed_known = alone;
    Settle(commit, known_);
  }

  static std::vector<std::string> PartitionsOf(const Changes& changes) {
    std::vector<std::string> partitions;
    for (const auto& [partition, of_partition] : changes) partitions.push_back(partition);
    return partitions;
  }

  // Whether any shard had to be changed.
  bool MergeShards(const Changes& changes) {
    const std::vector<std::string> partitions = PartitionsOf(changes);
    std::atomic<bool> changed = false;
    context_.executor().ForEach(context_, partitions.size(), replica_.options().push_concurrency,
                                [&](const Context& context, std::size_t i) {
                                  if (replica_.index().MergeShard(context, partitions[i], changes.at(partitions[i]))) {
                                    changed = true;
                                  }
                                });
    return changed;
  }

  // Somebody else has committed since this push began, and an entry can be wrong although nobody wrote over it: a peer
  // that removes an object before we enter it finds nothing to take out of the shard. Of two writers that meet on a
  // path the one that commits later always gets here, and looks at its objects after all entries were written.
  Changes FindOvertaken() {
    std::vector<const IndexChange*> announced;
    for (const auto& [partition, changes] : changes_) {
      for (const IndexChange& change : changes) {
        // Nobody changes a data version, and readers repair the entry of one that was collected.
        if (!change.entry || ClassOf(change.path) != PathClass::kImmutable) announced.push_back(&change);
      }
    }
    std::vector<std::optional<IndexChange>> found(announced.size());
    context_.executor().ForEach(context_, announced.size(), replica_.options().push_concurrency,
                                [&](const Context& context, std::size_t i) {
                                  found[i] = LookAgain(context, *announced[i]);
                                });
    Changes wrong;
    for (auto& change : found) {
      if (change) wrong[PartitionOf(change->path)].push_back(std::move(*change));
    }
    return wrong;
  }

  // What the index has to say of the path by now; nothing: what it was told.
  std::optional<IndexChange> LookAgain(const Context& context, const IndexChange& change) {
    if (change.entry) {
      const auto object = replica_.store().Head(context, change.path);
      if (object && object->info.etag == change.etag) return std::nullopt;
    }
    const UploadOutcome outcome = LookAtObject(context, replica_, change.path, std::nullopt);
    IndexChange now{.path = change.path,
                    .entry = std::nullopt,
                    .seen = change.entry ? change.entry->Signature() : std::string(),
                    .etag = outcome.etag,
                    .repairs = true};
    if (!outcome.theirs_is_gone) now.entry = EntryFor(outcome);
    return now;
  }

  // Bases and dirty rows change only now: until the index knows, the next push has to come by again.
  void Settle(const RemoteIndex::Commit& commit, const std::optional<MetaState>& known) {
    if (commit.followed_known && known) {
      // Nothing else happened since the pull that this commit builds on, so the pull still is complete.
      for (const char* key : {state_key::kPulledConfig, state_key::kPulledAll}) {
        if (state_.Value(key) == known->etag.value) {
          announced_.values.emplace_back(key, commit.state.etag.value);
        }
      }
      for (const auto& [key, value] : state_.ValuesWithPrefix(state_key::kPulledPartPrefix)) {
        if (value == known->etag.value) announced_.values.emplace_back(key, commit.state.etag.value);
      }
    }
    announced_.values.push_back(MetaValue(commit.state));
    // A peer may put back just what was removed here: the shard that says so can be the very one that was pulled before.
    for (const auto& [partition, changes] : changes_) announced_.values.emplace_back(state_key::kShardPrefix + partition, "");
    const Cache::Guard guard = cache_.Lock(context_);
    // A pull of another process may have brought a newer version meanwhile: then its base stands.
    std::erase_if(announced_.set, [&](const Base& base) {
      if (base.gone()) return false;
      const auto current = state_.FindBase(base.path);
      return !current || current->etag != base.etag;
    });
    state_.Settle(announced_);
    announced_ = {};
    changes_.clear();
  }

  void UpdateLegacy() {
    auto legacy = state_.Value(state_key::kLegacyIndex);
    if (!legacy) {
      legacy = replica_.store().Head(context_, std::string(kLegacyIndexKey)) ? "present" : "absent";
      state_.SetValue(state_key::kLegacyIndex, *legacy);
    }
    if (*legacy != "present") return;
    std::vector<IndexChange> all;
    for (const auto& [partition, changes] : changes_) all.insert(all.end(), changes.begin(), changes.end());
    replica_.index().MergeLegacy(context_, all);
  }

  void AnnounceQuietly() {
    try {
      AnnounceAll();
    } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): the failure before it is the one to tell
    }
  }

  const Context& context_;
  Replica& replica_;
  Cache& cache_;
  StateDb& state_;
  std::optional<MetaState> known_;  // from before the uploads
  Changes changes_;
  StateDb::Settlement uploaded_;
  StateDb::Settlement announced_;
  bool holding_ = false;
  std::vector<std::pair<Candidate, UploadOutcome>> held_;  // claims that are up, their versions not yet
  std::set<std::string> lost_versions_;                    // folders
  PushReport report_;
};

}  // namespace

PushPreview PreviewPush(const Context& context, Replica& replica, const PushOptions& request) {
  PushPreview preview;
  const auto add = [&](const Candidate& candidate) {
    if (candidate.kind == DirtyKind::kAnnounce) return;
    const bool known = candidate.base && !candidate.base->gone();
    if (candidate.kind == DirtyKind::kRemove) {
      if (known) preview.removed.push_back(candidate.path);
    } else {
      (known ? preview.changed : preview.created).push_back(candidate.path);
    }
  };
  for (const Candidate& candidate : FindRecorded(context, replica, request)) add(candidate);
  if (request.walk) Walk(replica, request, add);
  for (auto* paths : {&preview.created, &preview.changed, &preview.removed}) std::sort(paths->begin(), paths->end());
  return preview;
}

PushReport Push(const Context& context, Replica& replica, const PushOptions& request) {
  return Pusher(context, replica).RunAll(request);
}

void Announce(const Context& context, Replica& replica, const std::string& path) {
  StateDb& state = replica.cache().state();
  Candidate candidate{.path = path, .kind = DirtyKind::kAnnounce};
  candidate.row = DirtyRow{.path = path, .kind = DirtyKind::kAnnounce, .seq = state.MarkDirty(path, DirtyKind::kAnnounce)};
  candidate.base = state.FindBase(path);
  Pusher(context, replica).Run({std::move(candidate)});
}

std::vector<std::string> UnpublishedPaths(Cache& cache) {
  std::vector<std::string> paths;
  for (const DirtyRow& row : cache.state().AllDirty()) {
    if (row.kind != DirtyKind::kAnnounce) paths.push_back(row.path);
  }
  return paths;
}

}  // namespace swamp

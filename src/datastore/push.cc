#include "datastore/push.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/tombstone.h"
#include "datastore/upload.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/executor.h"
#include "util/log.h"

namespace swamp {
namespace {

// Uploads whose outcomes are recorded in one go.
constexpr std::size_t kBatch = 1000;
constexpr std::string_view kPushLock = ".datastore-push.lock";
constexpr Duration kPushLockWait = std::chrono::minutes(10);

struct Candidate {
  std::string path;
  DirtyKind kind = DirtyKind::kWrite;
  std::optional<DirtyRow> row;  // nothing: found by a walk, and not recorded yet
  std::optional<Base> base;
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

std::vector<Candidate> FindCandidates(Replica& replica, bool walk) {
  Cache& cache = replica.cache();
  std::vector<Candidate> candidates;
  std::set<std::string> recorded;
  for (DirtyRow& row : cache.state().AllDirty()) {
    recorded.insert(row.path);
    if (!replica.Holds(row.path)) continue;
    Candidate candidate{.path = row.path, .kind = row.kind};
    candidate.base = cache.state().FindBase(row.path);
    candidate.row = std::move(row);
    candidates.push_back(std::move(candidate));
  }
  if (walk) {
    for (const std::string& path : cache.Walk(replica.options().folders, replica.options().excludes)) {
      // The lockfile is published by its own transaction only.
      if (recorded.contains(path) || ClassOf(path) == PathClass::kLockfile) continue;
      Candidate candidate{.path = path};
      candidate.base = cache.state().FindBase(path);
      const auto local = cache.Inspect(path, candidate.base);
      if (!local || (candidate.base && Cache::IsClean(*local, *candidate.base))) continue;
      candidates.push_back(std::move(candidate));
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return PhaseOf(a) < PhaseOf(b); });
  return candidates;
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

  PushReport Run(std::vector<Candidate> candidates) {
    if (candidates.empty()) return {};
    Record(state_, candidates);
    const auto first_mutable = std::find_if(candidates.begin(), candidates.end(),
                                            [](const Candidate& one) { return PhaseOf(one) > 0; });
    const auto immutable = static_cast<std::size_t>(first_mutable - candidates.begin());
    Execute(std::span(candidates).first(immutable));
    // One process of a checkout at a time: the next must build on the bases that this one sets.
    const auto lock = cache_.files().Lock(context_, cache_.root() / kPushLock, kPushLockWait);
    if (!lock) {
      throw UserError("cache_busy", "another process of this checkout has been publishing for ten minutes",
                      "End that process, then run `swamp datastore sync`.");
    }
    for (Candidate& candidate : std::span(candidates).subspan(immutable)) {
      candidate.base = state_.FindBase(candidate.path);
    }
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
  // ---- uploading ----

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
      // What did go up is announced even when something else didn't: the sooner others see it, the better.
      if (failure) {
        AnnounceQuietly();
        std::rethrow_exception(failure);
      }
    }
  }

  UploadOutcome Transfer(const Context& context, const Candidate& candidate) {
    switch (candidate.kind) {
      case DirtyKind::kWrite:
        return UploadFile(context, replica_, candidate.path, candidate.base);
      case DirtyKind::kRemove:
        return RemoveObject(context, replica_, candidate.path, candidate.base);
      case DirtyKind::kAnnounce:
        return LookAt(context, candidate);
    }
    return {};
  }

  // The entry has to say what the object is, whoever put it there.
  UploadOutcome LookAt(const Context& context, const Candidate& candidate) {
    UploadOutcome outcome;
    outcome.path = candidate.path;
    if (candidate.base) outcome.seen = candidate.base->entry;
    outcome.kind = UploadOutcome::Kind::kRemoved;
    const auto object = replica_.store().Head(context, candidate.path);
    if (!object) return outcome;
    outcome.etag = object->info.etag;
    outcome.modified = object->info.last_modified;
    if (object->info.size <= kMaxTombstoneSize) {
      const auto bytes = GetBytes(context, replica_.store(), candidate.path);
      if (!bytes || IsTombstone(bytes->bytes)) return outcome;
    }
    outcome.kind = UploadOutcome::Kind::kConverged;
    outcome.size = object->info.size;
    const bool known = candidate.base && candidate.base->etag == object->info.etag;
    if (known) {
      outcome.sha256 = candidate.base->sha256;
      outcome.local.mtime_ns = candidate.base->local_mtime_ns;
    }
    return outcome;
  }

  // ---- taking the outcome over ----

  void Take(const Candidate& candidate, UploadOutcome outcome) {
    using Kind = UploadOutcome::Kind;
    StateDb::Settlement settlement;
    switch (outcome.kind) {
      case Kind::kNothing:
        // Equal to its base, or gone before it was ever uploaded.
        if (candidate.row) settlement.handled.push_back(*candidate.row);
        state_.Settle(settlement);
        return;
      case Kind::kStored:
        ++report_.files_pushed;
        ToAnnounce(candidate, outcome);
        return;
      case Kind::kConverged:
        ToAnnounce(candidate, outcome);
        return;
      case Kind::kRemoved:
        if (candidate.kind == DirtyKind::kRemove) ++report_.files_removed;
        ToAnnounce(candidate, outcome);
        return;
      case Kind::kTookTheirs:
        ++report_.files_taken;
        // The row stays until the index knows: what is in the bucket may be a merge that we made.
        if (BringHere(candidate, outcome, Row::kStays, Ours::kDropped)) ToAnnounce(candidate, outcome);
        return;
      case Kind::kConflict: {
        const auto copy = BringHere(candidate, outcome, Row::kHandled, Ours::kKept);
        if (!copy) return;
        report_.conflicts.push_back({.kind = outcome.theirs_is_gone ? PushConflict::Kind::kRemovedByPeer
                                                                    : PushConflict::Kind::kEdited,
                                     .path = candidate.path,
                                     .local_copy = *copy,
                                     .peer = outcome.peer,
                                     .peer_time = TimeOf(outcome)});
        return;
      }
      case Kind::kPeerStays:
        if (!BringHere(candidate, outcome, Row::kHandled, Ours::kDropped)) return;
        report_.conflicts.push_back({.kind = PushConflict::Kind::kRemoval,
                                     .path = candidate.path,
                                     .local_copy = {},
                                     .peer = outcome.peer,
                                     .peer_time = TimeOf(outcome)});
        return;
      case Kind::kRefused:
        report_.conflicts.push_back({.kind = PushConflict::Kind::kImmutable,
                                     .path = candidate.path,
                                     .local_copy = cache_.PathOf(candidate.path),
                                     .peer = outcome.peer,
                                     .peer_time = std::nullopt});
        return;
    }
  }

  static std::optional<Time> TimeOf(const UploadOutcome& outcome) {
    return outcome.modified == Time{} ? std::nullopt : std::optional(outcome.modified);
  }

  enum class Row { kHandled, kStays };
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
    if (candidate.row && row_after == Row::kHandled) settlement.handled.push_back(*candidate.row);
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
    return copy;
  }

  // ---- announcing ----

  void ToAnnounce(const Candidate& candidate, const UploadOutcome& outcome) {
    IndexChange change{.path = candidate.path, .entry = std::nullopt, .seen = outcome.seen, .etag = outcome.etag};
    Base base{.path = candidate.path, .etag = outcome.etag, .size = outcome.size, .sha256 = outcome.sha256,
              .entry = {}};
    const bool gone = outcome.kind == UploadOutcome::Kind::kRemoved;
    if (!gone) {
      change.entry = EntryFor(outcome);
      base.local_mtime_ns = outcome.local.mtime_ns;
      base.local_size = outcome.local.size;
      base.entry = change.entry->Signature();
    }
    if (candidate.kind == DirtyKind::kAnnounce) {
      // The file here is not touched by a look at the object; only the entry's signature is new.
      if (candidate.base && !candidate.base->gone() && !gone) {
        Base same = *candidate.base;
        same.entry = base.entry;
        announced_.set.push_back(std::move(same));
      }
    } else if (gone && outcome.etag.value.empty()) {
      announced_.forget.push_back(candidate.path);
    } else {
      announced_.set.push_back(std::move(base));
    }
    if (candidate.row) announced_.handled.push_back(*candidate.row);
    changes_[PartitionOf(candidate.path)].push_back(std::move(change));
  }

  void AnnounceAll() {
    if (changes_.empty()) return;
    std::vector<std::string> partitions;
    for (const auto& [partition, changes] : changes_) partitions.push_back(partition);
    context_.executor().ForEach(context_, partitions.size(), replica_.options().push_concurrency,
                                [&](const Context& context, std::size_t i) {
                                  replica_.index().MergeShard(context, partitions[i], changes_.at(partitions[i]));
                                });
    UpdateLegacy();
    const std::optional<MetaState> known = KnownMeta(state_);
    const RemoteIndex::Commit commit =
        replica_.index().CommitMeta(context_, partitions, known, replica_.options().writer);
    Settle(commit, known);
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
    }
    announced_.values.push_back(MetaValue(commit.state));
    const Cache::Guard guard = cache_.Lock(context_);
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
  std::map<std::string, std::vector<IndexChange>> changes_;
  StateDb::Settlement announced_;
  PushReport report_;
};

}  // namespace

PushPreview PreviewPush(const Context&, Replica& replica, const PushOptions& request) {
  PushPreview preview;
  for (Candidate& candidate : FindCandidates(replica, request.walk)) {
    if (candidate.kind == DirtyKind::kAnnounce) continue;
    const bool known = candidate.base && !candidate.base->gone();
    if (candidate.kind == DirtyKind::kRemove) {
      if (known) preview.removed.push_back(candidate.path);
    } else {
      (known ? preview.changed : preview.created).push_back(candidate.path);
    }
  }
  return preview;
}

PushReport Push(const Context& context, Replica& replica, const PushOptions& request) {
  return Pusher(context, replica).Run(FindCandidates(replica, request.walk));
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

#include "datastore/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "datastore/hydrate.h"
#include "datastore/marker_version.h"
#include "datastore/moved_away.h"
#include "datastore/placing.h"
#include "datastore/spill_sink.h"
#include "datastore/tombstone.h"
#include "util/context.h"
#include "util/executor.h"
#include "util/log.h"
#include "util/relative_path.h"
#include "util/rules.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "datastore·pull";
// Files that are brought over before their names and bases are set in one go.
constexpr std::size_t kBatch = 1000;

// One path to look at.
struct Item {
  std::string path;
  std::string partition;
  std::optional<Base> base;  // when it was planned
  std::optional<ETag> listed;
  std::optional<IndexEntry> entry;
  bool listed_as_gone = false;  // a tombstone by its size and ETag
  bool confirm_gone = false;    // not listed any more: a HEAD has to agree
};

// What the bucket had for it.
struct Fetched {
  bool done = false;
  bool gone = false;
  bool left_out = false;              // of a lazy pull: nothing but what the index says
  std::uint64_t highest_version = 0;  // that a marker's tombstone keeps
  ETag etag;  // of the object, or of the tombstone; empty: nothing is there
  std::uint64_t size = 0;
  std::string sha256;
  std::string bytes;  // of a marker
  std::unique_ptr<OutputFile> file;
  std::optional<IndexEntry> entry;
  bool index_is_wrong = false;
  std::string problem;
};

class Puller {
 public:
  Puller(const Context& context, Replica& replica, PullScope scope, PullEffort effort)
      : context_(context),
        replica_(replica),
        cache_(replica.cache()),
        state_(replica.cache().state()),
        scope_(scope),
        effort_(effort),
        lazy_(replica.options().lazy && effort != PullEffort::kEverything) {
    // What earlier, lazy pulls left out.
    if (!lazy_ && state_.Value(state_key::kLeftOut)) rest_is_missing_ = true;
    if (rest_is_missing_ || effort_ == PullEffort::kEverything) effort_ = PullEffort::kRestoreMissing;
  }

  PullReport Run() {
    cache_.FinishPlacing(context_);
    EndMovingAway(state_);
    reconciling_ = cache_.NeedsReconciling();
    if (reconciling_) scope_ = PullScope::kAll;
    const auto pulled = state_.Value(ScopeKey());
    const std::optional<ETag> unless =
        pulled && !reconciling_ ? std::optional(ETag{*pulled}) : std::nullopt;
    RemoteIndex::MetaAnswer answer = replica_.index().ReadMeta(context_, unless);
    if (answer.unchanged) {
      PlanMissing();
      report_.unchanged = items_.empty();
      Execute();
      StateDb::Settlement settlement;
      NoteWhetherComplete(settlement);
      state_.Settle(settlement);
      return std::move(report_);
    }
    PlanConfig();
    if (scope_ == PullScope::kAll) PlanShards(answer.state);
    if (RuleOff(Rule::kMetaBeforeListings)) answer = replica_.index().ReadMeta(context_, std::nullopt);
    Execute();
    Record(answer.state);
    return std::move(report_);
  }

  // Paths below `prefix`, which ends with "/".
  PullReport RunPart(const std::string& prefix) {
    cache_.FinishPlacing(context_);
    EndMovingAway(state_);
    const std::string key = state_key::kPulledPartPrefix + prefix;
    // What was complete for everything was so for this part.
    std::optional<ETag> unless;
    if (const auto known = KnownMeta(state_); known && !rest_is_missing_) {
      if (state_.Value(key) == known->etag.value || state_.Value(state_key::kPulledAll) == known->etag.value) {
        unless = known->etag;
      }
    }
    if (cache_.NeedsReconciling()) return Run();
    const RemoteIndex::MetaAnswer answer = replica_.index().ReadMeta(context_, unless);
    if (answer.unchanged) {
      report_.unchanged = true;
      return std::move(report_);
    }
    if (answer.state.before_shards) return Run();
    prefix_ = prefix;
    for (const std::string& partition : PartitionsOfPart(answer.state)) {
      PlanEntries(partition, replica_.index().ReadShard(context_, partition).shard.Entries());
    }
    Execute();
    StateDb::Settlement settlement;
    settlement.values.push_back(MetaValue(answer.state));
    if (incomplete_.empty()) settlement.values.emplace_back(key, answer.state.etag.value);
    state_.Settle(settlement);
    return std::move(report_);
  }

 private:
  // Of a model's data: the shard of the versions, and those of the markers: shared with other models, or one for each name.
  std::vector<std::string> PartitionsOfPart(const MetaState& meta) const {
    if (!prefix_.starts_with("data/")) return {PartitionOf(prefix_ + "any")};
    const std::string versions = PartitionOf(prefix_ + "n/1/raw");
    const std::string markers = PartitionOf(prefix_ + "n/latest");
    std::vector<std::string> partitions = {versions};
    const std::string of_one_name = versions + "--";
    if (!markers.starts_with(of_one_name)) {
      partitions.push_back(markers);
    } else {
      for (const std::string& partition : meta.meta.partitions) {
        if (partition.starts_with(of_one_name)) partitions.push_back(partition);
      }
    }
    return partitions;
  }

  const char* ScopeKey() const {
    return scope_ == PullScope::kConfig ? state_key::kPulledConfig : state_key::kPulledAll;
  }

  // ---- planning ----

  void AddItem(Item item) { items_.push_back(std::move(item)); }

  // Whether a pull leaves the path's object where it is until somebody needs it.
  bool LeavesOut(const std::string& path) const { return lazy_ && IsDataContent(path); }

  // Whether a file should be here and isn't, without a change of this checkout's own.
  bool IsMissing(const Base& base) const {
    return !base.gone() && !LeavesOut(base.path) && !cache_.files().Stat(cache_.PathOf(base.path)) &&
           !state_.FindDirty(base.path);
  }

  // Whether the path may be handled at all; refused keys are reported.
  bool Accept(const std::string& path) {
    if (const auto reason = WhyUnsafePath(path)) {
      report_.problems.push_back({Printable(path), "path_escape: the key is refused: " + *reason});
      return false;
    }
    return replica_.Holds(path);
  }

  void PlanMissing() {
    const bool all = effort_ == PullEffort::kRestoreMissing && scope_ == PullScope::kAll;
    for (const std::string& partition : all ? state_.Partitions() : std::vector<std::string>{"config"}) {
      for (Base& base : state_.BasesOfPartition(partition)) {
        if (!IsMissing(base)) continue;
        Item item{.path = base.path, .partition = partition};
        item.base = std::move(base);
        AddItem(std::move(item));
      }
    }
  }

  void PlanConfig() {
    std::map<std::string, Base> bases;
    for (Base& base : state_.BasesOfPartition("config")) {
      std::string path = base.path;
      bases.emplace(std::move(path), std::move(base));
    }
    static const std::string tombstone_etag = Md5Hex(kTombstone);
    for (const ObjectInfo& object : ListAll(context_, replica_.store(), "config/")) {
      if (!Accept(object.key)) continue;
      Item item{.path = object.key, .partition = "config"};
      item.listed = object.etag;
      item.listed_as_gone = object.size == kTombstone.size() && object.etag.value == tombstone_etag;
      if (auto found = bases.extract(object.key)) item.base = std::move(found.mapped());
      if (item.base && item.base->etag == object.etag && !IsMissing(*item.base)) continue;
      AddItem(std::move(item));
    }
    for (auto& [path, base] : bases) {
      if (base.gone() && base.etag.value.empty()) continue;
      Item item{.path = path, .partition = "config"};
      item.base = std::move(base);
      item.confirm_gone = true;
      AddItem(std::move(item));
    }
  }

  void PlanShards(const MetaState& meta) {
    std::map<std::string, std::map<std::string, IndexEntry>> legacy;
    if (meta.before_shards) {
      // A bucket that nobody has committed to, or one with only the older index.
      const auto index = replica_.index().ReadLegacy(context_);
      state_.SetValue(state_key::kLegacyIndex, index ? "present" : "absent");
      if (index) {
        for (const auto& [path, entry] : index->Entries()) legacy[PartitionOf(path)][path] = entry;
      }
    }
    std::set<std::string> seen;
    for (const auto& [partition, etag] : replica_.index().ListShards(context_)) {
      seen.insert(partition);
      legacy.erase(partition);
      if (partition == "config") continue;  // listed directly
      const bool changed = state_.Value(state_key::kShardPrefix + partition) != etag.value || reconciling_;
      if (changed) {
        const RemoteIndex::ShardState shard = replica_.index().ReadShard(context_, partition);
        shard_etags_[partition] = shard.etag;
        PlanEntries(partition, shard.shard.Entries());
        // Shard by shard, so that memory doesn't grow with the number of files in the bucket.
        if (items_.size() >= kBatch) Execute();
      } else if (effort_ == PullEffort::kRestoreMissing) {
        for (Base& base : state_.BasesOfPartition(partition)) {
          if (!IsMissing(base)) continue;
          Item item{.path = base.path, .partition = partition};
          item.base = std::move(base);
          AddItem(std::move(item));
        }
      }
    }
    for (const auto& [partition, entries] : legacy) {
      seen.insert(partition);
      if (partition != "config") PlanEntries(partition, entries);
    }
    // A shard that is gone altogether: each of its paths needs a HEAD to be believed gone.
    for (const std::string& partition : state_.Partitions()) {
      if (partition != "config" && !seen.contains(partition)) PlanEntries(partition, {});
    }
  }

  void PlanEntries(const std::string& partition, const std::map<std::string, IndexEntry>& entries) {
    std::map<std::string, Base> bases;
    for (Base& base : state_.BasesOfPartition(partition)) {
      if (!base.path.starts_with(prefix_)) continue;
      std::string path = base.path;
      bases.emplace(std::move(path), std::move(base));
    }
    for (const auto& [path, entry] : entries) {
      if (!path.starts_with(prefix_)) continue;
      if (!Accept(path) || PartitionOf(path) != partition) continue;
      Item item{.path = path, .partition = partition};
      item.entry = entry;
      if (auto found = bases.extract(path)) item.base = std::move(found.mapped());
      if (item.base && !item.base->gone() && item.base->entry == entry.Signature() &&
          !IsMissing(*item.base)) {
        continue;
      }
      AddItem(std::move(item));
    }
    for (auto& [path, base] : bases) {
      if (base.gone()) continue;
      Item item{.path = path, .partition = partition};
      item.base = std::move(base);
      item.confirm_gone = true;
      AddItem(std::move(item));
    }
  }

  // ---- fetching (in tasks) ----

  Fetched Fetch(const Context& context, const Item& item) {
    Fetched fetched;
    try {
      if (item.listed_as_gone) {
        fetched.done = fetched.gone = true;
        fetched.etag = *item.listed;
      } else if (LeavesOut(item.path) && item.entry && !item.entry->sha256.empty() &&
                 !cache_.files().Stat(cache_.PathOf(item.path))) {
        fetched.done = fetched.left_out = true;
        fetched.size = item.entry->size;
        fetched.sha256 = item.entry->sha256;
        fetched.entry = item.entry;
      } else if (AdoptsLocalFile(context, item, fetched)) {
        // The file that is here is the object: nothing to download.
      } else if (item.confirm_gone && !replica_.store().Head(context, item.path)) {
        fetched.done = fetched.gone = true;
      } else {
        Download(context, item, fetched);
      }
    } catch (const IoError& error) {
      // A path that this file system can't hold must not stop the others; a full disk must.
      static const std::set<int> kUnfit = {EISDIR, ENOTDIR, ENAMETOOLONG, EEXIST, EINVAL, EILSEQ};
      if (!kUnfit.contains(error.error_number())) throw;
      fetched.problem = error.message();
    }
    return fetched;
  }

  // After a lost state database: a file whose bytes are the object's gets its base back.
  bool AdoptsLocalFile(const Context& context, const Item& item, Fetched& fetched) {
    if (item.base || item.confirm_gone) return false;
    const auto file = cache_.files().Open(cache_.PathOf(item.path));
    if (!file) return false;
    const ContentDigests digests = DigestFile(*file, true);
    const bool by_etag = item.listed && item.listed->value == digests.md5;
    const bool by_entry = item.entry && item.entry->sha256 == digests.sha256;
    if (!by_etag && !by_entry) return false;
    if (item.listed) {
      fetched.etag = *item.listed;
    } else {
      const auto object = replica_.store().Head(context, item.path);
      if (!object || object->info.size != file->Info().size) return false;
      fetched.etag = object->info.etag;
    }
    fetched.done = true;
    fetched.size = file->Info().size;
    fetched.sha256 = digests.sha256;
    fetched.entry = item.entry;
    return true;
  }

  void Download(const Context& context, const Item& item, Fetched& fetched) {
    SpillSink sink(cache_.files(), cache_.PathOf(item.path));
    const GetResult result = replica_.store().Get(context, item.path, {}, sink);
    fetched.entry = item.entry;
    if (!result.found()) {
      fetched.done = fetched.gone = true;
      fetched.index_is_wrong = item.entry.has_value();
      return;
    }
    fetched.etag = result.state.info.etag;
    if (sink.bytes() != nullptr && IsTombstone(*sink.bytes())) {
      fetched.highest_version = HighestVersionOf(*sink.bytes());
      fetched.done = fetched.gone = true;
      fetched.index_is_wrong = item.entry.has_value();
      return;
    }
    fetched.size = sink.size();
    fetched.sha256 = sink.FinishSha256();
    // An object that the index does not list; config/ is listed from the objects themselves.
    if (item.confirm_gone && item.partition != "config") fetched.index_is_wrong = true;
    if (!AgreesWithIndex(context, item, fetched)) return;
    // Content that was left out has been seen in the index only.
    if (!item.entry && item.base && !item.base->gone() && IsDataContent(item.path) && item.base->sha256 != fetched.sha256) {
      fetched.problem = fmt::format("the object is not what the index said ({} bytes, sha256 {}); it was left where it is",
                                    fetched.size, fetched.sha256);
      return;
    }
    if (sink.bytes() != nullptr && ClassOf(item.path) == PathClass::kMarker) fetched.bytes = *sink.bytes();
    fetched.file = sink.TakeFile();
    fetched.done = true;
  }

  static bool Describes(const IndexEntry& entry, const Fetched& fetched) {
    return entry.size == fetched.size && (entry.sha256.empty() || entry.sha256 == fetched.sha256);
  }

  // Whether the object may be taken. A writer may have died between the object and its entry.
  bool AgreesWithIndex(const Context& context, const Item& item, Fetched& fetched) {
    if (!item.entry || Describes(*item.entry, fetched)) return true;
    auto entry_now = replica_.index().ReadShard(context, item.partition).shard.Find(item.path);
    if (entry_now && Describes(*entry_now, fetched)) {
      fetched.entry = std::move(entry_now);
      return true;
    }
    if (ClassOf(item.path) == PathClass::kImmutable) {
      fetched.problem = fmt::format(
          "the object is not what the index says ({} bytes, sha256 {}); the file here was left as it is",
          fetched.size, fetched.sha256);
      return false;
    }
    // The base keeps the entry that was seen before the object: by now there may be that of a newer object, which the next
    // pull has to fetch.
    fetched.index_is_wrong = true;
    return true;
  }

  // ---- applying ----

  void Execute() {
    for (std::size_t first = 0; first < items_.size(); first += kBatch) {
      const std::size_t count = std::min(kBatch, items_.size() - first);
      std::vector<Fetched> fetched(count);
      context_.executor().ForEach(context_, count, replica_.options().pull_concurrency,
                                  [&](const Context& context, std::size_t i) {
                                    context.Check();
                                    fetched[i] = Fetch(context, items_[first + i]);
                                  });
      Apply(std::span(items_).subspan(first, count), fetched);
    }
    items_.clear();
  }

  void Apply(std::span<Item> items, std::span<Fetched> fetched) {
    std::vector<std::filesystem::path> temporaries;
    for (const Fetched& one : fetched) {
      if (one.file) temporaries.push_back(one.file->temporary_path());
    }
    cache_.files().Sync(temporaries);
    const Cache::Guard guard = cache_.Lock(context_);
    FinishPlacing(cache_);  // of one that has died since this pull began
    // Should this process die among the renames, the next one can tell a file of the bucket from one that is new here.
    std::vector<Base> to_place;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (fetched[i].file && fetched[i].problem.empty()) to_place.push_back(BaseFor(items[i].path, fetched[i], {}));
    }
    state_.BeginPlacing(to_place);
    StateDb::Settlement settlement{.placed = !to_place.empty()};
    std::set<std::filesystem::path> folders;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!fetched[i].problem.empty()) {
        report_.problems.push_back({items[i].path, fetched[i].problem});
        incomplete_.insert(items[i].partition);
      } else if (!ApplyOne(items[i], fetched[i], settlement, folders)) {
        incomplete_.insert(items[i].partition);
      }
    }
    const std::vector<std::filesystem::path> changed(folders.begin(), folders.end());
    cache_.files().Sync(changed);
    // Only now: a base must never speak of a file that a power cut could take back.
    state_.Settle(settlement);
  }

  // False: the path has to be looked at again by the next pull.
  bool ApplyOne(const Item& item, Fetched& fetched, StateDb::Settlement& settlement,
                std::set<std::filesystem::path>& folders) {
    const std::optional<Base> base = state_.FindBase(item.path);
    const bool base_moved = base.has_value() != item.base.has_value() ||
                            (base && base->etag.value != item.base->etag.value);
    if (base_moved) return false;  // another process of this checkout was faster
    const auto dirty = state_.FindDirty(item.path);
    const auto local = cache_.Inspect(item.path, base);
    const bool clean = !local || (base && Cache::IsClean(*local, *base));
    if (local && !dirty && (!base || base->gone()) && !IsListedOnDisk(item.path)) {
      report_.problems.push_back({item.path,
                                  "the disk here takes another file for it (their names differ only in case or in how "
                                  "a letter is encoded), which was left as it is; rename one of the two where both can be kept"});
      return false;
    }
    // There is nothing of ours to keep where the file is its base and only waits for the index, or where a command
    // died before it made the file that it had recorded.
    const bool is_change = dirty && dirty->kind != DirtyKind::kAnnounce && !(dirty->kind == DirtyKind::kWrite && clean);
    if (is_change) {
      if (!base || base->etag.value != fetched.etag.value) report_.kept_local.push_back(item.path);
      return true;
    }
    if (fetched.index_is_wrong && !dirty) state_.MarkDirty(item.path, DirtyKind::kAnnounce);
    if (fetched.left_out) {
      if (local) return false;  // it has come here meanwhile
      settlement.set.push_back(BaseFor(item.path, fetched, {}));
      if (!std::exchange(leaves_something_out_, true)) settlement.values.emplace_back(state_key::kLeftOut, "1");
      return true;
    }
    if (fetched.gone) return ApplyRemoval(item, fetched, local.has_value(), clean, settlement, folders);
    if (local && local->sha256 == fetched.sha256) {
      settlement.set.push_back(BaseFor(item.path, fetched, *local));
      return true;
    }
    if (!fetched.file) return false;  // the file that was to be adopted has changed since
    if (!clean && !MakeWay(item, fetched)) return true;
    fetched.file->Commit(Durability::kLater);
    const auto info = cache_.files().Stat(cache_.PathOf(item.path));
    Base placed = BaseFor(item.path, fetched, {fetched.size, info ? info->mtime_ns : 0, fetched.sha256});
    // Brought back without a look at the index: what was known of the entry still is.
    if (placed.entry.empty() && base && base->sha256 == placed.sha256) placed.entry = base->entry;
    settlement.set.push_back(std::move(placed));
    folders.insert(cache_.PathOf(item.path).parent_path());
    ++report_.files_pulled;
    return true;
  }

  // Whether a file that opens by this name has it, and not one that the disk only takes for the same.
  bool IsListedOnDisk(const std::string& path) const {
    std::filesystem::path folder = cache_.root();
    for (const std::string& name : Split(path, '/')) {
      const std::vector<FolderEntry> entries = cache_.files().List(folder);
      if (std::none_of(entries.begin(), entries.end(), [&](const FolderEntry& entry) { return entry.name == name; })) {
        return false;
      }
      folder /= name;
    }
    return true;
  }

  bool ApplyRemoval(const Item& item, const Fetched& fetched, bool exists, bool clean,
                    StateDb::Settlement& settlement, std::set<std::filesystem::path>& folders) {
    if (ClassOf(item.path) == PathClass::kMarker) {
      const auto here = ReadFile(cache_.files(), cache_.PathOf(item.path), 1 << 20);
      cache_.RememberRemoved(item.path, std::max(fetched.highest_version, MarkerVersion(here.value_or(""))));
    }
    if (exists && !clean) {
      if (!reconciling_) {
        report_.kept_local.push_back(item.path);
        return true;
      }
      KeepCopy(item.path);
    } else if (exists) {
      const std::filesystem::path path = cache_.PathOf(item.path);
      cache_.files().Remove(path);
      RemoveEmptyFolders(cache_.files(), path.parent_path(), cache_.root() / std::string(TopFolderOf(item.path)));
      folders.insert(path.parent_path());
      ++report_.files_removed;
    }
    if (fetched.etag.value.empty()) {
      settlement.forget.push_back(item.path);
    } else {
      settlement.set.push_back({.path = item.path, .etag = fetched.etag, .sha256 = {}, .entry = {}});
    }
    return true;
  }

  // A file that was changed without this program's knowing, or that nothing is known of, meets another
  // version. False: it stays, and its push will settle the matter.
  bool MakeWay(const Item& item, const Fetched& fetched) {
    switch (ClassOf(item.path)) {
      case PathClass::kDerived:
        return true;
      case PathClass::kMarker: {
        const auto here = ReadFile(cache_.files(), cache_.PathOf(item.path), 64);
        return !here || MarkerVersion(*here) <= MarkerVersion(fetched.bytes);
      }
      case PathClass::kLockfile:
        KeepCopy(item.path);  // it is never uploaded from here
        return true;
      default:
        if (!reconciling_) {
          report_.kept_local.push_back(item.path);
          return false;
        }
        KeepCopy(item.path);
        return true;
    }
  }

  void KeepCopy(const std::string& path) {
    const std::filesystem::path copy = cache_.MoveToConflicts(context_, path);
    context_.log().Warn(kLog, fmt::format("{} here was not what the datastore has; it is kept as {}", path,
                                          copy.string()));
    report_.conflict_copies.push_back(copy);
  }

  static Base BaseFor(const std::string& path, const Fetched& fetched, const Cache::LocalFile& local) {
    return {.path = path,
            .etag = fetched.etag,
            .size = fetched.size,
            .sha256 = fetched.sha256,
            .local_mtime_ns = local.mtime_ns,
            .local_size = local.size,
            .entry = fetched.entry ? fetched.entry->Signature() : std::string()};
  }

  // ---- remembering ----

  void NoteWhetherComplete(StateDb::Settlement& settlement) const {
    if (rest_is_missing_ && scope_ == PullScope::kAll && incomplete_.empty()) {
      settlement.values.emplace_back(state_key::kLeftOut, "");
    }
  }

  void Record(const MetaState& meta) {
    if (reconciling_ && incomplete_.empty()) SetAsideUnknownFiles();
    StateDb::Settlement settlement;
    NoteWhetherComplete(settlement);
    for (const auto& [partition, etag] : shard_etags_) {
      if (!incomplete_.contains(partition)) {
        settlement.values.emplace_back(state_key::kShardPrefix + partition, etag.value);
      }
    }
    if (!meta.etag.value.empty() && !meta.before_shards) {
      settlement.values.push_back(MetaValue(meta));
      if (!incomplete_.contains("config")) {
        settlement.values.emplace_back(state_key::kPulledConfig, meta.etag.value);
      }
      if (scope_ == PullScope::kAll && incomplete_.empty()) {
        settlement.values.emplace_back(state_key::kPulledAll, meta.etag.value);
      }
    }
    state_.Settle(settlement);
  }

  // Files that the bucket does not have, of which nobody knows whether they are new here or were removed
  // elsewhere. Publishing them could undo a removal, deleting them could lose work: they are set aside.
  void SetAsideUnknownFiles() {
    const Cache::Guard guard = cache_.Lock(context_);
    for (const std::string& path : cache_.Walk(replica_.options().folders, replica_.options().excludes)) {
      if (!state_.FindBase(path) && !state_.FindDirty(path)) KeepCopy(path);
    }
    cache_.MarkReconciled();
  }

  const Context& context_;
  Replica& replica_;
  Cache& cache_;
  StateDb& state_;
  PullScope scope_;
  PullEffort effort_;
  bool lazy_;
  bool leaves_something_out_ = false;
  bool rest_is_missing_ = false;  // what earlier pulls left out is to come now
  bool reconciling_ = false;
  std::string prefix_;  // only paths that begin so
  std::vector<Item> items_;
  std::map<std::string, ETag> shard_etags_;
  std::set<std::string> incomplete_;  // partitions
  PullReport report_;
};

}  // namespace

PullReport Pull(const Context& context, Replica& replica, PullScope scope, PullEffort effort) {
  return Puller(context, replica, scope, effort).Run();
}

PullReport PullModelData(const Context& context, Replica& replica, const std::string& model) {
  return Puller(context, replica, PullScope::kAll, PullEffort::kWhatChanged).RunPart("data/" + model + "/");
}

PullReport PullFolder(const Context& context, Replica& replica, const std::string& folder) {
  return Puller(context, replica, PullScope::kAll, PullEffort::kWhatChanged).RunPart(folder + "/");
}

}  // namespace swamp

#include "datastore/remote_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/tier_path.h"
#include "datastore/tombstone.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/log.h"
#include "util/random.h"
#include "util/relative_path.h"
#include "util/rules.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "datastore·index";

Condition ConditionFor(const ETag& etag) {
  return etag.value.empty() ? Condition::Absent() : Condition::Matches(etag);
}

[[noreturn]] void FailBusy(std::string_view what) {
  throw UserError("store_busy",
                  fmt::format("{} kept changing while this command tried to add to it", what),
                  "Run the command again.");
}

std::string PartitionOfKey(std::string_view key) {
  key.remove_prefix(kIndexPrefix.size());
  key.remove_suffix(std::string_view(".json").size());
  return std::string(key);
}

bool IsShardKey(std::string_view key) {
  return key.starts_with(kIndexPrefix) && key.ends_with(".json") && key != kMetaKey &&
         key.size() > kIndexPrefix.size() + 5;
}

}  // namespace

void BackOff(const Context& context, int attempt) {
  const auto ceiling = static_cast<std::uint64_t>(std::min(20 << std::min(attempt, 6), 1000));
  context.clock().Sleep(context, Duration(1 + static_cast<std::int64_t>(context.random().Below(ceiling))));
}

RemoteIndex::MetaAnswer RemoteIndex::ReadMeta(const Context& context, const std::optional<ETag>& unless) {
  StringSink sink;
  const std::string key(kMetaKey);
  const GetResult result = store_.Get(context, key, {.unless = unless}, sink);
  if (result.outcome == GetResult::Outcome::kUnchanged) return {.unchanged = true, .state = {}};
  MetaAnswer answer;
  if (result.found()) {
    answer.state.etag = result.state.info.etag;
    if (auto meta = IndexMeta::Parse(sink.bytes)) {
      answer.state.meta = std::move(*meta);
      return answer;
    }
    const auto json = TryParseJson(sink.bytes);
    answer.state.before_shards = json && IntegerMember(*json, "version") == 1;
    if (!answer.state.before_shards) {
      context.log().Warn(kLog, fmt::format("{} is unreadable; it is made anew from the shards", key));
    }
  } else {
    answer.state.before_shards = true;
  }
  answer.state.meta = MetaFromListing(context);
  return answer;
}

IndexMeta RemoteIndex::MetaFromListing(const Context& context) {
  IndexMeta meta;
  for (const auto& [partition, etag] : ListShards(context)) meta.partitions.insert(partition);
  return meta;
}

std::vector<std::pair<std::string, ETag>> RemoteIndex::ListShards(const Context& context) {
  std::vector<std::pair<std::string, ETag>> shards;
  for (const ObjectInfo& object : ListAll(context, store_, std::string(kIndexPrefix))) {
    if (IsShardKey(object.key)) shards.emplace_back(PartitionOfKey(object.key), object.etag);
  }
  return shards;
}

RemoteIndex::ShardState RemoteIndex::ReadShard(const Context& context, const std::string& partition) {
  const std::string key = ShardKey(partition);
  auto object = GetBytes(context, store_, key, 1ULL << 30);
  if (!object) return {};
  ShardState state{object->state.info.etag, {}};
  if (auto shard = IndexShard::Parse(object->bytes)) {
    state.shard = std::move(*shard);
  } else {
    context.log().Warn(kLog, fmt::format("{} is unreadable; it is made anew from its objects", key));
    state.shard = ShardFromListing(context, partition);
  }
  return state;
}

IndexShard RemoteIndex::ShardFromListing(const Context& context, const std::string& partition) {
  IndexShard shard;
  const std::string top = partition.substr(0, partition.find("--"));
  const std::string prefix = partition == "_root" ? std::string() : top + "/";
  for (const ObjectInfo& object : ListAll(context, store_, prefix)) {
    if (ClassOf(object.key) == PathClass::kLocal || PartitionOf(object.key) != partition) continue;
    if (object.size <= kMaxTombstoneSize) {
      const auto bytes = GetBytes(context, store_, object.key);
      if (!bytes || IsTombstone(bytes->bytes)) continue;
    }
    shard.Set(object.key, {object.size, FormatTime(object.last_modified), {}, {}});
  }
  return shard;
}

std::optional<LegacyIndex> RemoteIndex::ReadLegacy(const Context& context) {
  const auto object = GetBytes(context, store_, std::string(kLegacyIndexKey), 1ULL << 30);
  if (!object) return std::nullopt;
  return LegacyIndex::Parse(object->bytes);
}

bool RemoteIndex::Applies(const Context& context, const IndexChange& change,
                          const std::optional<IndexEntry>& current) {
  if (current == change.entry) return false;
  if (change.repairs && current && change.entry && current->size == change.entry->size &&
      (current->sha256.empty() || current->sha256 == change.entry->sha256)) {
    return false;
  }
  const bool as_seen = current ? current->Signature() == change.seen : change.seen.empty();
  if (as_seen || RuleOff(Rule::kLateIndexWrites)) return true;
  // Somebody else has written the entry since. The object tells whose word still holds.
  const auto object = store_.Head(context, change.path);
  if (!object) return !change.entry;
  return object->info.etag == change.etag;
}

namespace {

// Whether anything was changed.
template <typename Index, typename AppliesTo>
bool Merge(Index& index, const std::map<std::string, IndexEntry>& entries,
           const std::vector<IndexChange>& changes, const AppliesTo& applies) {
  bool changed = false;
  for (const IndexChange& change : changes) {
    const auto found = entries.find(change.path);
    const std::optional<IndexEntry> current =
        found == entries.end() ? std::nullopt : std::optional(found->second);
    if (!applies(change, current)) continue;
    if (change.entry) {
      index.Set(change.path, *change.entry);
    } else {
      index.Remove(change.path);
    }
    changed = true;
  }
  return changed;
}

}  // namespace

bool RemoteIndex::MergeShard(const Context& context, const std::string& partition,
                             const std::vector<IndexChange>& changes) {
  std::optional<IndexShard> own_view;  // only with the rule off
  for (int attempt = 1; attempt <= kMaxSwapAttempts; ++attempt) {
    ShardState state = ReadShard(context, partition);
    if (RuleOff(Rule::kShardMerge)) {
      if (!own_view) own_view = state.shard;
      state.shard = *own_view;
    }
    const auto applies = [&](const IndexChange& change, const std::optional<IndexEntry>& current) {
      return Applies(context, change, current);
    };
    if (!Merge(state.shard, state.shard.Entries(), changes, applies)) return false;
    const Body body = Body::FromBytes(state.shard.Serialize());
    if (store_.Put(context, ShardKey(partition), body, ConditionFor(state.etag), {}).stored()) return true;
    BackOff(context, attempt);
  }
  FailBusy(ShardKey(partition));
}

void RemoteIndex::MergeLegacy(const Context& context, const std::vector<IndexChange>& changes) {
  const std::string key(kLegacyIndexKey);
  for (int attempt = 1; attempt <= kMaxSwapAttempts; ++attempt) {
    const auto object = GetBytes(context, store_, key, 1ULL << 30);
    if (!object) return;
    auto index = LegacyIndex::Parse(object->bytes);
    if (!index) return;
    const auto applies = [&](const IndexChange& change, const std::optional<IndexEntry>& current) {
      return Applies(context, change, current);
    };
    if (!Merge(*index, index->Entries(), changes, applies)) return;
    const Body body = Body::FromBytes(index->Serialize(object->state.store_now));
    if (store_.Put(context, key, body, Condition::Matches(object->state.info.etag), {}).stored()) return;
    BackOff(context, attempt);
  }
  FailBusy(key);
}

RemoteIndex::Adopted RemoteIndex::AdoptLegacy(const Context& context) {
  const auto index = ReadLegacy(context);
  if (!index) return {};
  std::map<std::string, std::vector<IndexChange>> missing;
  for (auto& [path, entry] : index->Entries()) {
    if (ClassOf(path) == PathClass::kLocal || WhyUnsafePath(path)) continue;
    missing[PartitionOf(path)].push_back({.path = path, .entry = entry, .seen = {}, .etag = {}, .repairs = true});
  }
  Adopted adopted;
  for (auto& [partition, changes] : missing) {
    const IndexShard known = ReadShard(context, partition).shard;
    std::erase_if(changes, [&known](const IndexChange& change) { return known.Find(change.path).has_value(); });
    if (changes.empty() || !MergeShard(context, partition, changes)) continue;
    adopted.entries += static_cast<int>(changes.size());
    ++adopted.shards;
  }
  return adopted;
}

RemoteIndex::Commit RemoteIndex::CommitMeta(const Context& context, const std::vector<std::string>& partitions,
                                            const std::optional<MetaState>& known, const std::string& writer) {
  std::optional<MetaState> current = known;
  for (int attempt = 1; attempt <= kMaxSwapAttempts; ++attempt) {
    const bool known_is_tried = current.has_value() && attempt == 1;
    if (!current) current = ReadMeta(context, std::nullopt).state;
    const bool first = known_is_tried || (attempt == 1 && current->etag.value.empty());
    IndexMeta next = current->meta;
    next.partitions.insert(partitions.begin(), partitions.end());
    next.commit_seq++;
    const Body body = Body::FromBytes(next.Serialize(context.random().Uuid()));
    const PutResult result = store_.Put(context, std::string(kMetaKey), body, ConditionFor(current->etag),
                                        {.writer = writer, .name_is_claimed = false});
    if (result.stored()) return {{result.etag, std::move(next)}, first};
    current.reset();
    BackOff(context, attempt);
  }
  FailBusy(kMetaKey);
}

}  // namespace swamp

#include "data/collect.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "data·gc";
constexpr Duration kUnfinishedFor = std::chrono::hours(24);
constexpr Duration kRenameMarkersFor = std::chrono::hours(24 * 30);

std::uint64_t SizeOf(const VersionStore& store, const DataKey& key, const std::vector<std::uint64_t>& versions) {
  std::uint64_t bytes = 0;
  Files& files = store.context().files();
  for (const std::uint64_t version : versions) {
    const std::string folder = key.VersionFolder(version);
    if (const auto info = files.Stat(store.PathOf(folder + "/metadata.yaml"))) bytes += info->size;
    if (const auto info = files.Stat(store.PathOf(folder + "/raw"))) {
      bytes += info->size;
    } else if (const auto record = store.Find(key, version); record && store.HasContent(*record)) {
      bytes += record->metadata.size.value_or(0);
    }
  }
  return bytes;
}

class Collector {
 public:
  Collector(VersionStore& store, const CollectRequest& request, bool quiet = false)
      : store_(store), request_(request), quiet_(quiet), context_(store.context()), now_(context_.clock().Now()) {}

  CollectReport Run() {
    for (const DataOwner& owner : request_.only ? std::vector<DataOwner>{*request_.only} : store_.Owners()) Collect(owner);
    return std::move(report_);
  }

 private:
  void Collect(const DataOwner& owner) {
    if (!request_.dry_run && request_.may_change) {
      // What is looked at before the question may have changed since, so it is looked at twice.
      CollectRequest look = request_;
      look.dry_run = true;
      look.only = owner;
      const bool anything = Collector(store_, look, true).Run().versions_deleted > 0 || RemoveUnfinished(owner, true);
      if (!anything || !request_.may_change(owner)) return;
    }
    for (const std::string& name : store_.Names(owner)) {
      context_.Check();
      CollectName({owner, name});
    }
    if (!request_.dry_run) RemoveUnfinished(owner, false);
  }

  void CollectName(const DataKey& key) {
    try {
      const auto latest = store_.Latest(key);
      if (!latest) return;
      const std::vector<std::uint64_t> versions = store_.Versions(key);
      if (const auto reason = WhyExpired(*latest)) {
        report_.expired.push_back({key, *reason, versions.size()});
        Drop(key, versions, true);
        return;
      }
      const std::vector<std::uint64_t> surplus = Surplus(key, versions, latest->metadata.versions_kept);
      if (!surplus.empty()) Drop(key, surplus, false);
    } catch (const Cancelled&) {
      throw;
    } catch (const DeadlineExceeded&) {
      throw;
    } catch (const UserError& error) {
      // What can't be read isn't collected, and doesn't keep the rest from it.
      if (!quiet_) context_.log().Warn(kLog, fmt::format("{} was left alone: {}", key.Folder(), error.message()));
    }
  }

  bool OlderThan(const std::string& created_at, Duration age) const {
    const auto created = ParseTime(created_at);
    return created && now_ - *created > age;
  }

  std::optional<std::string> WhyExpired(const DataRecord& latest) const {
    const DataMetadata& metadata = latest.metadata;
    if (metadata.is_rename_marker()) {
      if (OlderThan(metadata.created_at, kRenameMarkersFor)) return "duration-expired";
      return std::nullopt;
    }
    if (metadata.deleted) return std::nullopt;
    if (const auto& duration = metadata.lifetime.duration()) {
      if (OlderThan(metadata.created_at, *duration)) return "duration-expired";
      return std::nullopt;
    }
    const OwnerDefinition& owner = metadata.owner;
    if (!metadata.lifetime.ends_with_run() || owner.workflow_id.empty() || owner.workflow_run_id.empty()) return std::nullopt;
    if (!request_.run_exists || request_.run_exists(owner.workflow_id, owner.workflow_run_id).value_or(true)) return std::nullopt;
    return metadata.lifetime.text() == "job" ? "job-deleted" : "workflow-deleted";
  }

  std::vector<std::uint64_t> Surplus(const DataKey& key, const std::vector<std::uint64_t>& versions, const VersionsKept& kept) const {
    std::vector<std::uint64_t> surplus;
    if (versions.size() < 2) return surplus;
    if (const auto& count = kept.count()) {
      const auto keep = static_cast<std::uint64_t>(*count);
      if (versions.size() > keep) surplus.assign(versions.begin(), versions.end() - static_cast<std::ptrdiff_t>(keep));
    } else if (kept.age()) {
      for (std::size_t i = 0; i + 1 < versions.size(); ++i) {
        const auto record = store_.Find(key, versions[i]);
        if (record && OlderThan(record->metadata.created_at, *kept.age())) surplus.push_back(versions[i]);
      }
    }
    // A marker that is held back names what readers have: that stays.
    const auto latest = store_.LatestVersion(key);
    std::erase_if(surplus, [&](std::uint64_t version) { return latest == version; });
    return surplus;
  }

  void Drop(const DataKey& key, const std::vector<std::uint64_t>& versions, bool all) {
    report_.versions_deleted += versions.size();
    if (request_.dry_run) {
      report_.bytes += SizeOf(store_, key, versions);
    } else {
      report_.bytes += all ? store_.RemoveName(key) : store_.Remove(key, versions);
    }
  }

  // Whether there is, or was, anything.
  bool RemoveUnfinished(const DataOwner& owner, bool only_look) {
    bool any = false;
    for (const FolderEntry& entry : context_.files().List(store_.PathOf(owner.Folder()))) {
      if (entry.kind != FileKind::kFolder || !IsReadableDataName(entry.name)) continue;
      const auto removed = store_.RemoveUnfinished({owner, entry.name}, now_ - kUnfinishedFor, only_look);
      any |= removed.has_value();
      if (!only_look) report_.bytes += removed.value_or(0);
    }
    return any;
  }

  VersionStore& store_;
  const CollectRequest& request_;
  bool quiet_;
  const Context& context_;
  Time now_;
  CollectReport report_;
};

}  // namespace

CollectReport CollectGarbage(VersionStore& store, const CollectRequest& request) { return Collector(store, request).Run(); }

std::size_t DropVersionsBeyondCap(VersionStore& store, const DataKey& key) {
  try {
    const auto latest = store.Latest(key);
    if (!latest || !latest->metadata.versions_kept.count()) return 0;
    const auto keep = static_cast<std::uint64_t>(*latest->metadata.versions_kept.count());
    std::vector<std::uint64_t> surplus = store.Versions(key);
    if (surplus.size() <= keep) return 0;
    surplus.resize(surplus.size() - keep);
    std::erase(surplus, latest->version());
    store.Remove(key, surplus);
    return surplus.size();
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    store.context().log().Warn(kLog, fmt::format("old versions of {} were not removed: {}", key.Folder(), error.message()));
    return 0;
  }
}

std::optional<bool> WorkflowRunExists(const Context& context, const Datastore& datastore, const std::string& workflow_id,
                                      const std::string& run_id) {
  if (!IsUuid(workflow_id) || !IsUuid(run_id)) return std::nullopt;
  try {
    const std::filesystem::path folder = datastore.FolderOf("workflow-runs") / workflow_id;
    return context.files().Stat(folder / ("workflow-run-" + run_id + ".yaml")).has_value();
  } catch (const IoError&) {
    return std::nullopt;
  }
}

std::vector<PrunedModel> PruneData(VersionStore& store, const std::function<bool(const DataOwner&)>& is_orphan, bool dry_run) {
  std::vector<PrunedModel> pruned;
  for (const DataOwner& owner : store.Owners()) {
    if (!is_orphan(owner)) continue;
    PrunedModel model{.owner = owner, .names = store.Names(owner)};
    for (const std::string& name : model.names) {
      store.context().Check();
      const DataKey key{owner, name};
      const std::vector<std::uint64_t> versions = store.Versions(key);
      model.versions += versions.size();
      try {
        if (const auto latest = store.Latest(key); latest && model.model_name.empty()) model.model_name = latest->metadata.tag("modelName");
      } catch (const UserError&) {  // its data goes all the same
      }
      model.bytes += dry_run ? SizeOf(store, key, versions) : store.RemoveName(key);
    }
    if (!model.names.empty()) pruned.push_back(std::move(model));
  }
  return pruned;
}

}  // namespace swamp

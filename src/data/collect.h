#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/version_store.h"

namespace swamp {

// Garbage collection. A dry run answers what the same call without it would remove, and removes nothing.

struct ExpiredName {
  DataKey key;
  std::string reason;  // "duration-expired", "workflow-deleted", "job-deleted"
  std::size_t versions = 0;
};

struct CollectReport {
  std::vector<ExpiredName> expired;  // whole names
  std::size_t versions_deleted = 0;  // those of expired names too
  std::uint64_t bytes = 0;
};

struct CollectRequest {
  bool dry_run = false;
  // Whether the record of a run is still there; nothing: that can't be told, and its data stays.
  std::function<std::optional<bool>(const std::string& workflow_id, const std::string& run_id)> run_exists;
  std::optional<DataOwner> only;  // one model's data
  // Asked before the first change to a model's data; false: it stays as it is. Absent: nobody else is at work.
  std::function<bool(const DataOwner&)> may_change = {};
};

// Removes names whose lifetime is over, then the versions that their names no longer keep, then what writers that died left
// a day ago.
CollectReport CollectGarbage(VersionStore& store, const CollectRequest& request);

// After a write: drops the versions beyond a name's number. Failures only warn. Answers how many went.
std::size_t DropVersionsBeyondCap(VersionStore& store, const DataKey& key);

struct PrunedModel {
  DataOwner owner;
  std::string model_name;  // empty: not known
  std::vector<std::string> names;
  std::size_t versions = 0;
  std::uint64_t bytes = 0;
};

// Whether the datastore has the record of that run of a workflow; nothing: that can't be told.
std::optional<bool> WorkflowRunExists(const Context& context, const Datastore& datastore, const std::string& workflow_id,
                                      const std::string& run_id);

// Removes all data of the owners that `is_orphan`.
std::vector<PrunedModel> PruneData(VersionStore& store, const std::function<bool(const DataOwner&)>& is_orphan, bool dry_run);

}  // namespace swamp

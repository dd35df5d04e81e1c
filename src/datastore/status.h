#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datastore/datastore.h"

namespace swamp {

// Where an extension command that could not publish keeps its change, below the repository.
inline constexpr const char* kPendingLockfileRecord = ".swamp/managed-config-lockfile-unpublished";

struct DatastoreStatus {
  std::string type;
  std::optional<std::string> path;  // folder, or "s3://bucket/prefix at ..."
  bool healthy = false;
  std::string message;
  double latency_ms = 0;
  std::vector<std::string> directories;
  std::vector<std::string> exclude;
  std::optional<bool> conditional_writes;  // nothing: not found out yet
  bool managed_config = false;
  std::optional<std::string> name_space;
  std::vector<std::string> unpublished_paths;
  bool unpublished_lockfile = false;
  std::vector<ConflictFolder::Copy> conflicts;
};

// Looks at the datastore with one real round trip; changes nothing. An unhealthy one is an answer, not
// an error.
DatastoreStatus GetDatastoreStatus(const Context& context, const Repository& repo, Datastore& datastore);

struct LockStatus {
  std::string datastore_type;
  std::optional<LockView> global;
  std::vector<std::pair<std::string, LockView>> models;  // "type/id" and its lock
};

// Answers at once: takes no lock and pulls nothing.
LockStatus GetLockStatus(const Context& context, Datastore& datastore);

// Breaks the global lock or, with `model` ("type/id"), that model's. Nothing: nobody held it.
std::optional<LockInfo> ReleaseLock(const Context& context, Datastore& datastore,
                                    const std::optional<std::string>& model);

}  // namespace swamp

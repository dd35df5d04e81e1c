#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datastore/datastore.h"

namespace swamp {

inline constexpr std::string_view kMigratedSentinel = "managed-config-migrated.json";

struct ConfigMigrateRequest {
  // Merges the repository's extension lockfile into the datastore's, entry by entry (the lockfile's rules
  // live on a higher floor); says how many entries were added. `managed` is the datastore as it will be.
  std::function<int(const Context&, const Repository& managed_repo, Datastore& managed)> merge_lockfile;
};

struct ConfigMigrateResult {
  bool already_migrated = false;  // by another checkout: this one joined and copied nothing
  int models = 0;
  int workflows = 0;
  int vaults = 0;
  int lockfile_entries = 0;
  std::vector<std::string> kept;  // paths that the datastore has with other content, which stays
  bool published = false;
};

// Copies definitions, workflows, vault configs and the lockfile into the datastore's config/ tier, publishes
// them, leaves a mark that it was done, and only then sets `managedConfig`. The files in the repository
// stay. May be run by two checkouts at once and run again after a crash.
ConfigMigrateResult MigrateConfig(const Context& context, const Repository& repo, const DatastoreParts& parts,
                                  const ConfigMigrateRequest& request);

}  // namespace swamp

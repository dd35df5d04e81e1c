#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datastore/datastore.h"
#include "datastore/side_state.h"

namespace swamp {

struct SetupFilesystemRequest {
  std::string path;
  std::vector<std::string> directories;  // empty: all
  bool skip_migration = false;
  SideState side = {};
};

struct SetupExtensionRequest {
  std::string type;
  Json config;
  std::optional<std::string> name_space;
  bool skip_migration = false;
  std::optional<std::string> hydration_strategy;
  std::optional<Duration> timeout;
  bool allow_unsafe_store = false;
  SideState side = {};
};

struct SetupResult {
  std::string type;
  std::optional<std::string> path;  // folder, or the cache
  int files_copied = 0;
  int files_pulled = 0;
  std::uint64_t bytes_copied = 0;
  std::vector<std::string> directories_migrated;
  std::vector<std::string> warnings;
  std::filesystem::path source;
  std::filesystem::path destination;
};

// Both move a repository's run-time state to another datastore: everything is there and checked before
// `.swamp.yaml` names it, and only then the copied source goes. A failure at any step leaves the repository as it was;
// running the command again completes it. What the target has already always stays.
// Throws UserError datastore_config_invalid, namespace_*, store_unsafe, setup_incomplete, StoreError, IoError.
SetupResult SetupFilesystem(const Context& context, const Repository& repo, const DatastoreParts& parts,
                            const SetupFilesystemRequest& request);
SetupResult SetupExtension(const Context& context, const Repository& repo, const DatastoreParts& parts,
                           const SetupExtensionRequest& request);

}  // namespace swamp

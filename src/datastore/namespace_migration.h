#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datastore/datastore.h"
#include "datastore/side_state.h"

namespace swamp {

struct NamespaceMigrateRequest {
  bool reverse = false;    // out of the namespace, to the layout without one
  bool leave = false;      // and let the repository use that from then on
  bool confirmed = false;  // false: only look
  SideState side = {};
};

struct NamespaceMigrateResult {
  std::string slug;
  std::string place;  // where the files are afterwards
  bool reverse = false;
  bool confirmed = false;
  bool synced = false;
  struct Folder {
    std::string name;
    std::filesystem::path source;
    std::filesystem::path destination;
    int files = 0;
    std::uint64_t bytes = 0;
    std::vector<std::string> skipped;  // of this machine alone: they stay
  };
  std::vector<Folder> folders;
  int total_files = 0;
  std::uint64_t total_bytes = 0;
  std::vector<std::string> notes;
};

// Moves the repository's files between the layout without a namespace and its namespace. Everything is at its new place and
// published before `.swamp.yaml` is changed (`leave`), and only then goes from the old one; running it again after a crash
// completes it. Only the repository's own files move: those that its index lists, or that its folder holds.
// A file that both places have with the same bytes is left once; one that differs stops the migration before it changes
// anything. What others change meanwhile stays where it is.
// Throws UserError namespace_not_set, namespace_taken, namespace_foreign, namespace_conflict, sync_incomplete, lock_timeout,
// StoreError.
NamespaceMigrateResult MigrateNamespace(const Context& context, const Repository& repo, const DatastoreParts& parts,
                                        const NamespaceMigrateRequest& request);

}  // namespace swamp

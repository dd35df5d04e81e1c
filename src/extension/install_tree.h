#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "extension/archive.h"
#include "extension/tree_state.h"
#include "extension/tree_swap.h"

namespace swamp {

// An archive unpacked in a staging area, parted into what goes to the tree and what to the bundle
// folders.
struct StagedTree {
  std::filesystem::path tree;     // with the receipt
  std::filesystem::path bundles;  // <bundle folder>/...
  ArchiveContents contents;
};

// Unpacks and checks the archive of that version; `folder` must not exist. Throws what
// ReadArchiveOf throws.
StagedTree StageArchive(const Context& context, const std::filesystem::path& archive,
                        const std::string& checksum, const ExtensionName& name,
                        const Version& version, const std::filesystem::path& folder);

// The files that go to the tree, and what the lockfile says of them all.
FileDigests TreeFiles(const ArchiveContents& contents);
std::vector<std::string> InstalledPaths(const ExtensionSite& site, const ArchiveContents& contents);

// A file in the way of a new one.
struct InstallConflict {
  std::string path;   // relative to the repository
  std::string owner;  // the extension that claims it; empty: the user's
};
// What stands where the staged tree shall, is not the extension's own and is not the very same
// file. Throws UserError path_escape when a link leads the tree out of the pulled root.
std::vector<InstallConflict> FindConflicts(const Context& context, const ExtensionSite& site,
                                           const StagedTree& staged, const TreeState& state,
                                           const Lockfile& lockfile);

// Adds to `swap` what puts the staged tree in place of the present one: the files of the old
// version that the new one lacks go, files that are neither's and those in `kept` (relative to the
// tree) stay.
void PlanInstall(const Context& context, const ExtensionSite& site, const StagedTree& staged,
                 const TreeState& state, const Lockfile& lockfile,
                 const std::set<std::string>& kept, TreeSwap& swap);

// Adds to `swap` what removes the extension's files, but for those in `kept`, and all its bundles.
void PlanRemoval(const Context& context, const ExtensionSite& site, const ExtensionName& name,
                 const TreeState& state, const Lockfile& lockfile,
                 const std::set<std::string>& kept, TreeSwap& swap);

}  // namespace swamp

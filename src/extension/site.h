#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "extension/extension_kind.h"
#include "extension/extension_name.h"
#include "util/time.h"

namespace swamp {

// Where a repository keeps its pulled extensions, and what it says about them. Paths are absolute
// and without
// "." and "..".
struct ExtensionSite {
  std::filesystem::path repo_root;
  // Below it, `<name>/` is the tree of the extension of that name. In `repo_root`, on one file
  // system with `swamp_folder`. Names nest, so a tree may contain another extension's.
  std::filesystem::path pulled_root;
  // Where trees may stand from before `pulled_root` was used: read and removed from, never
  // installed to.
  std::optional<std::filesystem::path> older_pulled_root;
  // .swamp: bundles are below it.
  std::filesystem::path swamp_folder;
  // Extensions that are part of this program: their entries are kept and need no files.
  std::set<std::string> built_in;
  // Collectives (without "@") whose extensions may be installed without being asked for by name.
  std::vector<std::string> trusted_collectives;
  // How long to wait for another process that installs into this checkout.
  Duration lock_wait{60'000};
};

// The path relative to the repository, as files of the lockfile are written.
std::string RepositoryPath(const ExtensionSite& site, const std::filesystem::path& path);

// Where the bundles of one kind of one extension are: `.swamp/<kind>-bundles/<namespace>/`.
// `pulled_root` is the root that its tree is in.
std::filesystem::path BundleFolder(const ExtensionSite& site,
                                   const std::filesystem::path& pulled_root,
                                   const ExtensionName& name, const ExtensionKindInfo& kind);

// The 32-bit FNV-1a hash (draft-eastlake-fnv) of a path of ASCII characters, as 8 hex digits.
std::string BundleNamespace(std::string_view path);

// Whether `path` is below a folder that this program installs extensions to.
bool IsInstallPlace(const ExtensionSite& site, const std::filesystem::path& path);

}  // namespace swamp

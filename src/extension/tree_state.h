#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "extension/files_checksum.h"
#include "extension/lockfile.h"
#include "extension/site.h"

namespace swamp {

class Context;

// A path that a lockfile or a link leads to and that isn't touched, with the reason (code
// path_escape).
struct RefusedPath {
  std::string path;
  std::string reason;
};

// What an entry's `files` mean for this checkout.
struct ListedFiles {
  std::vector<std::string> tree;  // relative to the extension's tree, sorted
  std::vector<std::pair<const ExtensionKindInfo*, std::string>>
      bundles;  // relative to the BundleFolder
  std::vector<RefusedPath> refused;
};
// Checks every path of the entry before anything uses it: only those below the extension's own tree
// (or, in an older layout, the pulled root) and below the bundle folders count.
ListedFiles ReadListedFiles(const ExtensionSite& site, const ExtensionName& name,
                            const Json& entry);

// What a checkout has of one extension.
struct TreeState {
  std::filesystem::path pulled_root;  // the one that its tree is in, or will be
  std::filesystem::path folder;       // the tree
  bool installed = false;             // whether there is a tree: a receipt or a manifest
  bool has_receipt = false;
  std::optional<Version> version;  // of what is there
  std::string checksum;            // of the archive that it came from; empty: unknown
  std::vector<std::string>
      owned;            // the tree's files that are the extension's, there or not; sorted
  FileDigests present;  // those that are there
  std::vector<std::string> missing;
  std::vector<std::string> missing_bundles;  // repository paths
  std::vector<std::string> edited;  // those that are there with other content than was installed
  // False: something was edited, nobody recorded what; `edited` has every file that is there.
  bool edits_are_known = true;
  std::vector<RefusedPath> refused;

  // Whether what is there is what the entry pins, whole but for edits.
  bool Fulfils(const Json& entry) const;
};

// Reads and hashes what is there. `entry` may be null.
TreeState InspectTree(const Context& context, const ExtensionSite& site, const ExtensionName& name,
                      const Json* entry);

// Whether what the entry pins is here, as far as a look without reading contents can tell.
bool IsInstalledHere(const Context& context, const ExtensionSite& site, const ExtensionName& name,
                     const Json& entry);

// The files (absolute) that *other* extensions claim inside this extension's tree or around it,
// with the name of who claims them: names nest, so that "@c/aws" and "@c/aws/iam" share a folder.
std::map<std::filesystem::path, std::string> ClaimsOfNeighbours(const ExtensionSite& site,
                                                                const ExtensionName& name,
                                                                const Lockfile& lockfile);

// What an extension that is installed here, or an entry, says it depends on.
std::vector<Dependency> DependenciesOf(const Context& context, const ExtensionSite& site,
                                       const ExtensionName& name, const Json& entry);

}  // namespace swamp

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "extension/extension_kind.h"
#include "extension/extension_name.h"

namespace swamp {

// What paths in a manifest are relative to: each kind's own folder, or the manifest's folder.
enum class PathsBase { kTypedFolder, kManifest };

// A manifest.yaml of manifestVersion 1. Keys that this program doesn't know are passed over. Every
// path has passed WhyUnsafePath.
struct Manifest {
  ExtensionName name;
  Version version;
  std::string description;
  std::string repository;
  PathsBase paths_base = PathsBase::kTypedFolder;
  std::map<ExtensionKind, std::vector<std::string>> entries;  // without kinds that have none
  std::vector<std::string> include;  // sources that come along with the models
  std::vector<std::string> additional_files;
  std::vector<std::string> binaries;  // of the files, those that are executable
  std::vector<std::string> platforms;
  std::vector<std::string> labels;
  std::string release_notes;
  std::vector<Dependency> dependencies;
};

// Throws UserError manifest_invalid, whose message names `what` and every fault with its field.
Manifest ParseManifest(std::string_view text, std::string_view what);

// A path that the manifest declares, and where it stands in an archive.
struct DeclaredPath {
  std::string field;              // "models[0]"
  std::string entry;              // as written
  std::string archive_path;       // "models/a.ts"; of a skill: its folder
  const ExtensionKindInfo* kind;  // null: an additional file or a binary
};
std::vector<DeclaredPath> DeclaredPaths(const Manifest& manifest);

}  // namespace swamp

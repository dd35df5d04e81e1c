#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "extension/archive.h"

namespace swamp {

struct PackRequest {
  // A folder with a manifest.yaml, or a manifest file.
  std::filesystem::path source;
  // The archive to write; nothing: "<collective>-<name>-<version>.tar.gz" in the working directory.
  std::optional<std::filesystem::path> out;
  // Where sources of a kind are when they are in none of the usual places (below).
  std::map<ExtensionKind, std::filesystem::path> kind_folders;
  // A folder with bundles/, vault-bundles/, ... that were built before; nothing: none are packed.
  std::optional<std::filesystem::path> bundles;
};

struct PackResult {
  std::filesystem::path archive;
  std::string checksum;  // SHA-256, hex
  std::uint64_t size = 0;
  ArchiveContents contents;  // as a reader sees it
};

// Writes an extension archive from sources: what the manifest declares, what these sources import
// by relative paths, and whole skill folders; system clutter is left out. Equal manifests and
// sources give equal bytes, wherever they lie and whatever their times, owners and modes.
//
// Paths of a kind are relative to the manifest's folder with `paths.base: manifest`, else to
// `extensions/<kind>/` beside the manifest, or `<kind>/` where there is no `extensions` folder.
// Additional files and binaries are relative to the manifest's folder (or its `files/`, so that an
// unpacked archive can be packed again), skills are in `skills/<name>/` or a tool's skill folder
// (`.claude/skills/` ...).
//
// Throws UserError manifest_invalid, listing every declared or imported file that isn't there with
// its field; archive_invalid when the result is one that no reader would accept; path_not_found.
PackResult Pack(const Context& context, const PackRequest& request);

// The name that an archive gets when nobody gives it one.
std::string DefaultArchiveName(const Manifest& manifest);

}  // namespace swamp

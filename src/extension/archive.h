#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "extension/archive_rules.h"
#include "extension/manifest.h"

namespace swamp {

class Context;
class InputFile;

struct ArchiveFile {
  std::string path;  // relative to the archive's top folder
  std::uint64_t size = 0;
  std::string sha256;  // hex
  bool executable = false;
};

struct ArchiveContents {
  Manifest manifest;
  std::vector<ArchiveFile> files;     // sorted by path
  std::vector<std::string> warnings;  // what a user should know before trusting it
};

// Reads an extension archive (a .tar.gz with the one top folder "extension/") and checks all of it:
// paths, kinds of entries, names that meet when case is ignored, endings, hidden files, counts and
// sizes while reading, forbidden calls in sources, the manifest. What systems leave behind and
// folders that this program doesn't know are left out.
//
// With `target` (which must not exist) its files are written below there, durable later
// (Files::Sync), the manifest read-only and declared binaries executable; nothing is left there
// when it is refused. Throws UserError archive_invalid or manifest_invalid, names in it escaped.
ArchiveContents ReadArchive(const Context& context, const InputFile& archive,
                            const std::optional<std::filesystem::path>& target,
                            const ArchiveLimits& limits = {});

// The same, where the caller knows which extension the archive must hold; anything else is
// archive_invalid.
ArchiveContents ReadArchiveOf(const Context& context, const InputFile& archive,
                              const ExtensionName& name, const Version& version,
                              const std::optional<std::filesystem::path>& target,
                              const ArchiveLimits& limits = {});

// Only the manifest, without a look at the rest of the archive.
Manifest ReadArchiveManifest(const Context& context, const InputFile& archive,
                             const ArchiveLimits& limits = {});

}  // namespace swamp

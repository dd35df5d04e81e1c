#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extension/extension_name.h"

namespace swamp {

class Context;

// How one extension lies in a registry that is a folder (docs/extensions-registry.md).

// One version: an archive that has its checksum file.
struct FolderVersion {
  Version version;
  Channel channel = Channel::kStable;
  std::filesystem::path archive;
  std::string checksum;  // as its checksum file says: SHA-256, hex
  std::int64_t mtime_ns = 0;
  std::optional<std::string> yanked;  // the reason
};

// What status.yaml says.
struct FolderStatus {
  std::string at;                         // when the file was written
  std::optional<std::string> yanked;      // the whole extension: the reason
  std::optional<std::string> deprecated;  // the reason
  std::optional<std::string> superseded_by;
  std::vector<std::pair<Version, std::string>> yanked_versions;
};

inline constexpr std::string_view kFolderChecksumEnding = ".sha256";

// "2026.01.31.1.tar.gz", "2026.01.31.1-beta.tar.gz".
std::string ArchiveName(const Version& version, Channel channel);
std::optional<std::pair<Version, Channel>> ParseArchiveName(std::string_view name);

// Newest first, each version once (on its most stable channel). Both throw UserError
// registry_answer_invalid for a status.yaml that can't be understood: a mistake in it must not make
// a withdrawn version look sound.
std::vector<FolderVersion> ListFolderVersions(const Context& context,
                                              const std::filesystem::path& folder);
FolderStatus ReadFolderStatus(const Context& context, const std::filesystem::path& folder);

// A file's time as registries write times.
std::string FormatFileTime(std::int64_t mtime_ns);

}  // namespace swamp

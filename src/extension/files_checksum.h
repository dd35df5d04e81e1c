#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace swamp {

class Context;

// Files of one tree by their path relative to its root: the SHA-256 (hex) of each.
using FileDigests = std::map<std::string, std::string>;

// The lockfile's `filesChecksum`: SHA-256 over, in byte order of the paths, path NUL digest LF.
// Depends on paths and contents alone.
std::string FilesChecksum(const FileDigests& files);

// The SHA-256 of a file's content; nothing when there is no such file (or it is a folder).
std::optional<std::string> DigestOfFile(const Context& context, const std::filesystem::path& path);

}  // namespace swamp

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace swamp {

class Files;

// The one check that a path from outside (an archive, an index key, a lockfile, a name) passes before
// it is joined to a folder. Returns why it is refused, or nothing when it is fine: relative, with "/"
// between non-empty segments other than "." and "..", no backslash, no NUL, valid UTF-8, at most
// 1024 bytes, each segment at most 255.
std::optional<std::string> WhyUnsafePath(std::string_view path);

// `path` below `root`. Throws UserError path_escape, naming `what` the path comes from, when it is unsafe.
std::filesystem::path JoinSafely(const std::filesystem::path& root, std::string_view path,
                                 std::string_view what);

// Whether `path`, links resolved, is `root` or below it. Compares whole segments.
bool IsWithin(Files& files, const std::filesystem::path& path, const std::filesystem::path& root);

}  // namespace swamp

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swamp {

// What an archive may hold. "Source files" are all but bundles and declared binaries.
struct ArchiveLimits {
  std::uint64_t archive_bytes = 128ULL << 20;   // as downloaded
  std::uint64_t unpacked_bytes = 512ULL << 20;  // with the tar headers
  std::size_t entries = 10'000;
  std::size_t source_files = 150;
  std::uint64_t source_file_bytes = 1 << 20;
  std::uint64_t source_bytes = 10 << 20;
};

// Throws UserError archive_invalid when an archive of `bytes` is larger than any may be.
void RequireArchiveSize(std::uint64_t bytes);

// Why a file at `path` (relative to the archive's top folder, already safe by WhyUnsafePath) may
// not be in an archive; nothing when it may.
std::optional<std::string> WhyForbiddenFile(std::string_view path);

// Whether a file is what an operating system leaves beside others and nobody means to ship:
// .DS_Store, AppleDouble files ("._x"), __MACOSX, Thumbs.db, desktop.ini.
bool IsSystemClutter(std::string_view path);

// The path as a file system that ignores case sees it; also beyond ASCII, where the C library knows
// how.
std::string FoldCase(std::string_view path);

// Refuses paths that would overwrite each other on a file system that ignores case, and paths that
// are a file and a folder at once.
class PathSet {
 public:
  // Why `path` can't be added; nothing when it was.
  std::optional<std::string> AddFile(std::string_view path);
  std::optional<std::string> AddFolder(std::string_view path);

 private:
  enum class Kind { kFile, kFolder };
  std::map<std::string, Kind> folded_;
};

// What is wrong, or suspicious, in a TypeScript source.
struct SourceFindings {
  std::optional<std::string> refusal;
  std::vector<std::string> warnings;
};
SourceFindings InspectTypeScript(std::string_view path, std::string_view content);

}  // namespace swamp

#include "util/relative_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace swamp {

std::optional<std::string> WhyUnsafePath(std::string_view path) {
  if (path.empty()) return "it is empty";
  if (path.size() > 1024) return "it is longer than 1024 bytes";
  if (path.find('\0') != std::string_view::npos) return "it has a NUL byte";
  if (path.find('\\') != std::string_view::npos) return "it has a backslash";
  if (path.front() == '/') return "it is absolute";
  if (!IsValidUtf8(path)) return "it is not UTF-8";
  for (const std::string& segment : Split(path, '/')) {
    if (segment.empty()) return "it has an empty segment";
    if (segment == "." || segment == "..") return fmt::format("it has the segment \"{}\"", segment);
    if (segment.size() > 255) return "it has a segment of more than 255 bytes";
  }
  return std::nullopt;
}

std::filesystem::path JoinSafely(const std::filesystem::path& root, std::string_view path,
                                 std::string_view what) {
  if (const auto reason = WhyUnsafePath(path)) {
    throw UserError("path_escape",
                    fmt::format("the path \"{}\" from {} is refused: {}", Printable(path), what, *reason));
  }
  return root / path;
}

bool IsWithin(Files& files, const std::filesystem::path& path, const std::filesystem::path& root) {
  const std::filesystem::path inner = files.Resolve(path).lexically_normal();
  std::filesystem::path outer = files.Resolve(root).lexically_normal();
  if (!outer.has_filename()) outer = outer.parent_path();
  const auto [outer_end, inner_end] =
      std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  return outer_end == outer.end();
}

}  // namespace swamp

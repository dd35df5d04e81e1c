#include "extension/files_checksum.h"

#include "util/context.h"
#include "util/digest.h"
#include "util/files.h"

namespace swamp {

std::string FilesChecksum(const FileDigests& files) {
  Hasher hasher;
  for (const auto& [path, digest] : files) {
    hasher.Update(path);
    hasher.Update(std::string_view("\0", 1));
    hasher.Update(digest);
    hasher.Update("\n");
  }
  return hasher.FinishHex();
}

std::optional<std::string> DigestOfFile(const Context& context, const std::filesystem::path& path) {
  // A link is followed: what counts is the content that a reader of the path gets.
  const auto info = context.files().Stat(path);
  if (!info || info->kind == FileKind::kFolder || info->kind == FileKind::kOther)
    return std::nullopt;
  const auto file = context.files().Open(path);
  if (!file) return std::nullopt;
  Hasher hasher;
  std::string buffer(64 << 10, '\0');
  for (std::uint64_t offset = 0;;) {
    const std::size_t count = file->ReadAt(offset, buffer);
    hasher.Update(std::string_view(buffer).substr(0, count));
    if (count < buffer.size()) return hasher.FinishHex();
    offset += count;
    context.Check();
  }
}

}  // namespace swamp

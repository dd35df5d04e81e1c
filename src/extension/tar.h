#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace swamp {

class ByteSource;

// The tar formats that occur in extension archives: v7, ustar and pax (POSIX.1-2017, pax, "ustar
// Interchange Format" and "pax Extended Header Block") and GNU long names (the tar(5) manual of GNU
// and BSD).
//
// Read and written here rather than by libarchive because that one (3.6) cuts a name at a NUL byte
// before its caller can see it, and loses names that aren't ASCII unless the process has set a
// UTF-8 locale.

struct TarEntry {
  enum class Kind {
    kFile,
    kFolder,
    kOther,  // a link, a device, or whatever else; `type` tells
  };
  Kind kind = Kind::kFile;
  char type = '0';         // the type flag of its header
  std::string name;        // the bytes as they are, NUL included; a folder's without "/" at the end
  std::uint64_t size = 0;  // bytes of content; 0 unless it is a file
};

// Reads one entry after the other. Throws UserError archive_invalid for what is no tar. Not
// thread-safe.
class TarReader {
 public:
  // `source` is borrowed.
  explicit TarReader(ByteSource& source) : source_(source) {}

  // The next entry, whatever is left of the present one's content passed over. Nothing: the end.
  std::optional<TarEntry> Next();
  // More of the present entry's content; 0 at its end.
  std::size_t Read(std::span<char> buffer);

 private:
  static constexpr std::size_t kBlock = 512;
  using Block = std::array<char, kBlock>;

  bool ReadBlock(Block& block);
  std::string ReadExtension(std::uint64_t size);
  void SkipContent();

  ByteSource& source_;
  std::uint64_t content_left_ = 0;
  std::uint64_t padding_ = 0;
};

// Writes an archive of files. Everything but name, content and the executable bit is fixed, so that
// equal input gives equal bytes. Not thread-safe.
class TarWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit TarWriter(Sink sink) : sink_(std::move(sink)) {}

  // Exactly `size` bytes must follow by Append.
  void BeginFile(std::string_view name, std::uint64_t size, bool executable);
  void Append(std::string_view bytes) { sink_(bytes); }
  void EndFile();
  // The end mark.
  void Finish();

 private:
  void WriteHeader(std::string_view prefix, std::string_view name, std::uint64_t size, char type,
                   bool executable);

  Sink sink_;
  std::uint64_t size_ = 0;
};

}  // namespace swamp

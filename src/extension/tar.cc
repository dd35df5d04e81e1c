#include "extension/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "extension/gzip.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kBlockSize = 512;
// Names and the attributes that other programs add; far more than either needs.
constexpr std::uint64_t kMaxExtension = 1 << 20;
constexpr std::uint64_t kMaxContent = 1ULL << 50;
constexpr std::string_view kUstarMagic{"ustar\0", 6};

struct Field {
  std::size_t offset;
  std::size_t size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kOwner{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kTime{136, 12}, kChecksum{148, 8}, kType{156, 1}, kMagic{257, 8}, kPrefix{345, 155};

[[noreturn]] void Refuse(std::string_view reason) {
  throw UserError("archive_invalid",
                  fmt::format("the archive is not a valid tar file: {}", reason));
}

std::string_view Get(std::span<const char> block, Field field) {
  return {block.data() + field.offset, field.size};
}

// A text field: up to the first NUL. Whatever follows a NUL but more NULs belongs to the text, so
// that the caller sees the whole of a name that hides something.
std::string TextOf(std::string_view field) {
  const std::size_t last = field.find_last_not_of('\0');
  return std::string(field.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

// Octal digits, or base 256 with the top bit set (GNU) for what doesn't fit.
std::uint64_t NumberOf(std::string_view field, std::string_view what) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(field.front()) & 0x80) != 0) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      const auto byte = static_cast<unsigned char>(field[i]);
      if (value >> 55 != 0) Refuse(fmt::format("its {} is out of range", what));
      value = (value << 8) | (i == 0 ? byte & 0x7fU : byte);
    }
    return value;
  }
  const std::string_view digits = Trim(field.substr(0, field.find('\0')));
  if (digits.empty()) return 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    Refuse(fmt::format("its {} is not a number", what));
  }
  return value;
}

// The sum of all bytes, those of the checksum counted as blanks.
unsigned ChecksumOf(std::span<const char> block) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.size;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

// What extension headers say of the entry that follows them.
struct Overrides {
  std::optional<std::string> name;
  std::optional<std::uint64_t> size;
};

// Records "<length> <key>=<value>\n", the length counting the whole record in decimal.
void ReadPaxRecords(std::string_view records, Overrides& overrides) {
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc() || length > records.size() || length < digits + 3 ||
        records[digits] != ' ' || records[length - 1] != '\n') {
      Refuse("an extended header is damaged");
    }
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    records.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) Refuse("an extended header is damaged");
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") {
      overrides.name = value;
    } else if (key == "size") {
      std::uint64_t size = 0;
      const auto [size_end, size_error] =
          std::from_chars(value.data(), value.data() + value.size(), size);
      if (size_error != std::errc() || size_end != value.data() + value.size())
        Refuse("a size is not a number");
      overrides.size = size;
    } else if (key.starts_with("GNU.sparse.")) {
      Refuse("it has a sparse file");
    }
  }
}

std::string NameOf(std::span<const char> block) {
  std::string name = TextOf(Get(block, kName));
  // Only POSIX headers have a prefix; GNU's keep other things there.
  if (Get(block, kMagic).starts_with(kUstarMagic)) {
    const std::string prefix = TextOf(Get(block, kPrefix));
    if (!prefix.empty()) return prefix + "/" + name;
  }
  return name;
}

void Put(std::span<char> block, Field field, std::string_view text) {
  std::memcpy(block.data() + field.offset, text.data(), std::min(text.size(), field.size));
}

void PutOctal(std::span<char> block, Field field, std::uint64_t value) {
  Put(block, field, fmt::format("{:0{}o}", value, field.size - 1));
}

std::size_t PaddingOf(std::uint64_t size) {
  return static_cast<std::size_t>((kBlockSize - size % kBlockSize) % kBlockSize);
}

// Where to cut a name so that it fits a ustar header: at most 155 bytes, "/", at most 100 bytes.
std::optional<std::size_t> UstarCut(std::string_view name) {
  if (name.size() <= kName.size) return 0;
  const std::size_t cut = name.find('/', name.size() - kName.size - 1);
  if (cut == std::string_view::npos || cut > kPrefix.size || cut + 1 == name.size())
    return std::nullopt;
  return cut;
}

std::string PaxRecord(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (fmt::formatted_size("{}", length) + rest != length) ++length;
  return fmt::format("{} {}={}\n", length, key, value);
}

}  // namespace

bool TarReader::ReadBlock(Block& block) {
  const std::size_t count = source_.Read(block);
  if (count != 0 && count != block.size()) Refuse("it ends early");
  return count != 0;
}

void TarReader::SkipContent() {
  std::array<char, 16 << 10> scratch;
  for (std::uint64_t left = content_left_ + padding_; left > 0;) {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(left, scratch.size()));
    if (source_.Read({scratch.data(), wanted}) != wanted) Refuse("it ends early");
    left -= wanted;
  }
  content_left_ = padding_ = 0;
}

std::string TarReader::ReadExtension(std::uint64_t size) {
  if (size > kMaxExtension) Refuse("an extended header is too long");
  content_left_ = size;
  padding_ = PaddingOf(size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (Read(bytes) != bytes.size()) Refuse("it ends early");
  SkipContent();
  return bytes;
}

std::optional<TarEntry> TarReader::Next() {
  SkipContent();
  Overrides overrides;
  for (Block block; ReadBlock(block);) {
    if (std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; }))
      return std::nullopt;
    if (NumberOf(Get(block, kChecksum), "checksum") != ChecksumOf(block))
      Refuse("a header is damaged");
    const char type = Get(block, kType).front();
    const std::uint64_t size = NumberOf(Get(block, kSize), "size");
    switch (type) {
      case 'x':
        ReadPaxRecords(ReadExtension(size), overrides);
        continue;
      case 'g': {
        Overrides for_all;
        ReadPaxRecords(ReadExtension(size), for_all);
        if (for_all.name || for_all.size)
          Refuse("a global header gives all entries one name or size");
        continue;
      }
      case 'L':
        overrides.name = TextOf(ReadExtension(size));
        continue;
      case 'K':
        ReadExtension(size);
        continue;
      default:
        break;
    }
    TarEntry entry;
    entry.type = type == '\0' ? '0' : type;
    entry.name = overrides.name ? std::move(*overrides.name) : NameOf(block);
    entry.size = overrides.size.value_or(size);
    if (entry.size > kMaxContent) Refuse("a size is out of range");
    if (type == '5' || (entry.type == '0' && entry.name.ends_with('/'))) {
      entry.kind = TarEntry::Kind::kFolder;
      entry.size = 0;
      while (entry.name.ends_with('/')) entry.name.pop_back();
    } else if (type != '0' && type != '\0' && type != '7') {
      entry.kind = TarEntry::Kind::kOther;
      entry.size = 0;
    }
    content_left_ = entry.size;
    padding_ = PaddingOf(entry.size);
    return entry;
  }
  if (overrides.name || overrides.size) Refuse("it ends early");
  return std::nullopt;
}

std::size_t TarReader::Read(std::span<char> buffer) {
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), content_left_));
  if (source_.Read(buffer.first(wanted)) != wanted) Refuse("it ends early");
  content_left_ -= wanted;
  return wanted;
}

void TarWriter::WriteHeader(std::string_view prefix, std::string_view name, std::uint64_t size,
                            char type, bool executable) {
  std::array<char, kBlockSize> block{};
  Put(block, kName, name);
  PutOctal(block, kMode, executable ? 0755 : 0644);
  PutOctal(block, kOwner, 0);
  PutOctal(block, kGroup, 0);
  PutOctal(block, kSize, size);
  PutOctal(block, kTime, 0);
  block[kType.offset] = type;
  Put(block, kMagic,
      std::string_view("ustar\0"
                       "00",
                       8));
  Put(block, kPrefix, prefix);
  Put(block, kChecksum, fmt::format("{:06o}", ChecksumOf(block)) + std::string("\0 ", 2));
  sink_({block.data(), block.size()});
}

void TarWriter::BeginFile(std::string_view name, std::uint64_t size, bool executable) {
  const bool ascii = std::all_of(name.begin(), name.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const auto cut = ascii ? UstarCut(name) : std::nullopt;
  if (!cut) {
    const std::string record = PaxRecord("path", name);
    WriteHeader("", "pax-header", record.size(), 'x', false);
    Append(record);
    size_ = record.size();
    EndFile();
    // For readers that know no pax headers; others ignore it.
    WriteHeader("", "long-name", size, '0', executable);
  } else if (*cut == 0) {
    WriteHeader("", name, size, '0', executable);
  } else {
    WriteHeader(name.substr(0, *cut), name.substr(*cut + 1), size, '0', executable);
  }
  size_ = size;
}

void TarWriter::EndFile() { sink_(std::string(PaddingOf(size_), '\0')); }

void TarWriter::Finish() { sink_(std::string(2 * kBlockSize, '\0')); }

}  // namespace swamp

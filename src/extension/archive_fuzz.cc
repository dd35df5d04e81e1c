#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "extension/archive.h"
#include "extension/testing.h"
#include "util/relative_path.h"

// The input is the tar file within: compressing it here lets the fuzzer reach the checks. Whatever
// is accepted has only safe paths and keeps to the limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static swamp::testing::TempWorld world;
  swamp::ArchiveLimits limits;
  limits.unpacked_bytes = 1 << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string& archive : {std::string(bytes), swamp::testing::Gzip(bytes)}) {
    try {
      const swamp::ArchiveContents contents = swamp::ReadArchive(
          world.context(), swamp::testing::StringFile(archive), std::nullopt, limits);
      if (contents.files.size() > limits.entries) __builtin_trap();
      for (const swamp::ArchiveFile& file : contents.files) {
        if (swamp::WhyUnsafePath(file.path) || file.size > limits.unpacked_bytes) __builtin_trap();
      }
    } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch): a refusal is what bad
                                         // input deserves
    }
  }
  return 0;
}

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "extension/manifest.h"
#include "util/error.h"
#include "util/relative_path.h"

// Whatever is accepted has only safe paths.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const swamp::Manifest manifest =
        swamp::ParseManifest({reinterpret_cast<const char*>(data), size}, "manifest.yaml");
    for (const swamp::DeclaredPath& declared : swamp::DeclaredPaths(manifest)) {
      if (swamp::WhyUnsafePath(declared.entry)) __builtin_trap();
    }
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch): a refusal is what bad input
                                       // deserves
  }
  return 0;
}

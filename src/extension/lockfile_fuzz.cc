#include <cstddef>
#include <cstdint>
#include <string_view>

#include "extension/lockfile.h"
#include "util/error.h"

// What is accepted is written in one form, and read back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const swamp::Lockfile lockfile =
        swamp::Lockfile::Parse({reinterpret_cast<const char*>(data), size}, "lockfile");
    const std::string text = lockfile.Serialize();
    const swamp::Lockfile again = swamp::Lockfile::Parse(text, "lockfile");
    if (again.Serialize() != text || !(again == lockfile)) __builtin_trap();
  } catch (const swamp::UserError&) {  // NOLINT(bugprone-empty-catch): a refusal is what bad input
                                       // deserves
  }
  return 0;
}

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/error.h"
#include "vault/env_file_vault.h"

// A file is refused with its line, or gives keys that aren't empty.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const auto& [key, value] : swamp::ParseEnvFile({reinterpret_cast<const char*>(data), size}, "file")) {
      if (key.empty() || key.find('\n') != std::string::npos || value.size() > size) __builtin_trap();
    }
  } catch (const swamp::UserError& error) {
    if (error.message().find(", line ") == std::string::npos) __builtin_trap();
  }
  return 0;
}

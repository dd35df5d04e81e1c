#include <cstdint>
#include <cstdlib>

#include "cli/render/markdown.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::string shown = swamp::RenderMarkdown(text, {.line = data[0], .column = data[1]});
  for (const char c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') std::abort();
  }
  return 0;
}

// What is read the quick way reads the same the long way; and metadata that was read is written and read again as it was.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/metadata.h"
#include "data/plain_yaml.h"
#include "util/error.h"
#include "util/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (const auto quick = swamp::ParsePlainYaml(text)) {
      if (*quick != swamp::ParseYaml(text, "it")) std::abort();
    }
  } catch (const swamp::UserError&) {
    std::abort();
  }
  try {
    const std::string yaml = swamp::DataMetadata::Parse(text, "it").ToYaml();
    if (swamp::DataMetadata::Parse(yaml, "it").ToYaml() != yaml) std::abort();
  } catch (const swamp::UserError&) {
  }
  return 0;
}

// Reads any bytes as a time zone file, and asks what was read.
#include <cstdint>
#include <string_view>

#include "cel/time_zone.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto zone = swamp::cel::TimeZone::FromFile({reinterpret_cast<const char*>(data), size});
  if (!zone) return 0;
  for (const std::int64_t time : {INT64_C(-62135596800), INT64_C(0), INT64_C(2000000000), INT64_C(253402300799)}) {
    zone->OffsetAt(time);
  }
  return 0;
}

// libFuzzer: whatever a server sends for a listing or an error, reading it ends in an answer or a
// refusal.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "objectstore/s3_xml.h"
#include "objectstore/xml_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  swamp::S3Listing listing;
  if (swamp::ParseS3Listing(xml, listing).empty()) {
    const bool ascending =
        std::is_sorted(listing.objects.begin(), listing.objects.end(),
                       [](const auto& a, const auto& b) { return a.key < b.key; });
    if (!ascending || swamp::XmlTexts(xml).empty()) std::abort();
  }
  if (!swamp::ParseS3Error(xml).code.empty() && swamp::XmlTexts(xml).empty()) std::abort();
  return 0;
}

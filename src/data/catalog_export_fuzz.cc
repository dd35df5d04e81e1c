// What is taken from a catalog's export can be written and is then taken again as it was.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/catalog_export.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = swamp::ParseCatalogExport({reinterpret_cast<const char*>(data), size});
  if (!read) return 0;
  const std::string text = swamp::WriteCatalogExport(read->rows, "ns");
  const auto again = swamp::ParseCatalogExport(text);
  if (!again || again->refused != 0 || again->rows.size() != read->rows.size()) std::abort();
  if (swamp::WriteCatalogExport(again->rows, "ns") != text) std::abort();
  return 0;
}

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/catalog.h"
#include "data/catalog_rows.h"
#include "datastore/datastore.h"

namespace swamp {

// `.catalog-export.json` in a namespace's scope of a bucket: the rows of its catalog, for whoever asks from another
// namespace: a JSON array of objects, whose keys are the names of the catalog's columns. What a namespace holds is told by
// its index; the export only saves reading the metadata of each version.

struct CatalogExport {
  std::vector<CatalogRow> rows;
  std::size_t refused = 0;  // entries that are no rows
};
// Keys that the catalog doesn't have are passed over. Nothing: it is no such document.
std::optional<CatalogExport> ParseCatalogExport(std::string_view text);
// In order, a line for each row; the same rows give the same bytes.
std::string WriteCatalogExport(std::vector<CatalogRow> rows, const std::string& name_space);

enum class ExportOutcome {
  kNoNamespace,  // there is nobody to tell, or nothing
  kNotLevel,     // this checkout hasn't all that the index has, or has what it hasn't
  kUnchanged,
  kWritten,
  kOvertaken,  // a peer has written another one at this moment: theirs stays
};
// Brings the bucket's export up to the rows of this checkout, provided that these are what the index says. For a datastore
// that is a folder there is none: it is read directly. Throws StoreError.
ExportOutcome PublishCatalogExport(const Context& context, Datastore& datastore, Catalog& catalog);

}  // namespace swamp

#pragma once

#include <string>
#include <vector>

#include "data/catalog.h"
#include "datastore/datastore.h"

namespace swamp {

struct PulledNamespace {
  std::string slug;
  std::size_t rows = 0;      // of it in the catalog now
  std::size_t added = 0;
  std::size_t removed = 0;   // rows of what has gone
  std::size_t fetched = 0;   // versions whose metadata had to be read one by one
  std::size_t exported = 0;  // versions that its export told of
  bool unchanged = false;    // nothing has changed there since the last time
  std::vector<PathProblem> problems;  // what was left out
};

// Brings the catalog's rows of other namespaces of the datastore up to what these hold now: told by the index of each (or
// its folder). Only reads there. All of a namespace or nothing of it.
// Throws UserError namespace_invalid, namespace_own and namespace_not_found, for any of them, before anything is done;
// sync_timeout, StoreError.
std::vector<PulledNamespace> PullCatalog(const Context& context, Datastore& datastore, Catalog& catalog,
                                         const std::vector<std::string>& namespaces);

// A version of another namespace of which no row tells: a rename marker, or one without content.
struct HiddenVersion {
  DataKey key;
  std::uint64_t version = 0;
  std::string step;
  std::string renamed_to;  // empty: it renames nothing
};
// Those that the last pull of the namespace met.
std::vector<HiddenVersion> HiddenVersions(Catalog& catalog, const std::string& slug);

}  // namespace swamp

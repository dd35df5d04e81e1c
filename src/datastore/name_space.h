#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datastore/datastore.h"

namespace swamp {

// What a namespace tells others of its data, so that they need not read it version by version (data/catalog_export.h).
inline constexpr std::string_view kCatalogExportKey = ".catalog-export.json";

// `.namespace.json` in the scope of a namespace: which repository it belongs to.
struct NamespaceClaim {
  std::string slug;           // the folder that the claim stands in
  std::string repo_id;        // empty: the claim is unreadable
  std::string registered_at;
  // The owner used the layout without a namespace before, or has moved there: what is beside the namespaces is its own, too.
  bool owns_unnamed = false;
};

// Registers `slug` for the repository at `.namespace.json` of `store`, which is scoped to the namespace, by a create-only write.
// The owner may register again. `owns_unnamed` is added to a claim that doesn't say so yet.
// Throws UserError namespace_taken, naming the other repository. Returns whether it was new.
bool ClaimNamespace(const Context& context, ObjectStore& store, const std::string& slug, const std::string& repo_id,
                    bool owns_unnamed = false);
// Nothing: nobody has claimed it. `store` is scoped to the namespace.
std::optional<NamespaceClaim> ReadNamespaceClaim(const Context& context, ObjectStore& store, const std::string& slug);

// All claims in a store that is not scoped to a namespace.
std::vector<NamespaceClaim> ClaimsInBucket(const Context& context, ObjectStore& store);

// The repository as it is with that namespace, or with none, in its marker.
Repository InNamespace(const Repository& repo, const std::optional<std::string>& slug);
// Writes that into the marker: `datastore.namespace` and, in a block that is new, `datastore.type`; nothing else.
void SaveNamespace(const Context& context, const Repository& repo, const std::optional<std::string>& slug);

// Whether what the layout without a namespace holds is this repository's own: its namespace's claim says so, or this
// checkout has used it. `unnamed` is the datastore without the namespace.
bool OwnsUnnamed(const Context& context, const std::optional<NamespaceClaim>& claim, Datastore& unnamed,
                 const std::string& repo_id);
// Whether the datastore's own scope has any file of a tier folder, as far as its index (or folder) tells.
bool HasTierFiles(const Context& context, Datastore& datastore);

struct SetNamespaceResult {
  std::string slug;
  std::string place;
  std::optional<std::string> warning;
};
// Registers the namespace and makes the repository use it. What is elsewhere stays there until it is migrated.
// Throws UserError namespace_invalid, namespace_taken, store_unsafe, StoreError.
SetNamespaceResult SetNamespace(const Context& context, const Repository& repo, const DatastoreParts& parts,
                                const std::string& slug);

struct UnsetNamespaceResult {
  std::string previous;
  std::optional<std::string> warning;
};
// Makes the repository use the layout without a namespace. The registration and what is in the namespace stay.
// Throws UserError namespace_not_set; namespace_foreign when other files are there that may be another repository's.
UnsetNamespaceResult UnsetNamespace(const Context& context, const Repository& repo, const DatastoreParts& parts);

struct NamespaceList {
  std::vector<NamespaceClaim> namespaces;  // by slug
  std::optional<std::string> warning;      // what could not be looked at
};
// All that are registered beside this repository's; where the rights end at its own namespace, that one alone.
NamespaceList ListNamespaces(const Context& context, const Repository& repo, const DatastoreParts& parts);

}  // namespace swamp

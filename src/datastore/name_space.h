#pragma once

#include <optional>
#include <string>

#include "objectstore/object_store.h"

namespace swamp {

// Registers `slug` for the repository at `.namespace.json` of `store`, which is scoped to the namespace, by a create-only write.
// The owner may register again. Throws UserError namespace_taken, naming the other repository.
// Returns whether it was new.
bool ClaimNamespace(const Context& context, ObjectStore& store, const std::string& slug, const std::string& repo_id);

}  // namespace swamp

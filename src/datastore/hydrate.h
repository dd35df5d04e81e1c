#pragma once

#include <span>
#include <string>
#include <string_view>

#include "datastore/replica.h"

namespace swamp {

// Lazy hydration: a pull brings everything but the content of data versions (`raw`), which is fetched when somebody opens it.
// What is left out has a base like everything else that was pulled, so no push takes it for new or removed.

// Whether a path is the content of a data version.
bool IsDataContent(std::string_view path);

// Whether the bucket has the content that a path names, for all that is known, and the cache hasn't. Not for tasks.
bool IsLeftOut(Cache& cache, const std::string& path);

// Brings here those of `paths` that are left out, all at once, each checked against what the index said of it. What has been
// removed from the bucket meanwhile stays absent. Throws UserError content_unavailable naming the data; what was fetched
// until then stays.
void Hydrate(const Context& context, Replica& replica, std::span<const std::string> paths);

}  // namespace swamp

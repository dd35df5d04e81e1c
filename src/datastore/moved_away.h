#pragma once

#include <span>
#include <string>

#include "datastore/state_db.h"

namespace swamp {

// A migration to another place removes what it has copied from the old one, path by path. Such a removal is right only as
// long as the copy is there, which its migration has seen. When that died, the removals that it left are not to be published
// by whoever comes next: by then another migration may have come back.

// Comes before the removals are recorded.
void BeginMovingAway(StateDb& state, std::span<const std::string> paths);
// They are published; or those that are not stay undone: the next push tells the index what is there, and a file that is
// missing here is then fetched again.
void EndMovingAway(StateDb& state);

}  // namespace swamp

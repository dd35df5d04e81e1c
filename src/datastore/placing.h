#pragma once

#include "datastore/cache.h"

namespace swamp {

// Gives files their bases that a pull which died had put in place. The caller holds the cache's lock, so that whoever had
// begun to place files has ended or is dead.
void FinishPlacing(Cache& cache);

}  // namespace swamp

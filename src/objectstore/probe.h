#pragma once

#include "objectstore/object_store.h"

namespace swamp {

// Finds out what a store can be relied on for, by a dozen small requests on fresh keys
// ".datastore-probe-<uuid>" below its own prefix, which are removed again. The store has adopted
// the answer on return. Not while other calls are under way.
//
// Errors (no rights, no bucket, not reachable) pass through as StoreError; the store then works by
// the capabilities that it had.
Capabilities ProbeStore(const Context& context, ObjectStore& store);

}  // namespace swamp

#pragma once

#include "objectstore/object_store.h"

namespace swamp {

// Finds out what a store can be relied on for, by a dozen small requests on fresh keys
// ".datastore-probe-<uuid>" below its own prefix, which are removed again. The store has adopted
// the answer on return. Not while other calls are under way.
//
// Takes the bare store: a ResolvingStore around it would lay refusals to lost answers. Starts over
// when an error is transient, three times in all; other errors (no rights, no bucket) pass through
// as StoreError. After an error the store works by the capabilities that it had.
Capabilities ProbeStore(const Context& context, ObjectStore& store);

}  // namespace swamp

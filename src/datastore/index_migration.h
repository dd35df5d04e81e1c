#pragma once

#include "datastore/datastore.h"

namespace swamp {

struct IndexMigration {
  bool had_older_index = false;
  int entries = 0;  // that came from the older single index
  int shards = 0;   // that were written for them
};

// Brings the entries of the older single index into the shards, where readers look once there is a meta document. The older
// index stays for older programs. A push into a bucket without a meta document does the same.
// Throws UserError sync_not_supported (a datastore without a bucket), StoreError.
IndexMigration MigrateIndex(const Context& context, Datastore& datastore);

}  // namespace swamp

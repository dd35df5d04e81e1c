#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/catalog.h"
#include "data/version_store.h"
#include "datastore/datastore.h"
#include "datastore/lock.h"

namespace swamp {

// Changes that commands make to data, of one model under its lock, of several under the datastore's. The data here is
// brought up to date first, as far as the datastore can be reached.
class DataChange {
 public:
  // `model`: nothing: the whole datastore.
  DataChange(const Context& context, Datastore& datastore, std::optional<DataOwner> model = std::nullopt);
  // Under the datastore's lock: whether a command holds the model's lock, and so may be writing its data. While this lives
  // none gets it that hasn't got it already. Says so on the log.
  bool IsInUse(const DataOwner& owner) const;
  // Brings the catalog up to date and the change to everybody: of one model exactly its data. Throws UserError
  // managed_config_unpublished (the change stays here and is recorded) and config_conflict (a peer has written what was to
  // be removed).
  void Publish(Catalog& catalog);

 private:
  Context context_;
  Datastore& datastore_;
  std::optional<DataOwner> model_;
  std::unique_ptr<StoreLock> lock_;
};

// The data of a synced datastore is fetched when this checkout never has; `refresh`: also when it has.
void PullData(const Context& context, Datastore& datastore, bool refresh);

struct RenamedData {
  std::uint64_t copied_version = 0;
  std::uint64_t new_version = 0;
};
// Copies the latest version under the new name, then marks the old name as renamed. When that fails the copy is removed.
// Throws UserError validation_failed (the names), data_exists, data_not_found.
RenamedData RenameData(VersionStore& store, const DataKey& from, const std::string& to);

// A name's version, or all of them; answers how many versions went. Throws UserError data_not_found listing what there is.
std::size_t DeleteData(VersionStore& store, const DataKey& key, std::optional<std::uint64_t> version);

// Throws data_not_found, with the nearest names.
DataRecord RequireData(const VersionStore& store, const DataKey& key, std::optional<std::uint64_t> version);

}  // namespace swamp

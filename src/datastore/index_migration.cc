#include "datastore/index_migration.h"

#include "util/environment.h"

namespace swamp {

IndexMigration MigrateIndex(const Context& context, Datastore& datastore) {
  if (!datastore.synced()) {
    throw UserError("sync_not_supported", "the datastore is a folder that is used as it is: it has no index");
  }
  ObjectStore& store = datastore.WritableStore(context);
  RemoteIndex index(store);
  IndexMigration result;
  result.had_older_index = index.ReadLegacy(context).has_value();
  if (!result.had_older_index) return result;
  const bool before_shards = index.ReadMeta(context, std::nullopt).state.before_shards;
  const RemoteIndex::Adopted adopted = index.AdoptLegacy(context);
  result.entries = adopted.entries;
  result.shards = adopted.shards;
  if (adopted.shards == 0 && !before_shards) return result;
  // Also the shards that a run which was killed has written.
  std::vector<std::string> partitions;
  for (const auto& [partition, etag] : index.ListShards(context)) partitions.push_back(partition);
  index.CommitMeta(context, partitions, std::nullopt, context.environment().Holder());
  return result;
}

}  // namespace swamp

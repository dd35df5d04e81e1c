#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "data/version_store.h"
#include "util/sqlite.h"

namespace swamp {

struct CatalogOptions {
  std::filesystem::path database;  // <repo>/.swamp/data/_catalog.db
  std::string name_space;          // of the rows; empty: none
  bool shared_folder = false;      // other checkouts write to the same folder
  bool lazy = false;               // rows of what isn't here stay
  std::string datastore = {};      // Datastore::SharedPlace; empty: not said
};

// Keys of catalog_meta, + namespace.
namespace catalog_key {
inline constexpr const char* kForeignSynced = "foreign_synced:";  // when its rows were pulled last; other programs know it, too
inline constexpr const char* kForeignState = "swamp_foreign:";    // what pull_catalog.cc remembers of it
}  // namespace catalog_key

class OtherNamespaces;
struct CatalogStatements;

// A table of all versions for queries: `_catalog.db`, which other programs of this kind read and write too. It can be made
// again from what is on disk, and is when it is missing, damaged, of another schema, or not marked as populated.
//
// It follows the version store by itself: by the store's change log; after a pull, and on a folder that others write to, by
// comparing each name's folder with its rows. Rows of other namespaces come and go with PullCatalog alone, and when another
// datastore is used. Used by one thread; several processes may use one catalog.
class Catalog {
 public:
  Catalog(const Context& context, const VersionStore& store, Cache* cache, CatalogOptions options);
  ~Catalog();
  // `datastore` outlives it.
  static std::unique_ptr<Catalog> Open(const Context& context, const Repository& repo, Datastore& datastore,
                                       const VersionStore& store);

  // Makes the rows fit what is on disk: before a query, and after a command's changes. Cheap when nothing changed.
  void CatchUp();
  // From nothing.
  void Rebuild();

  Database& database() { return *database_; }
  const CatalogOptions& options() const { return options_; }
  // Whether there are rows of other namespaces.
  bool HasOthers();
  // The way to what those rows stand for; null for a catalog that was not made by Open.
  OtherNamespaces* others() const { return others_.get(); }
  // Of catalog_meta; empty: not there. A transaction may be open.
  std::string Meta(const std::string& key);
  void SetMeta(const std::string& key, const std::string& value);

  struct Checkpoint {
    std::int64_t pages_total = 0;
    std::int64_t pages_checkpointed = 0;
  };
  // Brings the write-ahead log into the database file.
  Checkpoint CheckpointLog();

 private:
  void OpenDatabase();
  void PrepareSchema();
  void ForgetOtherDatastore();
  void ForgetPulls();
  void ApplyChangeLog();
  void CompareAll();
  bool LooksCurrent(const DataKey& key, CatalogStatements& statements);
  bool IsGone(const DataKey& key, std::uint64_t version);
  std::set<DataKey> NamesWithRows();
  void Refresh(const DataKey& key, CatalogStatements& statements, bool empty_before);
  std::string PulledState();
  std::string Place() const;

  Context context_;
  const VersionStore& store_;
  Cache* cache_;
  CatalogOptions options_;
  std::optional<Database> database_;
  std::unique_ptr<OtherNamespaces> others_;
};

}  // namespace swamp

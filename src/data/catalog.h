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
};

// A table of all versions for queries: `_catalog.db`, which other programs of this kind read and write too. It can be made
// again from what is on disk, and is when it is missing, damaged, of another schema, or not marked as populated.
//
// It follows the version store by itself: by the store's change log; after a pull, and on a folder that others write to, by
// comparing each name's folder with its rows. Used by one thread; several processes may use one catalog.
class Catalog {
 public:
  Catalog(const Context& context, const VersionStore& store, Cache* cache, CatalogOptions options);
  static std::unique_ptr<Catalog> Open(const Context& context, const Repository& repo, Datastore& datastore,
                                       const VersionStore& store);

  // Makes the rows fit what is on disk: before a query, and after a command's changes. Cheap when nothing changed.
  void CatchUp();
  // From nothing.
  void Rebuild();

  Database& database() { return *database_; }
  const CatalogOptions& options() const { return options_; }

  struct Checkpoint {
    std::int64_t pages_total = 0;
    std::int64_t pages_checkpointed = 0;
  };
  // Brings the write-ahead log into the database file.
  Checkpoint CheckpointLog();

 private:
  struct Statements;

  void OpenDatabase();
  void PrepareSchema();
  std::string Meta(const std::string& key);
  void SetMeta(const std::string& key, const std::string& value);
  void ApplyChangeLog();
  void CompareAll();
  bool LooksCurrent(const DataKey& key, Statements& statements);
  bool IsGone(const DataKey& key, std::uint64_t version);
  std::set<DataKey> NamesWithRows();
  void Refresh(const DataKey& key, Statements& statements, bool empty_before);
  std::string PulledState();
  std::string Place() const;

  Context context_;
  const VersionStore& store_;
  Cache* cache_;
  CatalogOptions options_;
  std::optional<Database> database_;
};

}  // namespace swamp

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/version_store.h"
#include "util/json.h"
#include "util/sqlite.h"

namespace swamp {

// A row of the catalog, but for the namespace that it is of.
struct CatalogRow {
  DataKey key;
  std::uint64_t version = 0;
  bool is_latest = false;
  std::string id;
  std::string model_name;
  std::string spec_name;
  std::string data_type;
  std::string content_type;
  std::string lifetime;
  std::string owner_type;
  bool streaming = false;
  std::uint64_t size = 0;
  std::string created_at;
  std::string tags = "{}";  // JSON
  std::string owner_ref;
  std::string workflow_run_id;
  std::string workflow_name;
  std::string job_name;
  std::string step_name;
  std::string source;

  static CatalogRow Of(const DataRecord& record);
};

// A version of one name, as far as the rule for the latest flag needs it.
struct VersionStep {
  std::uint64_t version = 0;
  std::string step;
  bool is_row = true;       // rename markers are none
  bool was_latest = false;  // what the row says
};
// One latest version for each step: a version without a step comes after all, one of a step after that step's and those
// without. Nothing above the marker counts. `steps` descend.
std::set<std::uint64_t> LatestOf(const std::vector<VersionStep>& steps, std::uint64_t marker);

// Prepared statements on the catalog's rows.
struct CatalogStatements {
  explicit CatalogStatements(Database& database);

  static Statement& BindKey(Statement& statement, const std::string& name_space, const DataKey& key) {
    return statement.Bind(1, name_space).Bind(2, key.owner.type).Bind(3, key.owner.model_id).Bind(4, key.name);
  }
  void Insert(const std::string& name_space, const CatalogRow& row);
  void SetLatest(const std::string& name_space, const DataKey& key, std::uint64_t version, bool is_latest);
  void Remove(const std::string& name_space, const DataKey& key, std::uint64_t version);

  Statement rows;  // of a name: version, step_name, is_latest

 private:
  Statement remove_;
  Statement set_latest_;
  Statement insert_;
};

}  // namespace swamp

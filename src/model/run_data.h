#pragma once

#include <functional>
#include <optional>

#include "data/catalog.h"
#include "data/ephemeral.h"
#include "data/version_store.h"
#include "model/definitions.h"
#include "model/expressions.h"
#include "model/run_files.h"

namespace swamp {

// A version as the data functions of expressions answer it: its metadata, and its content as `content` and `attributes`.
// Throws UserError data_invalid for a body that can't be read (see ReadBody).
Json ExpressionRecord(const VersionStore& store, const DataRecord& record);

// Where expressions find data.
struct DataSources {
  // Opened when an expression first asks.
  std::function<const VersionStore&()> store;
  std::function<Catalog&()> catalog;
  // Called before data is read that others may have written meanwhile: of one model, or (nothing) of all.
  std::function<void(const std::optional<DataOwner>&)> refresh;
};

// What of `host` reads data: data_latest, data_version, data_list_versions, data_find_by_spec, data_find_by_tag, data_query,
// file_contents, model_resources, model_files and model_execution. All outlive it. Usable by several threads.
void AddDataFunctions(ExpressionHost& host, Definitions& definitions, RunFiles& files, DataSources sources);

// Puts data that is in memory only before the other data: for data_latest, data_version, data_list_versions and
// data_find_by_spec. Both outlive `host`.
void AddEphemeralData(ExpressionHost& host, Definitions& definitions, const EphemeralData& data);

}  // namespace swamp

#pragma once

#include "data/version_store.h"
#include "model/definitions.h"
#include "model/expressions.h"

namespace swamp {

// A version as the data functions of expressions answer it: its metadata, and its content as `content` and `attributes`.
Json ExpressionRecord(const VersionStore& store, const DataRecord& record);

// What of `host` reads data: data_latest, data_version, data_list_versions, data_find_by_spec, data_find_by_tag and
// file_contents, from the data that is here. All outlive it. `open`: opens the store when an expression first asks.
void AddDataFunctions(ExpressionHost& host, Definitions& definitions, std::function<const VersionStore&()> open);

}  // namespace swamp

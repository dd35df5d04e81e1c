#pragma once

// What the files of `swamp data` share.

#include <memory>
#include <optional>
#include <string>

#include "cli/builder.h"
#include "data/catalog.h"
#include "data/version_store.h"

namespace swamp {

// The repository's data, opened.
struct DataTools {
  std::unique_ptr<VersionStore> store;
  std::unique_ptr<Catalog> catalog;
};
DataTools OpenData(Session& session);

// A model that data is asked of.
struct DataModel {
  DataOwner owner;
  std::string name;
};
// By name or id: a definition that people made, one that was made by a run, or data whose definition is gone (by its id).
// Throws UserError model_not_found.
DataModel RequireDataModel(Session& session, const VersionStore& store, const std::string& name_or_id);

// The model and the name that a command works on, as words or as options.
struct DataTarget {
  std::string model;
  std::string name;
};
// `with_name`: the command has a data name too.
void AddDataTarget(CLI::App& command, DataTarget& target, bool with_name);
// Throws UserError usage when one is missing.
void RequireDataTarget(const DataTarget& target, bool with_name);

// A version's number. Throws UserError usage.
std::uint64_t ParseVersion(const std::string& text);

std::string DescribeSize(std::uint64_t bytes);

void AddDataReaders(CLI::App& group, Session& session);   // get, list, versions
void AddDataSearches(CLI::App& group, Session& session);  // search, query
void AddDataChanges(CLI::App& group, Session& session);   // rename, delete
void AddDataCleaning(CLI::App& group, Session& session);  // gc, prune

}  // namespace swamp

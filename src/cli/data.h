#pragma once

// What the files of `swamp data` share.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

// What `data get` prints of a version.
void PrintData(Session& session, const VersionStore& store, const DataRecord& record, const DataModel& model);

// Versions of data as `data list` groups and prints them.
class DataGroups {
 public:
  // `more`: keys that come after the others.
  void Add(const DataRecord& record, const Json& more = Json::object());
  std::size_t total() const { return total_; }
  Json ToJson() const;
  std::string Text() const;

 private:
  std::map<std::pair<std::size_t, std::string>, Json> groups_;
  std::size_t total_ = 0;
};

// The run of a workflow whose data is asked for; the latest when `run` is empty.
struct RunTarget {
  std::string workflow;
  std::string run;
};
void AddRunTarget(CLI::App& command, RunTarget& target);
void ListDataOfRun(Session& session, const RunTarget& target, const std::string& type, bool refresh);
// The version of that name which the run wrote. Throws workflow_not_found, run_not_found, data_not_found, ambiguous_data.
std::pair<DataRecord, DataModel> RequireDataOfRun(Session& session, const DataTools& tools, const RunTarget& target, const std::string& name);

// A version's number. Throws UserError usage.
std::uint64_t ParseVersion(const std::string& text);

std::string DescribeSize(std::uint64_t bytes);

void AddDataReaders(CLI::App& group, Session& session);   // get, list, versions
void AddDataSearches(CLI::App& group, Session& session);  // search, query
void AddDataChanges(CLI::App& group, Session& session);   // rename, delete
void AddDataCleaning(CLI::App& group, Session& session);  // gc, prune

}  // namespace swamp

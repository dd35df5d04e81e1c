#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/version_store.h"
#include "model/run.h"
#include "util/context.h"
#include "util/log.h"

namespace swamp {

// Records that the program itself keeps as data of built-in model types (control_plane_types.h). Each is the one data name
// of a model of its own, whose definition is automatic:
//
//   auto-definitions/swamp/group/ops.yaml
//   data/swamp/group/<definition id>/group-main/<version>/raw
struct RecordType {
  std::string type;                // "swamp/group"
  std::string version;             // "2026.06.17.1"
  std::string data_name;           // "group-main"
  std::int64_t versions_kept = 10;
};

struct StoredRecord {
  std::string model_id;
  std::string model_name;
  DataRecord data;
  std::filesystem::path path = {};  // of the content
  Json value = Json::object();      // nothing else is sure
};

struct RecordServices {
  const Repository& repo;
  Datastore& datastore;
};

struct RecordChange {
  bool changed = false;  // false: it was so already, and nothing was written
  Json value;
  RunResult run;  // as if a method had been run; without output and log when nothing was written
};

// What was asked for, as the output record names it.
struct RecordRequest {
  std::string name;    // of the record's model
  std::string method;  // "add-member"
  Json arguments = Json::object();
  bool create = false;  // make the model when there is none; else `edit` is told that there is no record
};

// The new content of a record, made from the current one (nothing: there is none); nothing: it stays as it is. May throw. Called
// again on newer content when a peer was faster.
using RecordEdit = std::function<std::optional<Json>(const std::optional<Json>& current)>;

// Names that records may have: [a-z0-9][a-z0-9_-]*, at most 64 bytes. Throws UserError validation_failed. `what`: "a group".
void CheckRecordName(const std::string& name, std::string_view what);

// The records of one type. Used by one thread.
class Records {
 public:
  Records(const Context& context, const RecordServices& services, const RecordType& type)
      : context_(context), services_(services), type_(type), files_(context, services.repo, services.datastore) {}

  enum class Broken {
    kAreLeftOut,  // with a warning
    kAreErrors,   // for decisions: what can't be read might forbid
  };
  // Those that are here, by name. They are found by what is stored, not by their definitions, which a checkout may lack; of
  // two of one name that counts whose model the definition names. Throws record_invalid.
  std::vector<StoredRecord> All(Broken broken = Broken::kAreLeftOut);
  // The same as `parse` reads them, which may throw too. `log`: who warns.
  template <typename Parse>
  auto AllAs(std::string_view log, const Parse& parse, Broken broken = Broken::kAreLeftOut) {
    std::vector<decltype(parse(StoredRecord()))> parsed;
    for (const StoredRecord& one : All(broken)) {
      try {
        parsed.push_back(parse(one));
      } catch (const UserError& error) {
        if (broken == Broken::kAreErrors) throw;
        context_.log().Warn(log, "left out: " + error.message());
      }
    }
    return parsed;
  }
  std::optional<StoredRecord> Find(const std::string& name);
  // There is no record of that name, but near ones may be meant. `kind`: "group"; `hint`: where there are none.
  UserError NotFound(const std::string& code, std::string_view kind, const std::string& name, const std::string& hint);

  // Changes one record under its model's lock: pulls it, writes a version after the one that was read, and pushes exactly
  // that. When a peer has written a version on the same ground, ours is taken back and the edit made again on theirs, so that
  // no change is lost even without locks. Needs the store: where it can't be reached nothing has changed.
  // Throws what `edit` does, lock_timeout, StoreError; managed_config_unpublished when the version is written here and on
  // record, but not in the bucket.
  RecordChange Change(const RecordRequest& request, const RecordEdit& edit);
  // Removes a record with its model, under its lock. `still` decides on its content as it is then. False: it stayed.
  bool Remove(const std::string& name, const std::function<bool(const Json& current)>& still);

  RunFiles& files() { return files_; }

 private:
  class Changing;

  VersionStore& store();
  void FetchContents();
  // The first version of a name that a peer has claimed, but not finished: nobody has been told yet that it is there.
  bool IsComing(const DataRecord& record);
  // What a peer is just announcing is in the bucket before all of it is here.
  std::string ContentOf(const DataRecord& record);
  std::string DefinitionPathOf(const std::string& name) const;
  std::optional<Definition> FindDefinition(const std::string& name);

  const Context& context_;
  RecordServices services_;
  const RecordType& type_;
  RunFiles files_;
  std::unique_ptr<VersionStore> store_;
};

}  // namespace swamp

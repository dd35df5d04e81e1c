#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datastore/datastore.h"

namespace swamp {

struct DoctorRequest {
  bool repair = false;
  bool purge_tombstones = false;  // with `repair`: nobody else may be at work
  // Extensions that this checkout has installed and that the lockfile, as the datastore has it, no longer names; it lives on a
  // higher floor.
  std::function<std::vector<std::string>(const Context&)> find_lost_extensions;
};

struct DoctorCheck {
  enum class Status {
    kPass,
    kWarn,  // worth a look, and nothing that has to be repaired
    kFail,
  };
  std::string name;
  Status status = Status::kPass;
  std::string detail;
  std::vector<std::string> paths;  // what it is about
  std::string repair;              // what would mend it, for people; empty: nothing to do
  bool repaired = false;
};

struct DoctorReport {
  std::string type;
  bool is_default = false;
  bool repairable = false;  // `repair` would do something about what was found
  std::vector<DoctorCheck> checks;
  DoctorCheck::Status overall() const;
};

// Looks at a datastore closely: a round trip, every object against the index and back, keys that belong to nobody, locks,
// leftovers. With `repair` it does what can't lose anything, each by conditional requests: index entries follow the objects,
// an object that is gone and that this checkout has comes back, dead locks and leftovers go. It never removes a file's object.
DoctorReport ExamineDatastore(const Context& context, const Repository& repo, Datastore& datastore,
                              const DoctorRequest& request);

}  // namespace swamp

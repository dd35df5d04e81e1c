#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/records.h"

namespace swamp {

// A worker as a server has last seen it: the record of a model of type swamp/worker, called "worker-<name>". Servers write it.
struct Worker {
  std::string name;
  std::string status;  // "idle", "busy", "disconnected", "unverified", "draining"
  std::string last_seen_at;
  std::string disconnected_at;  // empty: it isn't, or nothing says since when
  Json record;                  // all that stands there

  bool connected() const { return status != "disconnected"; }
  // Nothing: it is connected, or nothing says since when not.
  std::optional<Time> DisconnectedSince() const;
  // Throws UserError record_invalid naming `what`.
  static Worker Parse(const Json& json, const std::string& what);
};

class Workers {
 public:
  Workers(const Context& context, const RecordServices& services);

  // By name. Those that can't be read are left out with a warning.
  std::vector<Worker> All();
  // Those that have been disconnected for longer than that.
  std::vector<Worker> Stale(Duration older_than);
  // Removes the records and definitions of those of `workers` that are still that stale, one by one; answers which.
  // Changes are made as Records::Remove makes them, and throw what it does.
  std::vector<Worker> Prune(const std::vector<Worker>& workers, Duration older_than);

 private:
  bool IsStale(const Worker& worker, Duration older_than) const;

  const Context& context_;
  Records records_;
};

// What waits for a worker: data "pending-<id>" of type swamp/pending-dispatch in the state "waiting", longest first.
std::vector<Json> QueuedDispatches(const Context& context, const RecordServices& services);

}  // namespace swamp

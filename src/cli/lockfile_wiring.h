#pragma once

#include <functional>

#include "cli/session.h"
#include "datastore/config_migrate.h"
#include "datastore/sync.h"

namespace swamp {

// What `datastore sync` and `datastore config migrate` need of the extension lockfile, which lives on a higher floor.
std::function<bool(const Context&)> LockfilePublisher(Session& session);
std::function<int(const Context&, const Repository&, Datastore&)> LockfileMerger(Session& session);

}  // namespace swamp

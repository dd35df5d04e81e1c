#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/session.h"
#include "datastore/config_migrate.h"
#include "datastore/sync.h"

namespace swamp {

// What `datastore sync` and `datastore config migrate` need of the extension lockfile, which lives on a higher floor.
std::function<bool(const Context&)> LockfilePublisher(Session& session);
std::function<int(const Context&, const Repository&, Datastore&)> LockfileMerger(Session& session);

// What `doctor datastores` asks of it: the extensions that are installed in this checkout by this program and that the lockfile, as
// it is shared, does not name.
std::function<std::vector<std::string>(const Context&)> LostExtensionsFinder(Session& session);

}  // namespace swamp

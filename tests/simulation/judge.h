#pragma once

#include <string>
#include <vector>

#include "checkout.h"
#include "world.h"

namespace swamp::simulation {

// Compares what was acknowledged with what is there after every checkout has recovered: the promise of
// docs/managed-config.md. Each loss is one line; none is a good run.
std::vector<std::string> FindLosses(SimulatedWorld& world);

}  // namespace swamp::simulation

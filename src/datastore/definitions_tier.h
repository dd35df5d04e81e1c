#pragma once

#include <memory>

#include "datastore/config_tier.h"

namespace swamp {

// The documents in auto-definitions/, which programs make and people may edit, as OpenConfigTier has the configuration's:
// changed by the same rules, and nothing is lost. Their paths begin with "auto-definitions/".
std::unique_ptr<ConfigTier> OpenAutoDefinitionsTier(const Repository& repo, Datastore& datastore);

}  // namespace swamp

#pragma once

#include <string>
#include <vector>

#include "datastore/config_tier.h"
#include "model/definition.h"

namespace swamp {

// The names of the workflows with a step that names the model: by its name, its id, or its type and name. What an expression
// names can't be told. A workflow that can't be read is passed over with a warning.
std::vector<std::string> WorkflowsUsing(const Context& context, ConfigTier& config, const Definition& model);

}  // namespace swamp

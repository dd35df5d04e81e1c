#pragma once

#include "util/json.h"

namespace swamp {

// JSON Schemas (https://json-schema.org, 2020-12) of what a workflow document holds: `workflow`, `job`, `jobDependency`,
// `step`, `stepDependency`, `stepTask`, `triggerCondition`. Each stands for itself. They say which keys there are and what those may
// hold; what loading checks beyond that is in load_rules.cc.
Json WorkflowSchemas();

}  // namespace swamp

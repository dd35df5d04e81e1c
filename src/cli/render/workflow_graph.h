#pragma once

#include <string>

#include "workflow/workflow.h"

namespace swamp {

// A box for each job with its steps in it, and below it the jobs that wait for it; every line names what it comes after.
std::string DrawWorkflow(const Workflow& workflow);

}  // namespace swamp

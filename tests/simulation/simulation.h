#pragma once

#include <string>
#include <vector>

#include "plan.h"

namespace swamp::simulation {

struct Outcome {
  std::vector<std::string> losses;
  std::int64_t steps = 0;
  int commands = 0;
  int faults = 0;
  std::vector<int> endings = std::vector<int>(5);  // by Ending
  std::vector<std::string> trace;
};

enum class Tracing { kOff, kOn };

// One run from its plan: the same every time.
Outcome Simulate(const Plan& plan, Tracing tracing = Tracing::kOff);

// The smallest plan found, by taking away commands and faults, that still loses something.
Plan Shrink(Plan plan);

}  // namespace swamp::simulation

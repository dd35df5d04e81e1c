#pragma once

#include <string>
#include <vector>

#include "model/definitions.h"
#include "model/model_types.h"
#include "workflow/workflows.h"

namespace swamp {

// One thing that `workflow validate` looks at, with everything that it has found.
struct WorkflowCheck {
  std::string name;
  std::vector<std::string> problems = {};
  std::vector<std::string> warnings = {};
};

struct WorkflowValidation {
  std::string id;  // empty: the file does not load
  std::string name;
  std::vector<WorkflowCheck> checks;
  bool passed() const;
  std::size_t warnings() const;
};

// What can be said of a workflow by itself, in this order: names of jobs and of steps, what dependsOn refers to, cycles,
// expressions, asserts, placement.
std::vector<WorkflowCheck> CheckStructure(const Workflow& workflow);

// The nodes of a cycle in the order in which they depend on each other, the first one again at the end; for every cycle
// that shares no node with one before. `edges[i]`: what node i depends on.
std::vector<std::vector<std::size_t>> FindCycles(const std::vector<std::vector<std::size_t>>& edges);

// What `workflow validate` looks at: the structure, and what the steps ask of the models and workflows that are here.
// Nothing is run or changed. `definitions` and `workflows` read; a model that is not there is a warning, since a step
// before may make it.
WorkflowValidation ValidateWorkflow(Definitions& definitions, const ModelTypes& types, Workflows& workflows,
                                    const Workflow& workflow);
// The same of a file that does not load.
WorkflowValidation BrokenValidation(const BrokenWorkflow& broken);

}  // namespace swamp

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/catalog.h"
#include "data/version_store.h"
#include "model/run_files.h"
#include "workflow/workflows.h"

namespace swamp {

// A version of data that a run of a workflow wrote, by the run's record.
struct RunDatum {
  DataRecord record;
  std::string job;   // empty: the workflow's own, such as a report
  std::string step;
};

struct RunData {
  std::string workflow_id;
  std::string workflow_name;
  std::string run_id;
  std::string status;
  std::vector<RunDatum> data;  // in the record's order; what has been removed since is left out
};

// The data of a workflow's run: of the latest one that has begun when `run_id` is empty. Reads what is here.
// Throws UserError workflow_not_found, run_not_found.
RunData DataOfRun(const Context& context, Workflows& workflows, const RunFiles& files, const VersionStore& store, Catalog& catalog,
                  const std::string& workflow, const std::string& run_id);

}  // namespace swamp

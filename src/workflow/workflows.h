#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datastore/config_tier.h"
#include "workflow/workflow.h"

namespace swamp {

struct StoredWorkflow {
  Workflow workflow;
  Document document;
};

// A file that is no workflow, and why.
struct BrokenWorkflow {
  std::string path;
  UserError error;
};

// The workflows of a repository, by name or id. Reads the configuration that is here.
class Workflows {
 public:
  Workflows(const Context& context, ConfigTier& config) : context_(context), config_(config) {}

  // By name. A file that does not parse is left out: with a warning, or in `broken` where that is given.
  std::vector<StoredWorkflow> All(std::vector<BrokenWorkflow>* broken = nullptr);
  // By name, else by id. Throws UserError ambiguous_id listing the matches; and, when the only file of that name does
  // not parse, its own error.
  std::optional<StoredWorkflow> Find(const std::string& name_or_id);
  // Throws workflow_not_found with the nearest names.
  StoredWorkflow Require(const std::string& name_or_id);
  // The same for a command that is going to change it: one that a peer has made since the last pull is looked for in the
  // datastore too.
  StoredWorkflow RequireForChange(const std::string& name_or_id);
  // The file called workflow-<name>.yaml or workflow-<id>.yaml, whether or not it parses.
  std::optional<Document> FindFile(const std::string& name_or_id);

 private:
  const Context& context_;
  ConfigTier& config_;
};

// "w1" of "workflows/workflow-w1.yaml".
std::string WorkflowNameOfPath(const std::string& path);

}  // namespace swamp

#pragma once

#include <optional>
#include <string>

#include "model/run_files.h"
#include "workflow/workflows.h"

namespace swamp {

// The use cases that change workflow documents. Each publishes exactly its file; besides what is named here they throw what
// ConfigChange::Publish does.

// Throws validation_failed (the name), workflow_exists.
StoredWorkflow CreateWorkflow(const Context& context, ConfigTier& config, const std::string& name);

// A document that is going to be edited: it may be one that does not load, which is what the edit is for.
struct EditableWorkflow {
  Document document;
  std::optional<Workflow> workflow;
  std::string name() const { return workflow ? workflow->name : WorkflowNameOfPath(document.path); }
};
// Throws workflow_not_found, ambiguous_id. `pull`: look for one that is not here in the datastore too.
EditableWorkflow FindWorkflowToEdit(const Context& context, ConfigTier& config, const std::string& name_or_id, bool pull);

// What an editor's text has to pass before it is saved: it loads, its parts fit together, its id is the same.
// Throws workflow_load_failed, yaml_invalid, validation_failed.
void CheckWorkflowText(const EditableWorkflow& current, const std::string& text);
// Replaces a document. A new name moves it. Throws what CheckWorkflowText does, workflow_exists, config_conflict.
StoredWorkflow UpdateWorkflow(const Context& context, ConfigTier& config, const EditableWorkflow& current,
                              const std::string& text);

struct DeletedWorkflow {
  std::string id;  // empty: the file did not load
  std::string name;
  std::string path;
  int runs_deleted = 0;
};
// Removes the version that this checkout has seen, and the records of its runs and its evaluated copy as far as they are here. With `force` a file that does not load can be removed by its name.
// Throws workflow_not_found, ambiguous_id, config_conflict.
DeletedWorkflow DeleteWorkflow(const Context& context, ConfigTier& config, RunFiles& files, const std::string& name_or_id,
                               bool force);

}  // namespace swamp

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"

namespace swamp {

// When a job or step comes about: all entries of its `dependsOn` have to hold.
struct DependsOn {
  std::string on;  // the job or, in the same job, the step
  Json condition;  // {type: always|succeeded|failed|completed|skipped}, {type: and|or, conditions}, {type: not, condition}
};

struct Step {
  std::string name;  // may hold expressions
  std::optional<std::string> description;
  Json task;
  std::vector<DependsOn> depends_on;
  Json json;  // the whole step as it stands in the document

  std::string task_type() const;
};

struct Job {
  std::string name;
  std::optional<std::string> description;
  std::vector<Step> steps;
  std::vector<DependsOn> depends_on;
  Json json;
};

// What stands in `workflows/workflow-<name>.yaml`: jobs of steps, which depend on each other.
struct Workflow {
  std::string id;  // uuid
  std::string name;
  std::optional<std::string> description;
  std::int64_t version = 1;  // the user's own counter
  Json tags = Json::object();
  std::vector<Job> jobs;
  Json json;  // the whole document

  // Throws UserError workflow_load_failed that lists every problem of the document with its place ("jobs[0].steps[2].task:
  // ..."), or yaml_invalid with line and column.
  static Workflow Parse(std::string_view yaml, const std::string& what);
};

// Every fault of a document by the rules of loading; empty for a good one. Names that are twice there, references and
// cycles are looked at by CheckStructure (validation.h).
std::vector<std::string> WorkflowProblems(const Json& json);

// Names that new workflows may have: [a-z0-9][a-z0-9-]*, or scoped "@a/b[/c...]"; at most 64 bytes.
// Throws UserError validation_failed.
void CheckNewWorkflowName(const std::string& name);

// "workflows/workflow-<name>.yaml", or "workflow-<id>.yaml" for names that are no file names.
std::string WorkflowPath(const Workflow& workflow);

// The document of a new workflow: a job with one step as an example.
std::string NewWorkflowText(const std::string& id, const std::string& name);

}  // namespace swamp

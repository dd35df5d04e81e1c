#include "workflow/edit_workflows.h"

#include <fmt/format.h>

#include "datastore/edit_document.h"
#include "util/random.h"
#include "util/text.h"
#include "util/yaml.h"
#include "workflow/validation.h"

namespace swamp {
namespace {

UserError WorkflowExists(const std::string& name, const std::string& where) {
  return {"workflow_exists", fmt::format("Workflow already exists: {}", name),
          fmt::format("It is {}. Choose another name, or change it with `swamp workflow edit {}`.", where, name)};
}

void RequireFreeName(const Context& context, ConfigTier& config, const std::string& name) {
  std::vector<BrokenWorkflow> broken;
  for (const StoredWorkflow& one : Workflows(context, config).All(&broken)) {
    if (one.workflow.name == name) throw WorkflowExists(name, one.document.path);
  }
}

// The id that a document has, also where it does not load.
std::string IdOf(const EditableWorkflow& current) {
  if (current.workflow) return current.workflow->id;
  try {
    const auto id = StringMember(ParseYaml(current.document.bytes, current.document.path), "id");
    return id && IsUuid(*id) ? AsciiLower(*id) : std::string();
  } catch (const UserError&) {
    return {};
  }
}

// The new text as a workflow that may take the current one's place.
Workflow ParseReplacement(const EditableWorkflow& current, std::string& text) {
  const std::string what = "the new text of " + current.document.path;
  const Json json = ParseYaml(text, what);
  if (!json.is_object()) throw UserError("workflow_load_failed", what + " is not a map of keys to values");
  const std::string id = IdOf(current);
  // A document without them keeps what identifies the workflow.
  if (!id.empty()) text = WithKeysKept(std::move(text), json, {{"id", id}});
  text = WithKeysKept(std::move(text), json, {{"name", current.name()}});
  Workflow next = Workflow::Parse(text, what);
  if (!id.empty() && next.id != id) {
    throw UserError("validation_failed",
                    fmt::format("the id of {} cannot change (it is {}, the new text has {})", current.name(), id, next.id),
                    "To make another workflow: swamp workflow create.");
  }
  if (next.name != current.name()) CheckNewWorkflowName(next.name);
  std::vector<std::string> problems;
  for (const WorkflowCheck& check : CheckStructure(next)) {
    problems.insert(problems.end(), check.problems.begin(), check.problems.end());
  }
  if (!problems.empty()) {
    throw UserError("validation_failed", fmt::format("{} would not be valid: {}", next.name, Join(problems, "; ")));
  }
  return next;
}

// How many: a run is a record and its log.
int DeleteRuns(RunFiles& files, const std::string& id) {
  int deleted = 0;
  for (const std::string& path : files.List("workflow-runs")) {
    if (!path.starts_with("workflow-runs/" + id + "/")) continue;
    if (files.Remove(path) && path.ends_with(".yaml")) ++deleted;
  }
  return deleted;
}

}  // namespace

StoredWorkflow CreateWorkflow(const Context& context, ConfigTier& config, const std::string& name) {
  CheckNewWorkflowName(name);
  const std::string text = NewWorkflowText(context.random().Uuid(), name);
  Workflow workflow = Workflow::Parse(text, name);
  const std::string path = WorkflowPath(workflow);

  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  RequireFreeName(context, config, name);
  try {
    change->Create(path, text);
    change->Publish();
  } catch (const DocumentExists& exists) {
    throw WorkflowExists(name, exists.peer().empty() ? path : path + ", created by " + exists.peer());
  }
  return {std::move(workflow), {path, text, {}}};
}

EditableWorkflow FindWorkflowToEdit(const Context& context, ConfigTier& config, const std::string& name_or_id, bool pull) {
  Workflows workflows(context, config);
  try {
    StoredWorkflow stored = pull ? workflows.RequireForChange(name_or_id) : workflows.Require(name_or_id);
    return {std::move(stored.document), std::move(stored.workflow)};
  } catch (const IoError&) {
    throw;
  } catch (const UserError& error) {
    if (error.code() == "ambiguous_id") throw;
    if (auto file = workflows.FindFile(name_or_id)) return {std::move(*file), std::nullopt};
    throw;
  }
}

void CheckWorkflowText(const EditableWorkflow& current, const std::string& text) {
  std::string copy = text;
  ParseReplacement(current, copy);
}

StoredWorkflow UpdateWorkflow(const Context& context, ConfigTier& config, const EditableWorkflow& current,
                              const std::string& new_text) {
  std::string text = new_text;
  Workflow next = ParseReplacement(current, text);
  // Also a workflow that another program has stored under its id moves to where its name is the file's.
  const std::string path = WorkflowPath(next);
  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  if (next.name != current.name()) RequireFreeName(context, config, next.name);
  try {
    ReplaceOrMove(context, config, *change, current.document, path, text);
    change->Publish();
  } catch (const DocumentExists&) {
    throw WorkflowExists(next.name, path);
  }
  return {std::move(next), {path, text, {}}};
}

DeletedWorkflow DeleteWorkflow(const Context& context, ConfigTier& config, RunFiles& files, const std::string& name_or_id,
                               bool force) {
  Workflows workflows(context, config);
  DeletedWorkflow deleted;
  Document document;
  try {
    StoredWorkflow stored = workflows.RequireForChange(name_or_id);
    deleted = {stored.workflow.id, stored.workflow.name, stored.document.path};
    document = std::move(stored.document);
  } catch (const UserError& error) {
    const bool may_be_broken = force && error.code() != "workflow_not_found" && error.code() != "ambiguous_id";
    auto file = may_be_broken ? workflows.FindFile(name_or_id) : std::nullopt;
    if (!file) throw;
    deleted = {"", name_or_id, file->path};
    document = std::move(*file);
  }
  const std::unique_ptr<ConfigChange> change = config.Begin(context);
  change->Remove(document.path, document.version);
  // Before the publish, which then brings all of it to everybody.
  if (!deleted.id.empty()) deleted.runs_deleted = DeleteRuns(files, deleted.id);
  files.Remove("workflows-evaluated/" + document.path.substr(document.path.rfind('/') + 1));
  change->Publish();
  return deleted;
}

}  // namespace swamp

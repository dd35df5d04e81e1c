// swamp workflow create, get, search, edit, delete, validate; swamp workflow schema get.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/editor.h"
#include "cli/render/table.h"
#include "cli/render/workflow_graph.h"
#include "util/text.h"
#include "workflow/edit_workflows.h"
#include "workflow/schema.h"
#include "workflow/validation.h"

namespace swamp {
namespace {

void AddDescription(Json& json, const std::optional<std::string>& description) {
  if (description) json["description"] = *description;
}

Rendered RenderCreated(Session& session, const StoredWorkflow& created) {
  const Workflow& workflow = created.workflow;
  const std::string path = session.config().Locate(created.document.path).string();
  Json jobs = Json::array();
  for (const Job& job : workflow.jobs) {
    Json steps = Json::array();
    for (const Step& step : job.steps) {
      Json one = {{"name", step.name}};
      AddDescription(one, step.description);
      one["taskType"] = step.task_type();
      steps.push_back(std::move(one));
    }
    Json one = {{"name", job.name}};
    AddDescription(one, job.description);
    one["steps"] = std::move(steps);
    jobs.push_back(std::move(one));
  }
  return {{{"id", workflow.id}, {"name", workflow.name}, {"path", path}, {"jobs", std::move(jobs)}},
          fmt::format("Created the workflow {}\n{}\nNext: swamp workflow edit {}\n", workflow.name, path, workflow.name)};
}

Json DependenciesJson(const std::vector<DependsOn>& dependencies, const char* kind) {
  Json list = Json::array();
  for (const DependsOn& one : dependencies) list.push_back({{kind, one.on}, {"condition", one.condition}});
  return list;
}

Json DescribeWorkflow(const Workflow& workflow, const std::string& path) {
  Json json = {{"id", workflow.id}, {"name", workflow.name}};
  AddDescription(json, workflow.description);
  json["version"] = workflow.version;
  const auto copy = [&](const char* key) {
    if (workflow.json.contains(key) && !workflow.json[key].is_null()) json[key] = workflow.json[key];
  };
  copy("inputs");
  copy("trigger");
  json["tags"] = workflow.tags;
  copy("reports");
  Json jobs = Json::array();
  for (const Job& job : workflow.jobs) {
    Json steps = Json::array();
    for (const Step& step : job.steps) {
      Json one = {{"name", step.name}};
      AddDescription(one, step.description);
      one["dependsOn"] = DependenciesJson(step.depends_on, "step");
      one["task"] = step.task;
      steps.push_back(std::move(one));
    }
    Json one = {{"name", job.name}};
    AddDescription(one, job.description);
    one["dependsOn"] = DependenciesJson(job.depends_on, "job");
    one["steps"] = std::move(steps);
    jobs.push_back(std::move(one));
  }
  json["jobs"] = std::move(jobs);
  json["path"] = path;
  return json;
}

std::string After(const std::vector<DependsOn>& dependencies) {
  if (dependencies.empty()) return {};
  std::vector<std::string> names;
  for (const DependsOn& one : dependencies) names.push_back(Printable(one.on, 80));
  return "  after " + Join(names, ", ");
}

std::string WorkflowText(const Workflow& workflow, const std::string& path) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"Name", workflow.name}, {"Id", workflow.id}, {"Version", std::to_string(workflow.version)}, {"Path", path}};
  if (workflow.description) lines.insert(lines.begin() + 1, {"Description", Printable(*workflow.description)});
  if (!workflow.tags.empty()) lines.emplace_back("Tags", CompactJson(workflow.tags));
  std::string text = LabelledLines(lines);
  for (const Job& job : workflow.jobs) {
    text += fmt::format("\n{}{}\n", Printable(job.name, 80), After(job.depends_on));
    for (const Step& step : job.steps) {
      text += fmt::format("  {} ({}){}\n", Printable(step.name, 80), step.task_type(), After(step.depends_on));
    }
  }
  return text;
}

std::string ErrorOf(const WorkflowCheck& check) { return Join(check.problems, "; "); }

Json ValidationJson(const WorkflowValidation& one) {
  Json checks = Json::array();
  for (const WorkflowCheck& check : one.checks) {
    Json json = {{"name", check.name}, {"passed", check.problems.empty()}};
    if (!check.warnings.empty()) json["warning"] = Join(check.warnings, "; ");
    if (!check.problems.empty()) json["error"] = ErrorOf(check);
    checks.push_back(std::move(json));
  }
  return {{"workflowId", one.id},
          {"workflowName", one.name},
          {"validations", std::move(checks)},
          {"totalWarnings", one.warnings()},
          {"passed", one.passed()}};
}

std::string ValidationText(const WorkflowValidation& one) {
  std::string text = one.name + "\n";
  for (const WorkflowCheck& check : one.checks) {
    text += fmt::format("  {} {}\n", check.problems.empty() ? "ok    " : "FAILED", check.name);
    for (const std::string& problem : check.problems) text += fmt::format("           {}\n", problem);
    for (const std::string& warning : check.warnings) text += fmt::format("    note   {}\n", warning);
  }
  return text;
}

Rendered RenderValidations(const std::vector<WorkflowValidation>& validations, bool single) {
  if (single) return {ValidationJson(validations.front()), ValidationText(validations.front())};
  Json workflows = Json::array();
  std::string text;
  std::size_t passed = 0;
  std::size_t warnings = 0;
  for (const WorkflowValidation& one : validations) {
    workflows.push_back(ValidationJson(one));
    text += ValidationText(one);
    passed += one.passed() ? 1 : 0;
    warnings += one.warnings();
  }
  const std::size_t failed = validations.size() - passed;
  text += fmt::format("{} passed, {} failed\n", passed, failed);
  return {{{"workflows", std::move(workflows)},
           {"totalPassed", passed},
           {"totalFailed", failed},
           {"totalWarnings", warnings},
           {"passed", failed == 0}},
          text};
}

void AddCreate(CLI::App& group, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "create", "Create a workflow");
  command->add_option("name", *name, "Name, unique in the repository")->required();
  command->callback([&session, name] {
    session.Print(RenderCreated(session, CreateWorkflow(session.context(), session.config(), *name)));
  });
}

void AddGet(CLI::App& group, Session& session) {
  struct Options {
    std::string workflow;
    bool graph = false;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "get", "Show a workflow");
  command->add_option("workflow_id_or_name", options->workflow, "Name or id")->required();
  command->add_flag("--graph", options->graph, "Draw the jobs and what they wait for; --json is the same with and without");
  command->add_flag("--refresh", options->refresh, "Bring the configuration up to date first");
  command->callback([&session, options] {
    if (options->refresh) session.config().Refresh(session.context());
    const StoredWorkflow stored = Workflows(session.context(), session.config()).Require(options->workflow);
    const std::string path = session.config().Locate(stored.document.path).string();
    session.Print({DescribeWorkflow(stored.workflow, path),
                   options->graph ? DrawWorkflow(stored.workflow) : WorkflowText(stored.workflow, path)});
  });
}

void AddSearch(CLI::App& group, Session& session, const char* name, bool hidden) {
  struct Options {
    std::string query;
    bool refresh = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, name, "Find workflows by name, id or description");
  if (hidden) command->group("");
  command->add_option("query", options->query, "Part of a name, an id or a description");
  command->add_flag("--refresh", options->refresh, "Bring the configuration up to date first");
  command->callback([&session, options] {
    if (options->refresh) session.config().Refresh(session.context());
    Json results = Json::array();
    Table table({"NAME", "JOBS", "ID", "DESCRIPTION"});
    for (const StoredWorkflow& stored : Workflows(session.context(), session.config()).All()) {
      const Workflow& one = stored.workflow;
      const bool matches = ContainsIgnoringCase(one.name, options->query) || ContainsIgnoringCase(one.id, options->query) ||
                           ContainsIgnoringCase(one.description.value_or(""), options->query);
      if (!matches) continue;
      Json json = {{"id", one.id}, {"name", one.name}};
      AddDescription(json, one.description);
      json["jobCount"] = one.jobs.size();
      json["hasInputs"] = one.json.contains("inputs") && one.json["inputs"].is_object() && !one.json["inputs"].empty();
      if (one.json.contains("trigger") && one.json["trigger"].is_object()) json["trigger"] = one.json["trigger"];
      results.push_back(std::move(json));
      table.Add({one.name, std::to_string(one.jobs.size()), one.id, Printable(one.description.value_or(""), 60)});
    }
    const bool none = results.empty();
    session.Print({{{"query", options->query}, {"results", std::move(results)}},
                   none ? std::string(options->query.empty() ? "There are no workflows yet.\n" : "No workflow matches.\n")
                        : table.Render()});
  });
}

void RunEdit(Session& session, const std::string& name, const std::string& file) {
  const Context& context = session.context();
  ConfigTier& config = session.config();
  EditableWorkflow current = FindWorkflowToEdit(context, config, name, true);
  const auto reload = [&]() -> const Document& {
    config.Refresh(context);
    current = FindWorkflowToEdit(context, config, name, false);
    return current.document;
  };
  const auto [text, editor] = ReadNewText(session, file, "Pipe the new workflow in, or name it with --file.", reload,
                                          [&](const std::string& t) { CheckWorkflowText(current, t); });
  std::string path = current.document.path;
  std::string new_name = current.name();
  std::string id = current.workflow ? current.workflow->id : std::string();
  if (text) {
    const StoredWorkflow updated = UpdateWorkflow(context, config, current, *text);
    path = updated.document.path;
    new_name = updated.workflow.name;
    id = updated.workflow.id;
  }
  Json json = {{"path", config.Locate(path).string()}};
  if (!editor.empty()) json["editor"] = editor;
  json["status"] = editor.empty() ? "updated" : "opened";
  json["name"] = new_name;
  json["id"] = id;
  session.Print({json, text ? fmt::format("Updated {}\n", new_name) : fmt::format("{} is unchanged\n", new_name)});
}

void AddEdit(CLI::App& group, Session& session) {
  struct Options {
    std::string workflow;
    std::string file;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "edit", "Change a workflow in an editor or from standard input");
  command->add_option("workflow_id_or_name", options->workflow, "Name or id")->required();
  command->add_option("--file", options->file, "Take the new workflow from this file")->type_name("<file>");
  command->callback([&session, options] { RunEdit(session, options->workflow, options->file); });
}

void AddDelete(CLI::App& group, Session& session) {
  struct Options {
    std::string workflow;
    Confirmation confirmation;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "delete", "Delete a workflow");
  command->add_option("workflow_id_or_name", options->workflow, "Name or id")->required();
  AddConfirmation(*command, options->confirmation);
  command->callback([&session, options] {
    if (!session.Confirm(fmt::format("Delete the workflow {}?", Printable(options->workflow, 80)),
                         options->confirmation.given())) {
      session.Print({{{"cancelled", true}}, "Nothing was deleted.\n"});
      return;
    }
    RunFiles files(session.context(), session.repo(), session.datastore());
    const DeletedWorkflow deleted =
        DeleteWorkflow(session.context(), session.config(), files, options->workflow, options->confirmation.force);
    session.Print({{{"deleted",
                     {{"id", deleted.id},
                      {"name", deleted.name},
                      {"workflowPath", session.config().Locate(deleted.path).string()}}},
                    {"runsDeleted", deleted.runs_deleted}},
                   fmt::format("Deleted the workflow {}\n", deleted.name)});
  });
}

void AddValidate(CLI::App& group, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(group, session, "validate", "Check one workflow, or all");
  command->add_option("workflow_id_or_name", *name, "Name or id; all when left out");
  command->callback([&session, name] {
    Definitions definitions(session.context(), session.config(), &session.datastore());
    Workflows workflows(session.context(), session.config());
    std::vector<BrokenWorkflow> broken;
    std::vector<StoredWorkflow> chosen;
    if (name->empty()) {
      chosen = workflows.All(&broken);
      if (chosen.empty() && broken.empty()) throw UserError("validation_failed", "there are no workflows to validate");
    } else {
      chosen.push_back(workflows.Require(*name));
    }
    std::vector<WorkflowValidation> validations;
    for (const StoredWorkflow& one : chosen) {
      validations.push_back(ValidateWorkflow(definitions, session.model_types(), workflows, one.workflow));
    }
    for (const BrokenWorkflow& one : broken) validations.push_back(BrokenValidation(one));
    session.Print(RenderValidations(validations, !name->empty()));
    for (const WorkflowValidation& one : validations) {
      if (!one.passed()) throw ExitQuietly{1};
    }
  });
}

}  // namespace

void AddWorkflowCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "workflow", "Workflows: jobs of steps that depend on each other");
  AddCreate(*group, session);
  AddGet(*group, session);
  AddSearch(*group, session, "search", false);
  AddSearch(*group, session, "list", true);
  AddEdit(*group, session);
  AddDelete(*group, session);
  AddValidate(*group, session);
  CLI::App* schema = AddGroup(*group, "schema", "The form of workflow documents");
  CLI::App* get = schema->add_subcommand("get", "Print JSON Schemas of a workflow and its parts");
  get->callback([&session] {
    const Json schemas = WorkflowSchemas();
    session.Print({schemas, PrettyJson(schemas)});
  });
}

}  // namespace swamp

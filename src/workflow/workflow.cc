#include "workflow/workflow.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/definition.h"
#include "util/error.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::size_t kMaxNameLength = 64;

bool IsFileName(std::string_view name) {
  const auto lower_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kMaxNameLength && lower_alnum(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return lower_alnum(c) || c == '-'; });
}

// The readers below see documents that WorkflowProblems has found good.

std::vector<DependsOn> DependenciesOf(const Json& node, const char* key) {
  std::vector<DependsOn> dependencies;
  const auto list = node.find("dependsOn");
  if (list == node.end() || !list->is_array()) return dependencies;
  for (const Json& one : *list) dependencies.push_back({one[key].get<std::string>(), one["condition"]});
  return dependencies;
}

Step StepOf(const Json& json) {
  return {.name = json["name"].get<std::string>(),
          .description = StringMember(json, "description"),
          .task = json["task"],
          .depends_on = DependenciesOf(json, "step"),
          .json = json};
}

Job JobOf(const Json& json) {
  Job job{.name = json["name"].get<std::string>(),
          .description = StringMember(json, "description"),
          .steps = {},
          .depends_on = DependenciesOf(json, "job"),
          .json = json};
  for (const Json& step : json["steps"]) job.steps.push_back(StepOf(step));
  return job;
}

}  // namespace

std::string Step::task_type() const { return StringMember(task, "type").value_or(""); }

Workflow Workflow::Parse(std::string_view yaml, const std::string& what) {
  Json json = ParseYaml(yaml, what);
  const std::vector<std::string> problems = WorkflowProblems(json);
  if (!problems.empty()) {
    throw UserError("workflow_load_failed", fmt::format("{} is not a valid workflow: {}", what, Join(problems, "; ")));
  }
  Workflow workflow;
  workflow.id = AsciiLower(json["id"].get<std::string>());
  workflow.name = json["name"].get<std::string>();
  workflow.description = StringMember(json, "description");
  workflow.version = IntegerMember(json, "version").value_or(1);
  if (json.contains("tags") && json["tags"].is_object()) workflow.tags = json["tags"];
  for (const Json& job : json["jobs"]) workflow.jobs.push_back(JobOf(job));
  workflow.json = std::move(json);
  return workflow;
}

void CheckNewWorkflowName(const std::string& name) {
  if (IsFileName(name) || IsScopedName(name)) return;
  throw UserError("validation_failed", fmt::format("\"{}\" cannot be a workflow's name", Printable(name, 100)),
                  "Use a-z, 0-9 and -, beginning with a letter or a digit (or the scoped form @team/name), at most 64 "
                  "characters.");
}

std::string WorkflowPath(const Workflow& workflow) {
  return fmt::format("workflows/workflow-{}.yaml", IsFileName(workflow.name) ? workflow.name : workflow.id);
}

std::string NewWorkflowText(const std::string& id, const std::string& name) {
  const Json step = {{"name", "example"},
                     {"description", "Runs a method of a model: put yours here"},
                     {"task", {{"type", "model_method"}, {"modelIdOrName", "example-model"}, {"methodName", "run"}}},
                     {"dependsOn", Json::array()},
                     {"weight", 0},
                     {"allowFailure", false}};
  const Json job = {{"name", "main"},
                    {"description", "Steps that run one after another or at once, by what they depend on"},
                    {"steps", Json::array({step})},
                    {"dependsOn", Json::array()},
                    {"weight", 0}};
  return EmitYaml({{"id", id}, {"name", name}, {"tags", Json::object()}, {"jobs", Json::array({job})}, {"version", 1}});
}

}  // namespace swamp

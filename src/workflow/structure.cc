// What can be said of a workflow without the rest of the repository.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/expressions.h"
#include "util/text.h"
#include "workflow/validation.h"

namespace swamp {
namespace {

std::string Quoted(const std::string& name) { return fmt::format("\"{}\"", Printable(name, 80)); }

std::string StepPlace(const Job& job, const Step& step) {
  return fmt::format("job {}, step {}", Quoted(job.name), Quoted(step.name));
}

template <typename Node>
std::vector<std::string> NamesOf(const std::vector<Node>& nodes) {
  std::vector<std::string> names;
  for (const Node& node : nodes) names.push_back(node.name);
  return names;
}

template <typename Node>
void FindTwins(const std::vector<Node>& nodes, const std::string& what, std::vector<std::string>& problems) {
  std::map<std::string, int> counts;
  for (const Node& node : nodes) ++counts[node.name];
  for (const auto& [name, count] : counts) {
    if (count > 1) problems.push_back(fmt::format("{} {} is there {} times", what, Quoted(name), count));
  }
}

// `owner`: "job" or "job \"main\", step".
template <typename Node>
void CheckReferences(const std::vector<Node>& nodes, const std::string& owner, const std::string& kind, const std::string& within,
                     std::vector<std::string>& problems) {
  const std::vector<std::string> names = NamesOf(nodes);
  for (const Node& node : nodes) {
    for (const DependsOn& dependency : node.depends_on) {
      if (std::find(names.begin(), names.end(), dependency.on) != names.end()) continue;
      const auto near = NearestWords(dependency.on, names);
      problems.push_back(fmt::format("{} {} depends on {}, which is no {} of {}{}", owner, Quoted(node.name), Quoted(dependency.on),
                                     kind, within, near.empty() ? "" : fmt::format(" (did you mean {}?)", near.front())));
    }
  }
}

template <typename Node>
void CheckCycles(const std::vector<Node>& nodes, const std::string& what, std::vector<std::string>& problems) {
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < nodes.size(); ++i) numbers.emplace(nodes[i].name, i);
  std::vector<std::vector<std::size_t>> edges(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const DependsOn& dependency : nodes[i].depends_on) {
      const auto found = numbers.find(dependency.on);
      if (found != numbers.end()) edges[i].push_back(found->second);
    }
  }
  for (const std::vector<std::size_t>& cycle : FindCycles(edges)) {
    std::vector<std::string> names;
    for (const std::size_t node : cycle) names.push_back(Printable(nodes[node].name, 80));
    problems.push_back(fmt::format("{} depend on each other in a circle: {}", what, Join(names, " -> ")));
  }
}

// ---- expressions ----

void CheckSyntax(const std::string& place, const std::string& code, std::vector<std::string>& problems) {
  try {
    const ExpressionUse use = FindUse(code);
    for (const std::string& function : use.unknown_functions) {
      problems.push_back(fmt::format("{}: there is no function {}", place, Printable(function, 60)));
    }
  } catch (const UserError& error) {
    problems.push_back(fmt::format("{}: {}", place, error.message()));
  }
}

void CheckSyntaxBelow(const Json& value, const std::string& place, std::vector<std::string>& problems) {
  ForEachExpressionText(value, place, [&](const std::string& where, const std::string& text) {
    for (const EmbeddedExpression& expression : FindExpressions(text)) CheckSyntax(where, expression.code, problems);
  });
}

// Without what may be prose that only looks like an expression: a task's inputs, and messages.
WorkflowCheck CheckExpressions(const Workflow& workflow) {
  WorkflowCheck check{.name = "Expressions"};
  for (const auto& [key, value] : workflow.json.items()) {
    if (key != "jobs" && key != "trigger" && key != "inputs") CheckSyntaxBelow(value, key, check.problems);
  }
  for (const Job& job : workflow.jobs) {
    for (const auto& [key, value] : job.json.items()) {
      if (key != "steps") CheckSyntaxBelow(value, fmt::format("job {}, {}", Quoted(job.name), key), check.problems);
    }
    for (const Step& step : job.steps) {
      const std::string place = StepPlace(job, step);
      for (const auto& [key, value] : step.json.items()) {
        if (key != "task") CheckSyntaxBelow(value, place + ", " + key, check.problems);
      }
      for (const auto& [key, value] : step.task.items()) {
        if (key != "inputs" && key != "message" && key != "expr") {
          CheckSyntaxBelow(value, place + ", task." + key, check.problems);
        }
      }
    }
  }
  return check;
}

WorkflowCheck CheckAsserts(const Workflow& workflow) {
  WorkflowCheck check{.name = "Assert expressions"};
  for (const Job& job : workflow.jobs) {
    for (const Step& step : job.steps) {
      if (step.task_type() != "assert") continue;
      const std::string expression = StringMember(step.task, "expr").value_or("");
      const std::string place = StepPlace(job, step) + ", task.expr";
      if (!FindExpressions(expression).empty()) {
        check.problems.push_back(place + " is an expression as it is: write it without ${{ }}");
      } else {
        CheckSyntax(place, expression, check.problems);
      }
    }
  }
  return check;
}

// ---- placement ----

// Where a step runs, with what its job and the workflow say for it.
struct Placement {
  bool target = false;
  bool platform = false;
  bool labels = false;

  Placement Within(const Json& node) const {
    Placement merged = *this;
    if (node.contains("target") && !node["target"].is_null()) merged.target = true;
    if (node.contains("platform") && !node["platform"].is_null()) merged.platform = true;
    if (node.contains("labels") && node["labels"].is_object()) merged.labels = !node["labels"].empty();
    return merged;
  }
  bool anywhere() const { return !target && !platform && !labels; }
};

bool IsTrue(const Json& node, const char* key) { return node.value(key, Json()) == Json(true); }

void CheckUse(const Json& node, const std::string& place, bool placed, std::vector<std::string>& warnings) {
  if (placed) return;
  if (node.contains("queueTimeout") && !node["queueTimeout"].is_null()) {
    warnings.push_back(fmt::format("{}: queueTimeout does nothing without a target, labels or a platform", place));
  }
  if (IsTrue(node, "affinity")) {
    warnings.push_back(fmt::format("{}: affinity does nothing without a target, labels or a platform", place));
  }
}

WorkflowCheck CheckPlacement(const Workflow& workflow) {
  WorkflowCheck check{.name = "Placement"};
  const Placement of_workflow = Placement().Within(workflow.json);
  bool any = false;
  for (const Job& job : workflow.jobs) {
    const Placement of_job = of_workflow.Within(job.json);
    bool any_in_job = false;
    for (const Step& step : job.steps) {
      const bool placed = !of_job.Within(step.json).anywhere();
      any_in_job |= placed;
      CheckUse(step.json, StepPlace(job, step), placed, check.warnings);
    }
    CheckUse(job.json, "job " + Quoted(job.name), any_in_job, check.warnings);
    any |= any_in_job;
  }
  CheckUse(workflow.json, "the workflow", any, check.warnings);
  return check;
}

}  // namespace

std::vector<std::vector<std::size_t>> FindCycles(const std::vector<std::vector<std::size_t>>& edges) {
  const std::size_t count = edges.size();
  std::vector<std::vector<std::size_t>> cycles;
  std::vector<char> state(count, 0);  // 1: on the path that is walked; 2: done with
  std::vector<std::size_t> next(count, 0);
  std::vector<std::size_t> path;
  for (std::size_t start = 0; start < count; ++start) {
    if (state[start] != 0) continue;
    path = {start};
    state[start] = 1;
    while (!path.empty()) {
      const std::size_t node = path.back();
      if (next[node] == edges[node].size()) {
        state[node] = 2;
        path.pop_back();
        continue;
      }
      const std::size_t other = edges[node][next[node]++];
      if (state[other] == 0) {
        state[other] = 1;
        path.push_back(other);
      } else if (state[other] == 1) {
        // The nodes of the circle are done with: each is told once.
        std::vector<std::size_t> cycle(std::find(path.begin(), path.end(), other), path.end());
        for (const std::size_t member : cycle) state[member] = 2;
        path.resize(path.size() - cycle.size());
        cycle.push_back(other);
        cycles.push_back(std::move(cycle));
      }
    }
  }
  return cycles;
}

std::vector<WorkflowCheck> CheckStructure(const Workflow& workflow) {
  WorkflowCheck jobs{.name = "Unique job names"};
  WorkflowCheck steps{.name = "Unique step names"};
  WorkflowCheck references{.name = "Dependency references"};
  WorkflowCheck cycles{.name = "Dependency cycles"};
  FindTwins(workflow.jobs, "job", jobs.problems);
  CheckReferences(workflow.jobs, "job", "job", "this workflow", references.problems);
  CheckCycles(workflow.jobs, "jobs", cycles.problems);
  for (const Job& job : workflow.jobs) {
    const std::string owner = fmt::format("job {}, step", Quoted(job.name));
    FindTwins(job.steps, owner, steps.problems);
    CheckReferences(job.steps, owner, "step", "the same job", references.problems);
    CheckCycles(job.steps, fmt::format("steps of job {}", Quoted(job.name)), cycles.problems);
  }
  return {jobs, steps, references, cycles, CheckExpressions(workflow), CheckAsserts(workflow), CheckPlacement(workflow)};
}

}  // namespace swamp

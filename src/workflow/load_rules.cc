// The rules of loading a workflow document: which keys there are, and what they may hold.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/metadata.h"
#include "model/definition.h"
#include "model/expressions_scan.h"
#include "model/inputs.h"
#include "util/text.h"
#include "workflow/workflow.h"

namespace swamp {
namespace {

constexpr int kDeepestCondition = 32;

bool IsAbsent(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null();
}

// One map of the document: its place, and how problems with its keys are told.
class Node {
 public:
  Node(const Json& json, std::string place, std::vector<std::string>& problems)
      : json_(json), place_(std::move(place)), problems_(problems) {}

  const Json& json() const { return json_; }
  const std::string& place() const { return place_; }
  std::vector<std::string>& problems() const { return problems_; }
  std::string PlaceOf(std::string_view key) const {
    return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
  }
  void Add(std::string_view key, std::string_view problem) const {
    problems_.push_back(fmt::format("{} {}", PlaceOf(key), problem));
  }

  // Nothing when it is absent, or wrong and told.
  std::optional<std::string> Text(const char* key, bool required = false) const {
    if (IsAbsent(json_, key)) {
      if (required) Add(key, "is required");
      return std::nullopt;
    }
    if (!json_[key].is_string()) {
      Add(key, "has to be a string");
      return std::nullopt;
    }
    std::string text = json_[key].get<std::string>();
    if (required && Trim(text).empty()) {
      Add(key, "is empty");
      return std::nullopt;
    }
    return text;
  }
  void Flag(const char* key) const {
    if (!IsAbsent(json_, key) && !json_[key].is_boolean()) Add(key, "has to be true or false");
  }
  void Number(const char* key, double smallest, bool above = false) const {
    if (IsAbsent(json_, key)) return;
    if (!json_[key].is_number() || !std::isfinite(json_[key].get<double>())) return Add(key, "has to be a number");
    const double value = json_[key].get<double>();
    if (value < smallest || (above && value == smallest)) {
      Add(key, fmt::format("has to be {} {}", above ? "above" : "at least", smallest));
    }
  }
  void WholeNumber(const char* key, std::int64_t smallest) const {
    if (IsAbsent(json_, key)) return;
    const auto value = IntegerMember(json_, key);
    if (!value || *value < smallest) Add(key, fmt::format("has to be a whole number of at least {}", smallest));
  }
  const Json* Map(const char* key) const {
    if (IsAbsent(json_, key)) return nullptr;
    if (json_[key].is_object()) return &json_[key];
    Add(key, "has to be a map");
    return nullptr;
  }
  void MapOfTexts(const char* key) const {
    const Json* map = Map(key);
    if (map == nullptr) return;
    for (const auto& [name, value] : map->items()) {
      if (!value.is_string()) Add(key, fmt::format("has to have a string as {}", Printable(name, 60)));
    }
  }
  const Json* List(const char* key) const {
    if (IsAbsent(json_, key)) return nullptr;
    if (json_[key].is_array()) return &json_[key];
    Add(key, "has to be a list");
    return nullptr;
  }
  void ListOfTexts(const char* key) const {
    const Json* list = List(key);
    if (list == nullptr) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (!(*list)[i].is_string()) Add(fmt::format("{}[{}]", key, i), "has to be a string");
    }
  }
  // A map, or one expression that gives one.
  void MapOrExpression(const char* key) const {
    if (IsAbsent(json_, key) || json_[key].is_object()) return;
    if (json_[key].is_string() && IsWholeExpression(json_[key].get_ref<const std::string&>())) return;
    Add(key, "has to be a map, or one ${{ }} expression that gives one");
  }
  // A text that is one expression.
  void Expression(const char* key, bool required = false) const {
    const auto text = Text(key, required);
    if (text && !IsWholeExpression(*text)) Add(key, "has to be one ${{ }} expression");
  }

  // `what`: "workflow", "job", "step".
  void KnownKeys(const std::string& what, const std::vector<std::string>& known) const {
    for (const auto& [key, value] : json_.items()) {
      if (key == "driver" || key == "driverConfig") {
        Add(key, "is no longer supported; where a step runs is said by its target, labels or platform");
      } else if (std::find(known.begin(), known.end(), key) == known.end()) {
        const auto near = NearestWords(key, known);
        problems_.push_back(fmt::format("{}{} is no key of a {}{}; its keys are {}", place_.empty() ? "" : place_ + ".",
                                        Printable(key, 60), what,
                                        near.empty() ? std::string() : fmt::format(" (did you mean {}?)", near.front()),
                                        Join(known, ", ")));
      }
    }
  }

  void Placement() const {
    Text("target");
    MapOfTexts("labels");
    Text("platform");
    Number("queueTimeout", 0);
  }

 private:
  const Json& json_;
  std::string place_;
  std::vector<std::string>& problems_;
};

// ---- conditions ----

void CheckCondition(const Json& condition, const std::string& place, int depth, std::vector<std::string>& problems) {
  static const std::vector<std::string> kLeaves = {"always", "succeeded", "failed", "completed", "skipped"};
  static const std::vector<std::string> kAll = {"always", "succeeded", "failed", "completed",
                                                "skipped", "and", "or", "not"};
  const auto type = condition.is_string() ? std::optional(condition.get<std::string>()) : StringMember(condition, "type");
  if (!type) {
    problems.push_back(fmt::format("{} has to be a condition, such as {{type: succeeded}}", place));
    return;
  }
  if (std::find(kLeaves.begin(), kLeaves.end(), *type) != kLeaves.end()) return;
  if (condition.is_string() || std::find(kAll.begin(), kAll.end(), *type) == kAll.end()) {
    const auto near = NearestWords(*type, kAll);
    problems.push_back(fmt::format("{}: \"{}\" is no condition{}; there are {}", place, Printable(*type, 40),
                                   near.empty() ? std::string() : fmt::format(" (did you mean {}?)", near.front()),
                                   Join(kAll, ", ")));
    return;
  }
  if (depth == kDeepestCondition) {
    problems.push_back(place + " is nested too deep");
    return;
  }
  if (*type == "not") {
    if (IsAbsent(condition, "condition")) {
      problems.push_back(place + " needs a condition that it turns around");
    } else {
      CheckCondition(condition["condition"], place + ".condition", depth + 1, problems);
    }
    return;
  }
  const auto list = condition.find("conditions");
  if (list == condition.end() || !list->is_array() || list->size() < 2) {
    problems.push_back(fmt::format("{}.conditions has to be a list of at least two", place));
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    CheckCondition((*list)[i], fmt::format("{}.conditions[{}]", place, i), depth + 1, problems);
  }
}

// `kind`: "job" or "step", which is also the key that names the other one.
void CheckDependencies(const Node& node, const char* kind) {
  const Json* list = node.List("dependsOn");
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    const std::string place = node.PlaceOf(fmt::format("dependsOn[{}]", i));
    if (entry.is_string()) {
      node.problems().push_back(fmt::format("{} is only a name; write {{{}: {}, condition: {{type: succeeded}}}}", place,
                                            kind, Printable(entry.get<std::string>(), 60)));
      continue;
    }
    if (!entry.is_object()) {
      node.problems().push_back(fmt::format("{} has to be {{{}: NAME, condition: {{type: succeeded}}}}", place, kind));
      continue;
    }
    Node(entry, place, node.problems()).Text(kind, true);
    if (IsAbsent(entry, "condition")) {
      node.problems().push_back(fmt::format("{}.condition is required, such as {{type: succeeded}}", place));
    } else {
      CheckCondition(entry["condition"], place + ".condition", 0, node.problems());
    }
  }
}

// ---- tasks ----

void CheckModelMethod(const Node& task) {
  const bool by_name = !IsAbsent(task.json(), "modelIdOrName");
  const bool direct = !IsAbsent(task.json(), "modelType") || !IsAbsent(task.json(), "modelName");
  if (by_name && direct) {
    task.problems().push_back(task.place() + " has modelIdOrName and modelType: give modelIdOrName for a model that there is, "
                                             "or modelType and modelName for one that the step makes");
  } else if (!by_name && !direct) {
    task.problems().push_back(task.place() + " names no model: give modelIdOrName, or modelType and modelName");
  } else if (by_name) {
    task.Text("modelIdOrName", true);
    if (!IsAbsent(task.json(), "globalArgs")) {
      task.Add("globalArgs", "goes with modelType and modelName only: a model that there is has its own global arguments");
    }
  } else {
    task.Text("modelType", true);
    task.Text("modelName", true);
    task.MapOrExpression("globalArgs");
  }
  task.Text("methodName", true);
  task.MapOrExpression("inputs");
  if (!IsAbsent(task.json(), "arguments")) task.Add("arguments", "is no key of a task: its arguments are its inputs");
}

void CheckAssert(const Node& task) {
  task.Text("expr", true);
  task.Text("message", true);
  const auto severity = task.Text("severity");
  if (severity && *severity != "low" && *severity != "medium" && *severity != "high") {
    task.Add("severity", "has to be low, medium or high");
  }
}

void CheckTask(const Node& step) {
  const Json* json = step.Map("task");
  if (json == nullptr) {
    if (IsAbsent(step.json(), "task")) step.Add("task", "is required");
    return;
  }
  const Node task(*json, step.PlaceOf("task"), step.problems());
  const auto type = task.Text("type", true);
  if (!type) return;
  static const std::vector<std::string> kTypes = {"model_method", "workflow", "manual_approval", "assert"};
  if (*type == "model_method") {
    CheckModelMethod(task);
  } else if (*type == "workflow") {
    task.Text("workflowIdOrName", true);
    task.MapOrExpression("inputs");
  } else if (*type == "manual_approval") {
    task.Text("prompt", true);
    task.Number("timeout", 0, true);
  } else if (*type == "assert") {
    CheckAssert(task);
  } else if (*type == "shell") {
    task.Add("type", "\"shell\" is no task; run a shell command with {type: model_method, modelType: command/shell, "
                     "modelName: NAME, methodName: execute, inputs: {run: COMMAND}}");
  } else {
    task.Add("type", fmt::format("\"{}\" is no task; there are {}", Printable(*type, 40), Join(kTypes, ", ")));
  }
}

// ---- steps, jobs, the workflow ----

void CheckOverrides(const Node& step) {
  const Json* list = step.List("dataOutputOverrides");
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string place = step.PlaceOf(fmt::format("dataOutputOverrides[{}]", i));
    if (!(*list)[i].is_object()) {
      step.problems().push_back(place + " has to be a map");
      continue;
    }
    const Node one((*list)[i], place, step.problems());
    one.Text("specName", true);
    const auto lifetime = one.Text("lifetime");
    if (lifetime && !IsWholeExpression(*lifetime)) {
      const auto parsed = Lifetime::Parse(*lifetime);
      if (!parsed || !parsed->writable()) one.Add("lifetime", "is no lifetime, such as 30d or infinite");
    }
    if (!IsAbsent(one.json(), "garbageCollection") && !VersionsKept::Parse(one.json()["garbageCollection"])) {
      one.Add("garbageCollection", "has to be a number of versions or a duration");
    }
    one.MapOfTexts("tags");
    one.ListOfTexts("vary");
    one.Text("vaultName");
  }
}

bool IsVariableName(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void CheckForEach(const Node& step) {
  const Json* json = step.Map("forEach");
  if (json == nullptr) return;
  const Node for_each(*json, step.PlaceOf("forEach"), step.problems());
  const auto item = for_each.Text("item", true);
  if (item && !IsVariableName(*item)) for_each.Add("item", "has to be a name of letters, digits and _");
  for_each.Expression("in", true);
}

void CheckStep(const Node& step) {
  static const std::vector<std::string> kKeys = {
      "name",     "description",  "task",   "forEach", "dependsOn", "weight", "concurrency", "dataOutputOverrides",
      "allowFailure", "target", "labels", "platform", "queueTimeout", "guard"};
  step.KnownKeys("step", kKeys);
  step.Text("name", true);
  step.Text("description");
  CheckTask(step);
  CheckForEach(step);
  CheckDependencies(step, "step");
  step.Number("weight", std::numeric_limits<double>::lowest());
  step.WholeNumber("concurrency", 0);
  CheckOverrides(step);
  step.Flag("allowFailure");
  step.Placement();
  step.Expression("guard");
}

// Calls `check` for each map of a list that has to have one at least.
template <typename Check>
void ForEachMap(const Node& node, const char* key, const Check& check) {
  const Json* list = node.List(key);
  if (list == nullptr) {
    if (IsAbsent(node.json(), key)) node.Add(key, "is required");
    return;
  }
  if (list->empty()) node.Add(key, "has to have an entry at least");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string place = node.PlaceOf(fmt::format("{}[{}]", key, i));
    if ((*list)[i].is_object()) {
      check(Node((*list)[i], place, node.problems()));
    } else {
      node.problems().push_back(place + " has to be a map");
    }
  }
}

void CheckJob(const Node& job) {
  static const std::vector<std::string> kKeys = {"name",     "description", "steps",  "dependsOn", "weight",      "concurrency",
                                                 "affinity", "target",      "labels", "platform",  "queueTimeout"};
  job.KnownKeys("job", kKeys);
  job.Text("name", true);
  job.Text("description");
  ForEachMap(job, "steps", CheckStep);
  CheckDependencies(job, "job");
  job.Number("weight", std::numeric_limits<double>::lowest());
  job.WholeNumber("concurrency", 0);
  job.Flag("affinity");
  job.Placement();
}

void CheckIdentity(const Node& workflow) {
  const auto id = workflow.Text("id", true);
  if (id && !IsUuid(*id)) workflow.Add("id", "has to be a UUID");
  const auto name = workflow.Text("name", true);
  if (!name) return;
  if (const auto reason = WhyUnreadableName(*name)) {
    workflow.problems().push_back(*reason);
  } else if (name->find('/') != std::string::npos && !IsScopedName(*name)) {
    workflow.Add("name", "may hold \"/\" only in the scoped form @team/name");
  }
}

void CheckTrigger(const Node& workflow) {
  const Json* json = workflow.Map("trigger");
  if (json == nullptr) return;
  const Node trigger(*json, "trigger", workflow.problems());
  if (!IsAbsent(*json, "schedule")) trigger.Text("schedule", true);
  trigger.Map("inputs");
}

void CheckReports(const Node& workflow) {
  const Json* json = workflow.Map("reports");
  if (json == nullptr) return;
  const Node reports(*json, "reports", workflow.problems());
  reports.ListOfTexts("skip");
  const Json* required = reports.List("require");
  if (required == nullptr) return;
  for (std::size_t i = 0; i < required->size(); ++i) {
    const Json& one = (*required)[i];
    if (!one.is_string() && !StringMember(one, "name")) {
      reports.Add(fmt::format("require[{}]", i), "has to be a report's name, or {name, methods}");
    }
  }
}

}  // namespace

std::vector<std::string> WorkflowProblems(const Json& json) {
  std::vector<std::string> problems;
  if (!json.is_object()) return {"it is not a map of keys to values"};
  static const std::vector<std::string> kKeys = {
      "id",       "name",   "description", "trigger",  "tags",         "inputs", "jobs",       "version", "concurrency", "reports",
      "affinity", "target", "labels",      "platform", "queueTimeout", "writes", "autoResume", "vaults"};
  const Node workflow(json, "", problems);
  workflow.KnownKeys("workflow", kKeys);
  CheckIdentity(workflow);
  workflow.Text("description");
  CheckTrigger(workflow);
  workflow.MapOfTexts("tags");
  if (json.contains("inputs")) {
    for (std::string& problem : InputsSchemaProblems(json["inputs"])) problems.push_back(std::move(problem));
  }
  ForEachMap(workflow, "jobs", CheckJob);
  workflow.WholeNumber("version", 1);
  workflow.WholeNumber("concurrency", 0);
  CheckReports(workflow);
  for (const char* flag : {"affinity", "writes", "autoResume"}) workflow.Flag(flag);
  workflow.Placement();
  workflow.ListOfTexts("vaults");
  return problems;
}

}  // namespace swamp

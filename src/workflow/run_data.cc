#include "workflow/run_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/log.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::string_view kRuns = "workflow-runs/";

Json ListMember(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_array() ? *found : Json::array();
}

// The records of one workflow's runs that can be read, by the time of their beginning.
std::vector<Json> RunsOf(const Context& context, const RunFiles& files, const std::string& workflow_id) {
  std::vector<Json> runs;
  for (const std::string& path : files.List(std::string(kRuns) + workflow_id)) {
    if (!path.ends_with(".yaml")) continue;
    const auto yaml = files.Read(path);
    if (!yaml) continue;
    try {
      Json run = ParseYaml(*yaml, path);
      if (StringMember(run, "id")) runs.push_back(std::move(run));
    } catch (const IoError&) {
      throw;
    } catch (const UserError& error) {
      context.log().Warn("workflow", "left out: " + error.message());
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Json& a, const Json& b) {
    return StringMember(a, "startedAt").value_or("") < StringMember(b, "startedAt").value_or("");
  });
  return runs;
}

// Where the version is that a record names by the id of its data, its name and its number.
class Finder {
 public:
  Finder(const VersionStore& store, Catalog& catalog) : store_(store), catalog_(catalog) { catalog.CatchUp(); }

  std::optional<DataRecord> Find(const Json& reference) {
    const std::string name = StringMember(reference, "name").value_or("");
    const std::int64_t version = IntegerMember(reference, "version").value_or(0);
    Statement rows(catalog_.database().handle(),
                   "SELECT type_normalized, model_id FROM catalog WHERE namespace = ?1 AND data_name = ?2 AND version = ?3 AND id = ?4");
    rows.Bind(1, catalog_.options().name_space).Bind(2, name).Bind(3, version).Bind(4, StringMember(reference, "dataId").value_or(""));
    while (rows.Next()) {
      auto record = store_.Find({{rows.Text(0), rows.Text(1)}, name}, static_cast<std::uint64_t>(version));
      if (record) return record;
    }
    return std::nullopt;
  }

 private:
  const VersionStore& store_;
  Catalog& catalog_;
};

}  // namespace

RunData DataOfRun(const Context& context, Workflows& workflows, const RunFiles& files, const VersionStore& store, Catalog& catalog,
                  const std::string& workflow, const std::string& run_id) {
  RunData data;
  // Runs may outlive their workflow, whose id then still leads to them.
  if (const auto found = workflows.Find(workflow)) {
    data.workflow_id = found->workflow.id;
    data.workflow_name = found->workflow.name;
  } else if (IsUuid(workflow) && !files.List(std::string(kRuns) + workflow).empty()) {
    data.workflow_id = workflow;
  } else {
    data.workflow_id = workflows.Require(workflow).workflow.id;
  }
  const std::vector<Json> runs = RunsOf(context, files, data.workflow_id);
  const auto run = run_id.empty() ? (runs.empty() ? runs.end() : runs.end() - 1)
                                  : std::find_if(runs.begin(), runs.end(), [&](const Json& one) { return StringMember(one, "id") == run_id; });
  if (run == runs.end()) {
    throw UserError("run_not_found",
                    run_id.empty() ? fmt::format("the workflow {} has no run here", Printable(workflow, 80))
                                   : fmt::format("the workflow {} has no run {} here", Printable(workflow, 80), Printable(run_id, 80)),
                    "`swamp datastore sync --pull` brings the records of other checkouts' runs.");
  }
  data.run_id = *StringMember(*run, "id");
  data.status = StringMember(*run, "status").value_or("");
  if (data.workflow_name.empty()) data.workflow_name = StringMember(*run, "workflowName").value_or("");
  Finder finder(store, catalog);
  const auto add = [&](const Json& references, const std::string& job, const std::string& step) {
    for (const Json& reference : references) {
      if (auto record = finder.Find(reference)) data.data.push_back({std::move(*record), job, step});
    }
  };
  for (const Json& job : ListMember(*run, "jobs")) {
    for (const Json& step : ListMember(job, "steps")) {
      add(ListMember(step, "dataArtifacts"), StringMember(job, "jobName").value_or(""), StringMember(step, "stepName").value_or(""));
    }
  }
  add(ListMember(*run, "workflowDataArtifacts"), "", "");
  return data;
}

}  // namespace swamp

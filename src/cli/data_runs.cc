// swamp data list, get --workflow: data by the run that wrote it.

#include <fmt/format.h>

#include <algorithm>

#include "cli/data.h"
#include "data/edit_data.h"
#include "util/text.h"
#include "workflow/run_data.h"

namespace swamp {
namespace {

RunData Find(Session& session, const DataTools& tools, const RunTarget& target) {
  Workflows workflows(session.context(), session.config());
  const RunFiles files(session.context(), session.repo(), session.datastore());
  return DataOfRun(session.context(), workflows, files, *tools.store, *tools.catalog, target.workflow, target.run);
}

}  // namespace

void AddRunTarget(CLI::App& command, RunTarget& target) {
  command.add_option("--workflow", target.workflow, "What a run of this workflow wrote")->type_name("<workflow>");
  command.add_option("--run", target.run, "With --workflow: this run; the latest when left out")->type_name("<id>");
}

void ListDataOfRun(Session& session, const RunTarget& target, const std::string& type, bool refresh) {
  PullData(session.context(), session.datastore(), refresh);
  const DataTools tools = OpenData(session);
  RunData run = Find(session, tools, target);
  std::stable_sort(run.data.begin(), run.data.end(),
                   [](const RunDatum& a, const RunDatum& b) { return a.record.key.name < b.record.key.name; });
  DataGroups groups;
  for (const RunDatum& one : run.data) {
    if (!type.empty() && one.record.metadata.tag("type") != type) continue;
    Json more = {{"modelId", one.record.key.owner.model_id},
                 {"modelName", one.record.metadata.tag("modelName")},
                 {"modelType", one.record.key.owner.type}};
    if (!one.job.empty()) more["jobName"] = one.job;
    if (!one.step.empty()) more["stepName"] = one.step;
    groups.Add(one.record, more);
  }
  session.Print({{{"workflowId", run.workflow_id},
                  {"workflowName", run.workflow_name},
                  {"runId", run.run_id},
                  {"runStatus", run.status},
                  {"groups", groups.ToJson()},
                  {"total", groups.total()}},
                 groups.total() == 0 ? fmt::format("The run {} of {} has no data.\n", run.run_id, Printable(run.workflow_name, 80))
                                     : groups.Text()});
}

std::pair<DataRecord, DataModel> RequireDataOfRun(Session& session, const DataTools& tools, const RunTarget& target, const std::string& name) {
  const RunData run = Find(session, tools, target);
  std::vector<const RunDatum*> found;
  std::vector<std::string> names;
  for (const RunDatum& one : run.data) {
    names.push_back(one.record.key.name);
    if (one.record.key.name == name) found.push_back(&one);
  }
  if (found.empty()) {
    throw UserError("data_not_found", fmt::format("the run {} of {} has no data {}", run.run_id, Printable(run.workflow_name, 80), Printable(name, 80)),
                    names.empty() ? "It has none." : "It has: " + Printable(Join(names, ", "), 400));
  }
  // A later step's version of the same data is the run's.
  const RunDatum* last = found.back();
  for (const RunDatum* one : found) {
    if (one->record.key != last->record.key) {
      throw UserError("ambiguous_data",
                      fmt::format("more than one model has data {} of the run {}", Printable(name, 80), run.run_id),
                      "`swamp data list --workflow` shows them; then `swamp data get <model> <name> --version <n>`.");
    }
    if (one->record.version() > last->record.version()) last = one;
  }
  return {last->record, {last->record.key.owner, last->record.metadata.tag("modelName")}};
}

}  // namespace swamp

#include "model/stored_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "data/query.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::uint64_t kLargest = 64ULL << 20;
constexpr std::size_t kMostListed = 20;
constexpr const char* kWorkflowType = "workflow";

StoredReport ReportOf(const Json& row) {
  const auto text = [&row](const char* key) { return StringMember(row, key).value_or(""); };
  const auto tag = [&row](const char* key) { return StringMember(row["tags"], key).value_or(""); };
  StoredReport report;
  report.name = tag("reportName");
  report.scope = tag("reportScope");
  report.key = {{text("modelType"), text("modelId")}, text("name")};
  report.version = row.value("version", std::uint64_t{0});
  report.model_name = text("modelName");
  report.workflow_name = text("workflowName");
  report.variant = tag("varySuffix");
  report.created_at = text("createdAt");
  return report;
}

std::string ListOf(const std::vector<StoredReport>& reports) {
  std::vector<std::string> lines;
  for (const StoredReport& one : reports) {
    if (lines.size() == kMostListed) {
      lines.push_back(fmt::format("and {} more", reports.size() - kMostListed));
      break;
    }
    lines.push_back(one.Describe());
  }
  return Join(lines, "; ");
}

}  // namespace

std::string StoredReport::Describe() const {
  return fmt::format("{} of {} ({}){}", Printable(name, 100), Printable(model_name.empty() ? key.owner.model_id : model_name, 100),
                     key.owner.type, variant.empty() ? "" : ", variant " + Printable(variant, 80));
}

bool StoredReports::Fits(const StoredReport& report, const StoredReportFilter& filter, const std::string& model_id) const {
  const bool of_workflow = report.key.owner.type == kWorkflowType;
  if (!filter.query.empty() && !ContainsIgnoringCase(report.name, filter.query) &&
      !ContainsIgnoringCase(report.model_name, filter.query)) {
    return false;
  }
  if (!filter.name.empty() && !IsSameReport(report.name, filter.name)) return false;
  if (!filter.scope.empty() && report.scope != filter.scope) return false;
  if (!filter.variant.empty() && report.variant != filter.variant) return false;
  if (!filter.type.empty() && report.key.owner.type != NormalizeTypeName(filter.type)) return false;
  if (!filter.model.empty() && (of_workflow || (report.key.owner.model_id != model_id && report.model_name != filter.model))) {
    return false;
  }
  if (!filter.workflow.empty() && (!of_workflow || (report.key.owner.model_id != filter.workflow &&
                                                    report.workflow_name != filter.workflow))) {
    return false;
  }
  if (filter.labels.empty()) return true;
  const Report* known = known_.Find(report.name);
  return known != nullptr && std::all_of(filter.labels.begin(), filter.labels.end(), [&](const std::string& label) {
           return std::find(known->labels.begin(), known->labels.end(), label) != known->labels.end();
         });
}

std::vector<StoredReport> StoredReports::Search(const StoredReportFilter& filter) {
  DataQuery query{.predicate = R"(dataType == "report" && contentType == "text/markdown")", .own_only = true};
  if (filter.version) query.predicate += fmt::format(" && version == {}", *filter.version);
  std::string model_id = filter.model;
  if (!filter.model.empty()) {
    if (const auto found = definitions_.Find(filter.model)) model_id = found->definition.id;
  }
  std::map<std::string, std::string> names;  // of models whose data doesn't say it: other programs leave it out
  std::vector<StoredReport> reports;
  for (const Json& row : DataQueries(context_, store_, catalog_).Run(query).results) {
    StoredReport report = ReportOf(row);
    if (report.name.empty()) continue;
    if (report.model_name.empty() && report.key.owner.type != kWorkflowType) {
      const auto [known, is_new] = names.try_emplace(report.key.owner.model_id);
      if (is_new) {
        if (const auto found = definitions_.Find(report.key.owner.model_id)) known->second = found->definition.name;
      }
      report.model_name = known->second;
    }
    if (report.model_name.empty()) report.model_name = report.workflow_name;
    if (Fits(report, filter, model_id)) reports.push_back(std::move(report));
  }
  std::stable_sort(reports.begin(), reports.end(),
                   [](const StoredReport& a, const StoredReport& b) { return a.created_at > b.created_at; });
  return reports;
}

StoredReport StoredReports::Require(const StoredReportFilter& filter) {
  std::vector<StoredReport> found = Search(filter);
  if (found.empty()) {
    const std::vector<StoredReport> all = Search({});
    throw UserError("report_not_found",
                    fmt::format("there is no {}report {} here{}", filter.version ? fmt::format("version {} of the ", *filter.version) : "",
                                Printable(filter.name, 100), filter.model.empty() && filter.workflow.empty() ? "" : " for that"),
                    all.empty() ? "No run has left a report yet." : fmt::format("There are: {}.", ListOf(all)));
  }
  // A model that is a variant of its own may have been run under an older name.
  const bool several = std::any_of(found.begin(), found.end(), [&](const StoredReport& one) { return one.key != found.front().key; });
  if (several) {
    throw UserError("report_ambiguous",
                    fmt::format("there are {} reports {}: {}", found.size(), Printable(filter.name, 100), ListOf(found)),
                    "Say which with --model, --workflow or --variant.");
  }
  return found.front();
}

std::string StoredReports::Markdown(const StoredReport& report) const {
  const auto record = store_.Find(report.key, report.version);
  if (!record) {
    throw UserError("data_not_found", fmt::format("the content of {} version {} is not here", report.key.name, report.version),
                    "It has been removed, or was not fetched: `swamp datastore sync`.");
  }
  return store_.Content(*record, kLargest);
}

Json StoredReports::JsonOf(const StoredReport& report) const {
  // Its name ends with the variant.
  std::string name = report.key.name;
  const std::string suffix = report.variant.empty() ? "" : "-" + report.variant;
  if (!suffix.empty() && name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  for (const std::string& candidate : {name + "-json" + suffix, report.key.name + "-json"}) {
    const DataKey key{report.key.owner, candidate};
    auto record = store_.Find(key, report.version);
    if (!record) record = store_.Latest(key);
    if (record) return TryParseJson(store_.Content(*record, kLargest)).value_or(Json());
  }
  return nullptr;
}

}  // namespace swamp

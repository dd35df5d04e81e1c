#include "report/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.h"

namespace swamp {
namespace {

bool Names(const std::vector<std::string>& list, const std::string& report) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& one) { return IsSameReport(one, report); });
}

bool SharesLabel(const std::vector<std::string>& list, const Report& report) {
  return std::any_of(report.labels.begin(), report.labels.end(), [&](const std::string& label) {
    return std::find(list.begin(), list.end(), label) != list.end();
  });
}

const Json& ListOf(const Json& selection, const char* key) {
  static const Json kEmpty = Json::array();
  if (!selection.is_object()) return kEmpty;
  const auto found = selection.find(key);
  return found != selection.end() && found->is_array() ? *found : kEmpty;
}

std::vector<std::string> SkippedBy(const Json& selection) {
  std::vector<std::string> names;
  for (const Json& one : ListOf(selection, "skip")) {
    if (one.is_string()) names.push_back(one.get<std::string>());
  }
  return names;
}

// The report that an entry of `require` names; nothing: it is no entry.
std::optional<std::string> NameIn(const Json& entry) {
  return entry.is_string() ? std::optional(entry.get<std::string>()) : StringMember(entry, "name");
}

bool IsFor(const Json& entry, const std::string& method) {
  if (!entry.is_object() || !entry.contains("methods") || !entry["methods"].is_array() || entry["methods"].empty()) return true;
  const Json& methods = entry["methods"];
  return std::find(methods.begin(), methods.end(), Json(method)) != methods.end();
}

bool PassesFlags(const Report& report, const ReportFlags& flags) {
  if (flags.skip_all || Names(flags.skipped, report.name) || SharesLabel(flags.skipped_labels, report)) return false;
  if (!flags.only.empty() && !Names(flags.only, report.name)) return false;
  return flags.only_labels.empty() || SharesLabel(flags.only_labels, report);
}

}  // namespace

std::vector<ChosenReport> ChooseReports(const ReportsToChooseFrom& from, ReportScope scope, const std::string& method,
                                        const ReportFlags& flags) {
  const std::vector<std::string> skipped = SkippedBy(from.selection);
  std::vector<ChosenReport> chosen;
  const auto choose = [&](const std::string& name, const Report* report) {
    if (report != nullptr ? report->scope != scope : scope != ReportScope::kMethod) return;
    if (Names(skipped, name)) return;
    const std::string& shown = report != nullptr ? report->name : name;
    if (std::any_of(chosen.begin(), chosen.end(), [&](const ChosenReport& one) { return IsSameReport(one.name, shown); })) return;
    chosen.push_back({shown, report});
  };
  std::vector<const Report*> optional;
  for (const Report* report : from.known.All()) {
    if (report->built_in) optional.push_back(report);
  }
  for (const std::string& name : from.of_type) {
    if (const Report* report = from.known.Find(name)) optional.push_back(report);
  }
  for (const Report* report : optional) {
    if (PassesFlags(*report, flags)) choose(report->name, report);
  }
  for (const Json& entry : ListOf(from.selection, "require")) {
    const auto name = NameIn(entry);
    if (name && IsFor(entry, method)) choose(*name, from.known.Find(*name));
  }
  return chosen;
}

std::vector<std::string> DoubtsAboutReports(const ReportsToChooseFrom& from, const ReportFlags& flags) {
  std::vector<std::string> doubts;
  for (const auto& [flag, names] : {std::pair("--report", &flags.only), std::pair("--skip-report", &flags.skipped)}) {
    for (const std::string& name : *names) {
      if (from.known.Find(name) == nullptr) doubts.push_back(fmt::format("{} {}: there is no such report", flag, Printable(name, 80)));
    }
  }
  for (const std::string& name : from.of_type) {
    if (from.known.Find(name) == nullptr) doubts.push_back(fmt::format("the type's report {} is not here", Printable(name, 80)));
  }
  for (const Json& entry : ListOf(from.selection, "require")) {
    const auto name = NameIn(entry);
    const Report* report = name ? from.known.Find(*name) : nullptr;
    if (!name) {
      doubts.push_back(fmt::format("reports.require has {}, which names no report", Printable(CompactJson(entry), 80)));
    } else if (report != nullptr && report->scope == ReportScope::kWorkflow) {
      doubts.push_back(fmt::format("the required report {} is one of workflows: no method run makes it", report->name));
    }
  }
  return doubts;
}

}  // namespace swamp

#pragma once

#include <string>
#include <vector>

#include "report/report.h"
#include "util/json.h"

namespace swamp {

// What the command line says about reports. None of it touches those that a model requires.
struct ReportFlags {
  bool skip_all = false;
  std::vector<std::string> skipped;
  std::vector<std::string> skipped_labels;
  std::vector<std::string> only;         // not empty: only these
  std::vector<std::string> only_labels;  // not empty: only those with one of these
};

// A report to be made.
struct ChosenReport {
  std::string name;
  const Report* report = nullptr;  // null: it is required, and nobody knows it
};

struct ReportsToChooseFrom {
  const Reports& known;
  std::vector<std::string> of_type;  // named by the model's type
  Json selection;  // `reports` of the model's definition, {require: [name | {name, methods}], skip: [name]}; null: none
};

// The reports of one scope after a run of `method`: the built-in ones, those of the type and the required ones; by name of
// where they come from, each once. What `skip` names never is; what `require` names, for this method, is whatever the flags
// say. A required name that nobody knows counts as of the scope "method".
std::vector<ChosenReport> ChooseReports(const ReportsToChooseFrom& from, ReportScope scope, const std::string& method,
                                        const ReportFlags& flags);

// What is strange about a choice, for warnings: names that the flags or the type give and nobody knows, and required reports
// of workflows.
std::vector<std::string> DoubtsAboutReports(const ReportsToChooseFrom& from, const ReportFlags& flags);

}  // namespace swamp

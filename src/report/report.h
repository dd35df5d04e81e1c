#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"

namespace swamp {

enum class ReportScope { kMethod, kModel, kWorkflow };
std::string NameOf(ReportScope scope);
// Nothing: there is no such scope.
std::optional<ReportScope> FindReportScope(std::string_view name);

// The method run that a report is about. Holds no secrets: where one stood in an argument there is `***` or the text of its
// expression.
struct ReportContext {
  std::string model_id;
  std::string model_name;
  std::string model_type;
  std::string method;
  bool succeeded = false;
  std::string error;  // of a run that failed
  Json global_arguments = Json::object();
  Json method_arguments = Json::object();
  Json output_specs = Json::array();  // as the type declares them
  struct Output {
    std::string name;
    std::string kind;  // "resource", "file"
    std::string spec;
    std::uint64_t version = 0;
  };
  std::vector<Output> outputs;
  std::string program_revision;
};

struct ReportContent {
  std::string markdown;  // blank: the report has nothing to say, and nothing is kept
  Json json = Json::object();
};

// Turns what happened into something to read. May throw: the report has then failed.
struct Report {
  std::string name;  // "@swamp/method-summary"
  std::string description;
  ReportScope scope = ReportScope::kMethod;
  std::vector<std::string> labels = {};
  std::function<ReportContent(const ReportContext&)> make = {};  // none: this program only knows of it
  bool built_in = false;  // made after every run of its scope, unless it is skipped
};

// Whether two names mean one report: the "@" may be left out.
bool IsSameReport(std::string_view a, std::string_view b);

// The data that a report is kept as: "report-swamp-method-summary", and the same with "-json" behind. A name that no
// data could have is changed as far as need be.
std::string ReportDataName(std::string_view report);

// The reports that this program knows. Filled at the start; constant while a command runs.
class Reports {
 public:
  // Throws UserError report_invalid for a name that is there.
  void Add(Report report);
  // Null: it is not known.
  const Report* Find(std::string_view name) const;
  // Throws UserError report_not_found with the nearest names.
  const Report& Require(std::string_view name) const;
  // By name.
  std::vector<const Report*> All() const;

 private:
  std::vector<std::unique_ptr<Report>> reports_;
};

// @swamp/method-summary, @swamp/workflow-summary, @swamp/verification-attestation.
Reports BuiltInReports();

}  // namespace swamp

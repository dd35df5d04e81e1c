#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/catalog.h"
#include "data/version_store.h"
#include "model/definitions.h"
#include "report/report.h"

namespace swamp {

// A report as it is kept: one version of its markdown, with its JSON beside it.
struct StoredReport {
  std::string name;   // "@swamp/method-summary"
  std::string scope;  // "method"
  DataKey key;        // of the markdown
  std::uint64_t version = 0;
  std::string model_name;  // of one on a workflow: the workflow's
  std::string workflow_name;
  std::string variant;  // which of several of one run; mostly empty
  std::string created_at;

  // "@swamp/method-summary of m1 (command/shell)".
  std::string Describe() const;
};

// Which ones are meant; what is empty doesn't matter.
struct StoredReportFilter {
  std::string query;     // part of the report's or the model's name
  std::string name;      // of the report, whole
  std::string model;     // name or id
  std::string workflow;  // name or id
  std::string scope;
  std::string type;  // of the model
  std::vector<std::string> labels;  // all of them
  std::string variant;
  std::optional<std::uint64_t> version;  // else the latest of each
};

// The reports that runs have left, by name and by what they are about. All outlive it.
class StoredReports {
 public:
  StoredReports(const Context& context, const VersionStore& store, Catalog& catalog, Definitions& definitions,
                const Reports& known)
      : context_(context), store_(store), catalog_(catalog), definitions_(definitions), known_(known) {}

  // Newest first.
  std::vector<StoredReport> Search(const StoredReportFilter& filter);
  // The one. Throws UserError report_not_found, and report_ambiguous when several models, workflows or variants have it; both
  // list what there is.
  StoredReport Require(const StoredReportFilter& filter);

  std::string Markdown(const StoredReport& report) const;
  // Null: there is none.
  Json JsonOf(const StoredReport& report) const;

 private:
  bool Fits(const StoredReport& report, const StoredReportFilter& filter, const std::string& model_id) const;

  const Context& context_;
  const VersionStore& store_;
  Catalog& catalog_;
  Definitions& definitions_;
  const Reports& known_;
};

}  // namespace swamp

#include <fmt/format.h>

#include "model/run_steps.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::int64_t kReportsKept = 5;
constexpr const char* kReportLifetime = "30d";

// Every value away: for arguments of which nobody has found out yet what is secret in them.
Json NamesOnly(const Json& arguments) {
  Json names = Json::object();
  for (const auto& [key, value] : arguments.items()) names[key] = "***";
  return names;
}

bool IsReserved(const std::string& tag) {
  return tag == "type" || tag == "specName" || tag == "modelName" || tag.starts_with("report") || tag.starts_with("_swamp.");
}

bool IsBlank(std::string_view text) { return Trim(text).empty(); }

}  // namespace

void MethodRunner::MakeReports(Attempt& attempt, const std::optional<UserError>& failure) {
  if (services_.reports == nullptr) return;
  const Json& other = definition().other;
  const ReportsToChooseFrom from{*services_.reports, type_->reports, other.contains("reports") ? other["reports"] : Json()};
  for (const std::string& doubt : DoubtsAboutReports(from, request_.reports)) Warn(doubt);
  const ReportContext context = ReportContextOf(attempt, failure);
  std::vector<ReportScope> scopes = {ReportScope::kMethod};
  if (!failure) scopes.push_back(ReportScope::kModel);
  for (const ReportScope scope : scopes) {
    for (const ChosenReport& chosen : ChooseReports(from, scope, method_->name, request_.reports)) {
      Json event = {{"reportName", chosen.name}, {"scope", NameOf(scope)}};
      Tell("report_started", event);
      RunReport report = MakeReport(attempt, chosen, scope, context);
      if (!report.success()) {
        attempt.result.status = "failed";
        event["error"] = report.error;
      } else if (!report.markdown.empty()) {
        event["markdown"] = report.markdown;
        event["json"] = report.json;
      }
      Tell(report.success() ? "report_completed" : "report_failed", std::move(event));
      attempt.result.reports.push_back(std::move(report));
    }
  }
}

ReportContext MethodRunner::ReportContextOf(const Attempt& attempt, const std::optional<UserError>& failure) const {
  const RunResult& result = attempt.result;
  ReportContext context{.model_id = result.model_id,
                        .model_name = result.model_name,
                        .model_type = result.model_type,
                        .method = result.method,
                        .succeeded = !failure,
                        .error = failure ? failure->message() : std::string(),
                        .output_specs = type_->data_output_specs,
                        .program_revision = services_.program_revision};
  if (result.method_arguments.is_object()) {
    context.method_arguments = result.method_arguments;
    context.global_arguments = result.global_arguments;
  } else {
    Json arguments = attempt.evaluated.stored.ArgumentsOf(method_->name);
    for (const auto& [key, value] : attempt.overridden.items()) arguments[key] = value;
    context.method_arguments = NamesOnly(arguments);
    context.global_arguments = NamesOnly(attempt.evaluated.stored.global_arguments);
  }
  for (const RunHost::Written& one : attempt.written) {
    if (one.ephemeral) continue;
    context.outputs.push_back({one.artifact.name, one.artifact.type, one.artifact.spec, one.artifact.version});
  }
  return context;
}

RunReport MethodRunner::MakeReport(Attempt& attempt, const ChosenReport& chosen, ReportScope scope, const ReportContext& context) {
  RunReport report{.name = chosen.name, .scope = scope, .markdown = {}, .json = {}, .error = {}};
  try {
    if (chosen.report == nullptr || !chosen.report->make) {
      throw UserError("report_not_found", fmt::format("{} requires a report that is not here", definition().name));
    }
    ReportContent content = chosen.report->make(context);
    report.markdown = IsBlank(content.markdown) ? std::string() : attempt.redactor.Redact(content.markdown);
    report.json = attempt.redactor.Redact(content.json);
    if (!report.markdown.empty()) StoreReport(attempt, report);
    return report;
  } catch (const std::exception& error) {
    report.error = attempt.redactor.Redact(Printable(error.what(), 400));
  }
  const std::string name = Printable(report.name, 100);
  report.markdown = fmt::format("# {}\n\nThis report failed: {}\n", name, report.error);
  report.json = {{"error", true}, {"reportName", name}, {"scope", NameOf(scope)}, {"message", report.error}};
  Warn(fmt::format("the report {} failed: {}", name, report.error));
  try {
    StoreReport(attempt, report);
  } catch (const std::exception& error) {
    Warn(fmt::format("what went wrong with the report {} could not be kept: {}", name, Printable(error.what(), 200)));
  }
  return report;
}

void MethodRunner::StoreReport(Attempt& attempt, const RunReport& report) {
  Json tags = {{"type", "report"}};
  for (const auto& [key, value] : request_.tags) {
    if (!IsReserved(key)) tags[key] = value;
  }
  tags["specName"] = "report";
  tags["modelName"] = definition().name;
  tags["reportName"] = report.name;
  tags["reportScope"] = NameOf(report.scope);
  const std::string name = ReportDataName(report.name);
  const auto version = [&](const std::string& data_name, const char* content_type) {
    return NewVersion{.key = {{type_->name, definition().id}, data_name},
                      .content_type = content_type,
                      .lifetime = *Lifetime::Parse(kReportLifetime),
                      .versions_kept = VersionsKept::Newest(kReportsKept),
                      .tags = tags,
                      .owner = {.owner_type = "model-method", .owner_ref = definition().id},
                      .what = "the report " + Printable(report.name, 80)};
  };
  std::vector<VersionStore::WholeVersion> files = {{version(name, "text/markdown"), report.markdown},
                                                   {version(name + "-json", "application/json"), CompactJson(report.json)}};
  for (DataRecord& file : store_->WriteAll(std::move(files))) attempt.report_files.push_back(std::move(file));
}

}  // namespace swamp

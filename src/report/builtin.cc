#include <fmt/format.h>

#include "report/report.h"
#include "util/text.h"

namespace swamp {
namespace {

std::vector<std::string> KeysOf(const Json& map) {
  std::vector<std::string> keys;
  if (!map.is_object()) return keys;
  for (const auto& [key, value] : map.items()) keys.push_back(key);
  return keys;
}

// Text within a cell or a paragraph: nothing of it is markup.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : Printable(text, 400)) {
    if (std::string_view("\\`*_{}[]<>|#").find(c) != std::string_view::npos) plain += '\\';
    plain += c;
  }
  return plain;
}

std::string Quoted(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-") ==
                           std::string::npos) {
    return text;
  }
  return "'" + ReplaceAll(text, "'", "'\\''") + "'";
}

std::string NarrativeOf(const ReportContext& run) {
  if (!run.succeeded) {
    return fmt::format("{} of {} ({}) failed: {}", run.method, run.model_name, run.model_type, Printable(run.error, 400));
  }
  std::vector<std::string> written;
  for (const ReportContext::Output& one : run.outputs) written.push_back(fmt::format("{} version {}", one.name, one.version));
  return fmt::format("{} of {} ({}) succeeded and wrote {}.", run.method, run.model_name, run.model_type,
                     written.empty() ? "no data" : Join(written, ", "));
}

std::string RetrievalOf(const ReportContext& run, const ReportContext::Output& output) {
  return fmt::format("swamp data get {} {} --version {}", Quoted(run.model_name), Quoted(output.name), output.version);
}

std::string MarkdownOf(const ReportContext& run, const std::string& narrative) {
  std::string text = fmt::format("# {} of {}\n\n{}\n\n", Plain(run.method), Plain(run.model_name), Plain(narrative));
  text += fmt::format("- **Status:** {}\n- **Model:** {} ({})\n", run.succeeded ? "succeeded" : "failed",
                      Plain(run.model_name), Plain(run.model_type));
  const auto list = [&text](const char* label, const Json& arguments) {
    std::vector<std::string> names;
    for (const std::string& name : KeysOf(arguments)) names.push_back(Plain(name));
    if (!names.empty()) text += fmt::format("- **{}:** {}\n", label, Join(names, ", "));
  };
  list("Global arguments", run.global_arguments);
  list("Arguments", run.method_arguments);
  if (run.outputs.empty()) return text;
  text += "\n## Data\n\n| Name | Kind | Spec | Version | Command |\n| --- | --- | --- | ---: | --- |\n";
  for (const ReportContext::Output& one : run.outputs) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", Plain(one.name), one.kind, Plain(one.spec), one.version,
                        Plain(RetrievalOf(run, one)));
  }
  return text;
}

// Arguments by name only: their values may be anybody's secrets.
ReportContent MethodSummary(const ReportContext& run) {
  const std::string narrative = NarrativeOf(run);
  Json json = {{"status", run.succeeded ? "succeeded" : "failed"}};
  if (!run.succeeded) json["error"] = run.error;
  json["modelId"] = run.model_id;
  json["modelName"] = run.model_name;
  json["modelType"] = run.model_type;
  json["methodName"] = run.method;
  if (!run.program_revision.empty()) json["swampSha"] = run.program_revision;
  json["narrative"] = narrative;
  json["globalArgs"] = KeysOf(run.global_arguments);
  json["methodArgs"] = KeysOf(run.method_arguments);
  Json specs = Json::array();
  for (const Json& spec : run.output_specs) {
    Json one = Json::object();
    for (const char* key : {"specName", "kind", "description", "schema", "contentType"}) {
      if (spec.contains(key)) one[key] = spec[key];
    }
    specs.push_back(std::move(one));
  }
  if (!specs.empty()) json["outputSpecs"] = std::move(specs);
  json["dataProduced"] = Json::array();
  for (const ReportContext::Output& one : run.outputs) {
    json["dataProduced"].push_back({{"name", one.name},
                                    {"kind", one.kind},
                                    {"specName", one.spec},
                                    {"version", one.version},
                                    {"retrievalCommand", RetrievalOf(run, one)}});
  }
  return {MarkdownOf(run, narrative), std::move(json)};
}

}  // namespace

Reports BuiltInReports() {
  Reports reports;
  reports.Add({.name = "@swamp/method-summary",
               .description = "How a method run ended, what it was given by name, and the data that it wrote",
               .scope = ReportScope::kMethod,
               .make = MethodSummary,
               .built_in = true});
  reports.Add({.name = "@swamp/workflow-summary",
               .description = "How a workflow run ended, step by step",
               .scope = ReportScope::kWorkflow,
               .built_in = true});
  reports.Add({.name = "@swamp/verification-attestation",
               .description = "Whether all steps of a workflow run on a commit have passed, for machines to check",
               .scope = ReportScope::kWorkflow,
               .built_in = true});
  return reports;
}

}  // namespace swamp

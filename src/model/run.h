#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/definitions.h"
#include "model/expressions.h"
#include "model/model_types.h"
#include "model/output_record.h"
#include "report/selection.h"
#include "repo/repository.h"

namespace swamp {

// What a run works on. All outlive it.
struct RunServices {
  const Repository& repo;
  Datastore& datastore;
  ConfigTier& config;
  const ModelTypes& types;
  const ExpressionHost& expressions;  // vault_get is added by the run
  const Reports* reports = nullptr;   // null: none are made
  std::string program_revision = {};  // for reports
};

struct RunRequest {
  std::string model_or_type;  // a definition's name or id; or a type, with "@" in front or with `definition`
  std::string method;
  std::optional<std::string> definition;  // the direct form: made when there is none
  std::vector<Json> input_sets = {Json::object()};  // one run each, under one lock, until the first that fails (or whose report does)
  // What of the inputs a user typed: only there an expression is one.
  Json typed_inputs = Json::object();
  std::vector<std::pair<std::string, std::string>> tags;
  bool last_evaluated = false;
  bool skip_checks = false;
  std::vector<std::string> skipped_checks;
  std::vector<std::string> skipped_check_labels;
  ReportFlags reports;
  std::optional<Duration> timeout;  // of the method itself
  std::string traceparent;
  std::string tracestate;
};

// Told while it happens; everything is redacted.
struct RunObserver {
  // "Resolved", "Executing", "Stored": a word and what it is about.
  std::function<void(const std::string& model, std::string_view word, const std::string& text)> step;
  // What the method prints and says.
  std::function<void(const std::string& model, LogLevel level, std::string_view line)> line;
  // All that happens, for programs: {"kind": "executing", "modelName": ..., "methodName": ...}. Kinds, in this order:
  // resolving_model, auto_created, global_args_updated, model_resolved; then for each set of inputs validating_inputs,
  // evaluating_expressions, env_var_warning, executing, method_output and method_event, data_artifact_saved,
  // report_started, report_completed or report_failed, auto_gc_started, auto_gc_completed.
  std::function<void(const Json& event)> event;
};

struct RunArtifact {
  std::string id;
  std::string name;
  std::uint64_t version = 0;
  std::string spec;
  std::string type;  // "resource", "file"
  std::filesystem::path path;  // empty: of the lifetime ephemeral, so in no file
  std::optional<Json> attributes;  // of a resource
};

// What became of a report on the run.
struct RunReport {
  std::string name;
  ReportScope scope = ReportScope::kMethod;
  std::string markdown;  // empty: it had nothing to say
  Json json;
  std::string error;  // not empty: it has failed
  bool success() const { return error.empty(); }
};

struct RunResult {
  std::string model_id;
  std::string model_name;
  std::string model_type;
  std::string method;
  std::string status;  // "failed" also where the method succeeded and a report on it has failed
  Duration duration{};
  std::string output_id;
  std::filesystem::path log_file;
  std::vector<RunArtifact> artifacts;
  std::vector<RunReport> reports;
  Json global_arguments;  // with the text of the expressions where secrets stood
  Json method_arguments;
  std::string initiated_by;
  std::optional<std::filesystem::path> auto_created;  // the definition that was made for it
  bool global_arguments_updated = false;
};

// A run that has a record, and failed. The code is that of its cause.
class RunFailed : public UserError {
 public:
  RunFailed(const UserError& cause, RunResult run, int signal)
      : UserError(cause.code(), cause.message(), cause.hint()), result(std::move(run)), signal_(signal) {}
  // What there is of it. `earlier`: items of the same command that succeeded before.
  RunResult result;
  std::vector<RunResult> earlier;
  // Not 0: it was cancelled by that signal.
  int signal() const { return signal_; }

 private:
  int signal_;
};

// Where whoever cancels a run leaves the reason for it.
std::filesystem::path CancelNote(const RunFiles& files, const std::string& output_id);

// Runs a method of a model, or of a type directly: one result for each set of inputs. Takes the model's lock from before
// the pull of its data to after the push of exactly what it wrote.
//
// Throws RunFailed once there is a record. Before: model_not_found, unknown_model_type, unknown_method, usage,
// validation_failed, input_validation_failed, no_evaluated_definition, lock_timeout, StoreError. After the method:
// run_unpublished (everything is here and on record, but not in the bucket).
std::vector<RunResult> RunMethod(const Context& context, const RunServices& services, const RunRequest& request,
                                 const RunObserver& observer);

}  // namespace swamp

// swamp model method run, describe; swamp model cancel.

#include <fmt/format.h>

#include <deque>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/expression_wiring.h"
#include "cli/model_run.h"
#include "cli/render/table.h"
#include "model/inputs.h"
#include "model/run.h"
#include "model/run_cancel.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr Duration kLongestTimeout{2'147'483'647};
constexpr std::size_t kQuietLines = 500;

struct RunOptions {
  RunRequest request;
  std::string definition;
  std::vector<std::string> inputs;
  std::optional<std::string> input_file;
  bool from_stdin = false;
  std::vector<std::string> tags;
  std::string timeout;
  bool stream = false;
};

// What a program printed, fit for a terminal: no control characters but tabs.
std::string Harmless(std::string_view line) {
  std::string shown;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] != '\t') continue;
    shown += Printable(line.substr(begin, i - begin), SIZE_MAX);
    if (i < line.size()) shown += '\t';
    begin = i + 1;
  }
  return shown;
}

// Shows a run as it goes on: as log lines with the model's name in front, or as events. With -q only the last lines, and
// only when it fails.
class LiveLog {
 public:
  LiveLog(Session& session, bool stream) : session_(session) {
    if (stream) observer_.event = [this](const Json& event) { session_.output().PrintLine(event); };
    if (session.options.json) return;
    observer_.step = [this](const std::string& model, std::string_view word, const std::string& text) {
      if (!session_.options.quiet) session_.output().Write(LogLevel::kInfo, model, fmt::format("{} {}", word, text));
    };
    observer_.line = [this](const std::string& model, LogLevel level, std::string_view line) {
      if (!session_.options.quiet) return session_.output().Write(level, model, Harmless(line));
      kept_.push_back(fmt::format("{}: {}\n", model, Harmless(line)));
      if (kept_.size() > kQuietLines) kept_.pop_front();
    };
  }
  const RunObserver& observer() const { return observer_; }
  void ShowKept() {
    for (const std::string& line : kept_) session_.output().PrintNote(line);
  }

 private:
  Session& session_;
  RunObserver observer_;
  std::deque<std::string> kept_;
};

std::string TextOf(const RunResult& run) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"Model", fmt::format("{} ({})", run.model_name, run.model_type)},
      {"Method", run.method},
      {"Status", fmt::format("{} in {}", run.status, DescribeDuration(run.duration))},
      {"Output", run.output_id}};
  for (const RunArtifact& one : run.artifacts) lines.emplace_back("Data", fmt::format("{} version {}", one.name, one.version));
  for (const RunReport& report : run.reports) {
    if (!report.success()) lines.emplace_back("Report", fmt::format("{} failed: {}", report.name, report.error));
  }
  return LabelledLines(lines);
}

Rendered RenderRuns(const std::vector<RunResult>& runs) {
  if (runs.size() == 1) return {JsonOfRun(runs.front()), TextOf(runs.front())};
  Json list = Json::array();
  std::string text;
  for (const RunResult& run : runs) {
    list.push_back(JsonOfRun(run));
    text += (text.empty() ? "" : "\n") + TextOf(run);
  }
  return {{{"runs", list}}, text};
}

// The last event of a stream of a run that has not succeeded.
void StreamFailure(Session& session, const UserError& error, Json details) {
  const auto* failed = dynamic_cast<const RunFailed*>(&error);
  if (failed != nullptr && failed->signal() != 0) {
    session.output().PrintLine({{"kind", "cancelled"}, {"run", std::move(details)}, {"reason", error.message()}});
    return;
  }
  Json event = {{"kind", "error"}, {"error", {{"code", error.code()}, {"message", error.message()}}}};
  if (!error.hint().empty()) event["error"]["hint"] = error.hint();
  if (!details.empty()) event["run"] = std::move(details);
  session.output().PrintLine(event);
}

[[noreturn]] void ShowFailure(Session& session, const RunFailed& failed, bool stream) {
  Json extra = {{"status", failed.result.status},
                {"outputId", failed.result.output_id},
                {"logFile", failed.result.log_file.string()}};
  if (!failed.earlier.empty()) {
    extra["succeededRuns"] = Json::array();
    for (const RunResult& run : failed.earlier) extra["succeededRuns"].push_back(JsonOfRun(run));
  }
  if (stream) StreamFailure(session, failed, extra);
  session.output().PrintError(failed.code(), failed.message(), failed.hint(), extra);
  if (!session.options.json && !session.options.quiet) {
    session.output().PrintNote(fmt::format("Output: {}\nLog: {}\n", failed.result.output_id, failed.result.log_file.string()));
  }
  throw ExitQuietly{failed.signal() != 0 ? 128 + failed.signal() : 1};
}

// Inputs whose text stands on the command line, as against in files that it names.
std::vector<std::string> TypedFlags(const std::vector<std::string>& flags) {
  std::vector<std::string> typed;
  for (const std::string& flag : flags) {
    const std::size_t equals = flag.find('=');
    if (equals == std::string::npos || !flag.substr(equals + 1).starts_with('@')) typed.push_back(flag);
  }
  return typed;
}

void FillRequest(Session& session, RunOptions& options) {
  const Context& context = session.context();
  RunRequest& request = options.request;
  if (!options.definition.empty()) request.definition = options.definition;
  InputSources sources{.flags = options.inputs, .file = options.input_file, .standard_input = {}};
  if (options.from_stdin) {
    sources.standard_input = session.PipedInput();
    if (!sources.standard_input) {
      throw UserError("usage", "--stdin needs something to be piped in: standard input is a terminal");
    }
  }
  request.input_sets = ReadInputSets(context, sources);
  if (const auto typed = TypedFlags(options.inputs); !typed.empty()) {
    request.typed_inputs = ReadInputs(context, {.flags = typed, .file = {}, .standard_input = {}});
  }
  for (const std::string& tag : options.tags) {
    const std::size_t equals = tag.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError("usage", fmt::format("--tag \"{}\" is not of the form key=value", Printable(tag, 80)));
    }
    request.tags.emplace_back(tag.substr(0, equals), tag.substr(equals + 1));
  }
  if (!options.timeout.empty()) request.timeout = ParseTimeout(options.timeout, kLongestTimeout);
}

void AddMethodRun(CLI::App& group, Session& session) {
  auto options = std::make_shared<RunOptions>();
  RunRequest& request = options->request;
  CLI::App* command = AddRepoCommand(group, session, "run", "Run a method of a model, or of a type directly");
  command->add_option("model_or_type", request.model_or_type, "Name or id of a model; or a type, with a name for its model")
      ->required();
  command->add_option("method_name", request.method, "Method")->required();
  command->add_option("definition_name", options->definition, "With a type: the model's name; made when there is none");
  const auto repeatable = [&](const std::string& name, std::vector<std::string>& target, const std::string& help,
                              const std::string& type) {
    command->add_option(name, target, help)->type_name(type)->take_all()->allow_extra_args(false);
  };
  repeatable("--input,--arg", options->inputs, "Input: key=value, key=@file, key:json=value, or a JSON object (repeatable)",
             "<input>");
  command->add_option("--input-file", options->input_file, "Inputs from a YAML file")->type_name("<file>");
  command->add_flag("--stdin", options->from_stdin, "Inputs from standard input; several items are run one after another");
  command->add_flag("--last-evaluated", request.last_evaluated, "Take the values of the last evaluation");
  repeatable("--tag", options->tags, "Tag on all data, key=value (repeatable)", "<tag>");
  command->add_flag("--skip-checks", request.skip_checks, "Run no checks but those that the model requires");
  repeatable("--skip-check", request.skipped_checks, "Skip this check (repeatable)", "<name>");
  repeatable("--skip-check-label", request.skipped_check_labels, "Skip checks with this label (repeatable)", "<label>");
  command->add_flag("--skip-reports", request.reports.skip_all, "Make no reports but those that the model requires");
  repeatable("--skip-report", request.reports.skipped, "Skip this report (repeatable)", "<name>");
  repeatable("--skip-report-label", request.reports.skipped_labels, "Skip reports with this label (repeatable)", "<label>");
  repeatable("--report", request.reports.only, "Make only this report (repeatable)", "<name>");
  repeatable("--report-label", request.reports.only_labels, "Make only reports with this label (repeatable)", "<label>");
  command->add_option("--timeout", options->timeout, "Time limit of the method: seconds, or 30s, 5m, 1h")->type_name("<duration>");
  command->add_option("--traceparent", request.traceparent, "W3C trace context, passed on to programs")
      ->type_name("<value>")
      ->envname("TRACEPARENT");
  command->add_option("--tracestate", request.tracestate, "W3C trace state, passed on to programs")
      ->type_name("<value>")
      ->envname("TRACESTATE");
  command->add_flag("--json-stream", options->stream, "One line of JSON for each event; the last one holds what --json prints");
  command->callback([&session, options] {
    session.options.json = session.options.json || options->stream;
    LiveLog live(session, options->stream);
    try {
      FillRequest(session, *options);
      const ExpressionWiring wiring(session);
      const std::vector<RunResult> runs =
          RunMethod(session.context(), ServicesOf(session, wiring), options->request, live.observer());
      const Rendered rendered = RenderRuns(runs);
      if (options->stream) {
        session.output().PrintLine({{"kind", "completed"}, {"run", session.output().WithWarnings(rendered.json)}});
      } else {
        session.Print(rendered);
      }
      // A report on it has failed.
      if (runs.back().status != "succeeded") throw ExitQuietly{1};
    } catch (const RunFailed& failed) {
      live.ShowKept();
      ShowFailure(session, failed, options->stream);
    } catch (const UserError& error) {
      if (options->stream) StreamFailure(session, error, Json::object());
      throw;
    }
  });
}

void AddMethodDescribe(CLI::App& group, Session& session) {
  struct Options {
    std::string model;
    std::string method;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "describe", "Show a method of a model: its arguments and its data");
  command->add_option("model_id_or_name", options->model, "Name or id")->required();
  command->add_option("method_name", options->method, "Method")->required();
  command->callback([&session, options] {
    Definitions definitions(session.context(), session.config(), &session.datastore());
    const Definition definition = definitions.Require(options->model).definition;
    const ModelType& type = session.model_types().Require(definition.type);
    const MethodSpec& method = type.RequireMethod(options->method);
    Json json = {{"modelName", definition.name},
                 {"modelType", type.name},
                 {"version", type.version},
                 {"method", DescribeMethod(method)}};
    const Json described = DescribeType(type, false);
    if (described.contains("dataOutputSpecs")) json["dataOutputSpecs"] = described["dataOutputSpecs"];
    std::string text = LabelledLines({{"Model", fmt::format("{} ({})", definition.name, type.name)},
                                      {"Method", method.name},
                                      {"Does", method.description}});
    if (method.arguments.is_object() && method.arguments.contains("properties")) {
      Table table({"ARGUMENT", "TYPE", "DESCRIPTION"});
      for (const auto& [name, property] : method.arguments["properties"].items()) {
        table.Add({name, StringMember(property, "type").value_or(""), StringMember(property, "description").value_or("")});
      }
      text += table.Render();
    }
    session.Print({std::move(json), std::move(text)});
  });
}

}  // namespace

Json JsonOfReport(const RunReport& report) {
  Json json = {{"name", report.name}, {"scope", NameOf(report.scope)}, {"success", report.success()}};
  if (!report.success()) {
    json["error"] = report.error;
  } else if (!report.markdown.empty()) {
    json["markdown"] = report.markdown;
    json["json"] = report.json;
  }
  return json;
}

Json JsonOfRun(const RunResult& run) {
  Json artifacts = Json::array();
  for (const RunArtifact& one : run.artifacts) {
    Json json = {{"id", one.id}, {"name", one.name}};
    if (!one.path.empty()) json["path"] = one.path.string();
    if (one.attributes) json["attributes"] = *one.attributes;
    artifacts.push_back(std::move(json));
  }
  Json json = {{"modelId", run.model_id},
               {"modelName", run.model_name},
               {"modelType", run.model_type},
               {"methodName", run.method},
               {"status", run.status},
               {"duration", run.duration.count()},
               {"outputId", run.output_id},
               {"logFile", run.log_file.string()},
               {"dataArtifacts", std::move(artifacts)}};
  for (const RunReport& report : run.reports) json["reports"][report.name] = JsonOfReport(report);
  json["globalArguments"] = run.global_arguments;
  json["methodArguments"] = run.method_arguments;
  json["initiatedBy"] = run.initiated_by;
  if (run.auto_created) {
    json["autoCreated"] = {{"modelType", run.model_type},
                           {"definitionName", run.model_name},
                           {"definitionPath", run.auto_created->string()}};
  }
  if (run.global_arguments_updated) json["globalArgsUpdated"] = run.global_arguments;
  return json;
}

RunServices ServicesOf(Session& session, const ExpressionWiring& wiring) {
  return {session.repo(),   session.datastore(),        session.config(),          session.model_types(),
          wiring.host(), &session.wiring().reports, session.wiring().git_sha};
}

void AddModelMethod(CLI::App& group, Session& session) {
  CLI::App* method = AddGroup(group, "method", "Run methods, and look at what they did");
  AddMethodRun(*method, session);
  AddMethodDescribe(*method, session);
  AddMethodHistory(*method, session);
}

void AddModelCancel(CLI::App& group, Session& session) {
  struct Options {
    std::string model;
    bool all = false;
    std::string reason;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = AddRepoCommand(group, session, "cancel", "Stop methods that are running on this host");
  command->add_option("model_id_or_name", options->model, "Name or id");
  command->add_flag("--all", options->all, "Of all models");
  command->add_option("--reason", options->reason, "Why: goes into the record")->type_name("<reason>");
  command->callback([&session, options] {
    const Context& context = session.context();
    if (options->all != options->model.empty()) {
      throw UserError("usage", options->all ? "either a model or --all" : "name a model, or give --all");
    }
    Definitions definitions(context, session.config(), &session.datastore());
    RunFiles files(context, session.repo(), session.datastore());
    const Json reason = options->reason.empty() ? Json() : Json(options->reason);
    if (options->all) {
      Json list = Json::array();
      std::string text;
      for (const OutputRecord& one : CancelRuns(files, "", options->reason)) {
        list.push_back({{"id", one.id}, {"type", one.type}, {"method", one.method}});
        text += fmt::format("Cancelled {} of {}\n", one.method, one.type);
      }
      session.Print({{{"cancelled", list}, {"reason", reason}}, text.empty() ? "Nothing is running.\n" : text});
      return;
    }
    const Definition definition = definitions.Require(options->model).definition;
    const std::vector<OutputRecord> cancelled = CancelRuns(files, definition.id, options->reason);
    if (cancelled.empty()) {
      throw UserError("nothing_running", fmt::format("no method of {} is running on this host", definition.name));
    }
    const OutputRecord& one = cancelled.front();
    session.Print({{{"id", one.id},
                    {"modelName", definition.name},
                    {"type", one.type},
                    {"method", one.method},
                    {"status", "cancelled"},
                    {"reason", reason}},
                   fmt::format("Cancelled {} of {}\n", one.method, definition.name)});
  });
}

}  // namespace swamp

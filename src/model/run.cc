#include "model/run.h"

#include <fmt/format.h>

#include <set>

#include "model/inputs.h"
#include "model/run_steps.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/random.h"
#include "util/text.h"

namespace swamp {
namespace {

Json SortedJson(const Json& json) {
  if (json.is_object()) {
    std::map<std::string, Json> sorted;
    for (const auto& [key, value] : json.items()) sorted[key] = SortedJson(value);
    Json out = Json::object();
    for (auto& [key, value] : sorted) out[key] = std::move(value);
    return out;
  }
  if (!json.is_array()) return json;
  Json out = Json::array();
  for (const Json& one : json) out.push_back(SortedJson(one));
  return out;
}

// MW-21: nested values count, the order of keys doesn't.
std::string HashOf(const Definition& definition) {
  Json json = {{"id", definition.id},
               {"name", definition.name},
               {"version", definition.version},
               {"tags", definition.tags},
               {"globalArguments", definition.global_arguments},
               {"methods", definition.methods}};
  for (const auto& [key, value] : definition.other.items()) json[key] = value;
  return Sha256Hex(CompactJson(SortedJson(json)));
}

}  // namespace

std::vector<RunResult> MethodRunner::Run() {
  Resolve();
  const std::unique_ptr<StoreLock> lock = services_.datastore.LockModel(context_, Model());
  if (services_.datastore.synced()) {
    const PullReport pulled = services_.datastore.PullModelData(context_, Model());
    for (const PathProblem& problem : pulled.problems) Warn(problem.message);
  }
  store_ = VersionStore::Open(calm_, services_.repo, services_.datastore);
  std::vector<RunResult> results;
  for (std::size_t i = 0; i < request_.input_sets.size(); ++i) {
    if (request_.input_sets.size() > 1) Step("Item", fmt::format("[{}/{}]", i + 1, request_.input_sets.size()));
    context_.Check();
    try {
      results.push_back(RunOne(request_.input_sets[i]));
      if (results.back().status != "succeeded") break;
    } catch (RunFailed& failed) {
      failed.earlier = std::move(results);
      lock->Release(calm_);
      throw;
    }
  }
  lock->Release(calm_);
  return results;
}

RunResult MethodRunner::RunOne(const Json& inputs) {
  Attempt attempt;
  Prepare(attempt, inputs);
  Begin(attempt);
  std::optional<UserError> failure;
  int signal = 0;
  try {
    const auto heartbeat = StartHeartbeat(attempt);
    Execute(attempt);
  } catch (const Cancelled& cancelled) {
    signal = cancelled.signal();
    failure = UserError("cancelled", WhyCancelled(attempt));
  } catch (const DeadlineExceeded&) {
    failure = UserError("method_timeout",
                        fmt::format("{} of {} did not end within {} and was stopped", method_->name, definition().name,
                                    DescribeDuration(*request_.timeout)),
                        "Raise --timeout if it needs longer.");
  } catch (const UserError& error) {
    failure = error;
  } catch (const std::exception& error) {
    failure = UserError("method_execution_failed", Printable(error.what(), 400));
  }
  if (failure) {
    failure = UserError(failure->code(), attempt.redactor.Redact(failure->message()),
                        attempt.redactor.Redact(failure->hint()));
  }
  Finish(attempt, failure, signal);
  if (failure) throw RunFailed(*failure, std::move(attempt.result), signal);
  return std::move(attempt.result);
}

void MethodRunner::Begin(Attempt& attempt) {
  attempt.begun = context_.clock().Elapsed();
  OutputRecord& record = attempt.record;
  record.id = context_.random().Uuid();
  record.definition_id = definition().id;
  record.type = type_->name;
  record.method = method_->name;
  record.provenance = {{"definitionHash", HashOf(definition())},
                       {"modelVersion", type_->version},
                       {"triggeredBy", "manual"},
                       {"initiatedBy", kRunInitiator}};
  record.pid = context_.environment().ProcessId();
  record.host = context_.environment().HostName();
  attempt.started = context_.clock().Now();
  for (;; attempt.started += Duration(1)) {  // somebody without a lock may have begun in the same millisecond
    record.started_at = FormatTime(attempt.started);
    record.log_file = RunFiles::NameInRecords(record.LogTierPath());
    if (files_.Create(record.TierPath(), record.ToYaml())) break;
  }
  attempt.log = std::make_unique<RunLog>(files_, record.LogTierPath(), attempt.redactor);
  attempt.log->Add(LogLevel::kInfo, "model·run",
                   fmt::format("{} of {} ({})", method_->name, definition().name, type_->name));
  RunResult& result = attempt.result;
  result.model_id = definition().id;
  result.model_name = definition().name;
  result.model_type = type_->name;
  result.method = method_->name;
  result.output_id = record.id;
  result.log_file = files_.PathOf(attempt.log->tier_path());
  result.initiated_by = kRunInitiator;
  if (model_.created) result.auto_created = definitions_.Locate(model_.stored);
  result.global_arguments_updated = model_.updated;
  Step("Executing", method_->name);
  Tell("executing", {{"modelName", definition().name}, {"methodName", method_->name}});
}

std::unique_ptr<BackgroundTask> MethodRunner::StartHeartbeat(const Attempt& attempt) {
  const std::filesystem::path path = files_.PathOf(attempt.record.TierPath());
  return context_.executor().Start(calm_, [path](const Context& task) {
    for (;;) {
      task.clock().Sleep(task, kHeartbeat);
      task.files().SetMtime(path, std::chrono::nanoseconds(task.clock().Now().time_since_epoch()).count());
    }
  });
}

void MethodRunner::Execute(Attempt& attempt) {
  PrepareArguments(attempt);
  RunChecks(attempt);
  const Context limited = request_.timeout ? context_.WithTimeout(*request_.timeout) : context_;
  RunHost host({.context = limited,
                .store = *store_,
                .ephemeral = ephemeral_,
                .log = *attempt.log,
                .tokens = *attempt.tokens,
                .vaults = *attempt.vaults,
                .redactor = attempt.redactor,
                .type = *type_,
                .definition = definition(),
                .method = method_->name,
                .initiated_by = kRunInitiator,
                .tags = request_.tags,
                .child_variables = ChildVariables(),
                .observer = observer_,
                .rollback = method_->rollback_on_failure,
                .collect = CollectsAfterRuns()});
  RefuseEarly(attempt, host);
  try {
    method_->execute({attempt.global_arguments, attempt.arguments, host});
    RefuseRepeatedNames(host);
    host.Publish();
    if (method_->kind() == MethodKind::kDelete) host.WriteTombstones();
  } catch (...) {
    host.Withdraw();
    attempt.written = std::move(host.written());  // data is durable as it is written
    throw;
  }
  attempt.written = std::move(host.written());
}

void MethodRunner::RefuseRepeatedNames(RunHost& host) const {
  std::set<std::string> names;
  for (const RunHost::Written& one : host.written()) {
    if (!names.insert(one.artifact.name).second) {
      throw UserError("method_execution_failed", fmt::format("{} wrote the data {} twice", method_->name, one.artifact.name));
    }
  }
}

std::map<std::string, std::string> MethodRunner::ChildVariables() const {
  std::map<std::string, std::string> variables = LockHolderVariables(context_);
  if (!request_.traceparent.empty()) variables["TRACEPARENT"] = request_.traceparent;
  if (!request_.tracestate.empty()) variables["TRACESTATE"] = request_.tracestate;
  return variables;
}

void MethodRunner::RefuseEarly(Attempt& attempt, const RunHost& host) {
  if (method_->mutates() && HasSensitiveOutputs(*type_) && !attempt.vaults->HasUserVault()) {
    throw UserError("vault_required",
                    fmt::format("{} of {} writes secrets, and there is no vault to put them into", method_->name, type_->name),
                    "swamp vault create local_encryption <name>");
  }
  const auto kind = method_->kind();
  if (kind == MethodKind::kRead || kind == MethodKind::kUpdate) host.RequireLiveResources();
}

std::filesystem::path CancelNote(const RunFiles& files, const std::string& output_id) {
  return files.PathOf("outputs") / ".cancel" / output_id;
}

std::vector<RunResult> RunMethod(const Context& context, const RunServices& services, const RunRequest& request,
                                 const RunObserver& observer) {
  return MethodRunner(context, services, request, observer).Run();
}

}  // namespace swamp

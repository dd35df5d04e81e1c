#pragma once

// The parts of one command's runs, for the files run*.cc: run.h is what others use.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/ephemeral.h"
#include "data/version_store.h"
#include "model/evaluate.h"
#include "model/evaluated_definitions.h"
#include "model/run.h"
#include "model/run_direct.h"
#include "model/run_host.h"
#include "model/run_log.h"
#include "util/executor.h"
#include "util/json_schema.h"
#include "vault/secrets.h"

namespace swamp {

inline constexpr const char* kRunInitiator = "ghost";  // nobody is signed in

// Of the schema of arguments: one that names no properties takes any.
inline bool IsOpenMap(const Json& schema) { return !schema.is_object() || !schema.contains("properties"); }
bool DeclaresArgument(const Json& schema, const std::string& key);
std::vector<std::string> ArgumentsOf(const Json& schema);

// One command's runs of one model's method.
class MethodRunner {
 public:
  MethodRunner(const Context& context, const RunServices& services, const RunRequest& request, const RunObserver& observer)
      : context_(context),
        calm_(context.WithCancellation(unhurried_)),
        services_(services),
        request_(request),
        observer_(observer),
        definitions_(calm_, services.config, &services.datastore),
        files_(calm_, services.repo, services.datastore),
        evaluated_copies_(services.datastore),
        ephemeral_(EphemeralBudget(context)) {}

  std::vector<RunResult> Run();

 private:
  const Definition& definition() const { return model_.stored.definition; }
  std::string Model() const { return definition().type + "/" + definition().id; }
  void Warn(const std::string& message) const { context_.log().Warn("model·run", message); }
  void Step(std::string_view word, const std::string& text) const {
    if (observer_.step) observer_.step(definition().name, word, text);
  }
  void Tell(std::string_view kind, Json event = Json::object()) const {
    if (!observer_.event) return;
    Json whole = {{"kind", kind}};
    whole.update(event);
    observer_.event(whole);
  }

  // ---- what is to be run: run_resolve.cc ----

  void Resolve();

  // The type of a direct run; null: a definition is named.
  const ModelType* DirectType();

  // ---- one run: run.cc ----

  struct Attempt {
    Redactor redactor;
    std::unique_ptr<SecretTokens> tokens;
    std::unique_ptr<SecretReader> vaults;
    ExpressionHost host;
    EvaluatedDefinition evaluated;
    Json overrides = Json::object();    // given for this run; live
    Json overridden = Json::object();   // the same as text
    std::vector<Unresolved> unresolved;
    Json global_arguments = Json::object();
    Json arguments = Json::object();
    OutputRecord record;
    RunResult result;
    std::unique_ptr<RunLog> log;
    std::vector<RunHost::Written> written;
    std::vector<DataRecord> report_files;
    Time started{};  // names the record
    Duration begun{};
  };
  RunResult RunOne(const Json& inputs);

  // ---- inputs and expressions: run_inputs.cc ----

  // Steps up to the record: nothing is written but the evaluated copy.
  void Prepare(Attempt& attempt, const Json& inputs);
  void SplitInputs(Attempt& attempt, const Json& inputs, EvaluationScope& scope);
  void UseLastEvaluated(Attempt& attempt, ModelEvaluator& evaluator, const EvaluationScope& scope);

  // Expressions in what the user typed on the command line are meant as such; text from files and pipes is data.
  void EvaluateTyped(Attempt& attempt, ModelEvaluator& evaluator, const EvaluationScope& scope);
  std::string PlaceOf(const std::string& argument) const;
  void WarnOfEnvironment(Attempt& attempt);

  // ---- the record and the method: run.cc ----

  void Begin(Attempt& attempt);
  std::unique_ptr<BackgroundTask> StartHeartbeat(const Attempt& attempt);

  void Execute(Attempt& attempt);
  void RefuseRepeatedNames(RunHost& host) const;
  std::map<std::string, std::string> ChildVariables() const;

  // ---- arguments and checks: run_arguments.cc, run_checks.cc ----

  // Every problem at once: of the global arguments, then of the method's.
  void PrepareArguments(Attempt& attempt);

  // Takes out the arguments whose expressions failed, and says why they did.
  std::vector<std::string> TakeUnresolved(const Attempt& attempt, Json& arguments) const;
  static Json Coerced(const Json& schema, Json value);
  Json GlobalArguments(Attempt& attempt, std::vector<std::string>& problems);

  // Coerced and checked with the secrets in place; answered with their tokens, as far as the value is a text.
  Json Fit(Attempt& attempt, const Json& schema, Json value, const std::string& place, SchemaCheck check,
           std::vector<std::string>& problems);
  void RunChecks(Attempt& attempt);
  bool IsSkippedByFlag(const CheckSpec& check) const;
  void RefuseEarly(Attempt& attempt, const RunHost& host);

  // ---- the end: run_finish.cc ----

  std::string WhyCancelled(const Attempt& attempt) const;
  void Finish(Attempt& attempt, const std::optional<UserError>& failure, int signal);
  void WriteRecord(Attempt& attempt);

  // ---- reports: run_reports.cc ----

  // After the method, whether it has succeeded or failed; the record stays as it is.
  void MakeReports(Attempt& attempt, const std::optional<UserError>& failure);
  ReportContext ReportContextOf(const Attempt& attempt, const std::optional<UserError>& failure) const;
  RunReport MakeReport(Attempt& attempt, const ChosenReport& chosen, ReportScope scope, const ReportContext& context);
  // Throws what the version store does.
  void StoreReport(Attempt& attempt, const RunReport& report);

  // autoGc of .swamp.yaml: old versions, and data whose time is over, go after the run. Failures only warn.
  bool CollectsAfterRuns() const;
  void Collect() const;

  void Publish(Attempt& attempt, const std::optional<UserError>& failure);

  // Each deals with some of the conflicts and takes them out. False: there were none for it.
  // A peer that ran the model in the same millisecond (a lock had changed hands) has the record's name: this run takes
  // another one.
  bool MoveRecord(Attempt& attempt, std::vector<PushConflict>& conflicts);
  // Versions whose numbers peers were faster to take get the next free ones.
  bool Renumber(Attempt& attempt, std::vector<PushConflict>& conflicts);
  // What was written here at the path, and gave way to a peer's version.
  std::optional<std::string> TakeLost(std::vector<PushConflict>& conflicts, const std::string& path) const;
  std::uint64_t HighestInBucket(const DataKey& key);

  [[noreturn]] void ThrowUnpublished(const Attempt& attempt, const UserError& cause,
                                     const std::optional<UserError>& failure) const;

  Context context_;
  Cancellation unhurried_;
  Context calm_;  // goes on while the command is being interrupted
  RunServices services_;
  const RunRequest& request_;
  const RunObserver& observer_;
  Definitions definitions_;
  RunFiles files_;
  EvaluatedDefinitions evaluated_copies_;
  EphemeralData ephemeral_;
  std::unique_ptr<VersionStore> store_;
  const ModelType* type_ = nullptr;
  const MethodSpec* method_ = nullptr;
  DirectModel model_;
  bool direct_ = false;
};

}  // namespace swamp

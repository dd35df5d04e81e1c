#include "model/run.h"

#include <fmt/format.h>

#include <set>

#include "data/version_store.h"
#include "model/control_plane_types.h"
#include "model/definition_upgrade.h"
#include "model/evaluate.h"
#include "model/evaluated_definitions.h"
#include "model/inputs.h"
#include "model/run_direct.h"
#include "model/run_host.h"
#include "model/run_log.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/executor.h"
#include "util/json_schema.h"
#include "util/random.h"
#include "util/text.h"
#include "vault/secrets.h"

namespace swamp {
namespace {

constexpr const char* kInitiator = "ghost";  // nobody is signed in
constexpr int kMaxRenumbering = 100;

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

bool IsOpenMap(const Json& schema) { return !schema.is_object() || !schema.contains("properties"); }

bool Declares(const Json& schema, const std::string& key) {
  return schema.is_object() && schema.contains("properties") && schema["properties"].contains(key);
}

std::vector<std::string> PropertiesOf(const Json& schema) {
  std::vector<std::string> names;
  if (IsOpenMap(schema)) return names;
  for (const auto& [name, property] : schema["properties"].items()) names.push_back(name);
  return names;
}

bool NamesASecret(const std::string& variable) {
  for (const char* word : {"SECRET", "TOKEN", "PASSWORD", "PRIVATE_KEY"}) {
    if (ContainsIgnoringCase(variable, word)) return true;
  }
  return false;
}

void AddAll(Redactor& redactor, const Json& value) {
  if (value.is_string()) {
    redactor.Add(value.get_ref<const std::string&>());
  } else if (value.is_structured()) {
    for (const Json& one : value) AddAll(redactor, one);
  } else if (!value.is_null() && !value.is_boolean()) {
    redactor.Add(CompactJson(value));
  }
}

// Arguments that a schema marks as sensitive are secrets, wherever they come from.
void RegisterSensitive(Redactor& redactor, const Json& schema, const Json& arguments) {
  for (const std::vector<std::string>& path : SensitivePaths(schema)) {
    const Json* value = &arguments;
    for (const std::string& part : path) {
      value = value->is_object() && value->contains(part) ? &(*value)[part] : nullptr;
      if (value == nullptr) break;
    }
    if (value != nullptr) AddAll(redactor, *value);
  }
}

// One command's runs of one model's method.
class Runner {
 public:
  Runner(const Context& context, const RunServices& services, const RunRequest& request, const RunObserver& observer)
      : context_(context),
        calm_(context.WithCancellation(unhurried_)),
        services_(services),
        request_(request),
        observer_(observer),
        definitions_(calm_, services.config, &services.datastore),
        files_(calm_, services.repo, services.datastore),
        evaluated_copies_(services.datastore) {}

  std::vector<RunResult> Run() {
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
      } catch (RunFailed& failed) {
        failed.earlier = std::move(results);
        lock->Release(calm_);
        throw;
      }
    }
    lock->Release(calm_);
    return results;
  }

 private:
  const Definition& definition() const { return model_.stored.definition; }
  std::string Model() const { return definition().type + "/" + definition().id; }
  void Warn(const std::string& message) const { context_.log().Warn("model·run", message); }
  void Step(std::string_view word, const std::string& text) const {
    if (observer_.step) observer_.step(definition().name, word, text);
  }

  // ---- what is to be run ----

  void Resolve() {
    // Not where it is the name of a model of people's own.
    if (request_.definition || !definitions_.Find(request_.model_or_type)) RefuseControlPlaneType(request_.model_or_type, "run");
    const bool synced = services_.datastore.synced();
    if (synced && services_.config.managed()) services_.config.Refresh(context_);
    if (const ModelType* type = DirectType()) {
      type_ = type;
      method_ = &type->RequireMethod(request_.method);
      if (!request_.definition) {
        throw UserError("usage", fmt::format("running {} of {} directly needs a name for the model", method_->name, type->name),
                        fmt::format("swamp model method run @{} {} <name> ...", type->name, method_->name));
      }
      if (synced) services_.datastore.PullFolder(context_, std::string(kAutoDefinitionsFolder));
      const RoutedInputs routed = RouteInputs(*type_, *method_, request_.input_sets.front());
      direct_ = true;
      model_ = FindOrCreateDirect(context_, services_.datastore, definitions_, files_, *type_, *request_.definition, routed.global);
      if (model_.for_this_run) {
        Warn(fmt::format("the given global arguments hold for this run only: {} is not changed",
                         definitions_.Locate(model_.stored).string()));
      }
    } else {
      auto found = definitions_.Find(request_.model_or_type);
      if (!found && synced) {
        services_.datastore.PullFolder(context_, std::string(kAutoDefinitionsFolder));
        found = definitions_.Find(request_.model_or_type);
      }
      model_.stored = found ? std::move(*found) : definitions_.Require(request_.model_or_type);
      RefuseControlPlaneType(definition().type, "run");
      type_ = &services_.types.Require(definition().type);
      method_ = &type_->RequireMethod(request_.method);
    }
    if (!method_->execute) {
      throw UserError("unknown_method", fmt::format("{} of {} cannot be run by this program", method_->name, type_->name));
    }
    Step("Resolved", fmt::format("{} ({})", definition().name, definition().type));
  }

  // The type of a direct run; null: a definition is named.
  const ModelType* DirectType() {
    const std::string& word = request_.model_or_type;
    const bool at = word.starts_with('@');
    if (!request_.definition && !at) {
      // A bare type, and no definition of that name.
      if (word.find('/') == std::string::npos || definitions_.Find(word)) return nullptr;
      return services_.types.Find(NormalizeTypeName(word));
    }
    if (!request_.definition && definitions_.Find(word)) return nullptr;  // a scoped name
    if (const ModelType* type = services_.types.Find(NormalizeTypeName(word))) return type;
    if (!at) return &services_.types.Require(word);
    const std::string bare = word.substr(1);
    if (const ModelType* type = bare.empty() ? nullptr : services_.types.Find(NormalizeTypeName(bare))) return type;
    return &services_.types.Require(word);
  }

  // ---- one run ----

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
    Duration begun{};
  };

  RunResult RunOne(const Json& inputs) {
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

  // Steps up to the record: nothing is written but the evaluated copy.
  void Prepare(Attempt& attempt, const Json& inputs) {
    attempt.tokens = std::make_unique<SecretTokens>(context_.random());
    attempt.vaults = std::make_unique<SecretReader>(calm_, services_.config, services_.repo, attempt.redactor);
    attempt.host = services_.expressions;
    const std::string caller = fmt::format("model:{}/{}", definition().name, method_->name);
    attempt.host.vault_get = [vaults = attempt.vaults.get(), caller](const std::string& vault, const std::string& key) {
      return vaults->Read(vault, key, caller);
    };
    EvaluationScope scope;
    SplitInputs(attempt, inputs, scope);
    ModelEvaluator evaluator(definitions_, attempt.host, attempt.tokens.get());
    MethodToRun to_run{method_->name};
    for (const auto& [key, value] : attempt.overridden.items()) to_run.replaced.insert(key);
    if (request_.last_evaluated) {
      UseLastEvaluated(attempt, evaluator, scope);
    } else {
      attempt.evaluated = evaluator.Evaluate(definition(), scope, to_run);
      const Definition& stored = attempt.evaluated.stored;
      // Mostly it is as the last run has left it.
      if (files_.Read(EvaluatedDefinitions::TierPathOf(stored)) != stored.ToYaml()) evaluated_copies_.Write(calm_, stored);
    }
    attempt.unresolved = attempt.evaluated.unresolved;
    EvaluateTyped(attempt, evaluator, scope);
    for (const std::string& place : attempt.evaluated.literal_places) {
      Warn(fmt::format("{} has the form of an expression but came in as data: it stays as it is", place));
    }
    WarnOfEnvironment(attempt);
  }

  void SplitInputs(Attempt& attempt, const Json& inputs, EvaluationScope& scope) {
    const Json given = direct_ ? RouteInputs(*type_, *method_, inputs).method : inputs;
    Json declared = Json::object();
    const InputsSchema schema(definition().other.contains("inputs") ? definition().other["inputs"] : Json());
    std::vector<std::string> unknown;
    for (const auto& [key, value] : given.items()) {
      if (schema.Declares(key)) {
        declared[key] = value;
      } else if (Declares(method_->arguments, key) || IsOpenMap(method_->arguments)) {
        attempt.overridden[key] = value;
      } else {
        unknown.push_back(Printable(key, 60));
      }
    }
    if (!unknown.empty()) {
      std::vector<std::string> valid = PropertiesOf(method_->arguments);
      for (const auto& [name, property] : schema.properties().items()) valid.push_back(name);
      throw UserError("validation_failed",
                      fmt::format("{} {} no input of {} and no argument of {}", Join(unknown, ", "),
                                  unknown.size() == 1 ? "is" : "are", definition().name, method_->name),
                      fmt::format("Valid: {}.", Join(valid, ", ")));
    }
    // MW-09: only what this method's arguments read is demanded.
    const std::set<std::string> demanded = InputsReadBy(definition(), method_->name);
    scope.inputs = schema.Apply(std::move(declared), &demanded);
  }

  void UseLastEvaluated(Attempt& attempt, ModelEvaluator& evaluator, const EvaluationScope& scope) {
    auto stored = evaluated_copies_.Read(calm_, definition());
    if (!stored) {
      throw UserError("no_evaluated_definition", fmt::format("{} has never been evaluated", definition().name),
                      fmt::format("Run it without --last-evaluated, or: swamp model evaluate {}.", definition().name));
    }
    const auto expressions = evaluator.EvaluatorFor(&definition(), scope);
    const auto resolve = [&](const Json& tree, const std::string& place, const Json& source) {
      EvaluatedTree live = expressions->EvaluateStored(tree, place, source);
      attempt.evaluated.unresolved.insert(attempt.evaluated.unresolved.end(), live.unresolved.begin(), live.unresolved.end());
      return live.live;
    };
    const Json source = {{"globalArguments", definition().global_arguments}, {"methods", definition().methods}};
    attempt.evaluated.global_arguments = resolve(stored->global_arguments, "globalArguments", source);
    attempt.evaluated.arguments =
        resolve(stored->ArgumentsOf(method_->name), fmt::format("methods.{}.arguments", method_->name), source);
    attempt.evaluated.stored = std::move(*stored);
  }

  // Expressions in what the user typed on the command line are meant as such; text from files and pipes is data.
  void EvaluateTyped(Attempt& attempt, ModelEvaluator& evaluator, const EvaluationScope& scope) {
    const auto expressions = evaluator.EvaluatorFor(&definition(), scope);
    for (const auto& [key, value] : attempt.overridden.items()) {
      const bool typed = request_.typed_inputs.contains(key) && request_.typed_inputs[key] == value;
      const std::string place = PlaceOf(key);
      std::erase_if(attempt.unresolved, [&](const Unresolved& one) { return one.place.starts_with(place); });
      if (!typed || !HasExpressions(value)) {
        if (HasExpressions(value)) attempt.evaluated.literal_places.push_back(key);
        attempt.overrides[key] = value;
        continue;
      }
      EvaluatedTree tree = expressions->EvaluateTree(value, place, EvaluationPass::kRun);
      attempt.unresolved.insert(attempt.unresolved.end(), tree.unresolved.begin(), tree.unresolved.end());
      for (const EnvUse& use : FindEnvUses(value, place)) attempt.evaluated.env_uses.push_back(use);
      attempt.overrides[key] = tree.live;
    }
  }

  std::string PlaceOf(const std::string& argument) const {
    return fmt::format("methods.{}.arguments.{}", method_->name, argument);
  }

  void WarnOfEnvironment(Attempt& attempt) {
    std::set<std::string> names;
    for (const EnvUse& use : attempt.evaluated.env_uses) {
      names.insert(use.name);
      if (!NamesASecret(use.name)) continue;
      if (const auto value = context_.environment().Get(use.name)) attempt.redactor.Add(*value);
    }
    if (names.empty()) return;
    Warn(fmt::format("{} uses the environment ({}): its values are no secrets here and may be stored with the data",
                     definition().name, fmt::join(names, ", ")));
  }

  // ---- the record ----

  void Begin(Attempt& attempt) {
    attempt.begun = context_.clock().Elapsed();
    OutputRecord& record = attempt.record;
    record.id = context_.random().Uuid();
    record.definition_id = definition().id;
    record.type = type_->name;
    record.method = method_->name;
    record.provenance = {{"definitionHash", HashOf(definition())},
                         {"modelVersion", type_->version},
                         {"triggeredBy", "manual"},
                         {"initiatedBy", kInitiator}};
    record.pid = context_.environment().ProcessId();
    record.host = context_.environment().HostName();
    Time started = context_.clock().Now();
    for (;; started += Duration(1)) {  // somebody without a lock may have begun in the same millisecond
      record.started_at = FormatTime(started);
      const std::string path = record.TierPath();
      record.log_file = RunFiles::NameInRecords(path.substr(0, path.size() - 5) + ".log");
      if (files_.Create(path, record.ToYaml())) break;
    }
    const std::string path = record.TierPath();
    attempt.log = std::make_unique<RunLog>(files_, path.substr(0, path.size() - 5) + ".log", attempt.redactor);
    attempt.log->Add(LogLevel::kInfo, "model·run",
                     fmt::format("{} of {} ({})", method_->name, definition().name, type_->name));
    RunResult& result = attempt.result;
    result.model_id = definition().id;
    result.model_name = definition().name;
    result.model_type = type_->name;
    result.method = method_->name;
    result.output_id = record.id;
    result.log_file = files_.PathOf(attempt.log->tier_path());
    result.initiated_by = kInitiator;
    if (model_.created) result.auto_created = definitions_.Locate(model_.stored);
    result.global_arguments_updated = model_.updated;
    Step("Executing", method_->name);
  }

  std::unique_ptr<BackgroundTask> StartHeartbeat(const Attempt& attempt) {
    const std::filesystem::path path = files_.PathOf(attempt.record.TierPath());
    return context_.executor().Start(calm_, [path](const Context& task) {
      for (;;) {
        task.clock().Sleep(task, kHeartbeat);
        task.files().SetMtime(path, std::chrono::nanoseconds(task.clock().Now().time_since_epoch()).count());
      }
    });
  }

  // ---- the method ----

  void Execute(Attempt& attempt) {
    PrepareArguments(attempt);
    RunChecks(attempt);
    const Context limited = request_.timeout ? context_.WithTimeout(*request_.timeout) : context_;
    RunHost host({.context = limited,
                  .store = *store_,
                  .log = *attempt.log,
                  .tokens = *attempt.tokens,
                  .vaults = *attempt.vaults,
                  .redactor = attempt.redactor,
                  .type = *type_,
                  .definition = definition(),
                  .method = method_->name,
                  .initiated_by = kInitiator,
                  .tags = request_.tags,
                  .child_variables = ChildVariables(),
                  .observer = observer_});
    RefuseEarly(attempt, host);
    try {
      method_->execute({attempt.global_arguments, attempt.arguments, host});
      if (method_->kind() == MethodKind::kDelete) host.WriteTombstones();
    } catch (...) {
      attempt.written = std::move(host.written());  // data is durable as it is written
      throw;
    }
    attempt.written = std::move(host.written());
    std::set<std::string> names;
    for (const RunHost::Written& one : attempt.written) {
      if (!names.insert(one.artifact.name).second) {
        throw UserError("method_execution_failed", fmt::format("{} wrote the data {} twice", method_->name, one.artifact.name));
      }
    }
  }

  std::map<std::string, std::string> ChildVariables() const {
    std::map<std::string, std::string> variables = LockHolderVariables(context_);
    if (!request_.traceparent.empty()) variables["TRACEPARENT"] = request_.traceparent;
    if (!request_.tracestate.empty()) variables["TRACESTATE"] = request_.tracestate;
    return variables;
  }

  // Every problem at once: of the global arguments, then of the method's.
  void PrepareArguments(Attempt& attempt) {
    std::vector<std::string> problems;
    attempt.global_arguments = GlobalArguments(attempt, problems);
    Json arguments = Json::object();
    if (!IsOpenMap(method_->arguments)) {
      for (const auto& [key, value] : attempt.global_arguments.items()) {
        if (Declares(method_->arguments, key)) arguments[key] = value;
      }
    }
    for (const auto& [key, value] : attempt.evaluated.arguments.items()) arguments[key] = value;
    for (const auto& [key, value] : attempt.overrides.items()) arguments[key] = value;
    const std::vector<std::string> unresolved = TakeUnresolved(attempt, arguments);
    // An argument that an expression failed to give is not missing as well.
    attempt.arguments = Fit(attempt, method_->arguments, std::move(arguments), "", {.allow_missing = !unresolved.empty()}, problems);
    if (!unresolved.empty() && problems.empty()) throw UserError("expression_failed", Join(unresolved, "; "));
    problems.insert(problems.end(), unresolved.begin(), unresolved.end());
    RegisterSensitive(attempt.redactor, method_->arguments, attempt.tokens->Reveal(attempt.arguments));
    if (!problems.empty()) {
      throw UserError("validation_failed",
                      fmt::format("the arguments do not fit {} of {}: {}", method_->name, type_->name, Join(problems, "; ")));
    }
    Json shown = attempt.evaluated.stored.ArgumentsOf(method_->name);
    for (const auto& [key, value] : attempt.overridden.items()) shown[key] = value;
    attempt.result.method_arguments = attempt.redactor.Redact(Coerced(method_->arguments, std::move(shown)));
    attempt.result.global_arguments = attempt.redactor.Redact(attempt.evaluated.stored.global_arguments);
  }

  // Takes out the arguments whose expressions failed, and says why they did.
  std::vector<std::string> TakeUnresolved(const Attempt& attempt, Json& arguments) const {
    std::vector<std::string> messages;
    const auto tell = [&](const std::string& place) {
      const Unresolved* unresolved = FindUnresolved(attempt.unresolved, place);
      if (unresolved != nullptr) messages.push_back(UnresolvedError(*unresolved).message());
      return unresolved != nullptr;
    };
    std::vector<std::string> given;
    for (const auto& [key, value] : arguments.items()) given.push_back(key);
    for (const std::string& key : given) {
      if (tell(PlaceOf(key))) arguments.erase(key);
    }
    // A global argument that failed would have filled the method's own of that name.
    for (const std::string& key : PropertiesOf(method_->arguments)) {
      if (std::find(given.begin(), given.end(), key) == given.end()) tell("globalArguments." + key);
    }
    return messages;
  }

  static Json Coerced(const Json& schema, Json value) {
    return IsOpenMap(schema) ? value : CoerceBySchema(schema, std::move(value));
  }

  Json GlobalArguments(Attempt& attempt, std::vector<std::string>& problems) {
    Json live = attempt.evaluated.global_arguments.is_object() ? attempt.evaluated.global_arguments : Json::object();
    const UpgradePlan plan = PlanUpgrade(*type_, definition());
    if (plan.warning) Warn(*plan.warning);
    if (!plan.steps.empty()) {
      live = UpgradeArguments(plan, std::move(live));
      SaveUpgraded(calm_, services_.config, *type_, model_.stored, plan);
    }
    if (type_->global_arguments.is_null()) {
      for (const auto& [key, value] : live.items()) {
        problems.push_back(fmt::format("globalArguments.{} is not known: {} takes no global arguments", Printable(key, 60), type_->name));
      }
      return Json::object();
    }
    for (const Unresolved& one : attempt.unresolved) {
      for (const std::string& key : PropertiesOf(type_->global_arguments)) {
        if (FindUnresolved({one}, "globalArguments." + key) != nullptr) live.erase(key);
      }
    }
    Json fitted = Fit(attempt, type_->global_arguments, std::move(live), "globalArguments", {.allow_missing = true}, problems);
    RegisterSensitive(attempt.redactor, type_->global_arguments, attempt.tokens->Reveal(fitted));
    return fitted;
  }

  // Coerced and checked with the secrets in place; answered with their tokens, as far as the value is a text.
  Json Fit(Attempt& attempt, const Json& schema, Json value, const std::string& place, SchemaCheck check,
           std::vector<std::string>& problems) {
    if (IsOpenMap(schema)) return value;
    const Json revealed = CoerceBySchema(schema, attempt.tokens->Reveal(value));
    for (std::string& problem : CheckSchema(schema, revealed, place, check)) {
      problems.push_back(std::move(problem));
    }
    Json fitted = Json::object();
    for (const auto& [key, one] : revealed.items()) {
      fitted[key] = attempt.tokens->AnyIn(value[key]) && !one.is_number() && !one.is_boolean() ? value[key] : one;
    }
    return fitted;
  }

  void RunChecks(Attempt& attempt) {
    if (!method_->mutates()) return;
    std::set<std::string> required;
    std::set<std::string> skipped;
    if (definition().other.contains("checks") && definition().other["checks"].is_object()) {
      const Json& selection = definition().other["checks"];
      for (const auto& [key, names] : std::initializer_list<std::pair<const char*, std::set<std::string>*>>{
               {"require", &required}, {"skip", &skipped}}) {
        if (!selection.contains(key) || !selection[key].is_array()) continue;
        for (const Json& name : selection[key]) {
          if (name.is_string()) names->insert(name.get<std::string>());
        }
      }
    }
    const Json arguments = attempt.tokens->Reveal(attempt.global_arguments);
    std::vector<std::string> failures;
    for (const CheckSpec& check : type_->checks) {
      if (skipped.contains(check.name) || !check.AppliesTo(method_->name)) continue;
      if (!required.contains(check.name) && IsSkippedByFlag(check)) continue;
      try {
        const std::vector<std::string> problems = check.run(arguments);
        if (!problems.empty()) failures.push_back(fmt::format("{}: {}", check.name, Join(problems, ", ")));
      } catch (const Cancelled&) {
        throw;
      } catch (const std::exception& error) {
        failures.push_back(fmt::format("{}: {}", check.name, error.what()));
      }
    }
    if (!failures.empty()) throw UserError("check_failed", Join(failures, "; "));
  }

  bool IsSkippedByFlag(const CheckSpec& check) const {
    if (request_.skip_checks) return true;
    const auto holds = [](const std::vector<std::string>& list, const std::string& name) {
      return std::find(list.begin(), list.end(), name) != list.end();
    };
    return holds(request_.skipped_checks, check.name) ||
           std::any_of(check.labels.begin(), check.labels.end(),
                       [&](const std::string& label) { return holds(request_.skipped_check_labels, label); });
  }

  void RefuseEarly(Attempt& attempt, const RunHost& host) {
    if (method_->mutates() && HasSensitiveOutputs(*type_) && !attempt.vaults->HasUserVault()) {
      throw UserError("vault_required",
                      fmt::format("{} of {} writes secrets, and there is no vault to put them into", method_->name, type_->name),
                      "swamp vault create local_encryption <name>");
    }
    const auto kind = method_->kind();
    if (kind == MethodKind::kRead || kind == MethodKind::kUpdate) host.RequireLiveResources();
  }

  // ---- the end ----

  std::string WhyCancelled(const Attempt& attempt) const {
    const std::filesystem::path note = CancelNote(files_, attempt.record.id);
    const auto reason = ReadFile(context_.files(), note);
    if (!reason) return "cancelled";
    context_.files().Remove(note);
    return Trim(*reason).empty() ? std::string("cancelled") : fmt::format("cancelled: {}", Printable(Trim(*reason), 400));
  }

  void Finish(Attempt& attempt, const std::optional<UserError>& failure, int signal) {
    OutputRecord& record = attempt.record;
    const Duration took = context_.clock().Elapsed() - attempt.begun;
    record.status = !failure ? "succeeded" : signal != 0 ? "cancelled" : "failed";
    record.completed_at = FormatTime(context_.clock().Now());
    record.duration_ms = took.count();
    if (failure) {
      record.error_message = failure->message();
      record.error_code = failure->code();
      attempt.log->Add(LogLevel::kError, "model·run", failure->message());
    }
    attempt.log->Add(LogLevel::kInfo, "model·run", fmt::format("{} after {}", record.status, DescribeDuration(took)));
    attempt.log->Finish();
    WriteRecord(attempt);
    attempt.result.status = record.status;
    attempt.result.duration = took;
    Publish(attempt, failure);
    for (RunHost::Written& one : attempt.written) attempt.result.artifacts.push_back(std::move(one.artifact));
    Step(!failure ? "Completed" : signal != 0 ? "Cancelled" : "Failed", fmt::format("{} in {}", method_->name, DescribeDuration(took)));
  }

  void WriteRecord(Attempt& attempt) {
    OutputRecord& record = attempt.record;
    record.artifacts.clear();
    for (const RunHost::Written& one : attempt.written) {
      record.artifacts.push_back({one.artifact.id, one.artifact.name, one.artifact.version, one.record.metadata.tags});
    }
    files_.Write(record.TierPath(), record.ToYaml());
  }

  // ---- publishing ----

  void Publish(Attempt& attempt, const std::optional<UserError>& failure) {
    if (!services_.datastore.synced()) return;
    const std::string path = attempt.record.TierPath();
    const std::string of_model = fmt::format("outputs/{}/{}/{}-", type_->name, method_->name, definition().id);
    PushOptions options;
    options.only = {"data/" + Model() + "/", of_model, EvaluatedDefinitions::TierPathOf(definition())};
    if (model_.stored.automatic) options.only.push_back(model_.stored.document.path);
    try {
      for (int round = 0; round < kMaxRenumbering; ++round) {
        const PushReport report = services_.datastore.Push(calm_, options);
        if (!Renumber(attempt, report)) {
          TellConflicts(report);
          return;
        }
        WriteRecord(attempt);
      }
      throw UserError("store_busy", "peers kept taking the numbers of the new data versions");
    } catch (const UserError& error) {
      ThrowUnpublished(attempt, error, failure);
    }
  }

  // Versions whose numbers peers were faster to take get the next free ones. False: there were none.
  bool Renumber(Attempt& attempt, const PushReport& report) {
    bool any = false;
    for (RunHost::Written& one : attempt.written) {
      const bool lost = std::any_of(report.conflicts.begin(), report.conflicts.end(), [&](const PushConflict& conflict) {
        return conflict.kind == PushConflict::Kind::kImmutable &&
               conflict.path.starts_with(one.record.key.VersionFolder(one.record.version()) + "/");
      });
      if (!lost) continue;
      any = true;
      one.record = store_->RenumberAbove(one.record, HighestInBucket(one.record.key));
      one.artifact.version = one.record.version();
      one.artifact.path = store_->PathOf(one.record.RawPath());
    }
    return any;
  }

  std::uint64_t HighestInBucket(const DataKey& key) {
    const std::string folder = key.Folder() + "/";
    std::uint64_t highest = 0;
    for (const ObjectInfo& object : ListAll(calm_, services_.datastore.store(calm_), folder)) {
      const std::string rest = object.key.substr(folder.size());
      const std::string number = rest.substr(0, rest.find('/'));
      if (number.empty() || number.size() > 18 || number.find_first_not_of("0123456789") != std::string::npos) continue;
      highest = std::max<std::uint64_t>(highest, std::stoull(number));
    }
    return highest;
  }

  void TellConflicts(const PushReport& report) const {
    for (const PushConflict& conflict : report.conflicts) Warn(ConflictError(conflict, context_.clock().Now()).message());
  }

  [[noreturn]] void ThrowUnpublished(const Attempt& attempt, const UserError& cause,
                                     const std::optional<UserError>& failure) const {
    RunResult result = attempt.result;
    const std::string what = failure ? fmt::format("{} ({})", attempt.record.status, failure->message()) : attempt.record.status;
    throw RunFailed(UserError("run_unpublished",
                               fmt::format("the run has {}, and is recorded here, but not published: {}", what, cause.message()),
                               fmt::format("{}{}Nothing is lost: `swamp datastore sync` or the next run of {} publishes it.",
                                           cause.hint(), cause.hint().empty() ? "" : " ", definition().name)),
                    std::move(result), 0);
  }

  Context context_;
  Cancellation unhurried_;
  Context calm_;  // goes on while the command is being interrupted
  RunServices services_;
  const RunRequest& request_;
  const RunObserver& observer_;
  Definitions definitions_;
  RunFiles files_;
  EvaluatedDefinitions evaluated_copies_;
  std::unique_ptr<VersionStore> store_;
  const ModelType* type_ = nullptr;
  const MethodSpec* method_ = nullptr;
  DirectModel model_;
  bool direct_ = false;
};

}  // namespace

std::filesystem::path CancelNote(const RunFiles& files, const std::string& output_id) {
  return files.PathOf("outputs") / ".cancel" / output_id;
}

std::vector<RunResult> RunMethod(const Context& context, const RunServices& services, const RunRequest& request,
                                 const RunObserver& observer) {
  return Runner(context, services, request, observer).Run();
}

}  // namespace swamp

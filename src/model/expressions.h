#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "model/expressions_scan.h"
#include "model/expressions_secrets.h"
#include "util/error.h"
#include "util/json.h"

namespace swamp {

namespace cel {
class TimeZones;
}

class LazyMap;
// The value of a variable: there, or made when an expression asks for it.
using LazyValue = std::variant<Json, std::shared_ptr<const LazyMap>>;

enum class EvaluationPass {
  kDefinition,  // vault.get and env stay text
  kRun,         // nothing stays
};

// A map whose entries are made one by one, when an expression asks for them. `Get` may throw; the expression then
// ends with that.
class LazyMap {
 public:
  virtual ~LazyMap() = default;
  // Nothing: there is no such entry. `pass`: that of the expression that asks.
  virtual std::optional<LazyValue> Get(const std::string& key, EvaluationPass pass) const = 0;
  // For expressions that take the map whole. Empty where nobody can: `model`, `env`.
  virtual std::vector<std::string> Keys() const { return {}; }
};

// What expressions may ask of the world. A part that is absent is an error of the expression that uses it.
// Each may throw a UserError, which the expression then fails with. Records are those of the data functions.
struct ExpressionHost {
  // Data names come with their vary values joined on. Nothing: null.
  std::function<std::optional<Json>(const std::string& model, const std::string& name)> data_latest;
  std::function<std::optional<Json>(const std::string& model, const std::string& name, std::int64_t version)> data_version;
  std::function<std::vector<std::int64_t>(const std::string& model, const std::string& name)> data_list_versions;
  std::function<Json(const std::string& model, const std::string& spec)> data_find_by_spec;
  std::function<Json(const std::string& key, const std::string& value)> data_find_by_tag;
  std::function<Json(const std::string& predicate, const std::optional<std::string>& select)> data_query;
  std::function<std::optional<std::string>(const std::string& model, const std::string& spec)> file_contents;
  std::function<Json()> workers_connected;
  // This repository's own namespace; empty: none. In front of a model's name ("infra:web") it changes nothing.
  std::string name_space;
  // model.<m>.resource, .file, .execution by the model's id (or "ns:name", "*:name": not for execution); nothing: none there.
  std::function<std::optional<LazyValue>(const std::string& model_id)> model_resources;
  std::function<std::optional<LazyValue>(const std::string& model_id)> model_files;
  std::function<std::optional<LazyValue>(const std::string& model_id)> model_execution;
  // model.method(name, method, arguments), in guards and asserts.
  std::function<Json(const std::string& model, const std::string& method, const Json& arguments)> model_method;
  std::function<std::optional<std::string>(const std::string& name)> env;
  // The secret. Asked once for each vault and key in the life of a SecretTokens.
  std::function<std::string(const std::string& vault, const std::string& key)> vault_get;

  // For time functions with a zone.
  const cel::TimeZones* zones = nullptr;
};

// What an expression names, before it is evaluated.
struct ExpressionUse {
  std::set<std::string> variables;  // "inputs", "self"
  std::set<std::string> functions;  // "data.latest", "vault.get"
  std::set<std::string> unknown_functions;  // those of them that nobody has
  // With the fields that the text fixes: "inputs.a", "model.web.input".
  std::vector<std::vector<std::string>> paths;

  bool reads_secrets() const { return functions.contains("vault.get"); }
  // Evaluated only when a method runs, and kept as text in what is stored.
  bool at_run_only() const { return reads_secrets() || variables.contains("env"); }
};
// Throws expression_failed for what is no expression.
ExpressionUse FindUse(const std::string& code);

// An expression that stayed as it is.
struct Unresolved {
  enum class Reason {
    kFailed,   // it has no value: an input or data that isn't there
    kInvalid,  // it is no expression
    kCycle,    // its value depends on itself
  };
  std::string place;       // "globalArguments.cfg.hosts[0].name"
  std::string expression;  // with its braces
  std::string message;     // why
  Reason reason = Reason::kFailed;
};
// "Unresolved expression in globalArguments.k: why". `expression_failed`.
UserError UnresolvedError(const Unresolved& unresolved);
// The first that stands at `place` or below it; null: none.
const Unresolved* FindUnresolved(const std::vector<Unresolved>& list, const std::string& place);

struct EvaluatedTree {
  Json stored;  // what may be kept: expressions with vault.get and env are still their text
  Json live;    // what a method gets: with tokens for secrets. Equal to `stored` where these aren't resolved
  bool had_expressions = false;
  bool deferred = false;  // some expression in `live` is text because it is known only at a run, or by `defer`
  std::vector<Unresolved> unresolved;
  // Places where a value that came in as data has the form of an expression. It is never evaluated: worth a warning.
  std::vector<std::string> literal_places;
};

// Evaluates the expressions that an author wrote: each string of a document once, never what an evaluation has put
// there, so that text from data, inputs or a peer's definition stays text whatever it looks like.
// One evaluator is used by one thread.
class ExpressionEvaluator {
 public:
  // `host` and `secrets` outlive it. Without `secrets`, vault.get fails. `variables`: "inputs", "self", "model", "run" ...
  ExpressionEvaluator(const ExpressionHost& host, std::map<std::string, LazyValue> variables, SecretTokens* secrets);
  ~ExpressionEvaluator();

  // The value of one expression, `code` without braces. Throws expression_failed, and what the host throws. Asked for
  // vault.get or env in the definition pass, throws DeferredToRun.
  Json Evaluate(const std::string& code, EvaluationPass pass);

  // Every string below `tree`. An expression that fails stays as it is and is listed.
  // `defer`: expressions that are to stay text, with no fault.
  EvaluatedTree EvaluateTree(const Json& tree, const std::string& place, EvaluationPass pass,
                             const std::function<bool(const ExpressionUse&)>& defer = {});

  // What an evaluated document still has of vault.get and env (--last-evaluated): only calls whose text stands in
  // `source`, the author's document, are resolved.
  EvaluatedTree EvaluateStored(const Json& tree, const std::string& place, const Json& source);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Thrown by a LazyMap, and by an evaluation in the definition pass, for a value that is known only at a run: the
// expression that asked then stays text with no fault.
class DeferredToRun : public UserError {
 public:
  DeferredToRun() : UserError("expression_failed", "the value is known only when a method runs") {}
};

// Thrown by a LazyMap for a value that depends on itself.
class ExpressionCycle : public UserError {
 public:
  explicit ExpressionCycle(const std::vector<std::string>& chain);
  explicit ExpressionCycle(const std::string& message) : UserError("expression_failed", message) {}
};

// How a value stands within a text: null as nothing, lists and maps as JSON, others plain.
std::string TextOfValue(const Json& value);

// `env.X` in the strings of a document.
struct EnvUse {
  std::string place;
  std::string name;
};
std::vector<EnvUse> FindEnvUses(const Json& tree, const std::string& place);

}  // namespace swamp

#include "model/expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cel/analysis.h"
#include "cel/collections.h"
#include "cel/environment.h"
#include "cel/evaluator.h"
#include "cel/expression.h"
#include "cel/json_values.h"
#include "cel/library.h"
#include "model/secret_records.h"
#include "util/text.h"

namespace swamp {
namespace {

// Of a map whose size nobody knows beforehand.
constexpr cel::Extent kGuess{.weight = 64, .depth = 8};

class LazyCelMap;
cel::Value ToCel(const LazyValue& value, EvaluationPass pass, cel::Arena& arena);

// A LazyMap as expressions see it.
class LazyCelMap final : public cel::Map {
 public:
  LazyCelMap(std::shared_ptr<const LazyMap> map, EvaluationPass pass, std::vector<std::string> keys)
      : cel::Map(keys.size(), kGuess), map_(std::move(map)), pass_(pass), keys_(std::move(keys)) {}
  // Made by an arena only, which runs the destructor of what it has made.
  ~LazyCelMap() = default;

  cel::Value Find(const cel::Value& key, cel::Arena& arena) const override {
    return key.is(cel::Kind::kString) ? FindField(key.text(), arena) : cel::Value::Missing();
  }
  cel::Value FindField(std::string_view name, cel::Arena& arena) const override {
    const auto found = map_->Get(std::string(name), pass_);
    return found ? ToCel(*found, pass_, arena) : cel::Value::Missing();
  }
  cel::Value KeyAt(std::size_t index, cel::Arena&) const override { return cel::Value::String(keys_[index]); }
  cel::Value ValueAt(std::size_t index, cel::Arena& arena) const override {
    const auto found = map_->Get(keys_[index], pass_);
    return found ? ToCel(*found, pass_, arena) : cel::Value::Null();
  }

 private:
  std::shared_ptr<const LazyMap> map_;
  EvaluationPass pass_;
  std::vector<std::string> keys_;
};

cel::Value ToCel(const LazyValue& value, EvaluationPass pass, cel::Arena& arena) {
  if (const Json* json = std::get_if<Json>(&value)) return cel::FromJson(*json, arena);
  const auto& map = std::get<std::shared_ptr<const LazyMap>>(value);
  return cel::Value::Of(static_cast<const cel::Map*>(arena.New<LazyCelMap>(map, pass, map->Keys())));
}

// Records of which some have secrets.
class RecordList final : public cel::List {
 public:
  using Show = std::function<cel::Value(const Json& record, cel::Arena& arena)>;
  RecordList(Json records, Show show) : cel::List(records.size(), kGuess), records_(std::move(records)), show_(std::move(show)) {}
  // Made by an arena only, which runs the destructor of what it has made.
  ~RecordList() = default;

 private:
  cel::Value Make(std::size_t index, cel::Arena& arena) const override { return show_(records_[index], arena); }

  Json records_;
  Show show_;
};

UserError NotHere(std::string_view what) {
  return {"expression_failed", fmt::format("{} is not available here", what)};
}

// ---- functions ----

std::string TextOf(const cel::Value& value) {
  const Json json = cel::ToJson(value);
  return json.is_string() ? json.get<std::string>() : json.dump();
}

// The name with the values of `vary` joined on.
std::string DataName(const cel::Call& call, std::size_t vary) {
  std::string name(call[1].text());
  if (call.arguments().size() <= vary || !call[vary].is(cel::Kind::kList)) return name;
  const cel::List& list = call[vary].as_list();
  for (std::size_t i = 0; i < list.size(); ++i) name += "-" + TextOf(list.At(i, call.arena()));
  return name;
}

std::int64_t VersionOf(const cel::Value& value) {
  const Json json = cel::ToJson(value);
  if (!json.is_number_integer()) throw UserError("expression_failed", "a data version is a whole number");
  return json.get<std::int64_t>();
}

// How an evaluation sees records of data: with the secrets that belong to them.
using Present = std::function<cel::Value(const Json& records, cel::Arena& arena)>;

class Functions {
 public:
  Functions(cel::Environment& environment, const ExpressionHost& host, Present present)
      : environment_(environment), host_(host), present_(std::move(present)) {}

  void AddAll() {
    const cel::Type* text = cel::types::String();
    const cel::Type* any = cel::types::Dyn();
    const cel::Type* list = cel::types::List(environment_.arena(), any);
    Add("data.latest", {{text, text}, {text, text, list}}, host_.data_latest, [](const auto& ask, cel::Call& call) {
      return OrNull(ask(std::string(call[0].text()), DataName(call, 2)));
    }, Gives::kRecords);
    Add("data.version", {{text, text, any}, {text, text, list, any}}, host_.data_version,
        [](const auto& ask, cel::Call& call) {
          return OrNull(ask(std::string(call[0].text()), DataName(call, 2), VersionOf(call.arguments().back())));
        },
        Gives::kRecords);
    Add("data.listVersions", {{text, text}, {text, text, list}}, host_.data_list_versions,
        [](const auto& ask, cel::Call& call) { return Json(ask(std::string(call[0].text()), DataName(call, 2))); });
    Add("data.findBySpec", {{text, text}}, host_.data_find_by_spec, AskTwo, Gives::kRecords);
    Add("data.findByTag", {{text, text}}, host_.data_find_by_tag, AskTwo, Gives::kRecords);
    Add("data.query", {{text}}, host_.data_query,
        [](const auto& ask, cel::Call& call) { return ask(std::string(call[0].text()), std::nullopt); }, Gives::kRecords);
    Add("data.query", {{text, text}}, host_.data_query, [](const auto& ask, cel::Call& call) {
      return ask(std::string(call[0].text()), std::string(call[1].text()));
    });
    Add("file.contents", {{text, text}}, host_.file_contents, [](const auto& ask, cel::Call& call) {
      const auto contents = ask(std::string(call[0].text()), std::string(call[1].text()));
      return contents ? Json(*contents) : Json();
    });
    Add("workers.connected", {{}}, host_.workers_connected, [](const auto& ask, cel::Call&) { return ask(); });
    if (host_.model_method) {
      Add("model.method", {{text, text}, {text, text, any}}, host_.model_method, [](const auto& ask, cel::Call& call) {
        return ask(std::string(call[0].text()), std::string(call[1].text()),
                   call.arguments().size() > 2 ? cel::ToJson(call[2]) : Json::object());
      });
    }
  }

 private:
  enum class Gives {
    kValues,   // whose contents are anybody's
    kRecords,  // of data, or a list of them: the program's own
  };
  static Json OrNull(const std::optional<Json>& record) { return record.value_or(Json()); }
  static Json AskTwo(const std::function<Json(const std::string&, const std::string&)>& ask, cel::Call& call) {
    return ask(std::string(call[0].text()), std::string(call[1].text()));
  }

  template <typename Ask, typename Answer>
  void Add(const std::string& name, const std::vector<std::vector<const cel::Type*>>& overloads, const Ask& ask,
           Answer answer, Gives gives = Gives::kValues) {
    for (const auto& parameters : overloads) {
      environment_.AddFunction({.name = name,
                                .parameters = parameters,
                                .result = cel::types::Dyn(),
                                .call = [name, &ask, answer, gives, present = present_](cel::Call& call) {
                                  if (!ask) throw NotHere(name + "()");
                                  const Json value = answer(ask, call);
                                  return gives == Gives::kRecords && present ? present(value, call.arena())
                                                                             : cel::FromJson(value, call.arena());
                                }});
    }
  }

  cel::Environment& environment_;
  const ExpressionHost& host_;
  Present present_;
};

const ExpressionHost& NoHost() {
  static const ExpressionHost host;
  return host;
}

// The language with the functions of `host`.
std::unique_ptr<cel::Environment> MakeEnvironment(const ExpressionHost& host, Present present = {}) {
  auto environment = std::make_unique<cel::Environment>(cel::Mode::kDialect, std::string(), host.zones);
  Functions(*environment, host, std::move(present)).AddAll();
  return environment;
}

ExpressionUse UseOf(const cel::Expression& expression, const PreparedCode& prepared) {
  ExpressionUse use;
  const cel::References references = cel::FindReferences(expression);
  for (const cel::Reference& reference : references.variables) {
    if (reference.variable.starts_with(kVaultVariable)) continue;
    use.variables.emplace(reference.variable);
    std::vector<std::string> path{std::string(reference.variable)};
    for (const std::string_view part : reference.path) path.emplace_back(part);
    use.paths.push_back(std::move(path));
  }
  for (const cel::FunctionReference& function : references.functions) {
    use.functions.emplace(function.name);
    const bool known = function.host || function.name == "model.method" ||
                       !cel::FindBuiltins(function.name, cel::Mode::kDialect).empty();
    if (!known) use.unknown_functions.emplace(function.name);
  }
  if (!prepared.vault_calls.empty()) use.functions.insert("vault.get");
  return use;
}

bool LooksLikeExpression(const Json& value) {
  if (value.is_string()) return !FindExpressions(value.get_ref<const std::string&>()).empty();
  return value.is_structured() && std::any_of(value.begin(), value.end(), LooksLikeExpression);
}

std::string OneLine(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : Split(text, '\n')) {
    if (!Trim(line).empty()) lines.emplace_back(Trim(line));
  }
  return Join(lines, " ");
}

class EnvMap final : public LazyMap {
 public:
  explicit EnvMap(const ExpressionHost& host) : host_(host) {}
  std::optional<LazyValue> Get(const std::string& name, EvaluationPass pass) const override {
    if (pass == EvaluationPass::kDefinition) throw DeferredToRun();
    if (!host_.env) throw NotHere("env");
    const auto value = host_.env(name);
    if (!value) return std::nullopt;
    return LazyValue(Json(*value));
  }

 private:
  const ExpressionHost& host_;
};

}  // namespace

ExpressionUse FindUse(const std::string& code) {
  const PreparedCode prepared = PrepareCode(code);
  const auto environment = MakeEnvironment(NoHost());
  const cel::Expression expression(prepared.text, *environment);
  ExpressionUse use = UseOf(expression, prepared);
  for (const VaultCall& call : prepared.vault_calls) {
    for (const VaultArgument* argument : {&call.vault, &call.key}) {
      if (!argument->dynamic) continue;
      ExpressionUse inner = FindUse(argument->text);
      use.variables.merge(inner.variables);
      use.functions.merge(inner.functions);
      use.unknown_functions.merge(inner.unknown_functions);
      use.paths.insert(use.paths.end(), inner.paths.begin(), inner.paths.end());
    }
  }
  return use;
}

ExpressionCycle::ExpressionCycle(const std::vector<std::string>& chain)
    : UserError("expression_failed", "expressions that depend on each other: " + Join(chain, " -> "),
                "Break the circle: one of them has to have a value of its own.") {}

UserError UnresolvedError(const Unresolved& unresolved) {
  return {"expression_failed",
          fmt::format("Unresolved expression in {}: {}", Printable(unresolved.place, 200), unresolved.message)};
}

const Unresolved* FindUnresolved(const std::vector<Unresolved>& list, const std::string& place) {
  for (const Unresolved& one : list) {
    if (!one.place.starts_with(place)) continue;
    const std::string rest = one.place.substr(place.size());
    if (rest.empty() || rest[0] == '.' || rest[0] == '[') return &one;
  }
  return nullptr;
}

std::string TextOfValue(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_structured()) return value.dump(2, ' ', false, Json::error_handler_t::replace);
  return value.dump();
}

std::vector<EnvUse> FindEnvUses(const Json& tree, const std::string& place) {
  std::vector<EnvUse> uses;
  ForEachExpressionText(tree, place, [&](const std::string& at, const std::string& text) {
    for (const EmbeddedExpression& expression : FindExpressions(text)) {
      try {
        for (const auto& path : FindUse(expression.code).paths) {
          if (path.front() == "env") uses.push_back({at, path.size() > 1 ? path[1] : std::string()});
        }
      } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): what is no expression uses nothing
      }
    }
  });
  return uses;
}

// ---- evaluation ----

class ExpressionEvaluator::Impl {
 public:
  Impl(const ExpressionHost& host, std::map<std::string, LazyValue> variables, SecretTokens* secrets)
      : host_(host), variables_(std::move(variables)), secrets_(secrets) {
    environment_ = MakeEnvironment(host, [this](const Json& records, cel::Arena& arena) { return Show(records, arena); });
    variables_.try_emplace("env", std::make_shared<EnvMap>(host_));
    for (const auto& [name, value] : variables_) environment_->AddVariable(name);
  }

  Json Evaluate(const std::string& code, EvaluationPass pass) {
    const PreparedCode prepared = PrepareCode(code);
    const auto outer = std::exchange(pass_, pass);
    struct Restore {
      EvaluationPass& pass;
      EvaluationPass before;
      ~Restore() { pass = before; }
    } restore{pass_, outer};
    try {
      const cel::Expression expression(prepared.text, *environment_);
      if (pass == EvaluationPass::kDefinition && UseOf(expression, prepared).at_run_only()) throw DeferredToRun();
      cel::Evaluator evaluator(expression);
      return cel::ToJson(evaluator.EvaluateOrThrow(Variables(*this, prepared, pass)));
    } catch (const cel::ExpressionError& error) {
      std::string hint = HyphenHint(code);
      if (prepared.text.find("vault.") != std::string::npos) hint = "A secret is read by vault.get(vault, key).";
      if (hint.empty()) throw;
      throw UserError(error.code(), error.message(), hint);
    }
  }

  struct Request {
    EvaluationPass pass;
    const std::function<bool(const ExpressionUse&)>* defer;
    const std::set<std::string>* only;  // codes that are evaluated at all; null: every one
  };

  void EvaluateBelow(const Json& tree, const std::string& place, const Request& request, EvaluatedTree& result,
                     Json& stored, Json& live) {
    if (tree.is_string()) {
      EvaluateText(tree.get_ref<const std::string&>(), place, request, result, stored, live);
    } else if (tree.is_object()) {
      stored = Json::object();
      live = Json::object();
      for (const auto& [key, member] : tree.items()) {
        EvaluateBelow(member, place.empty() ? key : place + "." + key, request, result, stored[key], live[key]);
      }
    } else if (tree.is_array()) {
      stored = Json::array();
      live = Json::array();
      for (std::size_t i = 0; i < tree.size(); ++i) {
        Json stored_item;
        Json live_item;
        EvaluateBelow(tree[i], fmt::format("{}[{}]", place, i), request, result, stored_item, live_item);
        stored.push_back(std::move(stored_item));
        live.push_back(std::move(live_item));
      }
    } else {
      stored = tree;
      live = tree;
    }
  }

 private:
  // What expressions find under a name.
  class Variables final : public cel::Activation {
   public:
    Variables(Impl& impl, const PreparedCode& prepared, EvaluationPass pass)
        : impl_(impl), prepared_(prepared), pass_(pass) {}
    cel::Value Resolve(const cel::Variable& variable, cel::Arena& arena) const override {
      if (variable.name.starts_with(kVaultVariable)) {
        const std::string_view number = variable.name.substr(kVaultVariable.size());
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
        if (error != std::errc() || index >= prepared_.vault_calls.size()) return cel::Value::Missing();
        return cel::Value::String(arena.Copy(impl_.TokenOf(prepared_.vault_calls[index], pass_)));
      }
      const auto found = impl_.variables_.find(std::string(variable.name));
      return found != impl_.variables_.end() ? ToCel(found->second, pass_, arena) : cel::Value::Missing();
    }
    std::vector<std::string> Names() const override {
      std::vector<std::string> names;
      for (const auto& [name, value] : impl_.variables_) names.push_back(name);
      return names;
    }

   private:
    Impl& impl_;
    const PreparedCode& prepared_;
    EvaluationPass pass_;
  };

  std::string NameOf(const VaultArgument& argument, const char* what) {
    if (!argument.dynamic) return argument.text;
    const Json name = Evaluate(argument.text, EvaluationPass::kRun);
    if (name.is_string() && !name.get_ref<const std::string&>().empty()) return name.get<std::string>();
    throw UserError("expression_failed",
                    fmt::format("the {}, {}, does not come to a text", what, Printable(argument.text, 80)));
  }

  std::string TokenOf(const VaultCall& call, EvaluationPass pass) {
    if (pass == EvaluationPass::kDefinition) throw DeferredToRun();
    try {
      if (secrets_ == nullptr || !host_.vault_get) throw NotHere("vault.get()");
      const std::string vault = NameOf(call.vault, "name of the vault");
      const std::string key = NameOf(call.key, "key");
      if (const SecretTokens::Secret* known = secrets_->Find(vault, key)) return known->token;
      return secrets_->Add(vault, key, host_.vault_get(vault, key)).token;
    } catch (const Cancelled&) {
      throw;
    } catch (const UserError& error) {
      throw UserError(error.code(),
                      fmt::format("Failed to resolve vault expression {}: {}", Printable(call.text, 200),
                                  OneLine(error.message())),
                      error.hint());
    }
  }

  // Records of data, with their secrets for the pass that asks.
  cel::Value Show(const Json& value, cel::Arena& arena) {
    if (value.is_array()) {
      return cel::Value::Of(static_cast<const cel::List*>(arena.New<RecordList>(
          value, [this](const Json& record, cel::Arena& to) { return Show(record, to); })));
    }
    // What another namespace's record calls a secret is in a vault of theirs: here a vault of that name would be another.
    const std::string of = value.is_object() ? StringMember(value, "namespace").value_or("") : "";
    if (!of.empty() && of != host_.name_space) return cel::FromJson(value, arena);
    const auto map = WithSecrets(value, [this](const std::string& reference) {
      const auto expressions = FindExpressions(reference);
      const PreparedCode prepared = PrepareCode(expressions.front().code);
      const bool plain = prepared.vault_calls.size() == 1 && !prepared.vault_calls[0].vault.dynamic &&
                         !prepared.vault_calls[0].key.dynamic && prepared.text == std::string(kVaultVariable) + "0";
      return plain ? Json(TokenOf(prepared.vault_calls[0], EvaluationPass::kRun)) : Json(reference);
    });
    return map != nullptr ? ToCel(LazyValue(map), pass_, arena) : cel::FromJson(value, arena);
  }

  // What became of one expression; nothing: it stays.
  struct Outcome {
    std::optional<Json> stored;
    std::optional<Json> live;
  };

  // The value, or nothing, with the reason in the list unless it was only deferred.
  std::optional<Json> Try(const EmbeddedExpression& expression, const std::string& source, const std::string& place,
                          EvaluationPass pass, EvaluatedTree& result) {
    try {
      return Evaluate(expression.code, pass);
    } catch (const DeferredToRun&) {
      return std::nullopt;
    } catch (const Cancelled&) {
      throw;
    } catch (const IoError&) {
      throw;
    } catch (const ExpressionCycle& error) {
      result.unresolved.push_back({place, source, error.message(), Unresolved::Reason::kCycle});
    } catch (const UserError& error) {
      std::string why = OneLine(error.message());
      if (!error.hint().empty()) why += " " + OneLine(error.hint());
      const auto reason = IsExpression(expression.code) ? Unresolved::Reason::kFailed : Unresolved::Reason::kInvalid;
      result.unresolved.push_back({place, source, std::move(why), reason});
    }
    return std::nullopt;
  }

  bool IsExpression(const std::string& code) const {
    try {
      const cel::Expression expression(PrepareCode(code).text, *environment_);
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

  Outcome EvaluateOne(const EmbeddedExpression& expression, const std::string& source, const std::string& place,
                      const Request& request, EvaluatedTree& result) {
    if (request.only != nullptr && !request.only->contains(expression.code)) {
      result.literal_places.push_back(place);
      return {};
    }
    if (request.defer != nullptr && *request.defer && Defers(*request.defer, expression.code)) {
      result.deferred = true;
      return {};
    }
    const std::size_t faults = result.unresolved.size();
    Outcome outcome;
    outcome.stored = Try(expression, source, place, EvaluationPass::kDefinition, result);
    outcome.live = outcome.stored;
    const bool deferred = !outcome.stored && result.unresolved.size() == faults;
    if (deferred && request.pass == EvaluationPass::kRun) {
      outcome.live = Try(expression, source, place, EvaluationPass::kRun, result);
    } else if (deferred) {
      result.deferred = true;
    }
    if (outcome.live && LooksLikeExpression(*outcome.live)) result.literal_places.push_back(place);
    return outcome;
  }

  static bool Defers(const std::function<bool(const ExpressionUse&)>& defer, const std::string& code) {
    try {
      return defer(FindUse(code));
    } catch (const UserError&) {
      return false;  // its evaluation says why
    }
  }

  void EvaluateText(const std::string& text, const std::string& place, const Request& request, EvaluatedTree& result,
                    Json& stored, Json& live) {
    const std::vector<EmbeddedExpression> expressions = FindExpressions(text);
    if (expressions.empty()) {
      stored = text;
      live = text;
      return;
    }
    result.had_expressions = true;
    const bool whole = IsWholeExpression(text, expressions);
    std::string stored_text;
    std::string live_text;
    std::size_t copied = 0;
    for (const EmbeddedExpression& expression : expressions) {
      const std::string source = text.substr(expression.begin, expression.end - expression.begin);
      Outcome outcome = EvaluateOne(expression, source, place, request, result);
      if (whole) {
        stored = outcome.stored ? std::move(*outcome.stored) : Json(text);
        live = outcome.live ? std::move(*outcome.live) : Json(text);
        return;
      }
      const std::string before = text.substr(copied, expression.begin - copied);
      stored_text += before + (outcome.stored ? TextOfValue(*outcome.stored) : source);
      live_text += before + (outcome.live ? TextOfValue(*outcome.live) : source);
      copied = expression.end;
    }
    stored = stored_text + text.substr(copied);
    live = live_text + text.substr(copied);
  }

  const ExpressionHost& host_;
  std::map<std::string, LazyValue> variables_;
  SecretTokens* secrets_;
  EvaluationPass pass_ = EvaluationPass::kDefinition;  // of the expression that is being evaluated
  std::unique_ptr<cel::Environment> environment_;
};

ExpressionEvaluator::ExpressionEvaluator(const ExpressionHost& host, std::map<std::string, LazyValue> variables,
                                         SecretTokens* secrets)
    : impl_(std::make_unique<Impl>(host, std::move(variables), secrets)) {}
ExpressionEvaluator::~ExpressionEvaluator() = default;

Json ExpressionEvaluator::Evaluate(const std::string& code, EvaluationPass pass) { return impl_->Evaluate(code, pass); }

EvaluatedTree ExpressionEvaluator::EvaluateTree(const Json& tree, const std::string& place, EvaluationPass pass,
                                                const std::function<bool(const ExpressionUse&)>& defer) {
  EvaluatedTree result;
  impl_->EvaluateBelow(tree, place, {pass, &defer, nullptr}, result, result.stored, result.live);
  return result;
}

EvaluatedTree ExpressionEvaluator::EvaluateStored(const Json& tree, const std::string& place, const Json& source) {
  std::set<std::string> written;
  ForEachExpressionText(source, "", [&](const std::string&, const std::string& text) {
    for (const EmbeddedExpression& expression : FindExpressions(text)) written.insert(expression.code);
  });
  EvaluatedTree result;
  impl_->EvaluateBelow(tree, place, {EvaluationPass::kRun, nullptr, &written}, result, result.stored, result.live);
  return result;
}

}  // namespace swamp

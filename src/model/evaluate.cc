#include "model/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/inputs.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kDeepestReference = 200;

std::string PlaceOf(const std::string& field, const std::string& key) { return key.empty() ? field : field + "." + key; }

}  // namespace

Json DefaultInputs(const Definition& definition) {
  const InputsSchema schema(definition.other.contains("inputs") ? definition.other["inputs"] : Json());
  return schema.WithDefaults(Json::object());
}

namespace {

class InputsReader {
 public:
  explicit InputsReader(const Definition& definition) : definition_(definition) {}

  void Read(const Json& value) {
    ForEachExpressionText(value, "", [this](const std::string&, const std::string& text) {
      for (const EmbeddedExpression& expression : FindExpressions(text)) {
        try {
          for (const auto& path : FindUse(expression.code).paths) Follow(path);
        } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): what is no expression reads nothing
        }
      }
    });
  }
  std::set<std::string> names;

 private:
  void Follow(const std::vector<std::string>& path) {
    if (path[0] == "inputs") {
      if (path.size() > 1) {
        names.insert(path[1]);
      } else {
        ReadAll();
      }
    }
    if (path[0] != "self" || (path.size() > 1 && path[1] != "globalArguments")) return;
    for (const auto& [key, value] : definition_.global_arguments.items()) {
      if (path.size() > 2 && path[2] != key) continue;
      if (seen_.insert(key).second) Read(value);
    }
  }
  void ReadAll() {
    const InputsSchema schema(definition_.other.contains("inputs") ? definition_.other["inputs"] : Json());
    for (const auto& [key, property] : schema.properties().items()) names.insert(key);
    for (const std::string& key : schema.required()) names.insert(key);
  }

  const Definition& definition_;
  std::set<std::string> seen_;  // global arguments
};

}  // namespace

std::set<std::string> InputsReadBy(const Definition& definition, const std::string& method) {
  InputsReader reader(definition);
  reader.Read(definition.ArgumentsOf(method));
  return std::move(reader.names);
}

// Shared by the maps that expressions reach through: what was evaluated so far, and what is being evaluated.
class ModelEvaluator::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Definitions& definitions, const ExpressionHost& host, SecretTokens* secrets)
      : definitions_(definitions), host_(host), secrets_(secrets) {}

  // A definition with the scope in which its expressions are evaluated.
  struct Subject {
    std::shared_ptr<const Definition> definition;  // null: nothing but scope.self
    EvaluationScope scope;
  };

  std::unique_ptr<ExpressionEvaluator> EvaluatorFor(const std::shared_ptr<const Subject>& subject) {
    std::map<std::string, LazyValue> variables = subject->scope.variables;
    variables["inputs"] = subject->scope.inputs;
    variables["self"] = std::make_shared<const DefinitionMap>(shared_from_this(), subject, true);
    if (!host_.model_method) variables["model"] = std::make_shared<const ModelsMap>(shared_from_this());
    return std::make_unique<ExpressionEvaluator>(host_, std::move(variables), secrets_);
  }

  // One part of a definition, `value`, which stands at `place` in it. A part that is being evaluated already is a cycle.
  EvaluatedTree EvaluatePart(const std::shared_ptr<const Subject>& subject, const Json& value, const std::string& place,
                             EvaluationPass pass) {
    if (!HasExpressions(value)) return {.stored = value, .live = value};
    const std::string label = subject->definition->name + "." + place;
    const auto begun = std::find(stack_.begin(), stack_.end(), label);
    if (begun != stack_.end() || stack_.size() > kDeepestReference) {
      std::vector<std::string> chain(begun != stack_.end() ? begun : stack_.begin(), stack_.end());
      chain.push_back(label);
      throw ExpressionCycle(chain);
    }
    stack_.push_back(label);
    struct Leave {
      std::vector<std::string>& stack;
      ~Leave() { stack.pop_back(); }
    } leave{stack_};
    return EvaluatorFor(subject)->EvaluateTree(value, place, pass);
  }

 private:
  // What an expression gets that refers to a part of a definition: its value, whole.
  Json ValueOf(const std::shared_ptr<const Subject>& subject, const Json& value, const std::string& place,
               EvaluationPass pass) {
    const std::string key = fmt::format("{}\n{}\n{}", subject->definition->id, place, static_cast<int>(pass));
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    EvaluatedTree tree = EvaluatePart(subject, value, place, pass);
    if (!tree.unresolved.empty()) {
      const Unresolved& first = tree.unresolved.front();
      if (first.reason == Unresolved::Reason::kCycle) throw ExpressionCycle(first.message);
      throw UserError("expression_failed",
                      fmt::format("{} of the model {}: {}", first.place, subject->definition->name, first.message));
    }
    if (tree.deferred) throw DeferredToRun();
    known_[key] = tree.live;
    return std::move(tree.live);
  }

  // `globalArguments` or `tags` of a definition, entry by entry.
  class PartsMap final : public LazyMap {
   public:
    PartsMap(std::shared_ptr<Impl> impl, std::shared_ptr<const Subject> subject, std::string field)
        : impl_(std::move(impl)), subject_(std::move(subject)), field_(std::move(field)) {}
    std::optional<LazyValue> Get(const std::string& key, EvaluationPass pass) const override {
      if (!parts().contains(key)) return std::nullopt;
      return LazyValue(impl_->ValueOf(subject_, parts()[key], PlaceOf(field_, key), pass));
    }
    std::vector<std::string> Keys() const override {
      std::vector<std::string> keys;
      for (const auto& [key, value] : parts().items()) keys.push_back(key);
      return keys;
    }

   private:
    const Json& parts() const {
      return field_ == "tags" ? subject_->definition->tags : subject_->definition->global_arguments;
    }
    std::shared_ptr<Impl> impl_;
    std::shared_ptr<const Subject> subject_;
    std::string field_;
  };

  // A definition as expressions see it; as `self` with what the scope adds.
  class DefinitionMap final : public LazyMap {
   public:
    DefinitionMap(std::shared_ptr<Impl> impl, std::shared_ptr<const Subject> subject, bool self)
        : impl_(std::move(impl)), subject_(std::move(subject)), self_(self) {}
    std::optional<LazyValue> Get(const std::string& key, EvaluationPass) const override {
      if (self_ && subject_->scope.self.contains(key)) return LazyValue(subject_->scope.self[key]);
      const Definition* definition = subject_->definition.get();
      if (definition == nullptr) return std::nullopt;
      if (key == "id") return LazyValue(Json(definition->id));
      if (key == "name") return LazyValue(Json(definition->name));
      if (key == "version") return LazyValue(Json(definition->version));
      if (key == "tags" || key == "globalArguments") {
        return LazyValue(std::make_shared<const PartsMap>(impl_, subject_, key));
      }
      if (key == "inputs" && !self_ && definition->other.contains("inputs")) return LazyValue(definition->other["inputs"]);
      return std::nullopt;
    }
    std::vector<std::string> Keys() const override {
      std::vector<std::string> keys;
      if (subject_->definition != nullptr) keys = {"id", "name", "version", "tags", "globalArguments"};
      if (!self_) return keys;
      for (const auto& [key, value] : subject_->scope.self.items()) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
      }
      return keys;
    }

   private:
    std::shared_ptr<Impl> impl_;
    std::shared_ptr<const Subject> subject_;
    bool self_;
  };

  // model.<name>.
  class ModelMap final : public LazyMap {
   public:
    ModelMap(std::shared_ptr<Impl> impl, std::shared_ptr<const Subject> subject)
        : impl_(std::move(impl)), subject_(std::move(subject)) {}
    std::optional<LazyValue> Get(const std::string& key, EvaluationPass) const override {
      const ExpressionHost& host = impl_->host_;
      if (key == "input" || key == "definition") {
        return LazyValue(std::make_shared<const DefinitionMap>(impl_, subject_, false));
      }
      if (key == "resource") return Ask(host.model_resources, "model.<name>.resource");
      if (key == "file") return Ask(host.model_files, "model.<name>.file");
      if (key == "execution") return Ask(host.model_execution, "model.<name>.execution");
      return std::nullopt;
    }
    std::vector<std::string> Keys() const override { return {"input", "definition"}; }

   private:
    std::optional<LazyValue> Ask(const std::function<std::optional<LazyValue>(const std::string&)>& ask,
                                 const char* what) const {
      if (!ask) throw UserError("expression_failed", fmt::format("{} is not available here", what));
      return ask(subject_->definition->id);
    }
    std::shared_ptr<Impl> impl_;
    std::shared_ptr<const Subject> subject_;
  };

  // model["ns:name"], model["*:name"]: of other namespaces only data is known here.
  class OtherModelMap final : public LazyMap {
   public:
    OtherModelMap(std::shared_ptr<Impl> impl, std::string name) : impl_(std::move(impl)), name_(std::move(name)) {}
    std::optional<LazyValue> Get(const std::string& key, EvaluationPass) const override {
      const ExpressionHost& host = impl_->host_;
      if (key == "resource" && host.model_resources) return host.model_resources(name_);
      if (key == "file" && host.model_files) return host.model_files(name_);
      throw UserError("expression_failed",
                      fmt::format("model[\"{}\"].{} is not available: of a model in another namespace, resource and file are", name_, key));
    }

   private:
    std::shared_ptr<Impl> impl_;
    std::string name_;
  };

  class ModelsMap final : public LazyMap {
   public:
    explicit ModelsMap(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
    std::optional<LazyValue> Get(const std::string& name, EvaluationPass) const override {
      const std::size_t colon = name.find(':');  // no model's own name has one
      const bool own = colon == std::string::npos || (colon > 0 && name.substr(0, colon) == impl_->host_.name_space);
      if (!own) return LazyValue(std::make_shared<const OtherModelMap>(impl_, name));
      const auto subject = impl_->FindModel(colon == std::string::npos ? name : name.substr(colon + 1));
      if (subject == nullptr) return std::nullopt;
      return LazyValue(std::make_shared<const ModelMap>(impl_, subject));
    }

   private:
    std::shared_ptr<Impl> impl_;
  };

  std::shared_ptr<const Subject> FindModel(const std::string& name) {
    if (const auto known = models_.find(name); known != models_.end()) return known->second;
    std::shared_ptr<const Subject> subject;
    if (auto found = definitions_.Find(name)) {
      auto definition = std::make_shared<const Definition>(std::move(found->definition));
      EvaluationScope scope{.inputs = DefaultInputs(*definition)};
      subject = std::make_shared<const Subject>(Subject{std::move(definition), std::move(scope)});
    }
    models_[name] = subject;
    return subject;
  }

  Definitions& definitions_;
  const ExpressionHost& host_;
  SecretTokens* secrets_;
  std::vector<std::string> stack_;
  std::map<std::string, std::shared_ptr<const Subject>> models_;
  std::map<std::string, Json> known_;
};

namespace {

// Puts the evaluated parts of one map together.
class Parts {
 public:
  explicit Parts(EvaluatedDefinition& result) : result_(result) {}

  void Add(const std::string& key, EvaluatedTree tree) {
    stored[key] = std::move(tree.stored);
    live[key] = std::move(tree.live);
    result_.had_expressions |= tree.had_expressions;
    std::move(tree.unresolved.begin(), tree.unresolved.end(), std::back_inserter(result_.unresolved));
    std::move(tree.literal_places.begin(), tree.literal_places.end(), std::back_inserter(result_.literal_places));
  }

  Json stored = Json::object();
  Json live = Json::object();

 private:
  EvaluatedDefinition& result_;
};

}  // namespace

ModelEvaluator::ModelEvaluator(Definitions& definitions, const ExpressionHost& host, SecretTokens* secrets)
    : impl_(std::make_shared<Impl>(definitions, host, secrets)) {}
ModelEvaluator::~ModelEvaluator() = default;

EvaluatedDefinition ModelEvaluator::Evaluate(const Definition& definition, const EvaluationScope& scope,
                                             const std::optional<MethodToRun>& method) {
  const auto subject = std::make_shared<const Impl::Subject>(
      Impl::Subject{std::make_shared<const Definition>(definition), scope});
  EvaluatedDefinition result{.stored = definition};
  const auto evaluate = [&](const Json& map, const std::string& field, const auto& pass_of) {
    Parts parts(result);
    for (const auto& [key, value] : map.items()) {
      parts.Add(key, impl_->EvaluatePart(subject, value, PlaceOf(field, key), pass_of(key)));
    }
    return parts;
  };
  const auto only_definition = [](const std::string&) { return EvaluationPass::kDefinition; };
  const auto pass = method ? EvaluationPass::kRun : EvaluationPass::kDefinition;

  result.stored.tags = evaluate(definition.tags, "tags", only_definition).stored;
  Parts global = evaluate(definition.global_arguments, "globalArguments", [&](const std::string&) { return pass; });
  result.stored.global_arguments = std::move(global.stored);
  result.global_arguments = std::move(global.live);
  result.env_uses = FindEnvUses(definition.global_arguments, "globalArguments");

  for (const auto& [name, body] : definition.methods.items()) {
    if (!body.is_object() || !body.contains("arguments") || !body["arguments"].is_object()) continue;
    const std::string place = "methods." + name + ".arguments";
    const bool runs = method && method->name == name;
    Parts arguments = evaluate(body["arguments"], place, [&](const std::string& key) {
      return runs && !method->replaced.contains(key) ? EvaluationPass::kRun : EvaluationPass::kDefinition;
    });
    result.stored.methods[name]["arguments"] = std::move(arguments.stored);
    if (runs) result.arguments = std::move(arguments.live);
    if (runs || !method) {
      for (EnvUse& use : FindEnvUses(body["arguments"], place)) result.env_uses.push_back(std::move(use));
    }
  }
  // The rest, but for what describes the inputs.
  for (const char* key : {"resources", "checks", "reports"}) {
    if (!definition.other.contains(key) || !definition.other[key].is_object()) continue;
    result.stored.other[key] = evaluate(definition.other[key], key, only_definition).stored;
  }
  return result;
}

std::unique_ptr<ExpressionEvaluator> ModelEvaluator::EvaluatorFor(const Definition* definition,
                                                                  const EvaluationScope& scope) {
  std::shared_ptr<const Definition> copy;
  if (definition != nullptr) copy = std::make_shared<const Definition>(*definition);
  return impl_->EvaluatorFor(std::make_shared<const Impl::Subject>(Impl::Subject{std::move(copy), scope}));
}

}  // namespace swamp

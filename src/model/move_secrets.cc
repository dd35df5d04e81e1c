#include "model/move_secrets.h"

#include <fmt/format.h>

#include <algorithm>

#include "datastore/definitions_tier.h"
#include "model/definition_secrets.h"
#include "model/edit_models.h"
#include "util/text.h"
#include "util/yaml.h"
#include "vault/edit_secrets.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

constexpr std::string_view kGlobalArguments = "globalArguments";
constexpr const char* kCaller = "cli:doctor-secrets";
constexpr std::size_t kLongestKey = 200;  // bytes; a vault takes 240

UserError Unmovable(const std::string& path, const std::string& why) {
  return {"secret_not_movable", fmt::format("{} {}", path, why), "Put it into the vault by hand, and edit the definition."};
}

UserError ChangedMeanwhile(const StoredDefinition& stored) {
  return {"config_conflict",
          fmt::format("{} was changed by another checkout or command while its secrets were put into the vault; it is left "
                      "as it is now",
                      stored.document.path),
          "Run the command again."};
}

// One literal: where it stands in the document, and what it says.
struct Literal {
  std::vector<std::string> keys;  // from the document's root
  std::string path;               // the same for people
  WipedString value;
};

std::vector<Literal> LiteralsOf(const ModelType& type, const Definition& definition) {
  std::vector<Literal> literals;
  for (std::vector<std::string>& keys : LiteralSecretPaths(type, definition.global_arguments)) {
    const std::string path = fmt::format("{}.{}", kGlobalArguments, Join(keys, "."));
    const Json* value = &definition.global_arguments;
    for (const std::string& key : keys) value = &value->at(key);
    if (!value->is_string()) throw Unmovable(path, "is no text, and a vault's secrets are");
    if (HasExpressions(*value)) throw Unmovable(path, "holds an expression beside the literal");
    keys.insert(keys.begin(), std::string(kGlobalArguments));
    literals.push_back({std::move(keys), path, WipedString(value->get<std::string>())});
  }
  return literals;
}

// Whether `now` is `before` with no more changed than one value, which became `expression`. A document with anchors, say, can
// only be written anew, and would lose its comments.
bool IsEditInPlace(std::string_view before, std::string_view now, const Literal& literal, const std::string& expression) {
  constexpr std::size_t kQuotes = 4;  // and a line end
  const auto shorter = std::min(before.size(), now.size());
  std::size_t same = 0;
  while (same < shorter && before[same] == now[same]) ++same;
  before.remove_prefix(same);
  now.remove_prefix(same);
  while (!before.empty() && !now.empty() && before.back() == now.back()) {
    before.remove_suffix(1);
    now.remove_suffix(1);
  }
  const bool took_comment = before.find('#') != std::string_view::npos && literal.value.text().find('#') == std::string::npos;
  return now.size() <= expression.size() + kQuotes && !took_comment;
}

// The document with expressions in place of the literals, and nothing else changed.
std::string Rewritten(const StoredDefinition& stored, const std::vector<Literal>& literals, const std::string& vault,
                      const std::vector<MovedSecret>& secrets) {
  std::string text = stored.document.bytes;
  Json wanted = ParseYaml(text, stored.document.path);
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const std::string expression = VaultExpression(vault, secrets[i].key);
    std::string next = SetYamlKey(text, literals[i].keys, expression, YamlQuotes::kDouble);
    if (!IsEditInPlace(text, next, literals[i], expression)) {
      throw Unmovable(literals[i].path, "is written in a way that can't be changed alone (an anchor?)");
    }
    text = std::move(next);
    Json* at = &wanted;
    for (const std::string& key : literals[i].keys) at = &(*at)[key];
    *at = expression;
  }
  // As text: there are values that equal nothing (.nan).
  if (EmitYaml(ParseYaml(text, stored.document.path)) != EmitYaml(wanted)) {
    throw Unmovable(literals.front().path, "is written in a way that can't be changed alone (an anchor?)");
  }
  return text;
}

class Mover {
 public:
  Mover(const Context& context, const Repository& repo, Datastore& datastore, ConfigTier& config, const ModelTypes& types)
      : context_(context),
        repo_(repo),
        datastore_(datastore),
        config_(config),
        types_(types),
        automatic_(OpenAutoDefinitionsTier(repo, datastore)) {}

  std::vector<MovedDefinition> Run(const std::string& vault_name) {
    Secrets secrets(context_, config_, repo_);
    const VaultConfig vault = secrets.RequireForDeposits(vault_name);
    // Both also publish what an earlier run, which was killed, has left.
    config_.Begin(context_);
    automatic_->Begin(context_);
    Definitions definitions(context_, config_, &datastore_);
    std::vector<StoredDefinition> all = definitions.All();
    for (StoredDefinition& one : definitions.Automatic()) all.push_back(std::move(one));
    std::vector<MovedDefinition> moved;
    for (const StoredDefinition& stored : all) {
      const ModelType* type = types_.Find(stored.definition.type);
      if (type == nullptr) continue;
      MovedDefinition one{.definition = {.id = stored.definition.id, .name = stored.definition.name, .type = stored.definition.type}};
      one.definition.paths = LiteralSecrets(*type, stored.definition.global_arguments);
      if (one.definition.paths.empty()) continue;
      try {
        Move(secrets, vault, *type, stored, one);
      } catch (const Cancelled&) {
        throw;
      } catch (const UserError& error) {
        one.error = error;
      }
      moved.push_back(std::move(one));
    }
    return moved;
  }

 private:
  void Move(Secrets& secrets, const VaultConfig& vault, const ModelType& type, const StoredDefinition& stored,
            MovedDefinition& moved) {
    const std::vector<Literal> literals = LiteralsOf(type, stored.definition);
    std::vector<MovedSecret> planned;
    for (const Literal& literal : literals) planned.push_back({literal.path, VaultKeyFor(moved.definition, literal.path)});
    // What the edit would be refused for is found out before anything is stored.
    CheckModelText(types_, stored, Rewritten(stored, literals, vault.name, planned));
    for (const Literal& literal : literals) {
      const std::string key = VaultKeyFor(moved.definition, literal.path);
      moved.secrets.push_back({literal.path, secrets.PutAside(vault.id, key, literal.value.text(), kCaller).key});
    }
    ConfigTier& tier = stored.automatic ? *automatic_ : config_;
    tier.Begin(context_);
    const auto now = tier.Read(context_, stored.document.path);
    if (!now || now->version != stored.document.version) throw ChangedMeanwhile(stored);
    const UpdateModelRequest request{.current = stored, .text = Rewritten(stored, literals, vault.name, moved.secrets)};
    if (stored.automatic) {
      UpdateAutomaticModel(context_, repo_, datastore_, config_, types_, request);
    } else {
      UpdateModel(context_, config_, types_, request);
    }
  }

  const Context& context_;
  const Repository& repo_;
  Datastore& datastore_;
  ConfigTier& config_;
  const ModelTypes& types_;
  std::unique_ptr<ConfigTier> automatic_;
};

}  // namespace

std::string VaultKeyFor(const ExaminedDefinition& definition, const std::string& path) {
  std::string key = definition.name.substr(definition.name.rfind('/') + 1) + "-" + path.substr(kGlobalArguments.size() + 1);
  for (char& c : key) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
    if (!plain) c = '-';
  }
  if (key.size() > kLongestKey) key.resize(kLongestKey);
  return ReplaceAll(key, "..", ".-");
}

std::string VaultExpression(const std::string& vault, const std::string& key) {
  const std::string name = ReplaceAll(ReplaceAll(vault, "\\", "\\\\"), "'", "\\'");  // files may name vaults as they like
  return fmt::format("${{{{ vault.get('{}', '{}') }}}}", name, key);
}

std::vector<MovedDefinition> MoveLiteralSecrets(const Context& context, const Repository& repo, Datastore& datastore,
                                                ConfigTier& config, const ModelTypes& types, const std::string& vault) {
  return Mover(context, repo, datastore, config, types).Run(vault);
}

}  // namespace swamp

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datastore/config_tier.h"
#include "datastore/datastore.h"
#include "model/definition.h"
#include "model/model_types.h"

namespace swamp {

struct StoredDefinition {
  Definition definition;
  Document document;       // its path: below the configuration's root, or below that of the automatic ones
  bool automatic = false;  // made by running a method of a type directly: in auto-definitions/
};

inline constexpr std::string_view kAutoDefinitionsFolder = "auto-definitions";

// The definitions of a repository, by name or id. Reads the configuration that is here.
class Definitions {
 public:
  // Without a datastore the automatic ones aren't seen.
  Definitions(const Context& context, ConfigTier& config, const Datastore* datastore = nullptr)
      : context_(context), config_(config), datastore_(datastore) {}

  // Those that people made, by path. A file that does not parse is left out with a warning; one that cannot be read is an error.
  std::vector<StoredDefinition> All();
  // Those that runs have made; none without a datastore.
  std::vector<StoredDefinition> Automatic() {
    return LoadAutomatic([](const std::string&) { return true; });
  }
  // By name (people's first, then automatic ones), else by id, else by an id prefix of at least 3 hex digits. Throws UserError ambiguous_id listing
  // the matches; and, when the only file of that name does not parse, its own error.
  std::optional<StoredDefinition> Find(const std::string& name_or_id);
  // Throws model_not_found with the nearest names.
  StoredDefinition Require(const std::string& name_or_id);
  // The same for a command that is going to change it: one that a peer has made since the last pull is
  // looked for in the datastore too.
  StoredDefinition RequireForChange(const std::string& name_or_id);
  // The file called <name>.yaml or <id>.yaml, whether or not it parses.
  std::optional<Document> FindFile(const std::string& name);
  std::vector<std::string> Names();
  // Where it stands on this machine.
  std::filesystem::path Locate(const StoredDefinition& stored) const;

 private:
  std::vector<StoredDefinition> LoadAutomatic(const std::function<bool(const std::string& bytes)>& may_match);
  // Definitions of which `may_match` says that their bytes are worth parsing.
  std::vector<StoredDefinition> Load(const std::function<bool(const std::string& bytes)>& may_match, bool warn);

  const Context& context_;
  ConfigTier& config_;
  const Datastore* datastore_;
};

// "command/shell" of "models/command/shell/m1.yaml".
std::string TypeOfPath(const std::string& path);

}  // namespace swamp

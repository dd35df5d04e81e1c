#include "model/evaluated_definitions.h"

#include <fmt/format.h>

#include "util/files.h"
#include "util/log.h"

namespace swamp {
namespace {

constexpr std::string_view kFolder = "definitions-evaluated";
constexpr std::string_view kModels = "models";

}  // namespace

std::string EvaluatedDefinitions::TierPathOf(const Definition& definition) {
  return std::string(kFolder) + DefinitionPath(definition).substr(kModels.size());
}

std::filesystem::path EvaluatedDefinitions::Locate(const std::string& tier_path) const {
  return datastore_.FolderOf(kFolder) / tier_path.substr(kFolder.size() + 1);
}

// The datastore's `directories` may leave the folder out; then it is this checkout's alone.
bool EvaluatedDefinitions::in_cache() const {
  return datastore_.synced() && datastore_.FolderOf(kFolder) == datastore_.tier_root() / kFolder;
}

std::filesystem::path EvaluatedDefinitions::Write(const Context& context, const Definition& evaluated) {
  const std::string tier_path = TierPathOf(evaluated);
  const std::string yaml = evaluated.ToYaml();
  if (in_cache()) {
    datastore_.replica(context).cache().Write(context, tier_path, yaml, Expected::Anything());
  } else {
    datastore_.RequireFolder();
    WriteFileAtomically(context.files(), Locate(tier_path), yaml);
  }
  return Locate(tier_path);
}

std::optional<Definition> EvaluatedDefinitions::Read(const Context& context, const Definition& definition) {
  const std::filesystem::path path = Locate(TierPathOf(definition));
  const auto yaml = ReadFile(context.files(), path);
  if (!yaml) return std::nullopt;
  return Definition::Parse(*yaml, path.string(), definition.type);
}

bool EvaluatedDefinitions::Remove(const Context& context, const Definition& definition) {
  const std::string tier_path = TierPathOf(definition);
  const std::filesystem::path path = Locate(tier_path);
  if (!context.files().Stat(path)) return false;
  if (in_cache()) {
    datastore_.replica(context).cache().Remove(context, tier_path, Expected::Anything());
  } else {
    context.files().Remove(path);
  }
  RemoveEmptyFolders(context.files(), path.parent_path(), datastore_.FolderOf(kFolder));
  return true;
}

void EvaluatedDefinitions::Publish(const Context& context) {
  if (!in_cache()) return;
  try {
    datastore_.Push(context);
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    context.log().Warn("datastore·sync",
                       fmt::format("the evaluated definitions are not published yet: {}", error.message()));
  }
}

}  // namespace swamp

#include "datastore/config_migrate.h"

#include <fmt/format.h>

#include <array>

#include "datastore/config_tier.h"
#include "util/clock.h"

namespace swamp {
namespace {

constexpr std::uint64_t kDocumentLimit = 64 << 20;

struct Kind {
  const char* folder;
  int ConfigMigrateResult::*count;
};
constexpr std::array<Kind, 3> kKinds = {{{"models", &ConfigMigrateResult::models},
                                         {"workflows", &ConfigMigrateResult::workflows},
                                         {"vaults", &ConfigMigrateResult::vaults}}};

}  // namespace

ConfigMigrateResult MigrateConfig(const Context& context, const Repository& repo, const DatastoreParts& parts,
                                  const ConfigMigrateRequest& request) {
  Files& files = context.files();
  Marker planned = repo.marker;
  planned.Set({"datastore", "managedConfig"}, true);
  if (!planned.json()["datastore"].contains("type")) planned.Set({"datastore", "type"}, "filesystem");
  const Repository after{repo.root, planned};
  Datastore datastore(context, after, ResolveDatastore(context, after), parts);
  const std::unique_ptr<ConfigTier> tier = OpenConfigTier(after, datastore);

  ConfigMigrateResult result;
  // Stale input could do harm here, so an unreachable store is an error.
  tier->Refresh(context);
  const std::string sentinel(kMigratedSentinel);
  result.already_migrated = tier->Read(context, sentinel).has_value();
  if (!result.already_migrated) {
    const auto change = tier->Begin(context);
    Json sources = Json::array();
    for (const Kind& kind : kKinds) {
      for (const std::string& below : ListFilesBelow(files, repo.root / kind.folder)) {
        const std::string path = fmt::format("{}/{}", kind.folder, below);
        if (ClassOf("config/" + path) == PathClass::kLocal) continue;
        const std::string bytes = ReadFile(files, repo.root / path, kDocumentLimit).value_or("");
        try {
          change->Create(path, bytes);
          ++(result.*kind.count);
        } catch (const DocumentExists&) {
          const auto there = tier->Read(context, path);
          if (there && there->bytes != bytes) result.kept.push_back(path);
        }
      }
      sources.push_back(kind.folder);
    }
    // Another checkout may be migrating too, and was first with some.
    for (const ConfigChange::Lost& lost : change->PublishAll()) result.kept.push_back(lost.path);
    if (request.merge_lockfile) result.lockfile_entries = request.merge_lockfile(context, after, datastore);
    const Json mark = {{"migratedAt", FormatTime(context.clock().Now())}, {"sources", sources}};
    const auto finish = tier->Begin(context);
    try {
      finish->Create(sentinel, PrettyJson(mark));
      finish->Publish();
    } catch (const DocumentExists&) {  // NOLINT(bugprone-empty-catch): the other checkout has set it
    }
  }
  result.published = true;
  ChangeMarker(context, repo.root, [&](Marker& marker) {
    if (!marker.json().contains("datastore") || !marker.json()["datastore"].contains("type")) {
      marker.Set({"datastore", "type"}, "filesystem");
    }
    marker.Set({"datastore", "managedConfig"}, true);
  });
  return result;
}

}  // namespace swamp

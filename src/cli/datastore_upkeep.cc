// swamp datastore compact, migrate-index, catalog pull.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/render/table.h"
#include "data/catalog.h"
#include "data/pull_catalog.h"
#include "datastore/index_migration.h"
#include "util/text.h"

namespace swamp {
namespace {

std::int64_t SizeOf(Files& files, const std::filesystem::path& path) {
  const auto info = files.Stat(path);
  return info ? static_cast<std::int64_t>(info->size) : 0;
}

void AddCompact(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "compact", "Make the data catalog on this machine as small as it can be");
  command->callback([&session] {
    const auto store = VersionStore::Open(session.context(), session.repo(), session.datastore());
    const auto catalog = Catalog::Open(session.context(), session.repo(), session.datastore(), *store);
    Files& files = session.context().files();
    const std::filesystem::path& database = catalog->options().database;
    catalog->CatchUp();
    const Catalog::Checkpoint log = catalog->CheckpointLog();
    const std::int64_t before = SizeOf(files, database);
    bool skipped = false;
    try {
      catalog->database().Execute("VACUUM");
      catalog->CheckpointLog();
    } catch (const DatabaseError& error) {
      if (error.kind() != DatabaseError::Kind::kBusy) throw;
      skipped = true;  // somebody else is reading
    }
    const std::int64_t reclaimed = std::max<std::int64_t>(0, before - SizeOf(files, database));
    session.Print({{{"walPagesTotal", log.pages_total},
                    {"walPagesCheckpointed", log.pages_checkpointed},
                    {"dbBytesReclaimed", reclaimed},
                    {"vacuumSkipped", skipped}},
                   skipped ? "The catalog is in use; only its log was written back.\n"
                           : fmt::format("Reclaimed {} bytes of the data catalog.\n", reclaimed)});
  });
}

void AddMigrateIndex(CLI::App& group, Session& session) {
  CLI::App* command = AddRepoCommand(group, session, "migrate-index", "Bring the bucket's older single index into shards");
  command->callback([&session] {
    const IndexMigration result = MigrateIndex(session.context(), session.datastore());
    session.Print({{{"olderIndex", result.had_older_index}, {"entriesMigrated", result.entries}, {"shardsWritten", result.shards}},
                   !result.had_older_index ? "There is no older index.\n"
                                           : fmt::format("Brought {} entries into {} shards.\n", result.entries, result.shards)});
  });
}

Rendered RenderPull(const std::vector<PulledNamespace>& pulled) {
  Json list = Json::array();
  Json errors = Json::array();
  Table table({"NAMESPACE", "ROWS", "ADDED", "REMOVED", "READ", ""});
  std::string refused;
  for (const PulledNamespace& one : pulled) {
    list.push_back({{"namespace", one.slug},
                    {"rows", one.rows},
                    {"added", one.added},
                    {"removed", one.removed},
                    {"versionsFetched", one.fetched},
                    {"versionsFromExport", one.exported},
                    {"unchanged", one.unchanged}});
    table.Add({one.slug, std::to_string(one.rows), std::to_string(one.added), std::to_string(one.removed), std::to_string(one.fetched),
               one.unchanged ? "unchanged" : ""});
    for (const PathProblem& problem : one.problems) {
      errors.push_back({{"namespace", one.slug}, {"path", problem.path}, {"message", problem.message}});
      refused += fmt::format("Left out {} of {}: {}\n", problem.path, one.slug, problem.message);
    }
  }
  Json json = {{"namespaces", std::move(list)}};
  if (!errors.empty()) json["errors"] = std::move(errors);
  return {std::move(json), table.Render() + refused};
}

void AddCatalogPull(CLI::App& group, Session& session) {
  CLI::App* catalog_group = AddGroup(group, "catalog", "What is known here of other namespaces' data");
  auto namespaces = std::make_shared<std::string>();
  CLI::App* command = AddRepoCommand(*catalog_group, session, "pull", "Bring other namespaces' data into the catalog, for queries");
  command->add_option("--namespaces", *namespaces, "Which, with commas between them")->required()->type_name("<a,b>");
  command->callback([&session, namespaces] {
    std::vector<std::string> slugs;
    for (const std::string& slug : Split(*namespaces, ',')) slugs.emplace_back(Trim(slug));
    const auto store = VersionStore::Open(session.context(), session.repo(), session.datastore());
    const auto catalog = Catalog::Open(session.context(), session.repo(), session.datastore(), *store);
    session.Print(RenderPull(PullCatalog(session.context(), session.datastore(), *catalog, slugs)));
  });
}

}  // namespace

void AddDatastoreUpkeep(CLI::App& group, Session& session) {
  AddCatalogPull(group, session);
  AddCompact(group, session);
  AddMigrateIndex(group, session);
}

}  // namespace swamp

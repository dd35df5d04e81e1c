// swamp datastore compact, migrate-index.

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "data/catalog.h"
#include "datastore/index_migration.h"

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

}  // namespace

void AddDatastoreUpkeep(CLI::App& group, Session& session) {
  AddCompact(group, session);
  AddMigrateIndex(group, session);
}

}  // namespace swamp

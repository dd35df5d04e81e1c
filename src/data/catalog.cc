#include "data/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "data/catalog_rows.h"
#include "data/other_namespaces.h"
#include "datastore/marker_version.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/random.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "data·catalog";
constexpr const char* kSchemaVersion = "4";
constexpr int kOpenRetries = 5;
constexpr Duration kFirstRetryPause{100};
constexpr Duration kLockWait = std::chrono::minutes(1);
constexpr std::uint64_t kChangeLogLimit = 256ULL << 20;
// Meta key: which datastore the rows of other namespaces are of.
constexpr const char* kDatastore = "swamp_datastore";

// The schema is shared with other programs: should it ever have to differ, take another file name.
constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS catalog_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS catalog (
  namespace TEXT NOT NULL DEFAULT '',
  type_normalized TEXT NOT NULL,
  model_id TEXT NOT NULL,
  data_name TEXT NOT NULL,
  version INTEGER NOT NULL,
  is_latest INTEGER NOT NULL DEFAULT 1,
  id TEXT NOT NULL,
  model_name TEXT NOT NULL,
  spec_name TEXT NOT NULL DEFAULT '',
  data_type TEXT NOT NULL DEFAULT '',
  content_type TEXT NOT NULL DEFAULT '',
  lifetime TEXT NOT NULL DEFAULT '',
  owner_type TEXT NOT NULL DEFAULT '',
  streaming INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  tags TEXT NOT NULL DEFAULT '{}',
  owner_ref TEXT NOT NULL DEFAULT '',
  workflow_run_id TEXT NOT NULL DEFAULT '',
  workflow_name TEXT NOT NULL DEFAULT '',
  job_name TEXT NOT NULL DEFAULT '',
  step_name TEXT NOT NULL DEFAULT '',
  source TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (namespace, type_normalized, model_id, data_name, version));
CREATE INDEX IF NOT EXISTS idx_catalog_model_name ON catalog(model_name);
CREATE INDEX IF NOT EXISTS idx_catalog_spec_name ON catalog(spec_name);
CREATE INDEX IF NOT EXISTS idx_catalog_data_type ON catalog(data_type);
CREATE INDEX IF NOT EXISTS idx_catalog_created_at ON catalog(created_at);
CREATE INDEX IF NOT EXISTS idx_catalog_workflow_run_id ON catalog(workflow_run_id);
CREATE INDEX IF NOT EXISTS idx_catalog_step_name ON catalog(step_name);
CREATE INDEX IF NOT EXISTS idx_catalog_namespace ON catalog(namespace);
CREATE INDEX IF NOT EXISTS idx_catalog_latest ON catalog(namespace, type_normalized, model_id, data_name, is_latest);
CREATE INDEX IF NOT EXISTS idx_catalog_model_data ON catalog(model_name, data_name, is_latest, namespace);
)";

}  // namespace

Catalog::Catalog(const Context& context, const VersionStore& store, Cache* cache, CatalogOptions options)
    : context_(context), store_(store), cache_(cache), options_(std::move(options)) {
  context_.files().CreateFolders(options_.database.parent_path());
  OpenDatabase();
}

std::unique_ptr<Catalog> Catalog::Open(const Context& context, const Repository& repo, Datastore& datastore,
                                       const VersionStore& store) {
  const DatastoreSettings& settings = datastore.settings();
  const bool held = store.root() == datastore.tier_root();
  Cache* const cache = datastore.synced() && held ? &datastore.replica(context).cache() : nullptr;
  auto catalog = std::make_unique<Catalog>(
      context, store, cache,
      CatalogOptions{.database = repo.swamp_folder() / "data" / "_catalog.db",
                     .name_space = held ? settings.name_space.value_or("") : "",
                     .shared_folder = held && !datastore.synced() && !settings.is_default,
                     .lazy = settings.lazy,
                     .datastore = datastore.SharedPlace()});
  catalog->others_ = std::make_unique<OtherNamespaces>(context, datastore);
  return catalog;
}

Catalog::~Catalog() = default;

void Catalog::OpenDatabase() {
  Duration pause = kFirstRetryPause;
  for (int attempt = 0;; ++attempt) {
    try {
      database_.reset();
      database_.emplace(context_.files().DatabaseName(options_.database));
      PrepareSchema();
      return;
    } catch (const DatabaseError& error) {
      if (attempt >= kOpenRetries) throw;
      if (error.kind() == DatabaseError::Kind::kBusy) {
        context_.clock().Sleep(context_, pause);
        pause *= 2;
      } else if (error.kind() == DatabaseError::Kind::kCorrupt) {
        context_.log().Warn(kLog, fmt::format("the catalog {} is damaged and is made again", options_.database.string()));
        database_.reset();
        for (const char* suffix : {"", "-wal", "-shm"}) context_.files().Remove(options_.database.native() + suffix);
      } else {
        throw;
      }
    }
  }
}

void Catalog::PrepareSchema() {
  database_->Execute(R"(PRAGMA synchronous=NORMAL)");
  database_->Execute("CREATE TABLE IF NOT EXISTS catalog_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)");
  const auto fits = [this] {
    if (Meta("schema_version") != kSchemaVersion) return false;
    return Statement(database_->handle(), "SELECT 1 FROM sqlite_master WHERE type='table' AND name='catalog'").Next();
  };
  if (fits()) return;
  Transaction transaction(*database_);
  if (fits()) return;  // another process was faster
  database_->Execute("DROP TABLE IF EXISTS catalog");
  database_->Execute(kSchema);
  ForgetPulls();  // their rows are gone
  SetMeta("populated", "");
  SetMeta("schema_version", kSchemaVersion);
  transaction.Commit();
}

std::string Catalog::Meta(const std::string& key) {
  Statement statement(database_->handle(), "SELECT value FROM catalog_meta WHERE key=?");
  statement.Bind(1, key);
  return statement.Next() ? statement.Text(0) : std::string();
}

void Catalog::SetMeta(const std::string& key, const std::string& value) {
  if (value.empty()) {
    Statement(database_->handle(), "DELETE FROM catalog_meta WHERE key=?").Bind(1, key).Run();
  } else {
    Statement(database_->handle(), "INSERT OR REPLACE INTO catalog_meta (key, value) VALUES (?,?)").Bind(1, key).Bind(2, value).Run();
  }
}

std::string Catalog::PulledState() {
  return cache_ == nullptr ? "" : cache_->state().Value(state_key::kPulledAll).value_or("");
}

// Another namespace or another datastore has other data.
std::string Catalog::Place() const { return options_.name_space + "\n" + store_.root().string(); }

void Catalog::CatchUp() {
  ForgetOtherDatastore();
  if (Meta("populated") != "true" || Meta("swamp_place") != Place()) {
    Rebuild();
    return;
  }
  ApplyChangeLog();
  if (options_.shared_folder || PulledState() != Meta("swamp_pulled")) CompareAll();
}

// Of another datastore's namespaces nothing holds here.
void Catalog::ForgetOtherDatastore() {
  if (options_.datastore.empty() || Meta(kDatastore) == options_.datastore) return;
  Transaction transaction(*database_);
  if (!Meta(kDatastore).empty()) {
    Statement(database_->handle(), "DELETE FROM catalog WHERE namespace<>?").Bind(1, options_.name_space).Run();
    ForgetPulls();
  }
  SetMeta(kDatastore, options_.datastore);
  transaction.Commit();
}

void Catalog::ForgetPulls() {
  for (const char* prefix : {catalog_key::kForeignSynced, catalog_key::kForeignState}) {
    Statement(database_->handle(), "DELETE FROM catalog_meta WHERE substr(key, 1, length(?1)) = ?1").Bind(1, prefix).Run();
  }
}

bool Catalog::HasOthers() {
  // Two ranges, which the index answers at once.
  Statement any(database_->handle(),
                "SELECT 1 FROM catalog WHERE namespace < ?1 UNION ALL SELECT 1 FROM catalog WHERE namespace > ?1 LIMIT 1");
  return any.Bind(1, options_.name_space).Next();
}

// The log is taken aside, applied and removed under a lock, so that no other process reads rows that are about to change. Who
// dies in between leaves it for the next.
void Catalog::ApplyChangeLog() {
  const fs::path& log = store_.change_log();
  if (log.empty()) return;
  Files& files = context_.files();
  const std::string aside = log.filename().native() + ".";
  const auto anything = [&] {
    const auto entries = files.List(log.parent_path());
    return std::any_of(entries.begin(), entries.end(), [&](const FolderEntry& entry) {
      return entry.name == log.filename() || entry.name.starts_with(aside);
    });
  };
  if (!anything()) return;
  const auto lock = files.Lock(context_, log.parent_path() / "._catalog.lock", kLockWait);
  if (!lock) throw UserError("data_busy", "another process has been updating the data catalog for a minute", "End it, then run the command again.");
  if (files.Stat(log)) files.Rename(log, log.parent_path() / (aside + context_.random().Hex(8)));
  std::vector<DataKey> keys;  // in the order in which they were written, which is the order of the rows
  std::set<DataKey> known;
  std::vector<fs::path> done;
  for (const FolderEntry& entry : files.List(log.parent_path())) {
    if (!entry.name.starts_with(aside)) continue;
    done.push_back(log.parent_path() / entry.name);
    for (const std::string& line : Split(ReadFile(files, done.back(), kChangeLogLimit).value_or(""), '\n')) {
      const std::vector<std::string> fields = Split(line, '\t');
      if (fields.size() != 3) continue;
      DataKey key{{fields[0], fields[1]}, fields[2]};
      if (known.insert(key).second) keys.push_back(std::move(key));
    }
  }
  {
    Transaction transaction(*database_);
    CatalogStatements statements(*database_);
    for (const DataKey& key : keys) Refresh(key, statements, false);
    transaction.Commit();
  }
  for (const fs::path& path : done) files.Remove(path);
}

// Whether the rows name the versions that there are. A look at the names of the folders, no more: versions don't change.
bool Catalog::LooksCurrent(const DataKey& key, CatalogStatements& statements) {
  std::set<std::string> folders;
  for (const FolderEntry& entry : context_.files().List(store_.PathOf(key.Folder()))) {
    if (entry.kind == FileKind::kFolder && entry.name.front() != '.') folders.insert(entry.name);
  }
  std::size_t rows = 0;
  bool marker_is_latest = false;
  const std::uint64_t marker = store_.LatestVersion(key).value_or(0);
  Statement& statement = CatalogStatements::BindKey(statements.rows, options_.name_space, key);
  bool all_here = true;
  while (statement.Next()) {
    ++rows;
    if (!folders.contains(statement.Text(0))) all_here = false;
    if (static_cast<std::uint64_t>(statement.Integer(0)) == marker) marker_is_latest = statement.Integer(2) != 0;
  }
  return all_here && rows == folders.size() && marker_is_latest;
}

void Catalog::CompareAll() {
  const std::string pulled = PulledState();
  Transaction transaction(*database_);
  CatalogStatements statements(*database_);
  std::set<DataKey> here;
  for (const DataOwner& owner : store_.Owners()) {
    for (const FolderEntry& entry : context_.files().List(store_.PathOf(owner.Folder()))) {
      if (entry.kind == FileKind::kFolder && IsReadableDataName(entry.name)) here.insert({owner, entry.name});
    }
  }
  std::set<DataKey> gone = NamesWithRows();
  for (const DataKey& key : here) gone.erase(key);
  for (const DataKey& key : here) {
    if (!LooksCurrent(key, statements)) Refresh(key, statements, false);
  }
  for (const DataKey& key : gone) Refresh(key, statements, false);
  SetMeta("swamp_pulled", pulled);
  transaction.Commit();
}

std::set<DataKey> Catalog::NamesWithRows() {
  std::set<DataKey> names;
  Statement statement(database_->handle(), "SELECT DISTINCT type_normalized, model_id, data_name FROM catalog WHERE namespace=?");
  statement.Bind(1, options_.name_space);
  while (statement.Next()) names.insert({{statement.Text(0), statement.Text(1)}, statement.Text(2)});
  return names;
}

// Whether a version that isn't here is nowhere. A lazy checkout's rows may be all that is left of a cache that was lost, so
// there only a removal, or a pull that did not find the version, proves it.
bool Catalog::IsGone(const DataKey& key, std::uint64_t version) {
  if (!options_.lazy) return true;
  if (cache_ == nullptr) return false;
  StateDb& state = cache_->state();
  const std::string path = key.VersionFolder(version) + "/metadata.yaml";
  if (const auto row = state.FindDirty(path)) return row->kind == DirtyKind::kRemove;
  if (const auto base = state.FindBase(path); base && !base->gone()) return false;
  return state.Value(state_key::kPulledAll) || state.Value(state_key::kPulledPartPrefix + key.owner.Folder() + "/");
}

void Catalog::Refresh(const DataKey& key, CatalogStatements& statements, bool empty_before) {
  std::vector<VersionStep> steps;  // of versions that have a row
  if (!empty_before) {
    Statement& rows = CatalogStatements::BindKey(statements.rows, options_.name_space, key);
    while (rows.Next()) {
      steps.push_back({static_cast<std::uint64_t>(rows.Integer(0)), rows.Text(1), true, rows.Integer(2) != 0});
    }
  }
  const std::vector<std::uint64_t> here = store_.Versions(key);
  std::map<std::uint64_t, DataRecord> added;
  for (const std::uint64_t version : here) {
    if (std::any_of(steps.begin(), steps.end(), [&](const VersionStep& one) { return one.version == version; })) continue;
    try {
      if (auto record = store_.Find(key, version)) added.emplace(version, std::move(*record));
    } catch (const UserError& error) {
      context_.log().Warn(kLog, fmt::format("left out: {}", error.message()));
    }
  }
  std::erase_if(steps, [&](const VersionStep& one) {
    if (std::binary_search(here.begin(), here.end(), one.version) || !IsGone(key, one.version)) return false;
    statements.Remove(options_.name_space, key, one.version);
    return true;
  });
  const std::vector<VersionStep> before = steps;
  for (const auto& [version, record] : added) {
    steps.push_back({version, record.metadata.owner.step_name, !record.metadata.is_rename_marker(), false});
  }
  std::sort(steps.begin(), steps.end(), [](const VersionStep& a, const VersionStep& b) { return a.version > b.version; });
  std::uint64_t marker = here.empty() ? UINT64_MAX : store_.LatestVersion(key).value_or(0);
  // The newest may be one that isn't here.
  if (!steps.empty() && !std::binary_search(here.begin(), here.end(), steps.front().version)) {
    marker = std::max(marker, steps.front().version);
  }
  const std::set<std::uint64_t> latest = LatestOf(steps, marker);
  for (const VersionStep& one : before) {
    if (one.was_latest == latest.contains(one.version)) continue;
    statements.SetLatest(options_.name_space, key, one.version, latest.contains(one.version));
  }
  for (const auto& [version, record] : added) {
    if (record.metadata.is_rename_marker()) continue;
    CatalogRow row = CatalogRow::Of(record);
    row.is_latest = latest.contains(version);
    statements.Insert(options_.name_space, row);
  }
}

void Catalog::Rebuild() {
  const std::string pulled = PulledState();
  // What the log says will be read from disk; what is added from now on stays in it.
  if (!store_.change_log().empty()) context_.files().Remove(store_.change_log());
  Transaction transaction(*database_);
  const std::string before = Meta("swamp_place");
  if (!options_.lazy || before != Place()) {
    const std::string namespace_before = before.substr(0, before.find('\n'));
    for (const std::string& name_space : {options_.name_space, namespace_before}) {
      Statement(database_->handle(), "DELETE FROM catalog WHERE namespace=?").Bind(1, name_space).Run();
      for (const char* prefix : {catalog_key::kForeignSynced, catalog_key::kForeignState}) SetMeta(prefix + name_space, "");
    }
  }
  SetMeta("swamp_place", Place());
  CatalogStatements statements(*database_);
  std::set<DataKey> unseen = NamesWithRows();  // none unless lazy
  for (const DataOwner& owner : store_.Owners()) {
    for (const FolderEntry& entry : context_.files().List(store_.PathOf(owner.Folder()))) {
      if (entry.kind != FileKind::kFolder || !IsReadableDataName(entry.name)) continue;
      context_.Check();
      Refresh({owner, entry.name}, statements, !options_.lazy);
      unseen.erase({owner, entry.name});
    }
  }
  for (const DataKey& key : unseen) Refresh(key, statements, false);
  SetMeta("swamp_pulled", pulled);
  SetMeta("populated", "true");
  transaction.Commit();
  // So that SQLite knows which index tells most.
  database_->Execute("PRAGMA analysis_limit=1000; ANALYZE catalog");
}

Catalog::Checkpoint Catalog::CheckpointLog() {
  Statement statement(database_->handle(), "PRAGMA wal_checkpoint(TRUNCATE)");
  Checkpoint checkpoint;
  if (statement.Next()) {
    checkpoint.pages_total = std::max<std::int64_t>(0, statement.Integer(1));
    checkpoint.pages_checkpointed = std::max<std::int64_t>(0, statement.Integer(2));
  }
  while (statement.Next()) {
  }
  return checkpoint;
}

}  // namespace swamp

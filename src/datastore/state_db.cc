#include "datastore/state_db.h"

#include <fmt/format.h>

#include "datastore/tier_path.h"

namespace swamp {
namespace {

constexpr std::int64_t kSchemaVersion = 2;

constexpr const char* kSchema = R"(
CREATE TABLE base(
  path TEXT PRIMARY KEY, partition TEXT NOT NULL, etag TEXT NOT NULL, size INTEGER NOT NULL,
  sha256 TEXT NOT NULL, local_mtime_ns INTEGER NOT NULL, local_size INTEGER NOT NULL,
  entry TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE placing(
  path TEXT PRIMARY KEY, etag TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
  local_mtime_ns INTEGER NOT NULL, local_size INTEGER NOT NULL, entry TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX base_partition ON base(partition);
CREATE TABLE dirty(
  path TEXT PRIMARY KEY, kind INTEGER NOT NULL, seq INTEGER NOT NULL, removed TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES('seq', '0');
)";

std::int64_t SchemaVersionOf(Database& database) {
  Statement statement(database.handle(), "PRAGMA user_version");
  return statement.Next() ? statement.Integer(0) : 0;
}

Base BaseOf(const Statement& row) {
  Base base;
  base.path = row.Text(0);
  base.etag.value = row.Text(1);
  base.size = static_cast<std::uint64_t>(row.Integer(2));
  base.sha256 = row.Text(3);
  base.local_mtime_ns = row.Integer(4);
  base.local_size = static_cast<std::uint64_t>(row.Integer(5));
  base.entry = row.Text(6);
  return base;
}

constexpr std::string_view kSelectBase =
    "SELECT path, etag, size, sha256, local_mtime_ns, local_size, entry FROM base";

}  // namespace

StateDb::StateDb(Files& files, const std::filesystem::path& path) {
  try {
    Open(files, path);
  } catch (const DatabaseError& error) {
    if (error.kind() != DatabaseError::Kind::kCorrupt) throw;
    database_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) files.Remove(path.string() + suffix);
    Open(files, path);
  }
}

void StateDb::Open(Files& files, const std::filesystem::path& path) {
  files.CreateFolders(path.parent_path());
  database_.emplace(files.DatabaseName(path));
  std::int64_t version = SchemaVersionOf(*database_);
  if (version == kSchemaVersion) return;
  // Two processes may get here at once: the second finds the first one's schema.
  Transaction transaction(*database_);
  version = SchemaVersionOf(*database_);
  if (version == kSchemaVersion) return;
  if (version > kSchemaVersion) {
    throw UserError("state_newer",
                    fmt::format("{} was made by a newer swamp (its version is {}, this one knows {})",
                                path.string(), version, kSchemaVersion),
                    "Use the newer program, or delete the file: the next command makes it again.");
  }
  database_->Execute("DROP TABLE IF EXISTS base; DROP TABLE IF EXISTS placing; DROP TABLE IF EXISTS dirty; DROP TABLE IF EXISTS meta;");
  database_->Execute(kSchema);
  database_->Execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
  transaction.Commit();
  started_empty_ = true;
}

std::optional<Base> StateDb::FindBase(const std::string& path) {
  Statement statement(database_->handle(), fmt::format("{} WHERE path = ?", kSelectBase));
  statement.Bind(1, path);
  if (!statement.Next()) return std::nullopt;
  return BaseOf(statement);
}

std::vector<Base> StateDb::BasesOfPartition(const std::string& partition) {
  Statement statement(database_->handle(), fmt::format("{} WHERE partition = ? ORDER BY path", kSelectBase));
  statement.Bind(1, partition);
  std::vector<Base> bases;
  while (statement.Next()) bases.push_back(BaseOf(statement));
  return bases;
}

std::vector<std::string> StateDb::Partitions() {
  Statement statement(database_->handle(), "SELECT DISTINCT partition FROM base ORDER BY partition");
  std::vector<std::string> partitions;
  while (statement.Next()) partitions.push_back(statement.Text(0));
  return partitions;
}

bool StateDb::HasBases() {
  Statement statement(database_->handle(), "SELECT 1 FROM base LIMIT 1");
  return statement.Next();
}

std::int64_t StateDb::CountBases() {
  Statement statement(database_->handle(), "SELECT count(*) FROM base WHERE sha256 <> ''");
  return statement.Next() ? statement.Integer(0) : 0;
}

std::int64_t StateDb::MarkDirty(const std::string& path, DirtyKind kind, const std::string& removed) {
  Transaction transaction(*database_);
  Statement(database_->handle(), "UPDATE meta SET value = value + 1 WHERE key = 'seq'").Run();
  std::int64_t seq = 0;
  {
    Statement next(database_->handle(), "SELECT value FROM meta WHERE key = 'seq'");
    if (next.Next()) seq = std::stoll(next.Text(0));
  }
  Statement(database_->handle(), "INSERT OR REPLACE INTO dirty(path, kind, seq, removed) VALUES(?, ?, ?, ?)")
      .Bind(1, path)
      .Bind(2, static_cast<std::int64_t>(kind))
      .Bind(3, seq)
      .Bind(4, removed)
      .Run();
  transaction.Commit();
  return seq;
}

namespace {

DirtyRow DirtyOf(const Statement& row) {
  return {row.Text(0), static_cast<DirtyKind>(row.Integer(1)), row.Integer(2), row.Text(3)};
}

}  // namespace

std::optional<DirtyRow> StateDb::FindDirty(const std::string& path) {
  Statement statement(database_->handle(), "SELECT path, kind, seq, removed FROM dirty WHERE path = ?");
  statement.Bind(1, path);
  if (!statement.Next()) return std::nullopt;
  return DirtyOf(statement);
}

std::vector<DirtyRow> StateDb::AllDirty() {
  Statement statement(database_->handle(), "SELECT path, kind, seq, removed FROM dirty ORDER BY path");
  std::vector<DirtyRow> rows;
  while (statement.Next()) rows.push_back(DirtyOf(statement));
  return rows;
}

void StateDb::Settle(const Settlement& settlement) {
  if (settlement.set.empty() && settlement.forget.empty() && settlement.handled.empty() &&
      settlement.values.empty() && !settlement.placed) {
    return;
  }
  Transaction transaction(*database_);
  Statement set(database_->handle(),
                "INSERT OR REPLACE INTO base(path, partition, etag, size, sha256, local_mtime_ns, local_size, "
                "entry) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Base& base : settlement.set) {
    set.Bind(1, base.path)
        .Bind(2, PartitionOf(base.path))
        .Bind(3, base.etag.value)
        .Bind(4, static_cast<std::int64_t>(base.size))
        .Bind(5, base.sha256)
        .Bind(6, base.local_mtime_ns)
        .Bind(7, static_cast<std::int64_t>(base.local_size))
        .Bind(8, base.entry)
        .Run();
  }
  Statement forget(database_->handle(), "DELETE FROM base WHERE path = ?");
  for (const std::string& path : settlement.forget) forget.Bind(1, path).Run();
  Statement clear(database_->handle(), "DELETE FROM dirty WHERE path = ? AND seq = ?");
  for (const DirtyRow& row : settlement.handled) clear.Bind(1, row.path).Bind(2, row.seq).Run();
  Statement set_value(database_->handle(), "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)");
  Statement remove_value(database_->handle(), "DELETE FROM meta WHERE key = ?");
  for (const auto& [key, value] : settlement.values) {
    if (value.empty()) {
      remove_value.Bind(1, key).Run();
    } else {
      set_value.Bind(1, key).Bind(2, value).Run();
    }
  }
  if (settlement.placed) database_->Execute("DELETE FROM placing");
  transaction.Commit();
}

void StateDb::BeginPlacing(const std::vector<Base>& bases) {
  if (bases.empty()) return;
  Transaction transaction(*database_);
  Statement insert(database_->handle(),
                   "INSERT OR REPLACE INTO placing(path, etag, size, sha256, local_mtime_ns, local_size, entry) "
                   "VALUES(?, ?, ?, ?, 0, 0, ?)");
  for (const Base& base : bases) {
    insert.Bind(1, base.path)
        .Bind(2, base.etag.value)
        .Bind(3, static_cast<std::int64_t>(base.size))
        .Bind(4, base.sha256)
        .Bind(5, base.entry)
        .Run();
  }
  transaction.Commit();
}

std::vector<Base> StateDb::Placing() {
  Statement statement(database_->handle(),
                      "SELECT path, etag, size, sha256, local_mtime_ns, local_size, entry FROM placing");
  std::vector<Base> bases;
  while (statement.Next()) bases.push_back(BaseOf(statement));
  return bases;
}

std::optional<std::string> StateDb::Value(const std::string& key) {
  Statement statement(database_->handle(), "SELECT value FROM meta WHERE key = ?");
  statement.Bind(1, key);
  if (!statement.Next()) return std::nullopt;
  return statement.Text(0);
}

std::vector<std::pair<std::string, std::string>> StateDb::ValuesWithPrefix(const std::string& prefix) {
  Statement statement(database_->handle(),
                      "SELECT key, value FROM meta WHERE substr(key, 1, ?) = ? ORDER BY key");
  statement.Bind(1, static_cast<std::int64_t>(prefix.size())).Bind(2, prefix);
  std::vector<std::pair<std::string, std::string>> values;
  while (statement.Next()) values.emplace_back(statement.Text(0), statement.Text(1));
  return values;
}

void StateDb::SetValue(const std::string& key, const std::string& value) {
  Settle({.set = {}, .forget = {}, .handled = {}, .values = {{key, value}}});
}

}  // namespace swamp

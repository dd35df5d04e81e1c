#include "util/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>

namespace swamp {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

DatabaseError::Kind KindOf(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return DatabaseError::Kind::kCorrupt;
    case SQLITE_READONLY:
      return DatabaseError::Kind::kReadOnly;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return DatabaseError::Kind::kBusy;
    case SQLITE_FULL:
      return DatabaseError::Kind::kFull;
    default:
      return DatabaseError::Kind::kOther;
  }
}

[[noreturn]] void Fail(sqlite3* database, int code) {
  const char* path = database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
  const char* reason = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  DatabaseError::Kind kind = KindOf(code);
  // SQLite calls what it could not write to its shared-memory file an input/output error, full disk
  // or not.
  if (database != nullptr && (code & 0xff) == SQLITE_IOERR &&
      sqlite3_system_errno(database) == ENOSPC)
    kind = DatabaseError::Kind::kFull;
  throw DatabaseError(kind, fmt::format("the database {} cannot be used: {} (SQLite's code {})",
                                        path == nullptr ? "" : path, reason, code));
}

void Check(sqlite3* database, int code) {
  if (code != SQLITE_OK) Fail(database, code);
}

// The first processes of a new database turn the log on at once, and SQLite answers "busy" to all
// but one of them without a wait of its own (a wait could be a deadlock:
// https://www.sqlite.org/c3ref/busy_handler.html). So the wait is here, and `database` has no
// time-out yet.
void TurnOnWriteAheadLog(sqlite3* database) {
  constexpr int kPauseMs = 5;
  for (int waited_ms = 0;; waited_ms += kPauseMs) {
    const int code = sqlite3_exec(database, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    if ((code & 0xff) != SQLITE_BUSY || waited_ms >= kBusyTimeoutMs) Fail(database, code);
    sqlite3_sleep(kPauseMs);
  }
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
  Check(database, sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()),
                                     &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::ResetIfDone() {
  if (running_) sqlite3_reset(statement_);
  running_ = false;
}

Statement& Statement::Bind(int index, std::string_view text) {
  ResetIfDone();
  Check(database_, sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                                     SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::Bind(int index, std::int64_t number) {
  ResetIfDone();
  Check(database_, sqlite3_bind_int64(statement_, index, number));
  return *this;
}

Statement& Statement::BindNull(int index) {
  ResetIfDone();
  Check(database_, sqlite3_bind_null(statement_, index));
  return *this;
}

bool Statement::Next() {
  running_ = true;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  ResetIfDone();
  if (code != SQLITE_DONE) Fail(database_, code);
  return false;
}

void Statement::Run() {
  while (Next()) {
  }
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Database::Database(const std::string& name, Mode mode) {
  const int flags = (mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY
                                             : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) |
                    SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
  try {
    Check(handle_, code);
    if (mode == Mode::kReadWrite) TurnOnWriteAheadLog(handle_);
    sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close_v2(handle_); }

Database::Database(Database&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

void Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) Fail(handle_, code);
}

std::int64_t Database::last_insert_rowid() const { return sqlite3_last_insert_rowid(handle_); }

Transaction::Transaction(Database& database) : database_(database) {
  database_.Execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // A failed COMMIT may have ended the transaction already; then there is nothing to roll back.
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::Commit() {
  database_.Execute("COMMIT");
  open_ = false;
}

}  // namespace swamp

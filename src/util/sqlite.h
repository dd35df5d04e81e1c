#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "util/error.h"
#include "util/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace swamp {

// A database that SQLite refuses: code `database_error`. `kind` tells what a caller can do about it.
class DatabaseError : public UserError {
 public:
  enum class Kind {
    kCorrupt,   // not a database, or damaged: rebuild it
    kReadOnly,  // readable only
    kBusy,      // another process held it for longer than the busy time-out
    kFull,      // no space
    kOther,
  };
  DatabaseError(Kind kind, std::string message)
      : UserError(kind == Kind::kFull ? "disk_full" : "database_error", std::move(message)), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// One row-by-row statement; bound values are copied. Reset by Run and by the next Bind.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Parameters count from 1.
  Statement& Bind(int index, std::string_view text);
  Statement& Bind(int index, std::int64_t number);
  Statement& BindNull(int index);
  // Advances to the next row; false at the end, which also resets.
  bool Next();
  // Runs to the end and resets.
  void Run();

  // Columns of the current row count from 0.
  std::string Text(int column) const;
  std::int64_t Integer(int column) const;
  bool IsNull(int column) const;

 private:
  void ResetIfDone();

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  bool running_ = false;
};

// An open SQLite database. Not thread-safe; several processes may open one file.
class Database {
 public:
  enum class Mode { kReadWrite, kReadOnly };
  // `name` as Files::DatabaseName gives it. Sets a busy time-out of 10 s before anything else, then
  // write-ahead logging. Throws DatabaseError.
  explicit Database(const std::string& name, Mode mode = Mode::kReadWrite);
  ~Database();
  Database(Database&&) noexcept;

  void Execute(const std::string& sql);
  sqlite3* handle() const { return handle_; }
  std::int64_t last_insert_rowid() const;

 private:
  sqlite3* handle_ = nullptr;
};

// BEGIN IMMEDIATE ... COMMIT; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void Commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace swamp

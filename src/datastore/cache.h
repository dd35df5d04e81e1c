#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "datastore/conflict_folder.h"
#include "datastore/state_db.h"
#include "datastore/tier_path.h"
#include "util/context.h"
#include "util/files.h"

namespace swamp {

// What a writer takes to be at a path; a write over anything else doesn't happen.
class Expected {
 public:
  static Expected Absent() { return Expected(Kind::kAbsent, {}); }
  // Absent, and no removal of the path waits to be published.
  static Expected AbsentAndSettled() { return Expected(Kind::kAbsentAndSettled, {}); }
  static Expected Version(std::string sha256) { return Expected(Kind::kVersion, std::move(sha256)); }
  static Expected Anything() { return Expected(Kind::kAnything, {}); }
  // `sha256` of what is there; nothing: nothing is there.
  bool Fits(const std::optional<std::string>& sha256) const;
  bool settled() const { return kind_ == Kind::kAbsentAndSettled; }

 private:
  enum class Kind { kAbsent, kAbsentAndSettled, kVersion, kAnything };
  Expected(Kind kind, std::string sha256) : kind_(kind), sha256_(std::move(sha256)) {}
  Kind kind_;
  std::string sha256_;
};

// The local side of a synced datastore: files under one folder, and what is known of each.
//
// Several processes may use one cache. What must not be torn between them happens under a short file
// lock (`Guard`), which is never held over a call to the store. Methods that need it say so.
// The object itself is used by one thread; what is called from tasks says so.
class Cache {
 public:
  // Makes the folder and the state database as need be. `root` is absolute.
  Cache(const Context& context, std::filesystem::path root);

  const std::filesystem::path& root() const { return root_; }
  Files& files() const { return files_; }
  StateDb& state() { return *state_; }
  std::filesystem::path PathOf(const std::string& path) const { return root_ / path; }

  // Whether the state database was lost (or never was) while files were there: until the next full pull
  // has compared them with the bucket, nobody knows which of them are changes.
  bool NeedsReconciling();
  void MarkReconciled();

  class Guard {
   public:
    explicit Guard(std::unique_ptr<FileLock> lock) : lock_(std::move(lock)) {}

   private:
    std::unique_ptr<FileLock> lock_;
  };
  // Throws UserError cache_busy when another process holds it for a minute.
  Guard Lock(const Context& context);

  // How the file at a path relates to its base. Usable from tasks.
  struct LocalFile {
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0;
    std::string sha256;  // as given in `base` when size and time prove that nothing changed
  };
  // Nothing: no file. Rehashes unless size and mtime are `base`'s; below config/ always.
  std::optional<LocalFile> Inspect(const std::string& path, const std::optional<Base>& base) const;
  static bool IsClean(const LocalFile& file, const Base& base) {
    return !base.gone() && file.sha256 == base.sha256;
  }

  // Gives files their bases that a pull which died had put in place. Takes the lock if there are any.
  void FinishPlacing(const Context& context);

  enum class WriteOutcome {
    kWritten,
    kUnexpected,  // something else is there; nothing was changed
    kRemovalPending,  // Expected::AbsentAndSettled does not hold: a removal is still to be published; nothing was changed
  };
  // Records the change and makes it, durably and in this order. An empty vector of bytes is a file.
  WriteOutcome Write(const Context& context, const std::string& path, std::string_view bytes,
                     const Expected& expected, unsigned mode = 0644);
  WriteOutcome Remove(const Context& context, const std::string& path, const Expected& expected);
  // Records that a file which is there already has still to be uploaded (copies made by a migration).
  void MarkWritten(const Context& context, const std::string& path);

  // Forgets a change of this checkout's own to a path whose name a peer was faster to take; the file is about to be moved
  // elsewhere. What of it had got into the bucket is removed by the next push, and the next pull brings what is there.
  // `sha256`: of that file, so that nothing of the peer's is removed. Needs the lock.
  void Disown(const std::string& path, const std::string& sha256);
  // The next pull takes nothing for seen of what the path's shard says.
  void LookAgain(const std::string& path);

  // The highest version that a data name ever had, kept when its `latest` marker is removed or goes back, so that no
  // number is used twice. 0: nothing is known.
  std::uint64_t HighestRemoved(const std::string& marker);
  // Needs the lock.
  void RememberRemoved(const std::string& marker, std::uint64_t version);

  ConflictFolder conflicts() const { return {files_, root_ / ".conflicts"}; }
  // Moves the file at `path` there; returns where it is now. Needs the lock.
  std::filesystem::path MoveToConflicts(const Context& context, const std::string& path);

  // All files that may cross, by path: tier folders in `folders`, without what `excludes` matches.
  std::vector<std::string> Walk(const std::vector<std::string>& folders, const ExcludePatterns& excludes) const;
  // The same one by one, folder by folder.
  void ForEachFile(const std::vector<std::string>& folders, const ExcludePatterns& excludes,
                   const std::function<void(const std::string& path)>& visit) const;

 private:
  // "Something changed", as if any path could have: only with the rule off that a write names its paths.
  void MarkEverything();

  std::filesystem::path root_;
  Files& files_;
  std::unique_ptr<StateDb> state_;
};

// The SHA-256 and MD5 of a file's bytes, read once in pieces.
struct ContentDigests {
  std::string sha256;
  std::string md5;
};
ContentDigests DigestFile(const InputFile& file, bool with_md5);

}  // namespace swamp

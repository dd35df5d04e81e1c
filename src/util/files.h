#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/time.h"

namespace swamp {

class Context;
class Random;

enum class FileKind { kFile, kFolder, kLink, kOther };

struct FileInfo {
  FileKind kind = FileKind::kFile;
  std::uint64_t size = 0;  // bytes
  std::int64_t mtime_ns = 0;  // since the epoch
  std::uint64_t inode = 0;
  unsigned mode = 0;  // permission bits
};

struct FolderEntry {
  std::string name;
  FileKind kind;
};

// An open file. It goes on showing the same bytes when its name is given to another file.
class InputFile {
 public:
  virtual ~InputFile() = default;
  virtual FileInfo Info() const = 0;
  // Fills `buffer` from `offset` on; fewer bytes only at the end of the file.
  virtual std::size_t ReadAt(std::uint64_t offset, std::span<char> buffer) const = 0;
};

enum class Durability {
  kSynced,  // survives a power cut when the call returns
  kLater,   // the caller makes it durable with Files::Sync
};

// A file being written under a temporary name beside its target. Vanishes unless it is committed.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual void Append(std::string_view bytes) = 0;
  // Lets go of the descriptor; nothing can be appended afterwards.
  virtual void Close(Durability durability) = 0;
  // Gives the file its name, in place of whatever had it. Closes first if need be.
  virtual void Commit(Durability durability) = 0;
  // As Commit, but false, and nothing changed, when something has the name already.
  virtual bool CommitExclusive() = 0;
  virtual const std::filesystem::path& temporary_path() const = 0;
};

// An advisory lock among processes; released when destroyed and when its process dies.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// The one door to the file system. Thread-safe. Throws IoError for whatever the system refuses, and
// never takes a refusal for absence.
class Files {
 public:
  virtual ~Files() = default;

  // Nothing: there is no such path. A link is not followed.
  virtual std::optional<FileInfo> Stat(const std::filesystem::path& path) = 0;
  // Null: there is no such file. Follows links. A folder is an IoError.
  virtual std::unique_ptr<InputFile> Open(const std::filesystem::path& path) = 0;
  // Starts a file that Commit will call `target`; makes the folders it needs.
  virtual std::unique_ptr<OutputFile> Create(const std::filesystem::path& target, unsigned mode = 0644) = 0;
  // Appends in one write, making the file if need be.
  virtual void Append(const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0644) = 0;
  // Removes a file, a link or an empty folder. False: there was nothing, or a folder that isn't empty.
  virtual bool Remove(const std::filesystem::path& path) = 0;
  // Replaces a file at `to`; both on one file system.
  virtual void Rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  virtual void CreateFolders(const std::filesystem::path& path, unsigned mode = 0755) = 0;
  // Makes one folder, and its parents as need be; false when something has the name already. Of several who try, one gets
  // true.
  virtual bool CreateFolder(const std::filesystem::path& path, unsigned mode = 0755) = 0;
  // Sorted by name, without "." and ".."; empty when there is no such folder.
  virtual std::vector<FolderEntry> List(const std::filesystem::path& folder) = 0;
  virtual void SetMode(const std::filesystem::path& path, unsigned mode) = 0;
  // Sets the time of the last change, in ns since the epoch. A file system may keep it less exactly.
  virtual void SetMtime(const std::filesystem::path& path, std::int64_t mtime_ns) = 0;
  // Makes what was written to these files, and the names in these folders, survive a power cut.
  // Paths that are gone by now are passed over.
  virtual void Sync(std::span<const std::filesystem::path> paths) = 0;
  // The path with every link resolved; parts that don't exist are kept as they are.
  virtual std::filesystem::path Resolve(const std::filesystem::path& path) = 0;
  // Waits for the exclusive lock on `path` (made if need be) at most `wait`; null when time is up.
  // Not re-entrant: a process must not take a lock that it holds.
  virtual std::unique_ptr<FileLock> Lock(const Context& context, const std::filesystem::path& path,
                                         Duration wait) = 0;
  // What SQLite is to open for a database at `path` (a path or a URI).
  virtual std::string DatabaseName(const std::filesystem::path& path) = 0;
};

class SystemFiles final : public Files {
 public:
  explicit SystemFiles(Random& random) : random_(random) {}

  std::optional<FileInfo> Stat(const std::filesystem::path& path) override;
  std::unique_ptr<InputFile> Open(const std::filesystem::path& path) override;
  std::unique_ptr<OutputFile> Create(const std::filesystem::path& target, unsigned mode) override;
  void Append(const std::filesystem::path& path, std::string_view bytes, unsigned mode) override;
  bool Remove(const std::filesystem::path& path) override;
  void Rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  void CreateFolders(const std::filesystem::path& path, unsigned mode) override;
  bool CreateFolder(const std::filesystem::path& path, unsigned mode) override;
  std::vector<FolderEntry> List(const std::filesystem::path& folder) override;
  void SetMode(const std::filesystem::path& path, unsigned mode) override;
  void SetMtime(const std::filesystem::path& path, std::int64_t mtime_ns) override;
  void Sync(std::span<const std::filesystem::path> paths) override;
  std::filesystem::path Resolve(const std::filesystem::path& path) override;
  std::unique_ptr<FileLock> Lock(const Context& context, const std::filesystem::path& path,
                                 Duration wait) override;
  std::string DatabaseName(const std::filesystem::path& path) override { return path.string(); }

 private:
  Random& random_;
};

// Nothing: there is no such file. A file larger than `limit` bytes is an IoError (EFBIG).
std::optional<std::string> ReadFile(Files& files, const std::filesystem::path& path,
                                    std::uint64_t limit = 256ULL << 20);
// Readers see the old content or the new, whole; durable on return.
void WriteFileAtomically(Files& files, const std::filesystem::path& path, std::string_view bytes,
                         unsigned mode = 0644);
// The same, but false, and nothing changed, when the path exists.
bool CreateFileExclusively(Files& files, const std::filesystem::path& path, std::string_view bytes,
                           unsigned mode = 0644);
// Removes a folder and all below it, links as links. Nothing there is fine.
void RemoveTree(Files& files, const std::filesystem::path& path);
// Removes `folder` and its parents while they are empty, up to but without `root`.
void RemoveEmptyFolders(Files& files, std::filesystem::path folder, const std::filesystem::path& root);
// Every file below `root`, as relative paths with "/", in byte order; temporary files of this program
// are left out. Links are listed, not followed.
std::vector<std::string> ListFilesBelow(Files& files, const std::filesystem::path& root);
// The same one by one, folder by folder.
void ForEachFileBelow(Files& files, const std::filesystem::path& root,
                      const std::function<void(const std::string& path)>& visit);
// Whether `name` is one that Files::Create gives to an uncommitted file.
bool IsTemporaryName(std::string_view name);

}  // namespace swamp

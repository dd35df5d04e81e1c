#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "scheduler.h"
#include "util/files.h"

namespace swamp::simulation {

// The files of all checkouts of one run, in memory, SQLite databases among them. A path begins with its checkout's
// folder. There are no links.
class Disk {
 public:
  Disk();
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  struct Node {
    bool folder = false;
    std::shared_ptr<std::string> bytes;
    std::int64_t mtime_ns = 0;
    std::uint64_t inode = 0;
    unsigned mode = 0644;
    std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
  };

  Node* Find(std::string_view path);
  // The folder, made if need be; null: a file is in the way.
  Node* MakeFolder(std::string_view path);
  Node* MakeFile(std::string_view path);
  bool Remove(std::string_view path);

  std::map<std::string, const Process*, std::less<>> locks;

 private:
  Node root_;
  std::uint64_t inodes_ = 0;
};

// What a decorator of the file system is told: before a change of `path` takes effect and after it.
class FileEvents {
 public:
  virtual ~FileEvents() = default;
  virtual void BeforeChange(const std::string& path) = 0;
  // `bytes`: null when the path is gone.
  virtual void AfterChange(const std::string& path, const std::string* before, const std::string* bytes) = 0;
};

// The disk as one process sees it. Every change is a scheduling point; once the process is dead nothing changes any more.
class ProcessFiles final : public Files {
 public:
  ProcessFiles(Disk& disk, Process& process, Scheduler& scheduler, FileEvents& events)
      : disk_(disk), process_(process), scheduler_(scheduler), events_(events) {}

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
  void Sync(std::span<const std::filesystem::path>) override {}
  std::filesystem::path Resolve(const std::filesystem::path& path) override { return path.lexically_normal(); }
  std::unique_ptr<FileLock> Lock(const Context& context, const std::filesystem::path& path, Duration wait) override;
  std::string DatabaseName(const std::filesystem::path& path) override;

 private:
  class Output;
  std::int64_t Now() const;
  void RenameNow(const std::string& from, const std::string& to);

  Disk& disk_;
  Process& process_;
  Scheduler& scheduler_;
  FileEvents& events_;
  std::uint64_t temporaries_ = 0;
};

// Lets SQLite use the disk of the run that is under way; null: no run is.
void UseDiskForDatabases(Disk* disk, const Scheduler* scheduler);

}  // namespace swamp::simulation

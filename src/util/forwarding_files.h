#pragma once

#include "util/files.h"

namespace swamp {

// Passes everything on: for tests, which override what they watch or break.
class ForwardingFiles : public Files {
 public:
  explicit ForwardingFiles(Files& files) : files_(files) {}

  std::optional<FileInfo> Stat(const std::filesystem::path& path) override { return files_.Stat(path); }
  std::unique_ptr<InputFile> Open(const std::filesystem::path& path) override { return files_.Open(path); }
  std::unique_ptr<OutputFile> Create(const std::filesystem::path& target, unsigned mode) override {
    return files_.Create(target, mode);
  }
  void Append(const std::filesystem::path& path, std::string_view bytes, unsigned mode) override {
    files_.Append(path, bytes, mode);
  }
  bool Remove(const std::filesystem::path& path) override { return files_.Remove(path); }
  void Rename(const std::filesystem::path& from, const std::filesystem::path& to) override { files_.Rename(from, to); }
  void CreateFolders(const std::filesystem::path& path, unsigned mode) override { files_.CreateFolders(path, mode); }
  bool CreateFolder(const std::filesystem::path& path, unsigned mode) override {
    return files_.CreateFolder(path, mode);
  }
  std::vector<FolderEntry> List(const std::filesystem::path& folder) override { return files_.List(folder); }
  void SetMode(const std::filesystem::path& path, unsigned mode) override { files_.SetMode(path, mode); }
  void SetMtime(const std::filesystem::path& path, std::int64_t mtime_ns) override { files_.SetMtime(path, mtime_ns); }
  void Sync(std::span<const std::filesystem::path> paths) override { files_.Sync(paths); }
  std::filesystem::path Resolve(const std::filesystem::path& path) override { return files_.Resolve(path); }
  std::unique_ptr<FileLock> Lock(const Context& context, const std::filesystem::path& path, Duration wait) override {
    return files_.Lock(context, path, wait);
  }
  std::string DatabaseName(const std::filesystem::path& path) override { return files_.DatabaseName(path); }

 protected:
  Files& files_;
};

}  // namespace swamp

#include "util/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <dirent.h>

#include <cerrno>
#include <set>

#include "util/clock.h"
#include "util/context.h"
#include "util/error.h"
#include "util/random.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

// From this many paths on, one syncfs costs less than an fsync for each.
constexpr std::size_t kSyncWholeFileSystemFrom = 24;

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

Descriptor OpenDescriptor(const fs::path& path, int flags, mode_t mode = 0) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EINTR) return Descriptor(fd);
  }
}

FileInfo InfoOf(const struct stat& status) {
  FileInfo info;
  info.kind = S_ISREG(status.st_mode)   ? FileKind::kFile
              : S_ISDIR(status.st_mode) ? FileKind::kFolder
              : S_ISLNK(status.st_mode) ? FileKind::kLink
                                        : FileKind::kOther;
  info.size = static_cast<std::uint64_t>(status.st_size);
  info.mtime_ns = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec;
  info.inode = status.st_ino;
  info.mode = status.st_mode & 07777;
  return info;
}

void WriteAll(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      throw IoError("write", path.native(), errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void SyncDescriptor(int fd, const fs::path& path) {
  // EINVAL, EROFS: a kind of file that has nothing to sync.
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) throw IoError("sync", path.native(), errno);
}

void SyncPath(const fs::path& path) {
  const Descriptor fd = OpenDescriptor(path, O_RDONLY);
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw IoError("sync", path.native(), errno);
  }
  SyncDescriptor(fd.get(), path);
}

class SystemInputFile final : public InputFile {
 public:
  SystemInputFile(Descriptor fd, fs::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  FileInfo Info() const override {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) throw IoError("read", path_.native(), errno);
    return InfoOf(status);
  }

  std::size_t ReadAt(std::uint64_t offset, std::span<char> buffer) const override {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const ssize_t count = ::pread(fd_.get(), buffer.data() + done, buffer.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count < 0) {
        if (errno == EINTR) continue;
        throw IoError("read", path_.native(), errno);
      }
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

 private:
  Descriptor fd_;
  fs::path path_;
};

class SystemOutputFile final : public OutputFile {
 public:
  SystemOutputFile(Descriptor fd, fs::path temporary, fs::path target)
      : fd_(std::move(fd)), temporary_(std::move(temporary)), target_(std::move(target)) {}
  ~SystemOutputFile() override {
    if (!committed_) ::unlink(temporary_.c_str());
  }
  SystemOutputFile(const SystemOutputFile&) = delete;
  SystemOutputFile& operator=(const SystemOutputFile&) = delete;

  void Append(std::string_view bytes) override { WriteAll(fd_.get(), bytes, target_); }

  void Close(Durability durability) override {
    if (!fd_) return;
    if (durability == Durability::kSynced) SyncDescriptor(fd_.get(), target_);
    fd_.Close();
  }

  void Commit(Durability durability) override {
    Close(durability);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
      throw IoError("replace", target_.native(), errno);
    }
    committed_ = true;
    if (durability == Durability::kSynced) SyncPath(target_.parent_path());
  }

  bool CommitExclusive() override {
    Close(Durability::kSynced);
    if (::link(temporary_.c_str(), target_.c_str()) != 0) {
      if (errno == EEXIST) return false;
      throw IoError("create", target_.native(), errno);
    }
    ::unlink(temporary_.c_str());
    committed_ = true;
    SyncPath(target_.parent_path());
    return true;
  }

  const fs::path& temporary_path() const override { return temporary_; }

 private:
  Descriptor fd_;
  fs::path temporary_;
  fs::path target_;
  bool committed_ = false;
};

class SystemFileLock final : public FileLock {
 public:
  explicit SystemFileLock(Descriptor fd) : fd_(std::move(fd)) {}

 private:
  Descriptor fd_;
};

FileKind KindOfEntry(const fs::path& folder, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return FileKind::kFile;
    case DT_DIR:
      return FileKind::kFolder;
    case DT_LNK:
      return FileKind::kLink;
    case DT_UNKNOWN: {
      struct stat status {};
      if (::lstat((folder / entry.d_name).c_str(), &status) != 0) return FileKind::kOther;
      return InfoOf(status).kind;
    }
    default:
      return FileKind::kOther;
  }
}

}  // namespace

std::optional<FileInfo> SystemFiles::Stat(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw IoError("look at", path.native(), errno);
  }
  return InfoOf(status);
}

std::unique_ptr<InputFile> SystemFiles::Open(const fs::path& path) {
  Descriptor fd = OpenDescriptor(path, O_RDONLY);
  if (!fd) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    throw IoError("read", path.native(), errno);
  }
  auto file = std::make_unique<SystemInputFile>(std::move(fd), path);
  if (file->Info().kind == FileKind::kFolder) throw IoError("read", path.native(), EISDIR);
  return file;
}

std::unique_ptr<OutputFile> SystemFiles::Create(const fs::path& target, unsigned mode) {
  // A name has at most 255 bytes; the random part alone makes it unique.
  const fs::path temporary =
      target.parent_path() /
      ("." + target.filename().native().substr(0, 120) + "." + random_.Hex(12) + ".tmp");
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL;
  Descriptor fd = OpenDescriptor(temporary, kFlags, mode);
  if (!fd && errno == ENOENT) {
    CreateFolders(target.parent_path(), 0755);
    fd = OpenDescriptor(temporary, kFlags, mode);
  }
  if (!fd) throw IoError("create", target.native(), errno);
  // The mode asked for, whatever the umask says; a file meant to be private stays so.
  if (::fchmod(fd.get(), mode) != 0) throw IoError("create", target.native(), errno);
  return std::make_unique<SystemOutputFile>(std::move(fd), temporary, target);
}

void SystemFiles::Append(const fs::path& path, std::string_view bytes, unsigned mode) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND;
  Descriptor fd = OpenDescriptor(path, kFlags, mode);
  if (!fd && errno == ENOENT) {
    CreateFolders(path.parent_path(), 0755);
    fd = OpenDescriptor(path, kFlags, mode);
  }
  if (!fd) throw IoError("append to", path.native(), errno);
  WriteAll(fd.get(), bytes, path);
}

bool SystemFiles::Remove(const fs::path& path) {
  if (::unlink(path.c_str()) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  if (errno == EISDIR || errno == EPERM) {
    if (::rmdir(path.c_str()) == 0) return true;
    if (errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) return false;
  }
  throw IoError("remove", path.native(), errno);
}

void SystemFiles::Rename(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw IoError("rename", from.native(), errno);
}

void SystemFiles::CreateFolders(const fs::path& path, unsigned mode) {
  if (path.empty() || ::mkdir(path.c_str(), mode) == 0) return;
  if (errno == ENOENT && path.has_parent_path() && path.parent_path() != path) {
    CreateFolders(path.parent_path(), mode);
    if (::mkdir(path.c_str(), mode) == 0) return;
  }
  const int error_number = errno;
  struct stat status {};
  if (error_number == EEXIST && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return;
  throw IoError("create the folder", path.native(), error_number);
}

bool SystemFiles::CreateFolder(const fs::path& path, unsigned mode) {
  // The parent may be removed as empty at any moment by somebody else.
  constexpr int kMaxTries = 100;
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    if (::mkdir(path.c_str(), mode) == 0) return true;
    if (errno == EEXIST) return false;
    if (errno != ENOENT) break;
    CreateFolders(path.parent_path(), 0755);
  }
  throw IoError("create the folder", path.native(), errno);
}

std::vector<FolderEntry> SystemFiles::List(const fs::path& folder) {
  std::vector<FolderEntry> entries;
  DIR* handle = ::opendir(folder.c_str());
  if (handle == nullptr) {
    if (errno == ENOENT || errno == ENOTDIR) return entries;
    throw IoError("list", folder.native(), errno);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(handle, ::closedir);
  for (;;) {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): each call has a handle of its own.
    const dirent* entry = ::readdir(handle);
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const FileKind kind = KindOfEntry(folder, *entry);
    entries.push_back({std::move(name), kind});
  }
  if (errno != 0) throw IoError("list", folder.native(), errno);
  std::sort(entries.begin(), entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return entries;
}

void SystemFiles::SetMode(const fs::path& path, unsigned mode) {
  if (::chmod(path.c_str(), mode) != 0) throw IoError("change the mode of", path.native(), errno);
}

void SystemFiles::SetMtime(const fs::path& path, std::int64_t mtime_ns) {
  const auto time = std::chrono::nanoseconds(mtime_ns);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const timespec times[2] = {{0, UTIME_OMIT}, {seconds.count(), (time - seconds).count()}};
  if (::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) {
    throw IoError("set the time of", path.native(), errno);
  }
}

void SystemFiles::Sync(std::span<const fs::path> paths) {
  if (paths.size() >= kSyncWholeFileSystemFrom) {
    const Descriptor fd = OpenDescriptor(paths.front().parent_path(), O_RDONLY | O_DIRECTORY);
    if (fd && ::syncfs(fd.get()) == 0) return;
  }
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    if (seen.insert(path).second) SyncPath(path);
  }
}

fs::path SystemFiles::Resolve(const fs::path& path) {
  std::error_code error;
  fs::path resolved = fs::weakly_canonical(path, error);
  if (error) throw IoError("resolve", path.native(), error.value());
  return resolved;
}

std::unique_ptr<FileLock> SystemFiles::Lock(const Context& context, const fs::path& path,
                                            Duration wait) {
  Descriptor fd = OpenDescriptor(path, O_RDWR | O_CREAT, 0644);
  if (!fd && errno == ENOENT) {
    CreateFolders(path.parent_path(), 0755);
    fd = OpenDescriptor(path, O_RDWR | O_CREAT, 0644);
  }
  if (!fd) throw IoError("lock", path.native(), errno);
  const Duration start = context.clock().Elapsed();
  for (Duration pause(1);; pause = std::min(pause * 2, Duration(50))) {
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return std::make_unique<SystemFileLock>(std::move(fd));
    if (errno != EWOULDBLOCK && errno != EINTR) throw IoError("lock", path.native(), errno);
    if (context.clock().Elapsed() - start >= wait) return nullptr;
    context.clock().Sleep(context, pause);
  }
}

std::optional<std::string> ReadFile(Files& files, const fs::path& path, std::uint64_t limit) {
  const auto file = files.Open(path);
  if (!file) return std::nullopt;
  const std::uint64_t size = file->Info().size;
  if (size > limit) throw IoError("read", path.native(), EFBIG);
  std::string bytes(size, '\0');
  bytes.resize(file->ReadAt(0, bytes));
  return bytes;
}

void WriteFileAtomically(Files& files, const fs::path& path, std::string_view bytes, unsigned mode) {
  const auto file = files.Create(path, mode);
  file->Append(bytes);
  file->Commit(Durability::kSynced);
}

bool CreateFileExclusively(Files& files, const fs::path& path, std::string_view bytes, unsigned mode) {
  const auto file = files.Create(path, mode);
  file->Append(bytes);
  return file->CommitExclusive();
}

void RemoveTree(Files& files, const fs::path& path) {
  const auto info = files.Stat(path);
  if (!info) return;
  if (info->kind == FileKind::kFolder) {
    for (const FolderEntry& entry : files.List(path)) RemoveTree(files, path / entry.name);
  }
  files.Remove(path);
}

void RemoveEmptyFolders(Files& files, fs::path folder, const fs::path& root) {
  while (folder != root && folder.native().size() > root.native().size() && files.Remove(folder)) {
    folder = folder.parent_path();
  }
}

namespace {

// `prefix` is the folder's own path below the root, with a "/" at its end.
void VisitBelow(Files& files, const fs::path& folder, const std::string& prefix,
                const std::function<void(const std::string& path)>& visit) {
  for (const FolderEntry& entry : files.List(folder)) {
    if (entry.kind == FileKind::kFolder) {
      VisitBelow(files, folder / entry.name, prefix + entry.name + "/", visit);
    } else if (!IsTemporaryName(entry.name)) {
      visit(prefix + entry.name);
    }
  }
}

}  // namespace

void ForEachFileBelow(Files& files, const fs::path& root, const std::function<void(const std::string& path)>& visit) {
  VisitBelow(files, root, "", visit);
}

std::vector<std::string> ListFilesBelow(Files& files, const fs::path& root) {
  std::vector<std::string> paths;
  ForEachFileBelow(files, root, [&](const std::string& path) { paths.push_back(path); });
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool IsTemporaryName(std::string_view name) { return name.starts_with('.') && name.ends_with(".tmp"); }

}  // namespace swamp

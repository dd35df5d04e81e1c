#include "disk.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "util/context.h"
#include "util/clock.h"
#include "util/error.h"

namespace swamp::simulation {
namespace {

FileInfo InfoOf(const Disk::Node& node) {
  FileInfo info;
  info.kind = node.folder ? FileKind::kFolder : FileKind::kFile;
  info.size = node.bytes ? node.bytes->size() : 0;
  info.mtime_ns = node.mtime_ns;
  info.inode = node.inode;
  info.mode = node.mode;
  return info;
}

// The parts of "/a/b" one by one.
class Parts {
 public:
  explicit Parts(std::string_view path) : rest_(path) {}
  bool Next(std::string_view& part) {
    while (rest_.starts_with('/')) rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    part = rest_.substr(0, rest_.find('/'));
    rest_.remove_prefix(part.size());
    return true;
  }

 private:
  std::string_view rest_;
};

std::pair<std::string_view, std::string_view> SplitLast(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return {path.substr(0, slash), path.substr(slash + 1)};
}

class OpenFile final : public InputFile {
 public:
  explicit OpenFile(const Disk::Node& node) : info_(InfoOf(node)), bytes_(node.bytes) {}
  FileInfo Info() const override { return info_; }
  std::size_t ReadAt(std::uint64_t offset, std::span<char> buffer) const override {
    if (offset >= bytes_->size()) return 0;
    const std::size_t count = std::min(buffer.size(), bytes_->size() - static_cast<std::size_t>(offset));
    std::memcpy(buffer.data(), bytes_->data() + offset, count);
    return count;
  }

 private:
  FileInfo info_;
  std::shared_ptr<const std::string> bytes_;
};

class HeldFileLock final : public FileLock {
 public:
  HeldFileLock(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  ~HeldFileLock() override { disk_.locks.erase(path_); }
  HeldFileLock(const HeldFileLock&) = delete;
  HeldFileLock& operator=(const HeldFileLock&) = delete;

 private:
  Disk& disk_;
  std::string path_;
};

}  // namespace

Disk::Disk() { root_.folder = true; }
Disk::~Disk() = default;

Disk::Node* Disk::Find(std::string_view path) {
  Node* node = &root_;
  Parts parts(path);
  for (std::string_view part; parts.Next(part);) {
    const auto found = node->children.find(part);
    if (found == node->children.end()) return nullptr;
    node = found->second.get();
  }
  return node;
}

Disk::Node* Disk::MakeFolder(std::string_view path) {
  Node* node = &root_;
  Parts parts(path);
  for (std::string_view part; parts.Next(part);) {
    auto found = node->children.find(part);
    if (found == node->children.end()) {
      found = node->children.emplace(std::string(part), std::make_unique<Node>()).first;
      found->second->folder = true;
      found->second->inode = ++inodes_;
    }
    node = found->second.get();
    if (!node->folder) return nullptr;
  }
  return node;
}

Disk::Node* Disk::MakeFile(std::string_view path) {
  const auto [parent, name] = SplitLast(path);
  Node* folder = MakeFolder(parent);
  if (folder == nullptr) return nullptr;
  std::unique_ptr<Node>& node = folder->children[std::string(name)];
  if (node && node->folder) return nullptr;
  if (!node) {
    node = std::make_unique<Node>();
    node->inode = ++inodes_;
  }
  node->bytes = std::make_shared<std::string>();
  return node.get();
}

bool Disk::Remove(std::string_view path) {
  const auto [parent, name] = SplitLast(path);
  Node* folder = Find(parent);
  if (folder == nullptr) return false;
  const auto found = folder->children.find(name);
  if (found == folder->children.end() || (found->second->folder && !found->second->children.empty())) return false;
  folder->children.erase(found);
  return true;
}

// ---- one process's view ----

std::int64_t ProcessFiles::Now() const {
  return (Duration(1'796'137'741'064) + scheduler_.now()).count() * 1'000'000;
}

class ProcessFiles::Output final : public OutputFile {
 public:
  Output(ProcessFiles& files, std::string target, std::string temporary, unsigned mode)
      : files_(files), target_(std::move(target)), temporary_(std::move(temporary)) {
    Disk::Node* node = files_.disk_.MakeFile(temporary_.native());
    if (node == nullptr) throw IoError("create", target_, ENOTDIR);
    node->mode = mode;
    node->mtime_ns = files_.Now();
  }
  ~Output() override {
    if (!committed_ && files_.process_.alive) files_.disk_.Remove(temporary_.native());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void Append(std::string_view bytes) override {
    files_.process_.ThrowIfDead();
    if (!files_.process_.alive) return;
    Disk::Node* node = files_.disk_.Find(temporary_.native());
    if (node == nullptr) throw IoError("write", target_, ENOENT);
    node->bytes->append(bytes);
    node->mtime_ns = files_.Now();
  }
  void Close(Durability) override {}
  void Commit(Durability) override {
    committed_ = true;
    files_.Rename(temporary_, target_);
  }
  bool CommitExclusive() override {
    files_.process_.ThrowIfDead();
    if (!files_.process_.alive || files_.disk_.Find(target_) != nullptr) return false;
    files_.events_.BeforeChange(target_);
    if (files_.disk_.Find(target_) != nullptr) return false;
    committed_ = true;
    files_.RenameNow(temporary_.native(), target_);
    return true;
  }
  const std::filesystem::path& temporary_path() const override { return temporary_; }

 private:
  ProcessFiles& files_;
  std::string target_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

std::optional<FileInfo> ProcessFiles::Stat(const std::filesystem::path& path) {
  if (!process_.alive) return std::nullopt;
  const Disk::Node* node = disk_.Find(path.native());
  if (node == nullptr) return std::nullopt;
  return InfoOf(*node);
}

std::unique_ptr<InputFile> ProcessFiles::Open(const std::filesystem::path& path) {
  if (!process_.alive) return nullptr;
  const Disk::Node* node = disk_.Find(path.native());
  if (node == nullptr) return nullptr;
  if (node->folder) throw IoError("read", path.native(), EISDIR);
  return std::make_unique<OpenFile>(*node);
}

std::unique_ptr<OutputFile> ProcessFiles::Create(const std::filesystem::path& target, unsigned mode) {
  process_.ThrowIfDead();
  const auto [parent, name] = SplitLast(target.native());
  std::string temporary = fmt::format("{}/.{}.{}-{}.tmp", parent, name, process_.number, ++temporaries_);
  return std::make_unique<Output>(*this, target.native(), std::move(temporary), mode);
}

void ProcessFiles::Append(const std::filesystem::path& path, std::string_view bytes, unsigned) {
  process_.ThrowIfDead();
  events_.BeforeChange(path.native());
  Disk::Node* node = disk_.Find(path.native());
  if (node == nullptr) node = disk_.MakeFile(path.native());
  if (node == nullptr || node->folder) throw IoError("append to", path.native(), EISDIR);
  // Readers keep the bytes they have opened.
  const auto before = node->bytes;
  node->bytes = std::make_shared<std::string>(*before + std::string(bytes));
  node->mtime_ns = Now();
  events_.AfterChange(path.native(), before.get(), node->bytes.get());
}

bool ProcessFiles::Remove(const std::filesystem::path& path) {
  if (!process_.alive || disk_.Find(path.native()) == nullptr) return false;
  events_.BeforeChange(path.native());
  const Disk::Node* node = disk_.Find(path.native());
  if (node == nullptr || !process_.alive) return false;
  const auto before = node->bytes;
  if (!disk_.Remove(path.native())) return false;
  events_.AfterChange(path.native(), before.get(), nullptr);
  return true;
}

void ProcessFiles::Rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  process_.ThrowIfDead();
  events_.BeforeChange(to.native());
  RenameNow(from.native(), to.native());
}

void ProcessFiles::RenameNow(const std::string& from, const std::string& to) {
  const auto [from_parent, from_name] = SplitLast(from);
  const auto [to_parent, to_name] = SplitLast(to);
  Disk::Node* source = disk_.Find(from_parent);
  Disk::Node* target = disk_.Find(to_parent);
  const auto found = source == nullptr ? decltype(source->children.end())() : source->children.find(from_name);
  if (source == nullptr || found == source->children.end() || target == nullptr) {
    throw IoError("rename", from, ENOENT);
  }
  std::unique_ptr<Disk::Node>& place = target->children[std::string(to_name)];
  if (place && place->folder != found->second->folder) throw IoError("rename", from, EISDIR);
  if (place && place->folder && !place->children.empty()) throw IoError("rename", from, ENOTEMPTY);
  const auto before = place ? place->bytes : nullptr;
  place = std::move(found->second);
  source->children.erase(found);
  if (!place->folder) events_.AfterChange(to, before.get(), place->bytes.get());
}

bool ProcessFiles::CreateFolder(const std::filesystem::path& path, unsigned mode) {
  if (Stat(path)) return false;
  CreateFolders(path, mode);
  return true;
}

void ProcessFiles::CreateFolders(const std::filesystem::path& path, unsigned) {
  process_.ThrowIfDead();
  if (process_.alive && disk_.MakeFolder(path.native()) == nullptr) {
    throw IoError("create the folder", path.native(), EEXIST);
  }
}

std::vector<FolderEntry> ProcessFiles::List(const std::filesystem::path& folder) {
  std::vector<FolderEntry> entries;
  if (!process_.alive) return entries;
  const Disk::Node* node = disk_.Find(folder.native());
  if (node == nullptr) return entries;
  for (const auto& [name, child] : node->children) {
    entries.push_back({name, child->folder ? FileKind::kFolder : FileKind::kFile});
  }
  return entries;
}

void ProcessFiles::SetMode(const std::filesystem::path& path, unsigned mode) {
  process_.ThrowIfDead();
  if (Disk::Node* node = disk_.Find(path.native())) node->mode = mode;
}

void ProcessFiles::SetMtime(const std::filesystem::path& path, std::int64_t mtime_ns) {
  process_.ThrowIfDead();
  if (Disk::Node* node = disk_.Find(path.native())) node->mtime_ns = mtime_ns;
}

std::unique_ptr<FileLock> ProcessFiles::Lock(const Context& context, const std::filesystem::path& path,
                                             Duration wait) {
  process_.ThrowIfDead();
  if (disk_.Find(path.native()) == nullptr && disk_.MakeFile(path.native()) == nullptr) {
    throw IoError("lock", path.native(), EISDIR);
  }
  const Duration start = scheduler_.now();
  for (;;) {
    const auto [place, taken] = disk_.locks.emplace(path.native(), &process_);
    if (taken) return std::make_unique<HeldFileLock>(disk_, path.native());
    if (scheduler_.now() - start >= wait) return nullptr;
    context.clock().Sleep(context, Duration(20));
  }
}

std::string ProcessFiles::DatabaseName(const std::filesystem::path& path) {
  return "file:" + path.string() + "?vfs=simulation";
}

// ---- SQLite on the disk ----

namespace {

Disk* g_disk = nullptr;
const Scheduler* g_scheduler = nullptr;

bool IsDead() { return g_scheduler->running() && !const_cast<Scheduler*>(g_scheduler)->process().alive; }

struct DatabaseFile {
  sqlite3_file base;
  std::shared_ptr<std::string>* bytes;
  bool remove_at_end;
};

// Constructed in the memory that SQLite gives.
DatabaseFile& FileOf(sqlite3_file* file) { return *reinterpret_cast<DatabaseFile*>(file); }
std::string& BytesOf(sqlite3_file* file) { return **FileOf(file).bytes; }

int Close(sqlite3_file* file) {
  delete FileOf(file).bytes;
  FileOf(file).bytes = nullptr;
  return SQLITE_OK;
}
int Read(sqlite3_file* file, void* buffer, int count, sqlite3_int64 offset) {
  const std::string& bytes = BytesOf(file);
  const auto start = static_cast<std::size_t>(offset);
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t there = start >= bytes.size() ? 0 : std::min(wanted, bytes.size() - start);
  std::memcpy(buffer, bytes.data() + std::min(start, bytes.size()), there);
  if (there == wanted) return SQLITE_OK;
  std::memset(static_cast<char*>(buffer) + there, 0, wanted - there);
  return SQLITE_IOERR_SHORT_READ;
}
int Write(sqlite3_file* file, const void* buffer, int count, sqlite3_int64 offset) {
  if (IsDead()) return SQLITE_IOERR_WRITE;
  std::string& bytes = BytesOf(file);
  const auto end = static_cast<std::size_t>(offset) + static_cast<std::size_t>(count);
  if (bytes.size() < end) bytes.resize(end);
  std::memcpy(bytes.data() + offset, buffer, static_cast<std::size_t>(count));
  return SQLITE_OK;
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (IsDead()) return SQLITE_IOERR_TRUNCATE;
  BytesOf(file).resize(static_cast<std::size_t>(size));
  return SQLITE_OK;
}
int Sync(sqlite3_file*, int) { return IsDead() ? SQLITE_IOERR_FSYNC : SQLITE_OK; }
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(BytesOf(file).size());
  return SQLITE_OK;
}
// One thread, and no scheduling point within a transaction.
int NoLock(sqlite3_file*, int) { return SQLITE_OK; }
int CheckReservedLock(sqlite3_file*, int* result) {
  *result = 0;
  return SQLITE_OK;
}
int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int SectorSize(sqlite3_file*) { return 4096; }
int Characteristics(sqlite3_file*) {
  return SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL | SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

const sqlite3_io_methods kMethods = [] {
  sqlite3_io_methods methods{};
  methods.iVersion = 1;  // no shared memory: SQLite stays with its rollback journal
  methods.xClose = Close;
  methods.xRead = Read;
  methods.xWrite = Write;
  methods.xTruncate = Truncate;
  methods.xSync = Sync;
  methods.xFileSize = FileSize;
  methods.xLock = NoLock;
  methods.xUnlock = NoLock;
  methods.xCheckReservedLock = CheckReservedLock;
  methods.xFileControl = FileControl;
  methods.xSectorSize = SectorSize;
  methods.xDeviceCharacteristics = Characteristics;
  return methods;
}();

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  std::shared_ptr<std::string> bytes;
  if (name == nullptr) {
    bytes = std::make_shared<std::string>();
  } else {
    Disk::Node* node = g_disk->Find(name);
    if (node == nullptr) {
      if ((flags & SQLITE_OPEN_CREATE) == 0 || IsDead()) return SQLITE_CANTOPEN;
      node = g_disk->MakeFile(name);
    }
    if (node == nullptr || node->folder) return SQLITE_CANTOPEN;
    bytes = node->bytes;
  }
  FileOf(file).bytes = new std::shared_ptr<std::string>(std::move(bytes));
  if (out_flags != nullptr) *out_flags = flags;
  file->pMethods = &kMethods;
  return SQLITE_OK;
}
int Delete(sqlite3_vfs*, const char* name, int) {
  if (IsDead()) return SQLITE_IOERR_DELETE;
  return g_disk->Remove(name) ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}
int Access(sqlite3_vfs*, const char* name, int, int* result) {
  *result = g_disk->Find(name) != nullptr ? 1 : 0;
  return SQLITE_OK;
}
int FullPathname(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

void RegisterVfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs made{};
    const sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
    made.iVersion = 1;
    made.szOsFile = sizeof(DatabaseFile);
    made.mxPathname = 512;
    made.zName = "simulation";
    made.xOpen = Open;
    made.xDelete = Delete;
    made.xAccess = Access;
    made.xFullPathname = FullPathname;
    made.xRandomness = system->xRandomness;
    made.xSleep = system->xSleep;
    made.xCurrentTime = system->xCurrentTime;
    made.xGetLastError = system->xGetLastError;
    return made;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  (void)registered;
}

}  // namespace

void UseDiskForDatabases(Disk* disk, const Scheduler* scheduler) {
  RegisterVfs();
  g_disk = disk;
  g_scheduler = scheduler;
}

}  // namespace swamp::simulation

#include "objectstore/directory_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "objectstore/directory_listing.h"
#include "objectstore/object_key.h"
#include "util/clock.h"
#include "util/context.h"
#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kStripes = 64;
constexpr Duration kLockWait{30'000};
constexpr std::size_t kChunk = std::size_t{256} << 10;
// Larger bodies are written through to the disk before the lock is taken.
constexpr std::uint64_t kSyncEarlyFrom = 1U << 20;
// How often a folder may be pruned between making it and moving a file into it.
constexpr int kFolderRaces = 1000;
// Times are set in steps that every common file system keeps (NTFS and SMB count 100 ns).
constexpr std::int64_t kTick = 100;  // ns
constexpr std::int64_t kTicksPerMs = 1'000'000 / kTick;

// FNV-1a: it must be the same in every program that shares the folder.
std::uint64_t StableHash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

StoreError Invalid(std::string_view operation, const std::string& key, std::string_view reason,
                   std::string hint = {}) {
  return {StoreError::Kind::kInvalid,
          fmt::format("cannot {} \"{}\": {}", operation, Printable(key), reason), std::move(hint)};
}

// Calls `work`, and turns the system's refusals that speak of the store into the store's errors.
template <typename Work>
auto Translated(const Work& work) {
  try {
    return work();
  } catch (const IoError& error) {
    switch (error.error_number()) {
      case EACCES:
      case EPERM:
      case EROFS:
        throw StoreError(StoreError::Kind::kDenied, error.message(),
                         "Check the rights on the bucket's folder.");
      case EIO:
      case ESTALE:
      case ETIMEDOUT:
      case ENOTCONN:
      case EHOSTDOWN:
      case EHOSTUNREACH:
        throw StoreError(StoreError::Kind::kUnknownOutcome, error.message(),
                         "Check the disk or the network file system that holds the bucket.");
      default:
        throw;
    }
  }
}

// The program's own records are for the folder's owner alone: there are keys among them.
unsigned ModeOf(std::string_view key) { return key.starts_with("_control/") ? 0600 : 0644; }

// Whether `info` is of the version that `condition` asks for.
bool Holds(const std::optional<FileInfo>& info, const Condition& condition) {
  if (!condition.etag()) return !info;
  return info && EtagOf(*info) == *condition.etag();
}

// Removes the empty folders at and below `folder`.
void RemoveEmptyFoldersBelow(Files& files, const fs::path& folder) {
  for (const FolderEntry& entry : files.List(folder)) {
    if (entry.kind != FileKind::kFolder) return;
    RemoveEmptyFoldersBelow(files, folder / entry.name);
  }
  files.Remove(folder);
}

void WriteBody(const Context& context, OutputFile& file, const Body& body) {
  if (body.bytes() != nullptr) {
    file.Append(*body.bytes());
    return;
  }
  std::string chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, body.size())), '\0');
  for (std::uint64_t offset = 0; offset < body.size();) {
    context.Check();
    const std::size_t count = body.ReadAt(offset, chunk.data(), chunk.size());
    file.Append({chunk.data(), count});
    offset += count;
  }
}

}  // namespace

// The lock on all keys with one hash, and the source of times for what is written under it.
class DirectoryStore::Stripe {
 public:
  Stripe(Files& files, fs::path path, std::unique_ptr<FileLock> lock)
      : files_(files), path_(std::move(path)), lock_(std::move(lock)) {}

  // Gives `file` a time of change that no file written under this lock had before. The lock file's
  // own time remembers the one given last: its ticks within the millisecond are the counter.
  void Stamp(const fs::path& file, Time now) {
    const auto last = files_.Stat(path_);
    const std::int64_t last_tick = last ? last->mtime_ns / kTick % kTicksPerMs : 0;
    const std::int64_t tick = (last_tick + 1) % kTicksPerMs;
    const std::int64_t mtime_ns = now.time_since_epoch().count() * 1'000'000 + tick * kTick;
    files_.SetMtime(path_, mtime_ns);
    files_.SetMtime(file, mtime_ns);
    const auto info = files_.Stat(file);
    if (!info || info->mtime_ns != mtime_ns) {
      throw StoreError(
          StoreError::Kind::kInvalid,
          fmt::format("the file system of {} does not keep times exactly enough to tell two "
                      "versions of a file apart",
                      file.parent_path().native()),
          "Put the bucket's folder on another file system.");
    }
  }

 private:
  Files& files_;
  fs::path path_;
  std::unique_ptr<FileLock> lock_;
};

DirectoryStore::DirectoryStore(DirectoryStoreOptions options) : options_(std::move(options)) {
  options_.bucket = options_.bucket.lexically_normal();
  if (!options_.bucket.has_filename()) options_.bucket = options_.bucket.parent_path();
  if (options_.side_folder.empty()) options_.side_folder = options_.bucket / ".swamp-bucket";
  root_ = options_.prefix.empty() ? options_.bucket : options_.bucket / options_.prefix;
}

std::string DirectoryStore::Describe() const { return root_.native(); }

fs::path DirectoryStore::Locate(std::string_view operation, const std::string& key) const {
  CheckKey(operation, key);
  fs::path path = root_ / key;
  const auto [side_end, path_end] = std::mismatch(
      options_.side_folder.begin(), options_.side_folder.end(), path.begin(), path.end());
  if (side_end == options_.side_folder.end()) {
    throw Invalid(operation, key, "this name is kept for the bucket's own locks");
  }
  return path;
}

void DirectoryStore::RequireBucket(Files& files) const {
  // A folder that isn't mounted must not look like an empty bucket.
  auto info = files.Stat(options_.bucket);
  if (info && info->kind == FileKind::kLink) info = files.Stat(files.Resolve(options_.bucket));
  if (info && info->kind == FileKind::kFolder) return;
  throw StoreError(
      StoreError::Kind::kNoBucket,
      fmt::format("the bucket's folder {} is not there", options_.bucket.native()),
      fmt::format("Create it (mkdir -p {}), or mount its file system.", options_.bucket.native()));
}

// The file at `path`; nothing when there is none. Anything else that has the name is refused.
std::optional<FileInfo> DirectoryStore::Look(Files& files, std::string_view operation,
                                             const std::string& key, const fs::path& path) const {
  const auto refuse_link = [&](const fs::path& link) {
    throw Invalid(operation, key, fmt::format("{} is a link or a special file", link.native()),
                  "A bucket's folder holds plain files and folders only.");
  };
  for (fs::path folder = path.parent_path(); folder != options_.bucket;
       folder = folder.parent_path()) {
    const auto info = files.Stat(folder);
    if (info && info->kind != FileKind::kFolder && info->kind != FileKind::kFile)
      refuse_link(folder);
  }
  const auto info = files.Stat(path);
  if (!info) {
    RequireBucket(files);
    return std::nullopt;
  }
  if (info->kind == FileKind::kFolder) return std::nullopt;
  if (info->kind != FileKind::kFile) refuse_link(path);
  return info;
}

std::unique_ptr<DirectoryStore::Stripe> DirectoryStore::LockKey(const Context& context,
                                                                std::string_view operation,
                                                                const std::string& key) const {
  const std::string whole_key = options_.prefix.empty() ? key : options_.prefix + "/" + key;
  const fs::path path =
      options_.side_folder / "locks" / fmt::format("{:02}", StableHash(whole_key) % kStripes);
  auto lock = context.files().Lock(context, path, kLockWait);
  if (!lock) {
    throw StoreError(
        StoreError::Kind::kThrottled,
        fmt::format("cannot {} \"{}\": another program has held the lock {} for {}", operation,
                    Printable(key), path.native(), DescribeDuration(kLockWait)),
        "Find out what it waits for; the lock ends with its process.");
  }
  return std::make_unique<Stripe>(context.files(), path, std::move(lock));
}

GetResult DirectoryStore::Get(const Context& context, const std::string& key,
                              const GetOptions& options, BodySink& sink) {
  context.Check();
  const fs::path path = Locate("read", key);
  return Translated([&] {
    Files& files = context.files();
    GetResult result;
    if (!Look(files, "read", key, path)) return result;
    const auto file = files.Open(path);
    if (!file) return result;
    const FileInfo info = file->Info();
    if (options.unless == EtagOf(info)) {
      result.outcome = GetResult::Outcome::kUnchanged;
      return result;
    }
    if (info.size > options.size_limit) {
      throw Invalid("read", key,
                    fmt::format("it has {} bytes, more than the {} allowed here", info.size,
                                options.size_limit));
    }
    std::string chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, info.size)), '\0');
    std::uint64_t offset = 0;
    while (offset < info.size) {
      context.Check();
      const std::size_t wanted =
          static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), info.size - offset));
      const std::size_t count = file->ReadAt(offset, {chunk.data(), wanted});
      if (count == 0) break;
      sink.Write({chunk.data(), count});
      offset += count;
    }
    if (offset != info.size || EtagOf(file->Info()) != EtagOf(info)) {
      throw StoreError(StoreError::Kind::kUnknownOutcome,
                       fmt::format("cannot read \"{}\": another program edits {} in place",
                                   Printable(key), path.native()),
                       "Let it finish and run the command again.");
    }
    result.outcome = GetResult::Outcome::kFound;
    result.state = {ObjectInfoOf(key, info), context.clock().Now(), ""};
    return result;
  });
}

std::optional<ObjectState> DirectoryStore::Head(const Context& context, const std::string& key) {
  context.Check();
  const fs::path path = Locate("look at", key);
  return Translated([&]() -> std::optional<ObjectState> {
    const auto info = Look(context.files(), "look at", key, path);
    if (!info) return std::nullopt;
    return ObjectState{ObjectInfoOf(key, *info), context.clock().Now(), ""};
  });
}

PutResult DirectoryStore::Put(const Context& context, const std::string& key, const Body& body,
                              const Condition& condition, const PutOptions&) {
  context.Check();
  const fs::path path = Locate("write", key);
  return Translated([&] {
    Files& files = context.files();
    PutResult result;
    // Most refusals are seen before anything is written; the look that counts is under the lock.
    if (!Holds(Look(files, "write", key, path), condition)) return result;
    const auto file = files.Create(options_.side_folder / "temporary" / "object", ModeOf(key));
    WriteBody(context, *file, body);
    file->Close(body.size() >= kSyncEarlyFrom ? Durability::kSynced : Durability::kLater);
    const fs::path& temporary = file->temporary_path();

    const auto stripe = LockKey(context, "write", key);
    if (!Holds(Look(files, "write", key, path), condition)) return result;
    stripe->Stamp(temporary, context.clock().Now());
    files.Sync({&temporary, 1});
    MoveIntoPlace(files, temporary, key, path);
    const auto info = files.Stat(path);
    if (!info) throw IoError("look at", path.native(), ENOENT);
    result.outcome = PutResult::Outcome::kStored;
    result.etag = EtagOf(*info);
    result.store_now = context.clock().Now();
    return result;
  });
}

// Renames `temporary` to `path` and makes it durable. Folders that are missing are made; somebody
// who deletes a neighbour may prune them in between.
void DirectoryStore::MoveIntoPlace(Files& files, const fs::path& temporary, const std::string& key,
                                   const fs::path& path) const {
  std::vector<fs::path> changed = {path.parent_path()};
  for (int races = 0;; ++races) {
    try {
      if (races > 0) {
        for (fs::path folder = path.parent_path(); folder != options_.bucket && !files.Stat(folder);
             folder = folder.parent_path()) {
          changed.push_back(folder.parent_path());
        }
        files.CreateFolders(path.parent_path());
      }
      files.Rename(temporary, path);
      break;
    } catch (const IoError& error) {
      switch (error.error_number()) {
        case ENOENT:
          if (races == kFolderRaces) throw;
          continue;
        case EEXIST:  // a file where a folder has to be
        case ENOTDIR:
          throw Invalid("write", key, "a part of it before a \"/\" is itself a key",
                        "In a folder \"a\" and \"a/b\" can't both be keys.");
        case EISDIR:
        case ENOTEMPTY:
          RemoveEmptyFoldersBelow(files, path);
          if (races < kFolderRaces && !files.Stat(path)) continue;
          throw Invalid("write", key, "there are keys below it",
                        "In a folder \"a\" and \"a/b\" can't both be keys.");
        default:
          throw;
      }
    }
  }
  files.Sync(changed);
}

DeleteOutcome DirectoryStore::Delete(const Context& context, const std::string& key,
                                     const ETag& expected) {
  context.Check();
  const fs::path path = Locate("delete", key);
  return Translated([&] {
    Files& files = context.files();
    if (!Look(files, "delete", key, path)) return DeleteOutcome::kAbsent;
    const auto stripe = LockKey(context, "delete", key);
    const auto info = Look(files, "delete", key, path);
    if (!info) return DeleteOutcome::kAbsent;
    if (EtagOf(*info) != expected) return DeleteOutcome::kRefused;
    files.Remove(path);
    RemoveEmptyFolders(files, path.parent_path(), root_);
    fs::path folder = path.parent_path();
    while (folder != root_ && !files.Stat(folder)) folder = folder.parent_path();
    files.Sync({&folder, 1});
    return DeleteOutcome::kDeleted;
  });
}

ListPage DirectoryStore::List(const Context& context, const ListOptions& options) {
  context.Check();
  return Translated([&] {
    ListPage page = ListFolder(context.files(), root_, options_.side_folder, options);
    if (page.objects.empty()) RequireBucket(context.files());
    return page;
  });
}

}  // namespace swamp

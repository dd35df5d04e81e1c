#include "data/version_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "datastore/hydrate.h"
#include "datastore/marker_version.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/random.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "data";
constexpr int kMaxClaims = 100;
constexpr int kMaxRenames = 5;
constexpr std::uint64_t kMetadataLimit = 4ULL << 20;
constexpr Duration kLockWait = std::chrono::minutes(1);
// Longer names of digits are no versions: nobody has written so many.
constexpr std::size_t kMaxVersionDigits = 15;

// A folder's name as a version; 0 for what is none.
std::uint64_t VersionOf(std::string_view name) {
  if (name.empty() || name.size() > kMaxVersionDigits || name.front() == '0') return 0;
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  return error == std::errc() && end == name.data() + name.size() ? version : 0;
}

}  // namespace

// The marker of a name is compared and moved, and versions are removed, by one process at a time. On a synced datastore what
// is about to change is put on record first, under the same lock.
class VersionStore::ChangeGuard {
 public:
  ChangeGuard(const VersionStore& store, const DataKey& key) : store_(store), mutex_(store.mutex_) {
    if (store.cache_ != nullptr) {
      guard_.emplace(store.cache_->Lock(store.context_));
      return;
    }
    // Outside of data/, and never removed: a lock on a file that is gone guards nothing.
    const fs::path path = store.root_ / ".datastore-locks" /
                          fmt::format("data-{}.lock", Sha256Hex(key.owner.Folder()).substr(0, 2));
    lock_ = store.files_.Lock(store.context_, path, kLockWait);
    if (!lock_) {
      throw UserError("data_busy", fmt::format("another process has held the lock {} for a minute", path.string()),
                      "End that process, then run the command again.");
    }
  }

  void RecordWrites(const std::vector<std::string>& paths) {
    if (store_.cache_ != nullptr) store_.cache_->state().MarkDirty(paths, DirtyKind::kWrite);
  }
  void RecordRemoval(const std::string& path) {
    if (store_.cache_ == nullptr) return;
    Cache& cache = *store_.cache_;
    const auto local = cache.Inspect(path, cache.state().FindBase(path));
    cache.state().MarkDirty(path, DirtyKind::kRemove, local ? local->sha256 : "");
  }

 private:
  const VersionStore& store_;
  std::lock_guard<std::mutex> mutex_;
  std::optional<Cache::Guard> guard_;
  std::unique_ptr<FileLock> lock_;
};

// ---- writer ----

VersionWriter::VersionWriter(VersionStore& store, DataKey key, DataMetadata metadata, bool hold_marker)
    : store_(store), key_(std::move(key)), metadata_(std::move(metadata)), hold_marker_(hold_marker) {
  raw_ = store_.files_.Create(final_path());
}

VersionWriter::~VersionWriter() {
  try {
    Discard();
  } catch (const std::exception& error) {
    store_.context_.log().Warn(kLog, error.what());
  }
}

fs::path VersionWriter::final_path() const {
  return store_.PathOf(key_.VersionFolder(metadata_.version)) / "raw";
}

void VersionWriter::Append(std::string_view bytes) {
  raw_->Append(bytes);
  hasher_.Update(bytes);
  size_ += bytes.size();
}

fs::path VersionWriter::PathForChild() {
  by_child_ = true;
  return raw_->temporary_path();
}

void VersionWriter::Discard() {
  if (!std::exchange(open_, false)) return;
  raw_.reset();
  store_.Discard(key_, metadata_.version);
}

void VersionWriter::Seal() {
  if (by_child_) {
    const fs::path path = raw_->temporary_path();
    const auto file = store_.files_.Open(path);
    if (!file) throw IoError("read", path.native(), ENOENT);
    size_ = file->Info().size;
    metadata_.checksum = DigestFile(*file, false).sha256;
    // The child may have put another file there.
    store_.files_.Sync(std::span(&path, 1));
  } else {
    metadata_.checksum = hasher_.FinishHex();
  }
  metadata_.size = size_;
}

DataRecord VersionWriter::Finish() {
  VersionWriter* const self = this;
  return std::move(store_.FinishAll(std::span(&self, 1)).front());
}

std::vector<DataRecord> VersionWriter::FinishAll(std::span<const std::unique_ptr<VersionWriter>> writers) {
  if (writers.empty()) return {};
  std::vector<VersionWriter*> all;
  for (const auto& writer : writers) all.push_back(writer.get());
  return all.front()->store_.FinishAll(all);
}

// ---- store ----

VersionStore::VersionStore(const Context& context, fs::path root, Cache* cache, fs::path change_log)
    : context_(context), root_(std::move(root)), cache_(cache), change_log_(std::move(change_log)), files_(context.files()) {}

std::unique_ptr<VersionStore> VersionStore::Open(const Context& context, const Repository& repo, Datastore& datastore) {
  datastore.RequireFolder();
  const fs::path root = datastore.FolderOf("data").parent_path();
  // A datastore that doesn't hold data/ leaves it in the checkout.
  const bool held = root == datastore.tier_root();
  Cache* const cache = datastore.synced() && held ? &datastore.replica(context).cache() : nullptr;
  auto store = std::make_unique<VersionStore>(context, root, cache, repo.swamp_folder() / "data" / "_catalog.db-changes");
  if (cache != nullptr) {
    store->set_fetcher([context, &datastore](std::span<const std::string> paths) { datastore.Hydrate(context, paths); });
  }
  return store;
}

void VersionStore::Log(std::span<const DataKey> keys) const {
  if (change_log_.empty()) return;
  std::string lines;
  for (const DataKey& key : keys) lines += fmt::format("{}\t{}\t{}\n", key.owner.type, key.owner.model_id, key.name);
  files_.Append(change_log_, lines);
}

std::string VersionStore::RawMarker(const DataKey& key) const {
  const fs::path path = PathOf(key.Marker());
  const auto info = files_.Stat(path);
  if (!info) return {};
  // Old programs made it a link to the version's folder.
  if (info->kind == FileKind::kLink) return files_.Resolve(path).filename().native();
  if (info->kind != FileKind::kFile) return {};
  return ReadFile(files_, path, kMetadataLimit).value_or("");
}

std::uint64_t VersionStore::HighestTaken(const DataKey& key) const {
  std::uint64_t highest = MarkerVersion(RawMarker(key));
  for (const FolderEntry& entry : files_.List(PathOf(key.Folder()))) highest = std::max(highest, VersionOf(entry.name));
  if (cache_ != nullptr) highest = std::max(highest, cache_->HighestRemoved(key.Marker()));
  return highest;
}

void VersionStore::RefuseLinks(const DataKey& key) const {
  fs::path path = root_;
  for (const std::string& part : Split(key.Folder(), '/')) {
    path /= part;
    const auto info = files_.Stat(path);
    if (!info) return;
    if (info->kind == FileKind::kFolder) continue;
    throw UserError("path_escape", fmt::format("{} is no folder, so no data is written below it", path.string()),
                    "Links aren't followed there. Move it away.");
  }
}

std::uint64_t VersionStore::Claim(const DataKey& key, std::uint64_t above) {
  RefuseLinks(key);
  for (int attempt = 0; attempt < kMaxClaims; ++attempt) {
    std::uint64_t version = 0;
    {
      const std::lock_guard lock(mutex_);
      version = std::max(above, HighestTaken(key)) + 1;
    }
    if (files_.CreateFolder(PathOf(key.VersionFolder(version)))) return version;
  }
  throw UserError("data_busy", fmt::format("no version number of {} could be had in {} tries", key.Folder(), kMaxClaims),
                  "Other processes are writing the same data; run the command again.");
}

DataMetadata VersionStore::NextMetadata(const NewVersion& request) const {
  const std::optional<DataRecord> latest = Latest(request.key);
  if (latest) {
    const OwnerDefinition& owner = latest->metadata.owner;
    if (owner.owner_type != request.owner.owner_type || owner.owner_ref != request.owner.owner_ref) {
      throw UserError("data_not_owner",
                      fmt::format("the data {} belongs to {} {}, so {} can't write it", Printable(request.key.name, 80),
                                  Printable(owner.owner_type, 40), Printable(owner.owner_ref, 60), request.what),
                      "Write it under another name, or remove it with `swamp data delete`.");
    }
  }
  DataMetadata metadata;
  metadata.id = latest ? latest->metadata.id : context_.random().Uuid();
  metadata.name = request.key.name;
  metadata.version = 1;
  metadata.content_type = request.content_type;
  metadata.lifetime = request.lifetime;
  metadata.versions_kept = request.versions_kept;
  metadata.streaming = request.streaming;
  metadata.tags = request.tags;
  metadata.owner = request.owner;
  metadata.created_at = FormatTime(context_.clock().Now());
  return metadata;
}

std::unique_ptr<VersionWriter> VersionStore::Begin(NewVersion request) {
  CheckDataName(request.key.name, request.what);
  if (const auto why = WhyUnsafePath(request.key.Folder()); why || !IsUuid(request.key.owner.model_id)) {
    throw UserError("path_escape", fmt::format("{} has no place for data: {}", Printable(request.key.owner.Folder(), 200),
                                               why.value_or("the id is no UUID")));
  }
  DataMetadata metadata = NextMetadata(request);
  (void)metadata.ToYaml();  // refused before anything is there
  Log(request.key);
  metadata.version = Claim(request.key, 0);
  return std::unique_ptr<VersionWriter>(
      new VersionWriter(*this, std::move(request.key), std::move(metadata), request.hold_marker));
}

DataRecord VersionStore::Write(NewVersion request, std::string_view bytes) {
  const auto writer = Begin(std::move(request));
  writer->Append(bytes);
  return writer->Finish();
}

std::vector<DataRecord> VersionStore::WriteAll(std::vector<WholeVersion> versions) {
  std::vector<std::unique_ptr<VersionWriter>> writers;
  for (WholeVersion& one : versions) {
    writers.push_back(Begin(std::move(one.request)));
    writers.back()->Append(one.bytes);
  }
  return VersionWriter::FinishAll(writers);
}

DataRecord VersionStore::WriteTombstone(const DataRecord& latest, const std::string& renamed_to, std::string_view content) {
  NewVersion request{.key = latest.key,
                     .content_type = latest.metadata.content_type,
                     .lifetime = latest.metadata.lifetime,
                     .versions_kept = latest.metadata.versions_kept,
                     .streaming = latest.metadata.streaming,
                     .tags = latest.metadata.tags,
                     .owner = latest.metadata.owner};
  if (!request.lifetime.writable()) request.lifetime = *Lifetime::Parse("workflow");
  const auto writer = Begin(std::move(request));
  writer->metadata_.deleted = true;
  writer->metadata_.renamed_to = renamed_to;
  writer->Append(content);
  return writer->Finish();
}

// All is on disk under temporary names before the lock is taken; then only names change, in the order in which a reader may
// see them. All files are written before the first of them is waited for.
std::vector<DataRecord> VersionStore::FinishAll(std::span<VersionWriter* const> writers) {
  struct Parts {
    std::unique_ptr<OutputFile> metadata;
    std::unique_ptr<OutputFile> marker;
    bool advance = false;
  };
  std::vector<DataRecord> records;
  std::vector<DataKey> keys;
  std::vector<Parts> parts;
  for (VersionWriter* writer : writers) {
    writer->Seal();
    const DataKey& key = writer->key();
    keys.push_back(key);
    DataRecord& record = records.emplace_back(DataRecord{.key = key, .metadata = writer->metadata_, .paths = {}});
    if (record.metadata.is_rename_marker()) {  // has neither, as other programs write it
      record.metadata.size.reset();
      record.metadata.checksum.clear();
    }
    const std::string folder = key.VersionFolder(record.version());
    record.paths = {folder + "/raw", folder + "/metadata.yaml"};
    Parts& of = parts.emplace_back(Parts{files_.Create(PathOf(folder + "/metadata.yaml")), files_.Create(PathOf(key.Marker()))});
    of.metadata->Append(record.metadata.ToYaml());
    of.marker->Append(std::to_string(record.version()));
  }
  for (std::size_t i = 0; i < writers.size(); ++i) {
    writers[i]->raw_->Close(Durability::kSynced);
    parts[i].metadata->Close(Durability::kSynced);
    parts[i].marker->Close(Durability::kSynced);
  }
  std::vector<fs::path> version_folders;
  std::vector<fs::path> name_folders;
  {
    ChangeGuard guard(*this, keys.front());
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < writers.size(); ++i) {
      version_folders.push_back(PathOf(keys[i].VersionFolder(records[i].version())));
      parts[i].advance = !writers[i]->hold_marker_ && MarkerVersion(RawMarker(keys[i])) < records[i].version();
      if (parts[i].advance) {
        records[i].paths.push_back(keys[i].Marker());
        name_folders.push_back(PathOf(keys[i].Folder()));
      }
      paths.insert(paths.end(), records[i].paths.begin(), records[i].paths.end());
    }
    guard.RecordWrites(paths);
    for (VersionWriter* writer : writers) writer->raw_->Commit(Durability::kLater);
    files_.Sync(version_folders);
    for (const Parts& one : parts) one.metadata->Commit(Durability::kLater);
    files_.Sync(version_folders);
    for (const Parts& one : parts) {
      if (one.advance) one.marker->Commit(Durability::kLater);
    }
    if (std::any_of(records.begin(), records.end(), [](const DataRecord& one) { return one.version() == 1; })) {
      name_folders.push_back(PathOf(keys.front().owner.Folder()));
    }
    files_.Sync(name_folders);
  }
  for (VersionWriter* writer : writers) writer->open_ = false;
  // Once more: whoever read the log in between has not seen the versions.
  Log(keys);
  return records;
}

void VersionStore::Publish(DataRecord& record) {
  Log(record.key);
  {
    ChangeGuard guard(*this, record.key);
    if (MarkerVersion(RawMarker(record.key)) >= record.version()) return;
    guard.RecordWrites({record.key.Marker()});
    WriteFileAtomically(files_, PathOf(record.key.Marker()), std::to_string(record.version()));
    record.paths.push_back(record.key.Marker());
  }
  Log(record.key);
}

void VersionStore::Discard(const DataKey& key, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  const fs::path folder = PathOf(key.VersionFolder(version));
  if (files_.Stat(folder / "metadata.yaml")) return;  // it was finished after all
  RemoveTree(files_, folder);
  RemoveEmptyFolders(files_, folder.parent_path(), root_ / "data");
}

DataRecord VersionStore::RenumberAbove(const DataRecord& record, std::uint64_t above) {
  const DataKey& key = record.key;
  DataRecord moved = record;
  Log(key);
  moved.metadata.version = Claim(key, std::max(above, record.version()));
  const std::string from = key.VersionFolder(record.version());
  const std::string to = key.VersionFolder(moved.version());
  moved.paths = {to + "/raw", to + "/metadata.yaml"};
  {
    ChangeGuard guard(*this, key);
    const bool advance = MarkerVersion(RawMarker(key)) < moved.version() &&
                         std::find(record.paths.begin(), record.paths.end(), key.Marker()) != record.paths.end();
    if (advance) moved.paths.push_back(key.Marker());
    guard.RecordWrites(moved.paths);
    DisownVersion(record);
    // Takes the place of the empty folder, in one step; readers go by the folder's number until the metadata follows.
    files_.Rename(PathOf(from), PathOf(to));
    WriteFileAtomically(files_, PathOf(to + "/metadata.yaml"), moved.metadata.ToYaml());
    if (advance) WriteFileAtomically(files_, PathOf(key.Marker()), std::to_string(moved.version()));
  }
  Log(key);
  return moved;
}

namespace {

// What the marker named when it was last pulled or pushed: below `limit`, or 0.
std::uint64_t PublishedNumber(Cache& cache, const std::string& marker, std::uint64_t limit) {
  constexpr std::uint64_t kFar = 1000;
  const auto base = cache.state().FindBase(marker);
  if (!base || base->gone()) return 0;
  for (std::uint64_t number = limit; number-- > 1 && limit - number < kFar;) {
    if (Sha256Hex(std::to_string(number)) == base->sha256) return number;
  }
  return 0;
}

}  // namespace

void VersionStore::Withdraw(const DataRecord& record, bool number_is_a_peers) {
  const DataKey& key = record.key;
  Log(key);
  {
    ChangeGuard guard(*this, key);
    // Another process of this checkout may have taken it back already, and brought the peer's.
    const auto there = Find(key, record.version());
    if (there && there->metadata.ToYaml() == record.metadata.ToYaml()) {
      DisownVersion(record);
      RemoveFolder(key, record.version());
    }
    if (!number_is_a_peers && MarkerVersion(RawMarker(key)) == record.version()) {
      // What the bucket's marker names need not be here yet: a marker never goes back.
      const std::uint64_t published = cache_ == nullptr ? 0 : PublishedNumber(*cache_, key.Marker(), record.version());
      const std::vector<std::uint64_t> left = Versions(key);
      const std::uint64_t number = std::max(published, left.empty() ? 0 : left.back());
      guard.RecordWrites({key.Marker()});
      if (number == 0) {
        if (cache_ != nullptr) cache_->Disown(key.Marker(), Sha256Hex(std::to_string(record.version())));
        files_.Remove(PathOf(key.Marker()));
      } else {
        WriteFileAtomically(files_, PathOf(key.Marker()), std::to_string(number));
      }
    }
    RemoveEmptyFolders(files_, PathOf(key.Folder()), root_ / "data");
  }
  Log(key);
}

void VersionStore::DisownVersion(const DataRecord& record) {
  if (cache_ == nullptr) return;
  cache_->Disown(record.RawPath(), record.metadata.checksum);
  cache_->Disown(record.key.VersionFolder(record.version()) + "/metadata.yaml", Sha256Hex(record.metadata.ToYaml()));
}

std::uint64_t VersionStore::RemoveFile(const std::string& tier_path) {
  const fs::path path = PathOf(tier_path);
  const auto info = files_.Stat(path);
  if (!info || !files_.Remove(path)) return 0;
  return info->size;
}

// Needs the lock; the removal is on record.
std::uint64_t VersionStore::RemoveFolder(const DataKey& key, std::uint64_t version) {
  const std::string folder = key.VersionFolder(version);
  // Without its metadata the version is gone, whatever else is still there.
  std::uint64_t bytes = RemoveFile(folder + "/metadata.yaml");
  bytes += RemoveFile(folder + "/raw");
  RemoveTree(files_, PathOf(folder));
  return bytes;
}

std::uint64_t VersionStore::Remove(const DataKey& key, std::span<const std::uint64_t> versions) {
  return RemoveVersions(key, versions, false);
}

std::uint64_t VersionStore::RemoveVersions(const DataKey& key, std::span<const std::uint64_t> versions, bool whole_name) {
  RefuseLinks(key);
  Log(key);
  std::uint64_t bytes = 0;
  {
    ChangeGuard guard(*this, key);
    std::vector<std::uint64_t> left = Versions(key);
    std::erase_if(left, [&](std::uint64_t one) { return std::find(versions.begin(), versions.end(), one) != versions.end(); });
    const std::uint64_t named = MarkerVersion(RawMarker(key));
    // A marker that names another version came here before that version did: it is a peer's.
    const bool removes_named = std::find(versions.begin(), versions.end(), named) != versions.end();
    if (left.empty() && (removes_named || whole_name || named == 0)) {
      if (cache_ != nullptr) cache_->RememberRemoved(key.Marker(), HighestTaken(key));
      guard.RecordRemoval(key.Marker());
      files_.Remove(PathOf(key.Marker()));
    } else if (!left.empty() && removes_named) {
      if (cache_ != nullptr) cache_->RememberRemoved(key.Marker(), HighestTaken(key));
      guard.RecordWrites({key.Marker()});
      WriteFileAtomically(files_, PathOf(key.Marker()), std::to_string(left.back()));
    }
    for (const std::uint64_t version : versions) {
      const std::string folder = key.VersionFolder(version);
      if (!files_.Stat(PathOf(folder))) continue;
      bytes += RecordContentElsewhere(guard, folder + "/raw");
      for (const std::string& file : ListFilesBelow(files_, PathOf(folder))) guard.RecordRemoval(folder + "/" + file);
      bytes += RemoveFolder(key, version);
    }
    const fs::path name = PathOf(key.Folder());
    files_.Sync(std::span(&name, 1));
    RemoveEmptyFolders(files_, name, root_ / "data");
  }
  Log(key);
  return bytes;
}

// Content that was never fetched goes with its version. Answers its size.
std::uint64_t VersionStore::RecordContentElsewhere(ChangeGuard& guard, const std::string& raw) const {
  if (cache_ == nullptr || !IsLeftOut(*cache_, raw)) return 0;
  const std::uint64_t size = cache_->state().FindBase(raw)->size;
  guard.RecordRemoval(raw);
  return size;
}

std::uint64_t VersionStore::RemoveName(const DataKey& key) {
  std::vector<std::uint64_t> all;
  for (const FolderEntry& entry : files_.List(PathOf(key.Folder()))) {
    if (const std::uint64_t version = VersionOf(entry.name)) all.push_back(version);
  }
  return RemoveVersions(key, all, true);
}

std::optional<std::uint64_t> VersionStore::RemoveUnfinished(const DataKey& key, Time before, bool only_look) {
  std::optional<std::uint64_t> bytes;
  const std::int64_t limit = std::chrono::nanoseconds(before.time_since_epoch()).count();
  for (const FolderEntry& entry : files_.List(PathOf(key.Folder()))) {
    if (VersionOf(entry.name) == 0 || entry.kind != FileKind::kFolder) continue;
    const fs::path folder = PathOf(key.Folder()) / entry.name;
    if (files_.Stat(folder / "metadata.yaml")) continue;
    std::int64_t touched = 0;
    std::uint64_t size = 0;
    if (const auto info = files_.Stat(folder)) touched = info->mtime_ns;
    for (const FolderEntry& file : files_.List(folder)) {
      const auto info = files_.Stat(folder / file.name);
      if (!info) continue;
      touched = std::max(touched, info->mtime_ns);
      size += info->size;
    }
    if (touched >= limit) continue;
    if (!only_look) Discard(key, VersionOf(entry.name));
    bytes = bytes.value_or(0) + size;
  }
  return bytes;
}

// ---- reading ----

namespace {

void FindOwners(Files& files, const fs::path& folder, const std::string& type, std::vector<DataOwner>& found) {
  for (const FolderEntry& entry : files.List(folder)) {
    if (entry.kind != FileKind::kFolder || entry.name.front() == '.') continue;
    if (!type.empty() && IsUuid(entry.name)) {
      found.push_back({type, entry.name});
    } else {
      FindOwners(files, folder / entry.name, type.empty() ? entry.name : type + "/" + entry.name, found);
    }
  }
}

}  // namespace

// A type has any number of folders; the first that is called like a UUID is the model's.
std::vector<DataOwner> VersionStore::Owners() const {
  std::vector<DataOwner> owners;
  FindOwners(files_, root_ / "data", {}, owners);
  std::sort(owners.begin(), owners.end());
  return owners;
}

std::vector<std::string> VersionStore::Names(const DataOwner& owner) const {
  std::vector<std::string> names;
  for (const FolderEntry& entry : files_.List(PathOf(owner.Folder()))) {
    if (entry.kind != FileKind::kFolder || !IsReadableDataName(entry.name)) continue;
    if (!Versions({owner, entry.name}).empty()) names.push_back(entry.name);
  }
  return names;
}

std::vector<std::uint64_t> VersionStore::Versions(const DataKey& key) const {
  std::vector<std::uint64_t> versions;
  const fs::path folder = PathOf(key.Folder());
  for (const FolderEntry& entry : files_.List(folder)) {
    const std::uint64_t version = VersionOf(entry.name);
    if (version == 0 || entry.kind != FileKind::kFolder) continue;
    const auto metadata = files_.Stat(folder / entry.name / "metadata.yaml");
    if (metadata && metadata->kind == FileKind::kFile) versions.push_back(version);
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

std::optional<std::uint64_t> VersionStore::LatestVersion(const DataKey& key) const {
  for (std::string marker = RawMarker(key);;) {
    const std::uint64_t named = MarkerVersion(marker);
    if (named != 0 && files_.Stat(PathOf(key.VersionFolder(named)) / "metadata.yaml")) return named;
    const std::vector<std::uint64_t> versions = Versions(key);
    // A marker that came or moved meanwhile knows better: what is highest may not have been published yet.
    std::string now = RawMarker(key);
    if (now == marker) return versions.empty() ? std::nullopt : std::optional(versions.back());
    marker = std::move(now);
  }
}

std::optional<DataRecord> VersionStore::Find(const DataKey& key, std::uint64_t version) const {
  if (!IsReadableDataName(key.name)) return std::nullopt;
  const std::string path = key.VersionFolder(version) + "/metadata.yaml";
  const auto yaml = ReadFile(files_, PathOf(path), kMetadataLimit);
  if (!yaml) return std::nullopt;
  DataRecord record{.key = key, .metadata = DataMetadata::Parse(*yaml, path), .paths = {}};
  record.metadata.version = version;  // where it stands decides
  return record;
}

std::optional<DataRecord> VersionStore::Latest(const DataKey& key) const {
  if (!IsReadableDataName(key.name)) return std::nullopt;
  // The version may be collected between the two looks.
  constexpr int kLooks = 3;
  for (int look = 0; look < kLooks; ++look) {
    const auto version = LatestVersion(key);
    if (!version) return std::nullopt;
    if (auto record = Find(key, *version)) return record;
  }
  return std::nullopt;
}

std::optional<DataRecord> VersionStore::Resolve(const DataKey& key) const {
  DataKey at = key;
  for (int hop = 0; hop <= kMaxRenames; ++hop) {
    auto record = Latest(at);
    if (!record || !record->metadata.deleted) return record;
    if (!record->metadata.is_rename_marker()) return std::nullopt;
    at.name = record->metadata.renamed_to;
  }
  return std::nullopt;
}

bool VersionStore::HasContent(const DataRecord& record) const {
  if (files_.Stat(PathOf(record.RawPath()))) return true;
  if (cache_ == nullptr) return false;
  const std::lock_guard lock(mutex_);
  return IsLeftOut(*cache_, record.RawPath());
}

bool VersionStore::LeavesContentOut() const {
  if (cache_ == nullptr) return false;
  const std::lock_guard lock(mutex_);
  return cache_->state().Value(state_key::kLeftOut).has_value();
}

void VersionStore::FetchContent(std::span<const DataRecord> records) const {
  if (!fetcher_) return;
  std::vector<std::string> paths;
  for (const DataRecord& record : records) {
    if (!files_.Stat(PathOf(record.RawPath()))) paths.push_back(record.RawPath());
  }
  if (paths.empty()) return;
  const std::lock_guard lock(mutex_);
  fetcher_(paths);
}

fs::path VersionStore::ContentPath(const DataRecord& record) const {
  FetchContent(std::span(&record, 1));
  return PathOf(record.RawPath());
}

std::unique_ptr<InputFile> VersionStore::OpenContent(const DataRecord& record) const {
  const fs::path path = ContentPath(record);
  const auto info = files_.Stat(path);
  if (info && info->kind != FileKind::kFile) {
    throw UserError("path_escape", fmt::format("{} is no file, so it is not read", path.string()));
  }
  return files_.Open(path);
}

void VersionStore::ReadContent(const DataRecord& record, const std::function<void(std::string_view)>& take) const {
  const auto file = OpenContent(record);
  if (!file) {
    throw UserError("data_not_found", fmt::format("the content of {} version {} is not here", record.key.name, record.version()),
                    "It has been removed, or was not fetched: `swamp datastore sync`.");
  }
  Hasher hasher;
  std::string buffer(256 << 10, '\0');
  for (std::uint64_t offset = 0;;) {
    const std::size_t count = file->ReadAt(offset, buffer);
    const std::string_view piece(buffer.data(), count);
    hasher.Update(piece);
    take(piece);
    offset += count;
    if (count < buffer.size()) break;
  }
  if (!record.metadata.checksum.empty() && hasher.FinishHex() != record.metadata.checksum) {
    throw UserError("data_corrupt",
                    fmt::format("{} is not what its metadata.yaml says: the checksum differs", PathOf(record.RawPath()).string()),
                    "It was changed by hand or damaged; older versions are listed by `swamp data versions`.");
  }
}

std::string VersionStore::Content(const DataRecord& record, std::uint64_t limit) const {
  std::string content;
  ReadContent(record, [&](std::string_view piece) {
    if (content.size() + piece.size() > limit) throw IoError("read", PathOf(record.RawPath()).native(), EFBIG);
    content += piece;
  });
  return content;
}

}  // namespace swamp

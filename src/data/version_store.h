#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/metadata.h"
#include "datastore/cache.h"
#include "datastore/datastore.h"
#include "util/context.h"
#include "util/digest.h"
#include "util/files.h"

namespace swamp {

// A model (or, under the type "workflow", a workflow) that has data.
struct DataOwner {
  std::string type;      // normalised
  std::string model_id;  // uuid
  auto operator<=>(const DataOwner&) const = default;
  std::string Folder() const { return "data/" + type + "/" + model_id; }  // a tier path
};

// One name of data, with all its versions.
struct DataKey {
  DataOwner owner;
  std::string name;
  auto operator<=>(const DataKey&) const = default;
  std::string Folder() const { return owner.Folder() + "/" + name; }
  std::string Marker() const { return Folder() + "/latest"; }
  std::string VersionFolder(std::uint64_t version) const { return Folder() + "/" + std::to_string(version); }
};

// A complete version.
struct DataRecord {
  DataKey key;
  DataMetadata metadata;
  std::vector<std::string> paths;  // of a version that was just written: its tier paths

  std::uint64_t version() const { return metadata.version; }
  std::string RawPath() const { return key.VersionFolder(version()) + "/raw"; }
};

// What a writer knows before the first byte.
struct NewVersion {
  DataKey key;
  std::string content_type = "application/json";
  Lifetime lifetime = *Lifetime::Parse("infinite");
  VersionsKept versions_kept;
  bool streaming = false;
  Json tags = Json::object();
  OwnerDefinition owner;
  // Leaves `latest` where it is until VersionStore::Publish (rollbackOnFailure).
  bool hold_marker = false;
  std::string what = "the command";  // that names the data, for errors: "the output spec result"
};

class VersionStore;

// A version that is being written: its number is taken, but no reader sees it before Finish. Used by one thread.
class VersionWriter {
 public:
  // Discards what isn't finished.
  ~VersionWriter();
  VersionWriter(const VersionWriter&) = delete;
  VersionWriter& operator=(const VersionWriter&) = delete;

  const DataKey& key() const { return key_; }
  std::uint64_t version() const { return metadata_.version; }
  const std::string& id() const { return metadata_.id; }
  // Where `raw` will be.
  std::filesystem::path final_path() const;

  // Nothing is held in memory. Not after PathForChild.
  void Append(std::string_view bytes);
  // A file for a child process to write to, instead of Append. The child has ended when Finish is called.
  std::filesystem::path PathForChild();
  // The version is there, durably, and `latest` names it unless a higher one is there already.
  DataRecord Finish();
  // The same for several of one owner, with fewer waits for the disk.
  static std::vector<DataRecord> FinishAll(std::span<const std::unique_ptr<VersionWriter>> writers);
  void Discard();

 private:
  friend class VersionStore;
  VersionWriter(VersionStore& store, DataKey key, DataMetadata metadata, bool hold_marker);
  // Nothing more is coming: size and checksum are known.
  void Seal();

  VersionStore& store_;
  DataKey key_;
  DataMetadata metadata_;
  bool hold_marker_;
  bool by_child_ = false;
  bool open_ = true;
  Hasher hasher_;
  std::uint64_t size_ = 0;
  std::unique_ptr<OutputFile> raw_;
};

// The versions of all data of one repository, below the folder that holds `data/`: a filesystem datastore, or the cache of a
// synced one, where everything that is written or removed is put on record for the next push.
//
//   data/<type>/<model id>/<name>/<version>/{raw,metadata.yaml}
//                                /latest       "2"
//
// Usable by several threads as far as writing goes; several processes may work on one folder. A version folder without
// metadata.yaml does not exist for readers; `latest` decides which version is the latest, and the highest version where
// it is missing or names none.
class VersionStore {
 public:
  // `cache`: of a synced datastore, whose root is `root`; null otherwise. `change_log`: a file that gets a line for each
  // name that is changed, for the catalog (catalog.h); empty: none.
  VersionStore(const Context& context, std::filesystem::path root, Cache* cache, std::filesystem::path change_log = {});
  // How content that is in the bucket only comes here, by tier paths.
  using Fetcher = std::function<void(std::span<const std::string>)>;
  void set_fetcher(Fetcher fetcher) { fetcher_ = std::move(fetcher); }
  // The store of a repository's datastore.
  static std::unique_ptr<VersionStore> Open(const Context& context, const Repository& repo, Datastore& datastore);

  const Context& context() const { return context_; }
  const std::filesystem::path& root() const { return root_; }
  const std::filesystem::path& change_log() const { return change_log_; }
  std::filesystem::path PathOf(const std::string& tier_path) const { return root_ / tier_path; }

  // ---- writing ----

  // Takes the next number. Throws UserError validation_failed (the name), data_not_owner, data_invalid, path_escape.
  std::unique_ptr<VersionWriter> Begin(NewVersion request);
  // The same for what is in memory.
  DataRecord Write(NewVersion request, std::string_view bytes);
  // The same for several of one owner.
  struct WholeVersion {
    NewVersion request;
    std::string bytes;
  };
  std::vector<DataRecord> WriteAll(std::vector<WholeVersion> versions);
  // A version that says that the name is gone; `renamed_to`: or is another's now. It keeps the id of the latest version.
  DataRecord WriteTombstone(const DataRecord& latest, const std::string& renamed_to = {},
                            std::string_view content = {});
  // Moves `latest` to a version that was written with hold_marker.
  void Publish(DataRecord& record);
  // Gives a version that this process has just written, and that lost its number to a peer's, the next free number above
  // `above` and returns it under its new number. What the peer has at the old number comes with the next pull.
  DataRecord RenumberAbove(const DataRecord& record, std::uint64_t above);
  // Takes back a version that this process has just written and nobody has seen, as if it had never been; `latest`, where it
  // names that one, goes back too. `number_is_a_peers`: in the bucket the number is a peer's, whose version and marker come
  // with the next pull.
  void Withdraw(const DataRecord& record, bool number_is_a_peers = false);
  // Removes versions; `latest` moves to the highest that is left, and with the last version the name goes. Versions that
  // aren't there are fine. Answers the bytes that were freed.
  std::uint64_t Remove(const DataKey& key, std::span<const std::uint64_t> versions);
  // The whole name, unfinished versions too.
  std::uint64_t RemoveName(const DataKey& key);
  // Removes version folders that have no metadata and haven't been touched since `before`, or only looks whether there are
  // any. Answers the bytes; nothing: there are none.
  std::optional<std::uint64_t> RemoveUnfinished(const DataKey& key, Time before, bool only_look = false);

  // ---- reading ----

  std::vector<DataOwner> Owners() const;
  // All names that have a complete version, tombstones included.
  std::vector<std::string> Names(const DataOwner& owner) const;
  // Complete ones, ascending.
  std::vector<std::uint64_t> Versions(const DataKey& key) const;
  std::optional<std::uint64_t> LatestVersion(const DataKey& key) const;
  std::optional<DataRecord> Latest(const DataKey& key) const;
  std::optional<DataRecord> Find(const DataKey& key, std::uint64_t version) const;
  // The latest version, and where the name was renamed, that of its new name, at most 5 renames on. A deleted name, and
  // renames that lead nowhere, are nothing.
  std::optional<DataRecord> Resolve(const DataKey& key) const;
  // Whether the content can be had: it is here, or in the bucket only (lazy hydration).
  bool HasContent(const DataRecord& record) const;
  // Whether any content may be in the bucket only.
  bool LeavesContentOut() const;
  // Brings the content of all of them here. All that reads content does so by itself; this is quicker for many.
  // Throws UserError content_unavailable.
  void FetchContent(std::span<const DataRecord> records) const;
  // The file with the content, for whoever opens it without this store's help.
  std::filesystem::path ContentPath(const DataRecord& record) const;
  // Null: the version has been removed.
  std::unique_ptr<InputFile> OpenContent(const DataRecord& record) const;
  // The content in pieces. Throws UserError data_corrupt at the end when it is not what the checksum says, and
  // data_not_found when it has been removed.
  void ReadContent(const DataRecord& record, const std::function<void(std::string_view)>& take) const;
  // The same in one piece; a larger one is an IoError (EFBIG).
  std::string Content(const DataRecord& record, std::uint64_t limit = 256ULL << 20) const;

 private:
  friend class VersionWriter;
  class ChangeGuard;

  std::uint64_t Claim(const DataKey& key, std::uint64_t above);
  std::uint64_t HighestTaken(const DataKey& key) const;
  void RefuseLinks(const DataKey& key) const;
  std::string RawMarker(const DataKey& key) const;  // what it says; empty: nothing
  std::vector<DataRecord> FinishAll(std::span<VersionWriter* const> writers);
  void Discard(const DataKey& key, std::uint64_t version);
  std::uint64_t RemoveVersions(const DataKey& key, std::span<const std::uint64_t> versions, bool whole_name);
  std::uint64_t RemoveFolder(const DataKey& key, std::uint64_t version);
  // Needs the lock.
  void DisownVersion(const DataRecord& record);
  std::uint64_t RecordContentElsewhere(ChangeGuard& guard, const std::string& raw) const;
  std::uint64_t RemoveFile(const std::string& tier_path);
  void Log(std::span<const DataKey> keys) const;
  void Log(const DataKey& key) const { Log(std::span(&key, 1)); }
  DataMetadata NextMetadata(const NewVersion& request) const;

  Context context_;
  std::filesystem::path root_;
  Cache* cache_;
  std::filesystem::path change_log_;
  Files& files_;
  Fetcher fetcher_;
  mutable std::mutex mutex_;  // one change at a time; the cache's database is not thread-safe
};

}  // namespace swamp

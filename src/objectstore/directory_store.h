#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "objectstore/object_store.h"

namespace swamp {

struct DirectoryStoreOptions {
  std::filesystem::path bucket;  // the folder; it has to be there, as a bucket has to
  std::string prefix;            // keys count from here; "a/b", or empty
  // For locks and temporary files, on the same file system; empty: ".swamp-bucket" in the bucket.
  // The same for everybody who uses the bucket.
  std::filesystem::path side_folder;
};

// A folder as a bucket: an object is a file, its key the path below the folder. Safe among threads
// and processes that all go through this class, also on a network file system that has flock.
//
// - A write is checked and renamed into place under a lock; locks are striped by key.
// - The ETag is made of the file's time of change, inode and size, so nothing is hashed. Each write
//   gives its file a time that no other write under the same lock has: the millisecond of the
//   clock, and below it a counter that outlives the process and the file. So a key that is removed
//   and written again never has its old ETag, even if the inode number is used again within one
//   tick. A program that edits or replaces a file without this class changes its ETag too, unless
//   it restores the time; but its write is not checked against ours.
// - Links are no objects: they are not listed, and a key that leads through one is refused.
// - "a" and "a/b" can't both be keys.
// - `store_now` is the clock of this machine. Who wrote an object isn't kept.
//
// Throws besides StoreError the IoError of a full disk and the like.
class DirectoryStore final : public ObjectStore {
 public:
  explicit DirectoryStore(DirectoryStoreOptions options);

  GetResult Get(const Context& context, const std::string& key, const GetOptions& options,
                BodySink& sink) override;
  std::optional<ObjectState> Head(const Context& context, const std::string& key) override;
  PutResult Put(const Context& context, const std::string& key, const Body& body,
                const Condition& condition, const PutOptions& options) override;
  DeleteOutcome Delete(const Context& context, const std::string& key,
                       const ETag& expected) override;
  ListPage List(const Context& context, const ListOptions& options) override;
  Capabilities capabilities() const override { return {}; }
  // What this class can do doesn't depend on where the folder is.
  void Adopt(const Capabilities&) override {}
  std::string Describe() const override;

 private:
  class Stripe;

  std::filesystem::path Locate(std::string_view operation, const std::string& key) const;
  std::optional<FileInfo> Look(Files& files, std::string_view operation, const std::string& key,
                               const std::filesystem::path& path) const;
  void RequireBucket(Files& files) const;
  std::unique_ptr<Stripe> LockKey(const Context& context, std::string_view operation,
                                  const std::string& key) const;
  void MoveIntoPlace(Files& files, const std::filesystem::path& temporary, const std::string& key,
                     const std::filesystem::path& path) const;

  DirectoryStoreOptions options_;
  std::filesystem::path root_;
};

}  // namespace swamp

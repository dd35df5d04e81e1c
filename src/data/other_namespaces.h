#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/version_store.h"
#include "datastore/datastore.h"
#include "datastore/index.h"

namespace swamp {

// One data version of another namespace.
struct OtherVersion {
  std::string name_space;
  DataKey key;
  std::uint64_t version = 0;
  std::uint64_t size = 0;  // of its content, as far as it is known
};

// A tier path below data/ taken apart: of a version's file, or of a `latest` marker (version 0).
struct DataPath {
  DataKey key;
  std::uint64_t version = 0;
  std::string file;  // "raw", "metadata.yaml", "latest"
};
// Nothing: it is no such path.
std::optional<DataPath> ParseDataPath(std::string_view path);

// What a namespace holds, as its index (or, where the datastore is a folder, the folder) tells.
struct NamespaceContents {
  struct Name {
    std::map<std::uint64_t, std::optional<std::uint64_t>> versions;  // to the size of their content; nothing: none is there
    std::uint64_t latest = 0;  // what the marker says; 0: nothing
  };
  std::map<DataKey, Name> names;
  std::string state;                  // stays equal as long as nothing changes; empty: not known
  std::vector<PathProblem> problems;  // keys that were refused
};

// Data of other namespaces of this repository's datastore, read where it is. Nothing is ever written, neither there nor
// here: what was fetched is kept in memory for the command. Throws UserError content_unavailable when the datastore doesn't
// answer, where StoreError isn't said. Used by one thread.
class OtherNamespaces {
 public:
  // Both outlive it.
  OtherNamespaces(const Context& context, Datastore& datastore);
  ~OtherNamespaces();

  // Throws UserError namespace_invalid, StoreError.
  bool IsRegistered(const Context& context, const std::string& slug);
  // Nothing: the state is still `unless`. Throws StoreError.
  std::optional<NamespaceContents> Look(const Context& context, const std::string& slug, const std::string& unless);
  // The bytes of `.catalog-export.json` of a bucket; nothing: there are none, or they are too many. Throws StoreError.
  std::optional<std::string> Export(const Context& context, const std::string& slug);
  // Their metadata.yaml, several at a time; nothing: it is gone. Throws StoreError.
  std::vector<std::optional<std::string>> MetadataTexts(const Context& context, std::span<const OtherVersion> versions);

  // The same as records, each fetched once. Those that can't be read are nothing, with a warning.
  std::vector<std::optional<DataRecord>> Records(std::span<const OtherVersion> versions);
  std::optional<DataRecord> Record(const OtherVersion& version);
  // Null: it is gone. Throws UserError data_invalid for one of more than `limit` bytes.
  std::shared_ptr<const std::string> Content(const OtherVersion& version, std::uint64_t limit);
  // Brings the contents here that will be asked for, several at a time, as far as memory allows.
  void FetchContents(std::span<const OtherVersion> versions);
  bool HasFetched(const OtherVersion& version) const;
  // Whether FetchContents may take many more.
  bool HasRoom() const;

 private:
  class Place;

  Place& PlaceOf(const Context& context, const std::string& slug);
  int width() const;
  void LookInBucket(const Context& context, Place& place, NamespaceContents& contents, std::vector<std::string> partitions);
  void Keep(const OtherVersion& version, std::shared_ptr<const std::string> content);

  const Context& context_;
  Datastore& datastore_;
  std::map<std::string, std::unique_ptr<Place>> places_;
  std::map<std::string, std::optional<DataRecord>> records_;
  std::map<std::string, std::shared_ptr<const std::string>> contents_;
  std::uint64_t held_ = 0;
};

}  // namespace swamp

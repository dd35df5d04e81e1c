#include "data/other_namespaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "datastore/marker_version.h"
#include "datastore/name_space.h"
#include "datastore/remote_index.h"
#include "datastore/tier_path.h"
#include "datastore/tombstone.h"
#include "util/digest.h"
#include "util/executor.h"
#include "util/log.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "data·catalog";
constexpr std::uint64_t kSmallLimit = 4ULL << 20;  // of metadata, markers, claims
constexpr std::uint64_t kExportLimit = 128ULL << 20;
constexpr std::uint64_t kContentLimit = 64ULL << 20;
constexpr std::uint64_t kMostHeld = 256ULL << 20;  // of contents, in memory
constexpr int kFolderWidth = 8;

std::string Name(const OtherVersion& version) { return version.name_space + "\n" + version.key.VersionFolder(version.version); }

UserError Unavailable(const OtherVersion& version, const std::string& why) {
  return {"content_unavailable",
          fmt::format("{} version {} of the namespace \"{}\" could not be fetched: {}", Printable(version.key.name, 80),
                      version.version, version.name_space, why),
          "Nothing was changed. Run the command again when the datastore answers; `swamp datastore status` tells whether it does."};
}

// As a folder of a version is called.
std::uint64_t VersionNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && text.front() != '0';
  return whole && number <= static_cast<std::uint64_t>(INT64_MAX) ? number : 0;
}

// The version that a marker with that digest names, of those that there are.
std::uint64_t VersionByDigest(const NamespaceContents::Name& name, const IndexEntry& marker) {
  if (marker.sha256.empty()) return 0;
  for (auto one = name.versions.rbegin(); one != name.versions.rend(); ++one) {
    if (Sha256Hex(std::to_string(one->first)) == marker.sha256) return one->first;
  }
  return 0;
}

}  // namespace

std::optional<DataPath> ParseDataPath(std::string_view path) {
  const std::vector<std::string> parts = Split(path, '/');
  if (parts.size() < 5 || parts[0] != "data") return std::nullopt;
  std::size_t id = 2;  // the first that is called like a UUID, behind a type of one part or more
  while (id < parts.size() && !IsUuid(parts[id])) ++id;
  if (id + 2 >= parts.size()) return std::nullopt;
  DataPath found{.key = {{Join(std::span(parts).subspan(1, id - 1), "/"), parts[id]}, parts[id + 1]}, .version = 0, .file = parts.back()};
  if (!IsReadableDataName(found.key.name)) return std::nullopt;
  if (parts.size() == id + 3) return found.file == "latest" ? std::optional(std::move(found)) : std::nullopt;
  if (parts.size() != id + 4 || parts[id + 2].empty()) return std::nullopt;
  found.version = VersionNumber(parts[id + 2]);
  if (found.version == 0 || (found.file != "raw" && found.file != "metadata.yaml")) return std::nullopt;
  return found;
}

// Where a namespace is: its part of the bucket, or its folder.
class OtherNamespaces::Place {
 public:
  Place(const Context& context, Datastore& datastore, const std::string& slug)
      : folder_(datastore.synced() ? fs::path() : datastore.settings().folder / slug),
        store_(datastore.synced() ? datastore.StoreOfNamespace(context, slug) : nullptr) {
    if (!store_) datastore.RequireFolder();
  }

  ObjectStore* store() const { return store_.get(); }
  const fs::path& folder() const { return folder_; }

  // Nothing: it isn't there. Usable from tasks.
  std::optional<std::string> Read(const Context& context, const std::string& path, std::uint64_t limit) const {
    if (!store_) {
      const auto info = context.files().Stat(folder_ / path);
      if (!info || info->kind != FileKind::kFile) return std::nullopt;
      return ReadFile(context.files(), folder_ / path, limit);
    }
    auto object = GetBytes(context, *store_, path, limit);
    if (!object || (object->bytes.size() <= kMaxTombstoneSize && IsTombstone(object->bytes))) return std::nullopt;
    return std::move(object->bytes);
  }

 private:
  fs::path folder_;
  std::unique_ptr<ObjectStore> store_;  // null: a folder
};

OtherNamespaces::OtherNamespaces(const Context& context, Datastore& datastore) : context_(context), datastore_(datastore) {}
OtherNamespaces::~OtherNamespaces() = default;

OtherNamespaces::Place& OtherNamespaces::PlaceOf(const Context& context, const std::string& slug) {
  std::unique_ptr<Place>& place = places_[slug];
  if (!place) {
    CheckNamespace(slug);
    place = std::make_unique<Place>(context, datastore_, slug);
  }
  return *place;
}

int OtherNamespaces::width() const {
  return datastore_.synced() ? datastore_.replica(context_).options().pull_concurrency : kFolderWidth;
}

bool OtherNamespaces::IsRegistered(const Context& context, const std::string& slug) {
  return PlaceOf(context, slug).Read(context, std::string(kNamespaceKey), kSmallLimit).has_value();
}

std::optional<std::string> OtherNamespaces::Export(const Context& context, const std::string& slug) {
  const Place& place = PlaceOf(context, slug);
  if (place.store() == nullptr) return std::nullopt;
  const std::string key(kCatalogExportKey);
  try {
    return place.Read(context, key, kExportLimit);
  } catch (const StoreError& error) {
    if (error.kind() != StoreError::Kind::kInvalid) throw;
    context.log().Warn(kLog, fmt::format("{} of the namespace \"{}\" is not read: {}", key, slug, error.message()));
    return std::nullopt;
  }
}

// ---- what there is ----

std::optional<NamespaceContents> OtherNamespaces::Look(const Context& context, const std::string& slug, const std::string& unless) {
  Place& place = PlaceOf(context, slug);
  NamespaceContents contents;
  if (place.store() != nullptr) {
    RemoteIndex index(*place.store());
    const RemoteIndex::MetaAnswer meta =
        index.ReadMeta(context, unless.empty() ? std::nullopt : std::optional(ETag{unless}));
    if (meta.unchanged) return std::nullopt;
    std::vector<std::string> partitions(meta.state.meta.partitions.begin(), meta.state.meta.partitions.end());
    if (!meta.state.before_shards) contents.state = meta.state.etag.value;
    LookInBucket(context, place, contents, std::move(partitions));
    return contents;
  }
  const VersionStore store(context, place.folder(), nullptr);
  for (const DataOwner& owner : store.Owners()) {
    for (const std::string& name : store.Names(owner)) {
      context.Check();
      const DataKey key{owner, name};
      NamespaceContents::Name& found = contents.names[key];
      for (const std::uint64_t version : store.Versions(key)) {
        const auto raw = context.files().Stat(place.folder() / key.VersionFolder(version) / "raw");
        found.versions[version] = raw && raw->kind == FileKind::kFile ? std::optional(raw->size) : std::nullopt;
      }
      found.latest = store.LatestVersion(key).value_or(0);
    }
  }
  return contents;
}

void OtherNamespaces::LookInBucket(const Context& context, Place& place, NamespaceContents& contents,
                                   std::vector<std::string> partitions) {
  RemoteIndex index(*place.store());
  std::erase_if(partitions, [](const std::string& one) { return !one.starts_with("data--"); });
  std::vector<std::map<std::string, IndexEntry>> shards(partitions.size());
  context.executor().ForEach(context, partitions.size(), width(), [&](const Context& task, std::size_t i) {
    task.Check();
    shards[i] = index.ReadShard(task, partitions[i]).shard.Entries();
  });
  if (contents.state.empty()) {  // a bucket that nobody has committed to yet: the older index tells the rest
    if (const auto legacy = index.ReadLegacy(context)) {
      shards.emplace_back();
      for (auto& [path, entry] : legacy->Entries()) {
        const std::string partition = PartitionOf(path);
        if (std::find(partitions.begin(), partitions.end(), partition) == partitions.end()) shards.back().emplace(path, entry);
      }
    }
  }
  std::map<DataKey, std::map<std::uint64_t, std::uint64_t>> raws;
  std::map<DataKey, IndexEntry> markers;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (const auto& [path, entry] : shards[i]) {
      if (const auto reason = WhyUnsafePath(path)) {
        contents.problems.push_back({Printable(path), "path_escape: the key is refused: " + *reason});
        continue;
      }
      if (ClassOf(path) == PathClass::kLocal || (i < partitions.size() && PartitionOf(path) != partitions[i])) continue;
      const auto parsed = ParseDataPath(path);
      if (!parsed) continue;
      if (parsed->version == 0) {
        markers.emplace(parsed->key, entry);
      } else if (parsed->file == "raw") {
        raws[parsed->key][parsed->version] = entry.size;
      } else {
        contents.names[parsed->key].versions[parsed->version];
      }
    }
  }
  std::vector<std::pair<const DataKey*, NamespaceContents::Name*>> unknown;  // markers whose digest tells nothing
  for (auto& [key, name] : contents.names) {
    if (const auto found = raws.find(key); found != raws.end()) {
      for (auto& [version, size] : name.versions) {
        if (const auto raw = found->second.find(version); raw != found->second.end()) size = raw->second;
      }
    }
    const auto marker = markers.find(key);
    if (marker == markers.end()) continue;
    name.latest = VersionByDigest(name, marker->second);
    if (name.latest == 0) unknown.emplace_back(&key, &name);
  }
  context.executor().ForEach(context, unknown.size(), width(), [&](const Context& task, std::size_t i) {
    task.Check();
    unknown[i].second->latest = MarkerVersion(place.Read(task, unknown[i].first->Marker(), kSmallLimit).value_or(""));
  });
}

// ---- versions ----

std::vector<std::optional<std::string>> OtherNamespaces::MetadataTexts(const Context& context,
                                                                       std::span<const OtherVersion> versions) {
  std::vector<const Place*> places;  // opened before there are tasks
  for (const OtherVersion& one : versions) places.push_back(&PlaceOf(context, one.name_space));
  std::vector<std::optional<std::string>> texts(versions.size());
  context.executor().ForEach(context, versions.size(), width(), [&](const Context& task, std::size_t i) {
    task.Check();
    texts[i] = places[i]->Read(task, versions[i].key.VersionFolder(versions[i].version) + "/metadata.yaml", kSmallLimit);
  });
  return texts;
}

std::vector<std::optional<DataRecord>> OtherNamespaces::Records(std::span<const OtherVersion> versions) {
  std::vector<OtherVersion> missing;
  for (const OtherVersion& one : versions) {
    if (!records_.contains(Name(one))) missing.push_back(one);
  }
  if (!missing.empty()) {
    std::vector<std::optional<std::string>> texts;
    try {
      texts = MetadataTexts(context_, missing);
    } catch (const StoreError& error) {
      throw Unavailable(missing.front(), error.message());
    }
    for (std::size_t i = 0; i < missing.size(); ++i) {
      std::optional<DataRecord>& record = records_[Name(missing[i])];
      if (!texts[i]) continue;
      const std::string path = missing[i].key.VersionFolder(missing[i].version) + "/metadata.yaml";
      try {
        record = DataRecord{.key = missing[i].key, .metadata = DataMetadata::Parse(*texts[i], path), .paths = {}};
        record->metadata.version = missing[i].version;
      } catch (const UserError& error) {
        context_.log().Warn(kLog, fmt::format("left out of the namespace \"{}\": {}", missing[i].name_space, error.message()));
      }
    }
  }
  std::vector<std::optional<DataRecord>> records;
  for (const OtherVersion& one : versions) records.push_back(records_[Name(one)]);
  return records;
}

std::optional<DataRecord> OtherNamespaces::Record(const OtherVersion& version) { return Records(std::span(&version, 1)).front(); }

void OtherNamespaces::Keep(const OtherVersion& version, std::shared_ptr<const std::string> content) {
  const std::uint64_t size = content ? content->size() : 0;
  if (held_ + size > kMostHeld) return;
  if (contents_.emplace(Name(version), std::move(content)).second) held_ += size;
}

bool OtherNamespaces::HasFetched(const OtherVersion& version) const { return contents_.contains(Name(version)); }

bool OtherNamespaces::HasRoom() const { return held_ < kMostHeld / 2; }

std::shared_ptr<const std::string> OtherNamespaces::Content(const OtherVersion& version, std::uint64_t limit) {
  const auto too_long = [&](std::uint64_t size) {
    return UserError("data_invalid", fmt::format("{} version {} of the namespace \"{}\" has {} bytes, more than expressions read",
                                                 version.key.name, version.version, version.name_space, size));
  };
  if (version.size > limit) throw too_long(version.size);
  if (const auto known = contents_.find(Name(version)); known != contents_.end()) return known->second;
  std::shared_ptr<const std::string> content;
  try {
    auto bytes = PlaceOf(context_, version.name_space).Read(context_, version.key.VersionFolder(version.version) + "/raw", limit);
    if (bytes) content = std::make_shared<const std::string>(std::move(*bytes));
  } catch (const StoreError& error) {
    if (error.kind() == StoreError::Kind::kInvalid) throw UserError("data_invalid", error.message());
    throw Unavailable(version, error.message());
  }
  Keep(version, content);
  return content;
}

void OtherNamespaces::FetchContents(std::span<const OtherVersion> versions) {
  std::vector<const OtherVersion*> wanted;
  std::vector<const Place*> places;
  std::uint64_t expected = held_;
  for (const OtherVersion& one : versions) {
    if (one.size > kContentLimit || HasFetched(one)) continue;
    expected += one.size;
    if (expected > kMostHeld) break;
    wanted.push_back(&one);
    places.push_back(&PlaceOf(context_, one.name_space));
  }
  std::vector<std::shared_ptr<const std::string>> contents(wanted.size());
  std::vector<char> answered(wanted.size(), 0);
  context_.executor().ForEach(context_, wanted.size(), width(), [&](const Context& task, std::size_t i) {
    task.Check();
    try {
      auto bytes = places[i]->Read(task, wanted[i]->key.VersionFolder(wanted[i]->version) + "/raw", kContentLimit);
      if (bytes) contents[i] = std::make_shared<const std::string>(std::move(*bytes));
      answered[i] = 1;
    } catch (const StoreError& error) {
      if (error.kind() != StoreError::Kind::kInvalid) throw Unavailable(*wanted[i], error.message());
    }  // too long: whoever asks for it is told
  });
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (answered[i] != 0) Keep(*wanted[i], std::move(contents[i]));
  }
}

}  // namespace swamp

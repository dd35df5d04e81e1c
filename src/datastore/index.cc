#include "datastore/index.h"

#include <fmt/format.h>

namespace swamp {
namespace {

std::optional<IndexEntry> ReadEntry(const Json& json) {
  const auto size = IntegerMember(json, "size");
  if (!size || *size < 0) return std::nullopt;
  IndexEntry entry;
  entry.size = static_cast<std::uint64_t>(*size);
  entry.last_modified = StringMember(json, "lastModified").value_or("");
  entry.local_mtime = StringMember(json, "localMtime").value_or("");
  entry.sha256 = StringMember(json, "sha256").value_or("");
  return entry;
}

}  // namespace

std::string IndexEntry::Signature() const { return fmt::format("{}:{}:{}", size, sha256, last_modified); }

std::optional<IndexShard> IndexShard::Parse(std::string_view text) {
  std::optional<Json> json = TryParseJson(text);
  if (!json || !json->is_object()) return std::nullopt;
  const auto entries = json->find("entries");
  if (entries == json->end() || !entries->is_object()) return std::nullopt;
  IndexShard shard;
  for (auto& [path, entry] : entries->items()) shard.entries_[path] = std::move(entry);
  json->erase("entries");
  json->erase("version");
  shard.other_ = std::move(*json);
  return shard;
}

std::optional<IndexEntry> IndexShard::Find(const std::string& path) const {
  const auto found = entries_.find(path);
  if (found == entries_.end()) return std::nullopt;
  return ReadEntry(found->second);
}

void IndexShard::Set(const std::string& path, const IndexEntry& entry) {
  Json& json = entries_[path];
  if (!json.is_object()) json = Json::object();
  json["key"] = path;
  json["size"] = entry.size;
  json["lastModified"] = entry.last_modified;
  const auto set_or_erase = [&json](const char* key, const std::string& value) {
    if (value.empty()) {
      json.erase(key);
    } else {
      json[key] = value;
    }
  };
  set_or_erase("localMtime", entry.local_mtime);
  set_or_erase("sha256", entry.sha256);
}

std::map<std::string, IndexEntry> IndexShard::Entries() const {
  std::map<std::string, IndexEntry> entries;
  for (const auto& [path, json] : entries_) {
    if (auto entry = ReadEntry(json)) entries.emplace_hint(entries.end(), path, std::move(*entry));
  }
  return entries;
}

std::string IndexShard::Serialize() const {
  // Written piece by piece: a document of many entries would be held twice otherwise.
  std::string text = "{\"version\":1";
  for (const auto& [key, value] : other_.items()) {
    text += "," + CompactJson(Json(key)) + ":" + CompactJson(value);
  }
  text += ",\"entries\":{";
  bool first = true;
  for (const auto& [path, entry] : entries_) {
    if (!first) text += ',';
    first = false;
    text += '\n' + CompactJson(Json(path)) + ':' + CompactJson(entry);
  }
  text += "\n}}\n";
  return text;
}

std::optional<IndexMeta> IndexMeta::Parse(std::string_view text) {
  std::optional<Json> json = TryParseJson(text);
  if (!json || IntegerMember(*json, "version") != 2) return std::nullopt;
  IndexMeta meta;
  const auto partitions = json->find("partitions");
  if (partitions == json->end() || !partitions->is_array()) return std::nullopt;
  for (const Json& partition : *partitions) {
    if (!partition.is_string()) return std::nullopt;
    meta.partitions.insert(partition.get<std::string>());
  }
  const auto seq = IntegerMember(*json, "commitSeq");
  if (!seq || *seq < 0) return std::nullopt;
  meta.commit_seq = static_cast<std::uint64_t>(*seq);
  for (const char* key : {"version", "partitions", "commitSeq", "nonce"}) json->erase(key);
  meta.other = std::move(*json);
  return meta;
}

std::string IndexMeta::Serialize(std::string_view nonce) const {
  Json json = {{"version", 2}, {"partitions", partitions}, {"commitSeq", commit_seq}};
  for (const auto& [key, value] : other.items()) json[key] = value;
  json["nonce"] = nonce;
  return CompactJson(json) + "\n";
}

std::optional<LegacyIndex> LegacyIndex::Parse(std::string_view text) {
  std::optional<IndexShard> shard = IndexShard::Parse(text);
  if (!shard) return std::nullopt;
  LegacyIndex index;
  index.shard_ = std::move(*shard);
  return index;
}

std::string LegacyIndex::Serialize(Time now) const {
  Json json = ParseJson(shard_.Serialize(), "the index");
  json["lastPulled"] = FormatTime(now);
  return CompactJson(json) + "\n";
}

}  // namespace swamp

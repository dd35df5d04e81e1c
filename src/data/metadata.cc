#include "data/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "data/plain_yaml.h"
#include "util/error.h"
#include "util/text.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::array<std::string_view, 4> kLifetimeWords = {"infinite", "ephemeral", "job", "workflow"};
constexpr std::array<std::string_view, 3> kOwnerTypes = {"model-method", "workflow-step", "manual"};

template <std::size_t N>
bool Contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct ParsedDuration {
  std::optional<Duration> duration;  // nothing: too long to count
  bool zero = false;
};

// ^\d+(mo|y|h|m|d|w)$
std::optional<ParsedDuration> ParseAge(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  static constexpr std::array<std::string_view, 6> kUnits = {"mo", "y", "h", "m", "d", "w"};
  if (digits == 0 || !Contains(kUnits, text.substr(digits))) return std::nullopt;
  const bool zero = text.find_first_not_of('0') == digits;
  return ParsedDuration{zero ? std::nullopt : ParseDuration(text), zero};
}

bool IsUtcTime(std::string_view text) {
  const auto time = ParseTime(text);
  return time && FormatTime(*time) == text;
}

// What other programs' schemas refuse, one text each.
class Faults {
 public:
  void Require(bool holds, std::string fault) {
    if (!holds) faults_.push_back(std::move(fault));
  }
  void ThrowIfAny(const std::string& what) const {
    if (faults_.empty()) return;
    throw UserError("data_invalid", fmt::format("{} is no valid metadata: {}", what, Join(faults_, "; ")));
  }

 private:
  std::vector<std::string> faults_;
};

std::string TakeText(Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  std::string text;
  if (found->is_string()) {
    text = found->get<std::string>();
  } else if (!found->is_null()) {
    // A name that looks like a number, written without quotes.
    text = CompactJson(*found);
  }
  json.erase(key);
  return text;
}

void AddText(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

OwnerDefinition ParseOwner(Json json) {
  OwnerDefinition owner;
  owner.owner_type = TakeText(json, "ownerType");
  owner.owner_ref = TakeText(json, "ownerRef");
  owner.workflow_id = TakeText(json, "workflowId");
  owner.workflow_run_id = TakeText(json, "workflowRunId");
  owner.workflow_name = TakeText(json, "workflowName");
  owner.job_name = TakeText(json, "jobName");
  owner.step_name = TakeText(json, "stepName");
  owner.source = TakeText(json, "source");
  owner.other = std::move(json);
  return owner;
}

bool TakeFlag(Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return false;
  const bool flag = found->is_boolean() && found->get<bool>();
  json.erase(key);
  return flag;
}

std::optional<std::uint64_t> TakeCount(Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return std::nullopt;
  std::optional<std::uint64_t> count;
  if (found->is_number_integer() && *found >= 0) count = found->get<std::uint64_t>();
  json.erase(key);
  return count;
}

}  // namespace

std::optional<Lifetime> Lifetime::Parse(std::string_view text) {
  Lifetime lifetime;
  lifetime.text_ = text;
  if (Contains(kLifetimeWords, text)) {
    lifetime.ends_with_run_ = text == "job" || text == "workflow";
    return lifetime;
  }
  const auto age = ParseAge(text);
  if (!age) return std::nullopt;
  lifetime.duration_ = age->duration;
  lifetime.ends_with_run_ = age->zero;
  lifetime.writable_ = !age->zero;
  return lifetime;
}

VersionsKept VersionsKept::Newest(std::int64_t count) {
  VersionsKept kept;
  kept.json_ = count;
  kept.count_ = count;
  return kept;
}

std::optional<VersionsKept> VersionsKept::Parse(const Json& value) {
  if (value.is_number_integer() && value >= 1) return Newest(value.get<std::int64_t>());
  if (!value.is_string()) return std::nullopt;
  const auto age = ParseAge(value.get_ref<const std::string&>());
  if (!age || age->zero) return std::nullopt;
  VersionsKept kept;
  kept.json_ = value;
  kept.count_.reset();
  kept.age_ = age->duration;
  return kept;
}

Json OwnerDefinition::ToJson() const {
  Json json = {{"ownerType", owner_type}, {"ownerRef", owner_ref}};
  AddText(json, "workflowId", workflow_id);
  AddText(json, "workflowRunId", workflow_run_id);
  AddText(json, "workflowName", workflow_name);
  AddText(json, "jobName", job_name);
  AddText(json, "stepName", step_name);
  AddText(json, "source", source);
  for (const auto& [key, value] : other.items()) json[key] = value;
  return json;
}

DataMetadata DataMetadata::Parse(std::string_view yaml, const std::string& what) {
  std::optional<Json> plain = ParsePlainYaml(yaml);
  Json json = plain ? std::move(*plain) : ParseYaml(yaml, what);
  Faults faults;
  faults.Require(json.is_object(), "it is not a map of keys to values");
  faults.ThrowIfAny(what);
  DataMetadata metadata;
  metadata.id = TakeText(json, "id");
  metadata.name = TakeText(json, "name");
  metadata.version = TakeCount(json, "version").value_or(0);
  metadata.content_type = TakeText(json, "contentType");
  const std::string lifetime = TakeText(json, "lifetime");
  if (const auto parsed = Lifetime::Parse(lifetime)) {
    metadata.lifetime = *parsed;
  } else {
    faults.Require(false, fmt::format("lifetime \"{}\" is not known", Printable(lifetime, 60)));
  }
  if (const auto kept = json.find("garbageCollection"); kept != json.end()) {
    if (const auto parsed = VersionsKept::Parse(*kept)) {
      metadata.versions_kept = *parsed;
    } else {
      // A policy that nobody understands must not delete anything.
      metadata.versions_kept = VersionsKept::Newest(INT64_MAX);
    }
    json.erase("garbageCollection");
  }
  metadata.streaming = TakeFlag(json, "streaming");
  if (const auto tags = json.find("tags"); tags != json.end()) {
    if (tags->is_object()) {
      for (const auto& [key, value] : tags->items()) {
        metadata.tags[key] = value.is_string() ? value.get<std::string>() : CompactJson(value);
      }
    }
    json.erase("tags");
  }
  if (const auto owner = json.find("ownerDefinition"); owner != json.end()) {
    if (owner->is_object()) metadata.owner = ParseOwner(*owner);
    json.erase("ownerDefinition");
  }
  metadata.created_at = TakeText(json, "createdAt");
  metadata.size = TakeCount(json, "size");
  metadata.checksum = TakeText(json, "checksum");
  metadata.deleted = TakeText(json, "lifecycle") == "deleted";
  metadata.renamed_to = TakeText(json, "renamedTo");
  metadata.other = std::move(json);
  faults.Require(!metadata.id.empty(), "id is missing");
  faults.Require(IsReadableDataName(metadata.name), fmt::format("name \"{}\" can't be one", Printable(metadata.name, 60)));
  faults.Require(metadata.version >= 1, "version has to be a number from 1 on");
  faults.ThrowIfAny(what);
  return metadata;
}

std::string DataMetadata::ToYaml() const {
  Faults faults;
  faults.Require(IsUuid(id), "id has to be a UUID");
  faults.Require(version >= 1, "version has to be a number from 1 on");
  faults.Require(!content_type.empty(), "contentType is missing");
  faults.Require(lifetime.writable(), fmt::format("lifetime {} is no time at all", lifetime.text()));
  faults.Require(tags.is_object() && tags.contains("type"), "the tag type is missing");
  for (const auto& [key, value] : tags.items()) {
    faults.Require(value.is_string(), fmt::format("the tag {} has to be a text", Printable(key, 60)));
  }
  faults.Require(Contains(kOwnerTypes, owner.owner_type),
                 fmt::format("ownerType \"{}\" is not known", Printable(owner.owner_type, 60)));
  faults.Require(!owner.owner_ref.empty(), "ownerRef is missing");
  faults.Require(owner.workflow_id.empty() || IsUuid(owner.workflow_id), "workflowId has to be a UUID");
  faults.Require(owner.workflow_run_id.empty() || IsUuid(owner.workflow_run_id), "workflowRunId has to be a UUID");
  faults.Require(IsUtcTime(created_at), "createdAt has to be a time in UTC");
  faults.ThrowIfAny(fmt::format("what would be written for the data {}", Printable(name, 60)));

  Json json = {{"id", id},
               {"name", name},
               {"version", version},
               {"contentType", content_type},
               {"lifetime", lifetime.text()},
               {"garbageCollection", versions_kept.json()},
               {"streaming", streaming},
               {"tags", tags},
               {"ownerDefinition", owner.ToJson()},
               {"createdAt", created_at}};
  if (size) json["size"] = *size;
  AddText(json, "checksum", checksum);
  if (deleted) json["lifecycle"] = "deleted";
  AddText(json, "renamedTo", renamed_to);
  for (const auto& [key, value] : other.items()) json[key] = value;
  return EmitYaml(json);
}

bool IsReadableDataName(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find("..") == std::string_view::npos &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos && AsciiLower(name) != "latest";
}

void CheckDataName(std::string_view name, const std::string& what) {
  const auto refuse = [&](std::string_view why) {
    throw UserError("validation_failed", fmt::format("{} names its data \"{}\": {}", what, Printable(name, 80), why),
                    "Use letters, digits, '-' and '_'.");
  };
  if (name.empty()) refuse("a name can't be empty");
  if (AsciiLower(name) == "latest") refuse("the name is reserved");
  if (name.front() == '.') refuse("a name can't begin with a dot");
  if (!IsReadableDataName(name)) refuse("a name can't hold \"..\", \"/\", \"\\\" or NUL");
  if (std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    refuse("a name can't hold control characters");
  }
  if (!IsValidUtf8(name)) refuse("a name has to be UTF-8");
  if (name.size() > kMaxNameBytes) refuse("a name has at most 200 bytes");
}

}  // namespace swamp

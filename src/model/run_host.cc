#include "model/run_host.h"

#include <fmt/format.h>

#include "data/collect.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/json_schema.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kLongestKey = 200;
constexpr const char* kSensitiveTag = "_swamp.sensitiveFields";

// Tags that say what the data is; nobody else sets them.
bool IsReserved(const std::string& tag) {
  return tag == "type" || tag == "specName" || tag == "modelName" || tag.starts_with("_swamp.");
}

bool IsAllSensitive(const Json& spec) {
  const auto found = spec.find("sensitiveOutput");
  return found != spec.end() && found->is_boolean() && found->get<bool>();
}

std::vector<std::vector<std::string>> SensitiveFieldsOf(const Json& spec, const Json& attributes) {
  std::vector<std::vector<std::string>> paths;
  if (IsAllSensitive(spec)) {
    for (const auto& [key, value] : attributes.items()) paths.push_back({key});
  } else if (spec.contains("schema")) {
    paths = SensitivePaths(spec["schema"]);
  }
  return paths;
}

// The part of the schema that describes a field, through what makes it optional.
const Json* SchemaOfField(const Json& schema, const std::vector<std::string>& path) {
  const Json* current = &schema;
  for (const std::string& name : path) {
    for (const char* choice : {"anyOf", "oneOf"}) {
      if (!current->contains(choice)) continue;
      for (const Json& one : (*current)[choice]) {
        if (one.is_object() && one.contains("properties")) current = &one;
      }
    }
    if (!current->contains("properties") || !(*current)["properties"].contains(name)) return nullptr;
    current = &(*current)["properties"][name];
  }
  return current;
}

bool IsEphemeral(const NewVersion& version) { return version.lifetime.text() == "ephemeral"; }

// Whether another name could give the same text once both are joined by "-".
bool MayClash(const std::string& part) {
  return part.find_first_of("-/\\@") != std::string::npos || part.find("..") != std::string::npos;
}

std::string KeyFor(const std::string& text) {
  std::string key = ReplaceAll(ReplaceAll(text, "@", ""), "..", ".");
  std::erase(key, '\0');
  for (char& c : key) {
    if (c == '/' || c == '\\') c = '-';
  }
  if (key.size() <= kLongestKey) return key;
  return key.substr(0, 180) + "-" + Sha256Hex(key).substr(0, 16);
}

}  // namespace

bool HasSensitiveOutputs(const ModelType& type) {
  for (const Json& spec : type.data_output_specs) {
    if (IsAllSensitive(spec) || (spec.contains("schema") && !SensitivePaths(spec["schema"]).empty())) return true;
  }
  return false;
}

class RunHost::File final : public MethodFile {
 public:
  File(RunHost& host, const Json& spec, std::unique_ptr<VersionWriter> writer)
      : host_(host), spec_(spec), writer_(std::move(writer)) {}
  void Append(std::string_view bytes) override { writer_->Append(bytes); }
  void Finish() override { host_.Take(writer_->Finish(), spec_, std::nullopt); }
  std::optional<std::filesystem::path> final_path() const override { return writer_->final_path(); }
  void Reserve(std::uint64_t) override {}

 private:
  RunHost& host_;
  const Json& spec_;
  std::unique_ptr<VersionWriter> writer_;
};

class RunHost::MemoryFile final : public MethodFile {
 public:
  MemoryFile(RunHost& host, const Json& spec, std::unique_ptr<EphemeralData::Writer> writer)
      : host_(host), spec_(spec), writer_(std::move(writer)) {}
  void Append(std::string_view bytes) override { writer_->Append(bytes); }
  void Finish() override { host_.Take(writer_->Finish(), spec_, std::nullopt, true); }
  std::optional<std::filesystem::path> final_path() const override { return std::nullopt; }
  void Reserve(std::uint64_t bytes) override { writer_->Reserve(bytes); }

 private:
  RunHost& host_;
  const Json& spec_;
  std::unique_ptr<EphemeralData::Writer> writer_;
};

void RunHost::Log(LogLevel level, std::string_view line) {
  const std::string shown = parts_.log.Add(level, parts_.method, line);
  if (parts_.observer.line) parts_.observer.line(parts_.definition.name, level, shown);
  if (parts_.observer.event) {
    Tell({{"kind", "method_output"},
          {"modelName", parts_.definition.name},
          {"methodName", parts_.method},
          {"stream", level < LogLevel::kWarning ? "stdout" : "stderr"},
          {"line", shown}});
  }
}

const Json& RunHost::SpecOf(const std::string& spec, std::string_view kind) const {
  std::vector<std::string> names;
  for (const Json& one : parts_.type.data_output_specs) {
    if (StringMember(one, "kind") != kind) continue;
    if (StringMember(one, "specName") == spec) return one;
    names.push_back(StringMember(one, "specName").value_or(""));
  }
  throw UserError("method_execution_failed",
                  fmt::format("{} of {} writes the {} \"{}\", which the type does not declare (it has: {})", parts_.method,
                              parts_.type.name, kind, Printable(spec, 60), Join(names, ", ")));
}

Json RunHost::TagsOf(const Json& spec) const {
  Json tags = {{"type", StringMember(spec, "kind").value_or("resource")}};
  const auto add = [&tags](const Json& more) {
    for (const auto& [key, value] : more.items()) {
      if (!IsReserved(key) && value.is_string()) tags[key] = value;
    }
  };
  add(parts_.definition.tags);
  if (spec.contains("tags") && spec["tags"].is_object()) add(spec["tags"]);
  tags["specName"] = spec["specName"];
  tags["modelName"] = parts_.definition.name;
  tags["initiatedBy"] = parts_.initiated_by;
  for (const auto& [key, value] : parts_.tags) {
    if (!IsReserved(key)) tags[key] = value;
  }
  return tags;
}

NewVersion RunHost::VersionOf(const Json& spec, const std::string& name) const {
  NewVersion version;
  version.key = {{parts_.type.name, parts_.definition.id}, name};
  version.content_type = StringMember(spec, "contentType").value_or("application/json");
  version.streaming = spec.contains("streaming") && spec["streaming"] == true;
  version.tags = TagsOf(spec);
  version.owner.owner_type = "model-method";
  version.owner.owner_ref = parts_.definition.id;
  version.hold_marker = parts_.rollback;
  const std::string spec_name = spec["specName"];
  version.what = "the output " + spec_name;
  Json policy = spec;
  const Json& other = parts_.definition.other;
  if (other.contains("resources") && other["resources"].is_object() && other["resources"].contains(spec_name) &&
      other["resources"][spec_name].is_object()) {
    for (const auto& [key, value] : other["resources"][spec_name].items()) policy[key] = value;
  }
  const auto invalid = [&](const char* key) {
    return UserError("validation_failed", fmt::format("resources.{}.{} of {} is no such policy", spec_name, key,
                                                      parts_.definition.name));
  };
  if (const auto text = StringMember(policy, "lifetime")) {
    const auto lifetime = Lifetime::Parse(*text);
    if (!lifetime) throw invalid("lifetime");
    version.lifetime = *lifetime;
  }
  if (policy.contains("garbageCollection")) {
    const auto kept = VersionsKept::Parse(policy["garbageCollection"]);
    if (!kept) throw invalid("garbageCollection");
    version.versions_kept = *kept;
  }
  return version;
}

std::unique_ptr<MethodFile> RunHost::BeginFile(const std::string& spec, const std::string& name) {
  const Json& declared = SpecOf(spec, "file");
  NewVersion version = VersionOf(declared, name);
  if (IsEphemeral(version)) {
    return std::make_unique<MemoryFile>(*this, declared, parts_.ephemeral.Begin(parts_.context, std::move(version)));
  }
  return std::make_unique<File>(*this, declared, parts_.store.Begin(std::move(version)));
}

void RunHost::WriteResource(const std::string& spec, const std::string& name, const Json& attributes) {
  const Json& declared = SpecOf(spec, "resource");
  if (declared.contains("schema")) {
    const auto problems = CheckSchema(declared["schema"], attributes);
    if (!problems.empty()) {
      const std::string message = fmt::format("{} does not fit its schema: {}", name, Join(problems, "; "));
      const std::string shown = parts_.log.Add(LogLevel::kWarning, parts_.method, message);
      if (parts_.observer.line) parts_.observer.line(parts_.definition.name, LogLevel::kWarning, shown);
      Tell({{"kind", "method_event"},
            {"modelName", parts_.definition.name},
            {"methodName", parts_.method},
            {"event", {{"type", "schema_warning"}, {"message", shown}}}});
    }
  }
  NewVersion version = VersionOf(declared, name);
  Json stored = StoreSensitive(declared, name, attributes, version.tags);
  stored = parts_.redactor.Redact(stored);
  if (IsEphemeral(version)) {
    const auto writer = parts_.ephemeral.Begin(parts_.context, std::move(version));
    writer->Append(CompactJson(stored));
    Take(writer->Finish(), declared, std::move(stored), true);
    return;
  }
  DataRecord record = parts_.store.Write(std::move(version), CompactJson(stored));
  Take(std::move(record), declared, std::move(stored));
}

Json RunHost::StoreSensitive(const Json& spec, const std::string& name, Json attributes, Json& tags) {
  std::vector<std::string> moved;
  for (const std::vector<std::string>& path : SensitiveFieldsOf(spec, attributes)) {
    Json* field = &attributes;
    for (const std::string& part : path) {
      field = field->is_object() && field->contains(part) ? &(*field)[part] : nullptr;
      if (field == nullptr) break;
    }
    if (field == nullptr || field->is_null()) continue;
    const Json* schema = spec.contains("schema") ? SchemaOfField(spec["schema"], path) : nullptr;
    const std::string spec_name = spec["specName"];
    std::optional<std::string> wanted = schema != nullptr ? StringMember(*schema, "vaultName") : std::nullopt;
    const Json& other = parts_.definition.other;
    if (!wanted && other.contains("resources") && other["resources"].is_object() &&
        other["resources"].contains(spec_name)) {
      wanted = StringMember(other["resources"][spec_name], "vaultName");
    }
    if (!wanted) wanted = StringMember(spec, "vaultName");
    const std::string vault = parts_.vaults.DefaultVaultFor(wanted).vault.name;
    const std::string place = Join(path, ".");
    std::optional<std::string> key = schema != nullptr ? StringMember(*schema, "vaultKey") : std::nullopt;
    if (!key) {
      key = KeyFor(fmt::format("{}/{}/{}/{}/{}/{}", parts_.type.name, parts_.definition.id, parts_.method, spec_name, name,
                               place));
      // Two instances never share a secret.
      if (MayClash(parts_.method) || MayClash(spec_name) || MayClash(name)) {
        const std::string exact = parts_.method + '\0' + spec_name + '\0' + name + '\0' + place;
        *key += "-" + Sha256Hex(exact).substr(0, 16);
      }
    }
    const std::string value = field->is_string() ? field->get<std::string>() : CompactJson(*field);
    parts_.vaults.Put(vault, *key, value, fmt::format("model:{}/{}", parts_.definition.name, parts_.method));
    *field = fmt::format("${{{{ vault.get('{}', '{}') }}}}", vault, *key);
    if (parts_.observer.step) {
      parts_.observer.step(parts_.definition.name, "Stored", fmt::format("{} of {} in the vault {}", place, name, vault));
    }
    moved.push_back(place);
  }
  if (!moved.empty()) tags[kSensitiveTag] = IsAllSensitive(spec) ? std::string("*") : Join(moved, ",");
  return attributes;
}

void RunHost::Take(DataRecord record, const Json& spec, std::optional<Json> attributes, bool ephemeral) {
  RunArtifact artifact{.id = record.metadata.id,
                       .name = record.key.name,
                       .version = record.version(),
                       .spec = StringMember(spec, "specName").value_or(""),
                       .type = StringMember(spec, "kind").value_or("resource"),
                       .path = ephemeral ? std::filesystem::path() : parts_.store.PathOf(record.RawPath()),
                       .attributes = std::move(attributes)};
  if (parts_.collect && !parts_.rollback && !ephemeral) DropVersionsBeyondCap(parts_.store, record.key);
  written_.push_back({std::move(record), std::move(artifact), ephemeral});
  if (!parts_.rollback) TellSaved(written_.back());
}

void RunHost::TellSaved(const Written& one) const {
  if (!parts_.observer.event) return;
  Json event = {{"kind", "data_artifact_saved"}, {"name", one.artifact.name}};
  if (!one.ephemeral) event["path"] = one.artifact.path.string();
  Tell(event);
}

void RunHost::Publish() {
  if (!parts_.rollback) return;
  for (Written& one : written_) {
    if (!one.ephemeral) parts_.store.Publish(one.record);
    TellSaved(one);
  }
}

void RunHost::Withdraw() {
  if (!parts_.rollback) return;
  for (const Written& one : std::exchange(written_, {})) {
    if (one.ephemeral) {
      parts_.ephemeral.Remove(one.record);
      continue;
    }
    try {
      parts_.store.Withdraw(one.record);
    } catch (const UserError& error) {
      Log(LogLevel::kWarning, fmt::format("{} version {} could not be taken back: {}", one.record.key.name,
                                          one.record.version(), error.message()));
    }
  }
}

void RunHost::WriteTombstones() {
  const DataOwner owner{parts_.type.name, parts_.definition.id};
  for (const std::string& name : parts_.store.Names(owner)) {
    const auto latest = parts_.store.Latest({owner, name});
    if (!latest || latest->metadata.deleted || latest->metadata.tag("type") != "resource") continue;
    Json content = TryParseJson(parts_.store.Content(*latest)).value_or(Json::object());
    if (!content.is_object()) content = Json::object();
    content["deletedAt"] = FormatTime(parts_.context.clock().Now());
    content["deletedByMethod"] = parts_.method;
    DataRecord record = parts_.store.WriteTombstone(*latest, {}, CompactJson(content));
    Take(std::move(record), {{"specName", latest->metadata.tag("specName")}, {"kind", "resource"}}, std::move(content));
  }
}

void RunHost::RequireLiveResources() const {
  const DataOwner owner{parts_.type.name, parts_.definition.id};
  std::string deleted_at;
  for (const std::string& name : parts_.store.Names(owner)) {
    const auto latest = parts_.store.Latest({owner, name});
    if (!latest || latest->metadata.tag("type") != "resource" || latest->metadata.is_rename_marker()) continue;
    if (!latest->metadata.deleted) return;
    deleted_at = std::max(deleted_at, latest->metadata.created_at);
  }
  if (deleted_at.empty()) return;
  throw UserError("resource_deleted",
                  fmt::format("what {} stands for was deleted at {}", parts_.definition.name, deleted_at),
                  "Create it first, with the model's method for that.");
}

}  // namespace swamp

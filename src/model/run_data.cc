#include "model/run_data.h"

#include "data/query.h"
#include "util/text.h"

namespace swamp {
namespace {

// Contents that an expression can hold; a larger one counts as having none.
constexpr std::uint64_t kContentLimit = 64ULL << 20;

class DataFunctions {
 public:
  DataFunctions(Definitions& definitions, std::function<const VersionStore&()> open)
      : definitions_(definitions), open_(std::move(open)) {}

  std::optional<Json> Latest(const std::string& model, const std::string& name) {
    const auto owner = OwnerOf(model);
    const auto record = owner ? open_().Resolve({*owner, name}) : std::nullopt;
    if (!record) return std::nullopt;
    return ExpressionRecord(open_(), *record);
  }
  std::optional<Json> Version(const std::string& model, const std::string& name, std::int64_t version) {
    const auto owner = OwnerOf(model);
    if (!owner || version < 1) return std::nullopt;
    const auto record = open_().Find({*owner, name}, static_cast<std::uint64_t>(version));
    if (!record) return std::nullopt;
    return ExpressionRecord(open_(), *record);
  }
  std::vector<std::int64_t> Versions(const std::string& model, const std::string& name) {
    std::vector<std::int64_t> versions;
    const auto owner = OwnerOf(model);
    if (!owner) return versions;
    for (const std::uint64_t one : open_().Versions({*owner, name})) versions.push_back(static_cast<std::int64_t>(one));
    return versions;
  }
  Json BySpec(const std::string& model, const std::string& spec) {
    Json found = Json::array();
    if (const auto owner = OwnerOf(model)) Collect(found, *owner, "specName", spec);
    return found;
  }
  Json ByTag(const std::string& key, const std::string& value) {
    Json found = Json::array();
    for (const DataOwner& owner : open_().Owners()) Collect(found, owner, key, value);
    return found;
  }
  std::optional<std::string> FileContents(const std::string& model, const std::string& spec) {
    const auto owner = OwnerOf(model);
    if (!owner) return std::nullopt;
    for (const std::string& name : open_().Names(*owner)) {
      const auto record = open_().Latest({*owner, name});
      const bool is_file = record && !record->metadata.deleted && record->metadata.tag("type") == "file";
      if (is_file && record->metadata.tag("specName") == spec) return open_().Content(*record, kContentLimit);
    }
    return std::nullopt;
  }

 private:
  // Nothing: there is no such model, so it has no data.
  std::optional<DataOwner> OwnerOf(const std::string& model) {
    const auto found = definitions_.Find(model);
    if (!found) return std::nullopt;
    return DataOwner{found->definition.type, found->definition.id};
  }
  void Collect(Json& found, const DataOwner& owner, const std::string& key, const std::string& value) {
    for (const std::string& name : open_().Names(owner)) {
      const auto record = open_().Latest({owner, name});
      if (record && !record->metadata.deleted && record->metadata.tag(key) == value) {
        found.push_back(ExpressionRecord(open_(), *record));
      }
    }
  }

  Definitions& definitions_;
  std::function<const VersionStore&()> open_;
};

}  // namespace

Json ExpressionRecord(const VersionStore& store, const DataRecord& record) {
  const DataMetadata& metadata = record.metadata;
  DataBody body;
  const bool is_json = metadata.content_type == "application/json";
  const bool is_text = metadata.content_type.starts_with("text/") || metadata.content_type.find("yaml") != std::string::npos;
  if ((is_json || is_text) && metadata.size.value_or(0) <= kContentLimit) {
    std::string bytes = store.Content(record, kContentLimit);
    if (is_json) {
      body.attributes = TryParseJson(bytes).value_or(Json::object());
      body.content = body.attributes;
    } else {
      body.content = std::move(bytes);
    }
  }
  return RecordJson(record, store.LatestVersion(record.key) == metadata.version, "", std::move(body));
}

void AddDataFunctions(ExpressionHost& host, Definitions& definitions, std::function<const VersionStore&()> open) {
  const auto functions = std::make_shared<DataFunctions>(definitions, std::move(open));  // shared by the functions below
  host.data_latest = [functions](const auto& model, const auto& name) { return functions->Latest(model, name); };
  host.data_version = [functions](const auto& model, const auto& name, std::int64_t version) {
    return functions->Version(model, name, version);
  };
  host.data_list_versions = [functions](const auto& model, const auto& name) { return functions->Versions(model, name); };
  host.data_find_by_spec = [functions](const auto& model, const auto& spec) { return functions->BySpec(model, spec); };
  host.data_find_by_tag = [functions](const auto& key, const auto& value) { return functions->ByTag(key, value); };
  host.file_contents = [functions](const auto& model, const auto& spec) { return functions->FileContents(model, spec); };
}

}  // namespace swamp

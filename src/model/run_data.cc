#include "model/run_data.h"

#include <mutex>
#include <set>

#include "data/query.h"
#include "model/output_record.h"
#include "util/text.h"

namespace swamp {
namespace {

// Of files, as expressions take them whole.
constexpr std::uint64_t kContentLimit = 64ULL << 20;

class DataFunctions : public std::enable_shared_from_this<DataFunctions> {
 public:
  DataFunctions(Definitions& definitions, RunFiles& files, DataSources sources)
      : definitions_(definitions), files_(files), sources_(std::move(sources)) {}

  std::optional<Json> Latest(const std::string& model, const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto owner = OwnerOf(model);
    if (!owner) {  // data may outlive its definition
      Refresh(std::nullopt);
      Json record = Queries().Latest(model, name);
      return record.is_null() ? std::nullopt : std::optional(std::move(record));
    }
    Refresh(*owner);
    const auto record = sources_.store().Resolve({*owner, name});
    if (!record) return std::nullopt;
    return ExpressionRecord(sources_.store(), *record);
  }
  std::optional<Json> Version(const std::string& model, const std::string& name, std::int64_t version) {
    const std::lock_guard lock(mutex_);
    const auto owner = OwnerOf(model);
    if (!owner || version < 1) return std::nullopt;
    Refresh(*owner);
    const auto record = sources_.store().Find({*owner, name}, static_cast<std::uint64_t>(version));
    if (!record) return std::nullopt;
    return ExpressionRecord(sources_.store(), *record);
  }
  std::vector<std::int64_t> Versions(const std::string& model, const std::string& name) {
    const std::lock_guard lock(mutex_);
    std::vector<std::int64_t> versions;
    const auto owner = OwnerOf(model);
    if (!owner) return versions;
    Refresh(*owner);
    for (const std::uint64_t one : sources_.store().Versions({*owner, name})) versions.push_back(static_cast<std::int64_t>(one));
    return versions;
  }
  Json BySpec(const std::string& model, const std::string& spec) {
    const std::lock_guard lock(mutex_);
    const auto owner = OwnerOf(model);
    if (!owner) return Json::array();
    Refresh(*owner);
    return RecordsOf(Queries().TaggedWith("specName", spec, owner->model_id));
  }
  Json ByTag(const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    Refresh(std::nullopt);
    return RecordsOf(Queries().TaggedWith(key, value));
  }
  Json Query(const std::string& predicate, const std::optional<std::string>& select) {
    const std::lock_guard lock(mutex_);
    Refresh(std::nullopt);
    return Queries().Query(predicate, select);
  }
  std::optional<std::string> FileContents(const std::string& model, const std::string& spec) {
    const std::lock_guard lock(mutex_);
    const auto owner = OwnerOf(model);
    if (!owner) return std::nullopt;
    Refresh(*owner);
    for (const DataRecord& record : LatestOf(*owner, "file")) {
      if (record.metadata.tag("specName") == spec) return sources_.store().Content(record, kContentLimit);
    }
    return std::nullopt;
  }

  // model.<m>.resource and .file: by spec, then by name. `type`: "resource", "file".
  std::optional<LazyValue> OutputsOf(const std::string& model_id, const std::string& type) {
    const std::lock_guard lock(mutex_);
    const auto owner = OwnerOf(model_id);
    if (!owner) return std::nullopt;
    Refresh(*owner);
    std::set<std::string> specs;
    for (const DataRecord& record : LatestOf(*owner, type)) specs.insert(record.metadata.tag("specName"));
    if (specs.empty()) return std::nullopt;  // it has never run
    return LazyValue(std::make_shared<const SpecsMap>(shared_from_this(), *owner, type, std::move(specs)));
  }
  std::optional<LazyValue> ExecutionOf(const std::string& model_id) {
    const std::lock_guard lock(mutex_);
    Refresh(std::nullopt);
    const std::vector<OutputRecord> all = Outputs(files_).All(model_id);
    if (all.empty()) return std::nullopt;
    const OutputRecord& record = all.front();
    Json json = {{"id", record.id},
                 {"methodName", record.method},
                 {"status", Outputs(files_).ShownStatus(record)},
                 {"startedAt", record.started_at}};
    if (!record.completed_at.empty()) json["completedAt"] = record.completed_at;
    if (record.duration_ms) json["durationMs"] = *record.duration_ms;
    if (!record.error_message.empty()) json["error"] = record.error_message;
    return LazyValue(std::move(json));
  }

 private:
  // The data of one spec; a body is read when an expression reaches it.
  class InstancesMap final : public LazyMap {
   public:
    InstancesMap(std::shared_ptr<DataFunctions> functions, DataOwner owner, std::string type, std::string spec)
        : functions_(std::move(functions)), owner_(std::move(owner)), type_(std::move(type)), spec_(std::move(spec)) {}
    std::optional<LazyValue> Get(const std::string& name, EvaluationPass) const override {
      const std::lock_guard lock(functions_->mutex_);
      if (!IsReadableDataName(name)) return std::nullopt;
      const VersionStore& store = functions_->sources_.store();
      const auto record = store.Resolve({owner_, name});
      if (!record || !Fits(*record)) return std::nullopt;
      if (type_ == "resource") return LazyValue(ExpressionRecord(store, *record));
      return LazyValue(Json{{"id", record->metadata.id},
                            {"version", record->version()},
                            {"createdAt", record->metadata.created_at},
                            {"path", store.ContentPath(*record).string()},
                            {"size", record->metadata.size.value_or(0)},
                            {"contentType", record->metadata.content_type}});
    }
    std::vector<std::string> Keys() const override {
      const std::lock_guard lock(functions_->mutex_);
      std::vector<std::string> names;
      for (const DataRecord& record : functions_->LatestOf(owner_, type_)) {
        if (Fits(record)) names.push_back(record.key.name);
      }
      return names;
    }

   private:
    bool Fits(const DataRecord& record) const {
      return record.metadata.tag("type") == type_ && record.metadata.tag("specName") == spec_;
    }
    std::shared_ptr<DataFunctions> functions_;
    DataOwner owner_;
    std::string type_;
    std::string spec_;
  };

  class SpecsMap final : public LazyMap {
   public:
    SpecsMap(std::shared_ptr<DataFunctions> functions, DataOwner owner, std::string type, std::set<std::string> specs)
        : functions_(std::move(functions)), owner_(std::move(owner)), type_(std::move(type)), specs_(std::move(specs)) {}
    std::optional<LazyValue> Get(const std::string& spec, EvaluationPass) const override {
      if (!specs_.contains(spec)) return std::nullopt;
      return LazyValue(std::make_shared<const InstancesMap>(functions_, owner_, type_, spec));
    }
    std::vector<std::string> Keys() const override { return {specs_.begin(), specs_.end()}; }

   private:
    std::shared_ptr<DataFunctions> functions_;
    DataOwner owner_;
    std::string type_;
    std::set<std::string> specs_;
  };

  // Nothing: there is no such model.
  std::optional<DataOwner> OwnerOf(const std::string& model) {
    const auto found = definitions_.Find(model);
    if (!found) return std::nullopt;
    return DataOwner{found->definition.type, found->definition.id};
  }
  // Once for each model: a command sees one state of what others write, and everything of what it writes itself.
  void Refresh(const std::optional<DataOwner>& owner) {
    if (!sources_.refresh || refreshed_all_) return;
    if (owner && !refreshed_.insert(*owner).second) return;
    if (!owner) refreshed_all_ = true;
    sources_.refresh(owner);
  }
  DataQueries Queries() {
    const VersionStore& store = sources_.store();
    return {store.context(), store, sources_.catalog()};
  }
  std::vector<DataRecord> LatestOf(const DataOwner& owner, const std::string& type) {
    std::vector<DataRecord> records;
    for (const std::string& name : sources_.store().Names(owner)) {
      auto record = sources_.store().Latest({owner, name});
      if (record && !record->metadata.deleted && record->metadata.tag("type") == type) records.push_back(std::move(*record));
    }
    return records;
  }
  Json RecordsOf(const std::vector<DataRecord>& records) {
    Json list = Json::array();
    sources_.store().FetchContent(records);
    for (const DataRecord& record : records) {
      list.push_back(RecordJson(record, true, sources_.catalog().options().name_space, ReadBodyIfValid(sources_.store(), record)));
    }
    return list;
  }

  Definitions& definitions_;
  RunFiles& files_;
  DataSources sources_;
  std::mutex mutex_;
  std::set<DataOwner> refreshed_;
  bool refreshed_all_ = false;
};

Json RecordInMemory(const EphemeralData::Version& version, bool is_latest) {
  DataBody body;
  const std::string& type = version.record.metadata.content_type;
  if (IsJsonType(type)) {
    body.attributes = TryParseJson(version.content).value_or(Json::object());
    body.content = body.attributes;
  } else if (IsTextType(type)) {
    body.content = version.content;
  }
  return RecordJson(version.record, is_latest, "", std::move(body));
}

}  // namespace

Json ExpressionRecord(const VersionStore& store, const DataRecord& record) {
  return RecordJson(record, store.LatestVersion(record.key) == record.version(), "", ReadBody(store, record));
}

void AddDataFunctions(ExpressionHost& host, Definitions& definitions, RunFiles& files, DataSources sources) {
  // Shared by the functions below.
  const auto functions = std::make_shared<DataFunctions>(definitions, files, std::move(sources));
  host.data_latest = [functions](const auto& model, const auto& name) { return functions->Latest(model, name); };
  host.data_version = [functions](const auto& model, const auto& name, std::int64_t version) {
    return functions->Version(model, name, version);
  };
  host.data_list_versions = [functions](const auto& model, const auto& name) { return functions->Versions(model, name); };
  host.data_find_by_spec = [functions](const auto& model, const auto& spec) { return functions->BySpec(model, spec); };
  host.data_find_by_tag = [functions](const auto& key, const auto& value) { return functions->ByTag(key, value); };
  host.data_query = [functions](const auto& predicate, const auto& select) { return functions->Query(predicate, select); };
  host.file_contents = [functions](const auto& model, const auto& spec) { return functions->FileContents(model, spec); };
  host.model_resources = [functions](const auto& id) { return functions->OutputsOf(id, "resource"); };
  host.model_files = [functions](const auto& id) { return functions->OutputsOf(id, "file"); };
  host.model_execution = [functions](const auto& id) { return functions->ExecutionOf(id); };
}

void AddEphemeralData(ExpressionHost& host, Definitions& definitions, const EphemeralData& data) {
  const auto owner_of = [&definitions, &data](const std::string& model) -> std::optional<DataOwner> {
    if (data.empty()) return std::nullopt;  // mostly
    const auto found = definitions.Find(model);
    if (!found) return std::nullopt;
    return DataOwner{found->definition.type, found->definition.id};
  };
  host.data_latest = [owner_of, &data, next = host.data_latest](const auto& model, const auto& name) {
    const auto owner = owner_of(model);
    const auto version = owner ? data.Latest({*owner, name}) : nullptr;
    return version ? std::optional(RecordInMemory(*version, true)) : next ? next(model, name) : std::nullopt;
  };
  host.data_version = [owner_of, &data, next = host.data_version](const auto& model, const auto& name, std::int64_t number) {
    const auto owner = owner_of(model);
    const auto version = owner && number > 0 ? data.Find({*owner, name}, static_cast<std::uint64_t>(number)) : nullptr;
    if (!version) return next ? next(model, name, number) : std::nullopt;
    return std::optional(RecordInMemory(*version, data.Latest(version->record.key) == version));
  };
  host.data_list_versions = [owner_of, &data, next = host.data_list_versions](const auto& model, const auto& name) {
    const auto owner = owner_of(model);
    std::vector<std::int64_t> numbers;
    if (owner) {
      for (const std::uint64_t one : data.Versions({*owner, name})) numbers.push_back(static_cast<std::int64_t>(one));
    }
    return numbers.empty() && next ? next(model, name) : numbers;
  };
  host.data_find_by_spec = [owner_of, &data, next = host.data_find_by_spec](const auto& model, const auto& spec) {
    Json records = next ? next(model, spec) : Json::array();
    const auto owner = owner_of(model);
    if (!owner) return records;
    for (const auto& version : data.LatestOf(*owner)) {
      const DataMetadata& metadata = version->record.metadata;
      if (metadata.tag("specName") != spec) continue;
      const auto older = std::find_if(records.begin(), records.end(),
                                      [&](const Json& one) { return one.value("name", "") == metadata.name; });
      if (older != records.end()) records.erase(older);
      records.push_back(RecordInMemory(*version, true));
    }
    return records;
  };
}

}  // namespace swamp

#include "model/run_data.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <set>

#include "data/other_data.h"
#include "data/query.h"
#include "model/output_record.h"
#include "util/text.h"

namespace swamp {
namespace {

// Of files, as expressions take them whole.
constexpr std::uint64_t kContentLimit = 64ULL << 20;

class DataFunctions : public std::enable_shared_from_this<DataFunctions> {
 public:
  DataFunctions(Definitions& definitions, RunFiles& files, DataSources sources, std::string name_space)
      : definitions_(definitions), files_(files), sources_(std::move(sources)), name_space_(std::move(name_space)) {}

  std::optional<Json> Latest(const std::string& model, const std::string& name) {
    const std::lock_guard lock(mutex_);
    return InNamespace<std::optional<Json>>(
        model, [&](const std::string& own) { return OwnLatest(own, name); },
        [&](OtherData& other, const std::string& slug, const std::string& of) -> std::optional<Json> {
          const auto record = other.Latest(slug, of, name);
          return record ? std::optional(other.Show(*record)) : std::nullopt;
        });
  }
  std::optional<Json> Version(const std::string& model, const std::string& name, std::int64_t version) {
    const std::lock_guard lock(mutex_);
    return InNamespace<std::optional<Json>>(
        model, [&](const std::string& own) { return OwnVersion(own, name, version); },
        [&](OtherData& other, const std::string& slug, const std::string& of) -> std::optional<Json> {
          const auto record = version < 1 ? std::nullopt : other.Find(slug, of, name, static_cast<std::uint64_t>(version));
          return record ? std::optional(other.Show(*record)) : std::nullopt;
        });
  }
  std::vector<std::int64_t> Versions(const std::string& model, const std::string& name) {
    const std::lock_guard lock(mutex_);
    return InNamespace<std::vector<std::int64_t>>(
        model, [&](const std::string& own) { return OwnVersions(own, name); },
        [&](OtherData& other, const std::string& slug, const std::string& of) {
          const std::vector<std::uint64_t> versions = other.Versions(slug, of, name);
          return std::vector<std::int64_t>(versions.begin(), versions.end());
        });
  }
  Json BySpec(const std::string& model, const std::string& spec) {
    const std::lock_guard lock(mutex_);
    return InNamespace<Json>(
        model, [&](const std::string& own) { return OwnBySpec(own, spec); },
        [&](OtherData& other, const std::string& slug, const std::string& of) {
          return other.ShowAll(sources_.store().context(), other.LatestOf(slug, of, {}, spec));
        });
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
    using Contents = std::optional<std::string>;
    return InNamespace<Contents>(
        model,
        [&](const std::string& own) -> Contents {
          const auto owner = OwnerOf(own);
          if (!owner) return std::nullopt;
          Refresh(*owner);
          for (const DataRecord& record : LatestOf(*owner, "file")) {
            if (record.metadata.tag("specName") == spec) return sources_.store().Content(record, kContentLimit);
          }
          return std::nullopt;
        },
        [&](OtherData& other, const std::string& slug, const std::string& of) -> Contents {
          const std::vector<OtherRecord> files = other.LatestOf(slug, of, "file", spec);
          if (files.empty()) return std::nullopt;
          const auto content = sources_.catalog().others()->Content(files.front().version, kContentLimit);
          return content ? Contents(*content) : std::nullopt;
        });
  }

  // model.<m>.resource and .file: by spec, then by name. `type`: "resource", "file".
  // `model`: its id, or its name with "ns:" or "*:" in front.
  std::optional<LazyValue> OutputsOf(const std::string& model, const std::string& type) {
    const std::lock_guard lock(mutex_);
    return InNamespace<std::optional<LazyValue>>(
        model, [&](const std::string& own) { return OwnOutputsOf(own, type); },
        [&](OtherData& other, const std::string& slug, const std::string& of) -> std::optional<LazyValue> {
          std::vector<OtherRecord> records = other.LatestOf(slug, of, type, {});
          if (records.empty()) return std::nullopt;
          return LazyValue(std::make_shared<const OtherSpecsMap>(shared_from_this(), type == "file", std::move(records)));
        });
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
      if (type_ == "resource") return LazyValue(functions_->OwnRecord(*record));
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

  // The same of another namespace's model: which data there is was asked once, bodies are fetched when they are reached.
  class OtherInstancesMap final : public LazyMap {
   public:
    OtherInstancesMap(std::shared_ptr<DataFunctions> functions, bool files, std::vector<OtherRecord> records)
        : functions_(std::move(functions)), files_(files), records_(std::move(records)) {}
    std::optional<LazyValue> Get(const std::string& name, EvaluationPass) const override {
      const std::lock_guard lock(functions_->mutex_);
      const OtherRecord* found = nullptr;  // of several steps the newest
      for (const OtherRecord& one : records_) {
        if (one.record.key.name == name && (found == nullptr || found->version.version < one.version.version)) found = &one;
      }
      if (found == nullptr) return std::nullopt;
      if (!files_) return LazyValue(OtherData(functions_->sources_.catalog()).Show(*found));
      return LazyValue(Json{{"id", found->record.metadata.id},  // with no path: it is no file on this machine
                            {"version", found->record.version()},
                            {"createdAt", found->record.metadata.created_at},
                            {"size", found->record.metadata.size.value_or(0)},
                            {"contentType", found->record.metadata.content_type}});
    }
    std::vector<std::string> Keys() const override {
      std::set<std::string> names;
      for (const OtherRecord& one : records_) names.insert(one.record.key.name);
      return {names.begin(), names.end()};
    }

   private:
    std::shared_ptr<DataFunctions> functions_;
    bool files_;
    std::vector<OtherRecord> records_;
  };

  class OtherSpecsMap final : public LazyMap {
   public:
    OtherSpecsMap(std::shared_ptr<DataFunctions> functions, bool files, std::vector<OtherRecord> records)
        : functions_(std::move(functions)), files_(files) {
      for (OtherRecord& one : records) specs_[one.record.metadata.tag("specName")].push_back(std::move(one));
    }
    std::optional<LazyValue> Get(const std::string& spec, EvaluationPass) const override {
      const auto found = specs_.find(spec);
      if (found == specs_.end()) return std::nullopt;
      return LazyValue(std::make_shared<const OtherInstancesMap>(functions_, files_, found->second));
    }
    std::vector<std::string> Keys() const override {
      std::vector<std::string> keys;
      for (const auto& [spec, records] : specs_) keys.push_back(spec);
      return keys;
    }

   private:
    std::shared_ptr<DataFunctions> functions_;
    bool files_;
    std::map<std::string, std::vector<OtherRecord>> specs_;
  };

  std::optional<Json> OwnLatest(const std::string& model, const std::string& name) {
    const auto owner = OwnerOf(model);
    if (!owner) {  // data may outlive its definition
      Refresh(std::nullopt);
      Json record = Queries().Latest(model, name);
      return record.is_null() ? std::nullopt : std::optional(std::move(record));
    }
    Refresh(*owner);
    const auto record = sources_.store().Resolve({*owner, name});
    if (!record) return std::nullopt;
    return OwnRecord(*record);
  }
  std::optional<Json> OwnVersion(const std::string& model, const std::string& name, std::int64_t version) {
    const auto owner = OwnerOf(model);
    if (!owner || version < 1) return std::nullopt;
    Refresh(*owner);
    const auto record = sources_.store().Find({*owner, name}, static_cast<std::uint64_t>(version));
    if (!record) return std::nullopt;
    return OwnRecord(*record);
  }
  std::vector<std::int64_t> OwnVersions(const std::string& model, const std::string& name) {
    std::vector<std::int64_t> versions;
    const auto owner = OwnerOf(model);
    if (!owner) return versions;
    Refresh(*owner);
    for (const std::uint64_t one : sources_.store().Versions({*owner, name})) versions.push_back(static_cast<std::int64_t>(one));
    return versions;
  }
  Json OwnBySpec(const std::string& model, const std::string& spec) {
    const auto owner = OwnerOf(model);
    if (!owner) return Json::array();
    Refresh(*owner);
    return RecordsOf(Queries().TaggedWith("specName", spec, owner->model_id));
  }
  std::optional<LazyValue> OwnOutputsOf(const std::string& model_id, const std::string& type) {
    const auto owner = OwnerOf(model_id);
    if (!owner) return std::nullopt;
    Refresh(*owner);
    std::set<std::string> specs;
    for (const DataRecord& record : LatestOf(*owner, type)) specs.insert(record.metadata.tag("specName"));
    if (specs.empty()) return std::nullopt;  // it has never run
    return LazyValue(std::make_shared<const SpecsMap>(shared_from_this(), *owner, type, std::move(specs)));
  }
  // What the model is called with "ns:" or "*:" in front, and in which namespaces it was found.
  static bool IsHit(const std::optional<Json>& answer) { return answer.has_value(); }
  static bool IsHit(const std::optional<std::string>& answer) { return answer.has_value(); }
  static bool IsHit(const std::optional<LazyValue>& answer) { return answer.has_value(); }
  static bool IsHit(const std::vector<std::int64_t>& answer) { return !answer.empty(); }
  static bool IsHit(const Json& answer) { return !answer.empty(); }

  // The answer of the namespace that the model's name says: `own` or `other`; "*:" asks all, of which at most one may have one.
  template <typename Answer, typename Own, typename Other>
  Answer InNamespace(const std::string& model, const Own& own, const Other& other) {
    if (model.find(':') == std::string::npos) return own(model);
    const ModelReference reference = ParseModelReference(model, name_space_);
    if (!reference.name_space) return own(reference.name);
    OtherData data(sources_.catalog());
    if (!reference.any()) return other(data, *reference.name_space, reference.name);
    std::vector<std::string> places;
    Answer found = own(reference.name);
    if (IsHit(found)) places.push_back(name_space_.empty() ? "this repository" : name_space_);
    for (const std::string& slug : data.NamespacesOf(reference.name)) {
      Answer answer = other(data, slug, reference.name);
      if (!IsHit(answer)) continue;
      places.push_back(slug);
      found = std::move(answer);
    }
    if (places.size() > 1) {
      throw UserError("ambiguous_data", fmt::format("\"{}\" is found in several namespaces: {}", Printable(model, 100), Join(places, ", ")),
                      "Name one of them: <namespace>:<model>.");
    }
    return found;
  }

  Json OwnRecord(const DataRecord& record) {
    Json json = ExpressionRecord(sources_.store(), record);
    json["namespace"] = name_space_;
    return json;
  }
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
  std::string name_space_;  // this repository's own
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
  const auto functions = std::make_shared<DataFunctions>(definitions, files, std::move(sources), host.name_space);
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
  const auto owner_of = [&definitions, &data, own = host.name_space](const std::string& model) -> std::optional<DataOwner> {
    if (data.empty()) return std::nullopt;  // mostly
    const ModelReference reference = ParseModelReference(model, own);
    if (reference.name_space) return std::nullopt;
    const auto found = definitions.Find(reference.name);
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

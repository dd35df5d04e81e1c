#include "model/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "data/edit_data.h"
#include "datastore/config_tier.h"
#include "datastore/marker_version.h"
#include "datastore/tombstone.h"
#include "model/run_direct.h"
#include "model/run_log.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/random.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "records";
constexpr std::uint64_t kContentLimit = 8ULL << 20;
constexpr std::uint64_t kMarkerLimit = 64;
constexpr int kMaxRounds = 100;
// How long a peer may take from claiming a version's number to having its content in the bucket.
constexpr Duration kPeerPatience{10'000};
constexpr Duration kPeerPoll{100};
// Tag of a version that passes another one over: the number of the version that it was made from.
constexpr const char* kMadeFrom = "madeFrom";

std::uint64_t NumberOf(std::string_view text) {
  if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789") != std::string_view::npos) return 0;
  return std::stoull(std::string(text));
}

bool IsRecordName(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongest && is_plain(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_plain(c) || c == '_' || c == '-'; });
}

Json ParseContent(const std::string& bytes, const std::string& what) {
  auto json = TryParseJson(bytes);
  if (!json || !json->is_object()) {
    throw UserError("record_invalid", fmt::format("the record {} is no JSON object", what),
                    "It was damaged or changed by hand; `swamp data versions` lists its earlier versions.");
  }
  return std::move(*json);
}

}  // namespace

void CheckRecordName(const std::string& name, std::string_view what) {
  if (IsRecordName(name)) return;
  throw UserError("validation_failed", fmt::format("{} cannot be called \"{}\"", what, Printable(name, 80)),
                  "Names are of a-z, 0-9, _ and -, begin with a letter or digit, and have at most 64 characters.");
}

UserError Records::NotFound(const std::string& code, std::string_view kind, const std::string& name, const std::string& hint) {
  std::vector<std::string> names;
  for (const StoredRecord& one : All()) names.push_back(one.model_name);
  const auto near = NearestWords(name, names);
  return {code, fmt::format("there is no {} {}", kind, Printable(name, 80)),
          near.empty() ? hint : fmt::format("Did you mean {}?", Join(near, " or "))};
}

VersionStore& Records::store() {
  if (!store_) store_ = VersionStore::Open(context_, services_.repo, services_.datastore);
  return *store_;
}

std::string Records::DefinitionPathOf(const std::string& name) const {
  return AutomaticDefinitionPath({.type = type_.type, .type_version = type_.version, .id = {}, .name = name});
}

std::optional<Definition> Records::FindDefinition(const std::string& name) {
  if (!IsRecordName(name)) return std::nullopt;
  const std::string path = DefinitionPathOf(name);
  const auto yaml = files_.Read(path);
  if (!yaml) return std::nullopt;
  Definition definition = Definition::Parse(*yaml, path, type_.type);
  if (definition.type != type_.type || !IsUuid(definition.id)) {
    throw UserError("record_invalid", fmt::format("{} is no definition of a {}", path, type_.type),
                    "It was changed by hand: bring it back from a backup.");
  }
  return definition;
}

std::vector<StoredRecord> Records::All(Broken broken) {
  std::map<std::string, StoredRecord> by_name;
  FetchContents();
  for (const FolderEntry& entry : context_.files().List(store().PathOf("data/" + type_.type))) {
    if (entry.kind != FileKind::kFolder || !IsUuid(entry.name)) continue;
    try {
      auto latest = store().Latest({{type_.type, entry.name}, type_.data_name});
      if (!latest || latest->metadata.deleted || IsComing(*latest)) continue;
      StoredRecord record{.model_id = entry.name, .path = store().PathOf(latest->RawPath())};
      record.value = ParseContent(ContentOf(*latest), latest->RawPath());
      record.model_name = latest->metadata.tag("modelName");
      if (record.model_name.empty()) record.model_name = StringMember(record.value, "name").value_or(entry.name);
      record.data = std::move(*latest);
      const auto twin = by_name.find(record.model_name);
      if (twin != by_name.end()) {
        const auto definition = FindDefinition(record.model_name);
        const bool ours = definition ? definition->id == record.model_id
                                     : record.data.metadata.created_at > twin->second.data.metadata.created_at;
        if (!ours) continue;
      }
      by_name[record.model_name] = std::move(record);
    } catch (const IoError&) {
      throw;
    } catch (const Cancelled&) {
      throw;
    } catch (const UserError& error) {
      if (error.code() == "content_unavailable") throw;  // it is there, and may decide
      if (broken == Broken::kAreErrors) throw UserError("record_invalid", error.message(), error.hint());
      context_.log().Warn(kLog, "left out: " + error.message());
    }
  }
  std::vector<StoredRecord> all;
  for (auto& [name, record] : by_name) all.push_back(std::move(record));
  return all;
}

// What a lazy pull has left out, all at once.
void Records::FetchContents() {
  if (!store().LeavesContentOut()) return;
  std::vector<DataRecord> latest;
  for (const FolderEntry& entry : context_.files().List(store().PathOf("data/" + type_.type))) {
    if (entry.kind != FileKind::kFolder || !IsUuid(entry.name)) continue;
    try {
      if (auto record = store().Latest({{type_.type, entry.name}, type_.data_name})) latest.push_back(std::move(*record));
    } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): All says so
    }
  }
  store().FetchContent(latest);
}

bool Records::IsComing(const DataRecord& record) {
  return !context_.files().Stat(store().PathOf(record.RawPath())) && !context_.files().Stat(store().PathOf(record.key.Marker()));
}

std::string Records::ContentOf(const DataRecord& record) {
  if (services_.datastore.synced() && !store().HasContent(record)) {
    const auto object = GetBytes(context_, services_.datastore.store(context_), record.RawPath(), kContentLimit);
    if (object && Sha256Hex(object->bytes) == record.metadata.checksum) return object->bytes;
  }
  return store().Content(record, kContentLimit);
}

std::optional<StoredRecord> Records::Find(const std::string& name) {
  for (StoredRecord& one : All()) {
    if (one.model_name == name) return std::move(one);
  }
  return std::nullopt;
}

// One change of one record.
class Records::Changing {
 public:
  Changing(Records& records, const RecordRequest& request)
      : records_(records),
        context_(records.context_),
        datastore_(records.services_.datastore),
        files_(records.files_),
        type_(records.type_),
        request_(request) {}

  RecordChange Run(const RecordEdit& edit) {
    begun_ = context_.clock().Elapsed();
    if (!FindModel()) {
      edit(std::nullopt);
      throw UserError("data_not_found", fmt::format("there is no {} called {}", type_.type, Printable(request_.name, 80)));
    }
    const std::unique_ptr<StoreLock> lock = Begin();
    RecordChange change;
    for (int round = 0;; ++round) {
      if (round == kMaxRounds) {
        throw UserError("store_busy", fmt::format("peers kept changing {} {}", type_.type, request_.name), "Run the command again.");
      }
      const Base base = round == 0 || !datastore_.synced() ? BaseHere() : BaseInBucket();
      lock->EnsureHeld(context_);
      std::optional<Json> next = edit(base.value);
      if (!next || next == base.value) {
        change.value = base.value.value_or(Json::object());
        change.run = Describe(change.value, base.data);
        change.run.auto_created.reset();
        break;
      }
      lock->EnsureHeld(context_);
      if (!Write(base, *next)) continue;
      change.changed = true;
      change.value = std::move(*next);
      change.run = Describe(change.value, written_);
      LeaveOutput(change.run);
      Publish();
      if (!WasPassedOver()) break;
    }
    lock->Release(context_);
    return change;
  }

  bool Remove(const std::function<bool(const Json&)>& still) {
    if (!FindModel()) return false;
    const std::unique_ptr<StoreLock> lock = Begin();
    const Base base = BaseHere();
    const bool removed = base.value && still(*base.value);
    if (removed) {
      lock->EnsureHeld(context_);
      records_.store().RemoveName(Key());
      files_.Remove(definition_path_);
      Publish();
    }
    lock->Release(context_);
    return removed;
  }

 private:
  struct Base {
    std::uint64_t version = 0;  // 0: there is none
    std::optional<Json> value;
    std::optional<DataRecord> data;
    bool seen_in_bucket = false;    // what the bucket lists was looked at
    std::uint64_t passed_over = 0;  // a version that its writer had not finished in time: what is made now is not made on it
  };

  DataKey Key() const { return {{type_.type, definition_.id}, type_.data_name}; }
  std::string Model() const { return type_.type + "/" + definition_.id; }

  bool FindModel() {
    if (datastore_.synced()) datastore_.PullFolder(context_, std::string(kAutoDefinitionsFolder));
    definition_path_ = records_.DefinitionPathOf(request_.name);
    if (auto found = records_.FindDefinition(request_.name)) {
      definition_ = std::move(*found);
      return true;
    }
    // A checkout may have lost the definition; the record is who it is by its name.
    PullData(context_, datastore_, false);
    std::string id;
    if (const auto orphan = records_.Find(request_.name)) id = orphan->model_id;
    if (id.empty() && !request_.create) return false;
    CheckRecordName(request_.name, "a " + type_.type);
    Definition definition{.type = type_.type,
                          .type_version = type_.version,
                          .id = id.empty() ? context_.random().Uuid() : id,
                          .name = request_.name};
    if (files_.Create(definition_path_, definition.ToYaml()) && PublishNewDefinition(context_, datastore_, definition_path_)) {
      definition_ = std::move(definition);
      created_ = id.empty();
      return true;
    }
    auto theirs = records_.FindDefinition(request_.name);
    if (!theirs) throw UserError("store_busy", fmt::format("{} came and went again", definition_path_), "Run the command again.");
    definition_ = std::move(*theirs);
    return true;
  }

  std::unique_ptr<StoreLock> Begin() {
    auto lock = datastore_.LockModel(context_, Model());
    if (datastore_.synced()) {
      datastore_.PullModelData(context_, Model());
      SettleEarlier();
    }
    return lock;
  }

  // What an earlier command could not publish, or died before it did. Where a peer has taken its number meanwhile, theirs counts and ours
  // is kept aside: it was made on older ground.
  void SettleEarlier() {
    Cache& cache = datastore_.replica(context_).cache();
    std::vector<std::uint64_t> pending;
    bool anything = false;
    PushOptions claims;
    const std::string folder = Key().Folder() + "/";
    for (const std::string& path : UnpublishedPaths(cache)) {
      if (path == definition_path_) anything = true;
      if (!path.starts_with(folder)) continue;
      anything = true;
      if (!path.ends_with("/metadata.yaml")) continue;
      pending.push_back(NumberOf(path.substr(folder.size(), path.rfind('/') - folder.size())));
      claims.only.push_back(path);
    }
    if (!anything) return;
    PushReport report;
    if (!pending.empty()) report = datastore_.Push(context_, claims);
    for (const std::uint64_t version : pending) {
      const std::string version_folder = Key().VersionFolder(version);
      const bool lost = Lost(report, version_folder);
      const auto record = records_.store().Find(Key(), version);
      if (!lost || !record) continue;
      std::filesystem::path copy;
      {
        const Cache::Guard guard = cache.Lock(context_);
        copy = cache.MoveToConflicts(context_, record->RawPath());
      }
      records_.store().Withdraw(*record, true);
      context_.log().Warn(kLog, fmt::format("an earlier change of {} {} could not be published and lost to a peer's; it is kept in {}",
                                            type_.type, request_.name, copy.string()));
    }
    PushOptions rest;
    rest.only = {"data/" + Model() + "/", definition_path_, "outputs/" + type_.type + "/"};
    datastore_.Push(context_, rest);
    if (!report.conflicts.empty()) datastore_.PullModelData(context_, Model());
  }

  static bool Lost(const PushReport& report, const std::string& version_folder) {
    return std::any_of(report.conflicts.begin(), report.conflicts.end(), [&](const PushConflict& conflict) {
      return conflict.kind == PushConflict::Kind::kImmutable && conflict.path.starts_with(version_folder + "/");
    });
  }

  Base BaseHere() {
    Base base = NewestHere();
    if (!datastore_.synced() || !base.data) return base;
    // The marker can come before its version: with an upload of another process of this checkout that met it.
    const bool behind = NumberInMarker() > base.version;
    // And one that isn't published belongs to another process, which may have to take it back.
    StateDb& state = datastore_.replica(context_).cache().state();
    const bool unsettled = state.FindDirty(base.data->RawPath()) || state.FindDirty(Key().VersionFolder(base.version) + "/metadata.yaml");
    return behind || unsettled || records_.IsComing(*base.data) ? BaseInBucket() : base;
  }

  std::uint64_t NumberInMarker() const {
    const auto marker = ReadFile(context_.files(), records_.store().PathOf(Key().Marker()), kMarkerLimit);
    return marker ? MarkerVersion(*marker) : 0;
  }

  // Without its content where that is still to come.
  Base NewestHere() {
    Base base;
    base.data = records_.store().Latest(Key());
    if (!base.data) return base;
    base.version = base.data->version();
    if (!base.data->metadata.deleted && !(datastore_.synced() && records_.IsComing(*base.data))) {
      base.value = ParseContent(records_.ContentOf(*base.data), base.data->RawPath());
    }
    return base;
  }

  // The newest version as the bucket has it, announced or not.
  Base BaseInBucket() {
    ObjectStore& store = datastore_.store(context_);
    const std::string folder = Key().Folder() + "/";
    const Duration begun = context_.clock().Elapsed();
    for (;;) {
      Base base;
      bool complete = true;
      for (const ObjectInfo& object : ListAll(context_, store, folder)) {
        const std::string rest = object.key.substr(folder.size());
        const std::uint64_t version = NumberOf(rest.substr(0, rest.find('/')));
        if (version > base.version) base.version = version;
      }
      if (base.version != 0) complete = ReadVersion(store, base);
      const bool waited = context_.clock().Elapsed() - begun >= kPeerPatience;
      if (complete) {
        Remember(base.version);
        base.seen_in_bucket = true;
        // Ours may still name the version that was taken back; left so, later pulls would pass it over.
        Push({Key().Marker()});
        // Else a newer one has come meanwhile; or the marker names what is there no more, and always will.
        if (NumberInMarker() <= base.version || waited) return base;
      } else if (waited) {
        // Whoever began it has died, and had told nobody that it was done.
        return BaseHereBut(base.version);
      }
      context_.clock().Sleep(context_, kPeerPoll);
    }
  }

  bool ReadVersion(ObjectStore& store, Base& base) {
    const std::string folder = Key().VersionFolder(base.version);
    const auto metadata = GetBytes(context_, store, folder + "/metadata.yaml", kContentLimit);
    const auto raw = GetBytes(context_, store, folder + "/raw", kContentLimit);
    if (!metadata || !raw) return false;
    DataRecord data{.key = Key(), .metadata = DataMetadata::Parse(metadata->bytes, folder + "/metadata.yaml"), .paths = {}};
    if (!data.metadata.checksum.empty() && Sha256Hex(raw->bytes) != data.metadata.checksum) return false;
    if (!data.metadata.deleted) base.value = ParseContent(raw->bytes, folder + "/raw");
    base.data = std::move(data);
    return true;
  }

  Base BaseHereBut(std::uint64_t abandoned) {
    datastore_.PullModelData(context_, Model());
    Remember(abandoned);
    Base base = NewestHere();
    if (base.data && records_.IsComing(*base.data)) base = {};
    if (base.version < abandoned) base.passed_over = abandoned;
    base.seen_in_bucket = true;
    return base;
  }

  // Peers wait for a version that is begun, but not for ever. Of its late writer and whoever passed it over, one sees what the
  // other has done: each looks after its own step. Here the writer does.
  bool WasPassedOver() {
    if (!datastore_.synced() || context_.clock().Elapsed() - claimed_ < kPeerPatience / 2) return false;
    ObjectStore& store = datastore_.store(context_);
    const std::string folder = Key().Folder() + "/";
    for (const ObjectInfo& object : ListAll(context_, store, folder)) {
      if (!object.key.ends_with("/metadata.yaml")) continue;
      const std::uint64_t version = NumberOf(object.key.substr(folder.size(), object.key.rfind('/') - folder.size()));
      if (version <= written_->version()) continue;
      const auto metadata = GetBytes(context_, store, object.key, kContentLimit);
      if (!metadata || IsTombstone(metadata->bytes)) continue;
      const std::string made_from = DataMetadata::Parse(metadata->bytes, object.key).tag(kMadeFrom);
      if (!made_from.empty() && NumberOf(made_from) < written_->version()) return true;
    }
    return false;
  }

  // And here the one who passes it over. What its writer has finished meanwhile counts.
  bool IsFinished(std::uint64_t version) const {
    return datastore_.store(context_).Head(context_, Key().VersionFolder(version) + "/raw").has_value();
  }

  // The next number is a higher one.
  void Remember(std::uint64_t version) {
    if (version == 0) return;
    Cache& cache = datastore_.replica(context_).cache();
    const Cache::Guard guard = cache.Lock(context_);
    cache.RememberRemoved(Key().Marker(), version);
  }

  // False: somebody else has written on the same ground, and nothing of ours is left.
  bool Write(const Base& base, const Json& value) {
    VersionStore& store = records_.store();
    NewVersion next{.key = Key()};
    next.versions_kept = VersionsKept::Newest(type_.versions_kept);
    next.tags = {{"type", "resource"}, {"specName", SpecName()}, {"modelName", request_.name}};
    if (base.passed_over != 0) next.tags[kMadeFrom] = std::to_string(base.version);
    next.owner.owner_type = "model-method";
    next.owner.owner_ref = definition_.id;
    next.what = type_.type;
    written_ = store.Write(std::move(next), CompactJson(value));
    // A number in between is known to be taken, by a version that has not come here yet.
    if (datastore_.synced() && !base.seen_in_bucket && written_->version() != base.version + 1) {
      store.Withdraw(*written_, false);
      return false;
    }
    for (const std::uint64_t version : store.Versions(Key())) {
      if (version <= base.version || version == written_->version()) continue;
      store.Withdraw(*written_, false);
      return false;
    }
    if (!datastore_.synced()) return true;
    // The claim: nothing of ours is in the bucket before the number is.
    const std::string metadata = Key().VersionFolder(written_->version()) + "/metadata.yaml";
    claimed_ = context_.clock().Elapsed();
    const PushReport report = Push({metadata});
    const bool lost = Lost(report, Key().VersionFolder(written_->version()));
    if (!lost && (base.passed_over == 0 || !IsFinished(base.passed_over))) return true;
    store.Withdraw(*written_, lost);
    return false;
  }

  std::string SpecName() const { return type_.data_name.substr(0, type_.data_name.find('-')); }

  PushReport Push(std::vector<std::string> only) const {
    try {
      PushOptions options;
      options.only = std::move(only);
      return datastore_.Push(context_, options);
    } catch (const Cancelled&) {
      throw;
    } catch (const UserError& error) {
      throw UserError("managed_config_unpublished",
                      fmt::format("{} {} is changed here, but not published: {}", type_.type, request_.name, error.message()),
                      fmt::format("{}{}It is recorded; `swamp datastore sync` or the next change of it publishes it, unless "
                                  "somebody else changes it first: then look whether yours is in.", error.hint(),
                                  error.hint().empty() ? "" : " "));
    }
  }

  void Publish() const {
    if (!datastore_.synced()) return;
    std::vector<std::string> only = {"data/" + Model() + "/", definition_path_};
    only.insert(only.end(), output_paths_.begin(), output_paths_.end());
    const PushReport report = Push(std::move(only));
    for (const PushConflict& conflict : report.conflicts) {
      context_.log().Warn(kLog, ConflictError(conflict, context_.clock().Now()).message());
    }
  }

  RunResult Describe(const Json& value, const std::optional<DataRecord>& data) const {
    RunResult run;
    run.model_id = definition_.id;
    run.model_name = request_.name;
    run.model_type = type_.type;
    run.method = request_.method;
    run.status = "succeeded";
    run.duration = context_.clock().Elapsed() - begun_;
    run.global_arguments = Json::object();
    run.method_arguments = request_.arguments;
    run.initiated_by = "user:local";
    if (created_) run.auto_created = files_.PathOf(definition_path_);
    if (data) {
      RunArtifact artifact;
      artifact.id = data->metadata.id;
      artifact.name = data->key.name;
      artifact.version = data->version();
      artifact.spec = SpecName();
      artifact.type = "resource";
      artifact.path = records_.store().PathOf(data->RawPath());
      artifact.attributes = value;
      run.artifacts.push_back(std::move(artifact));
    }
    return run;
  }

  // Who changed what and when, as of any method that was run.
  void LeaveOutput(RunResult& run) {
    OutputRecord output;
    output.id = context_.random().Uuid();
    output.definition_id = definition_.id;
    output.type = type_.type;
    output.method = request_.method;
    output.status = run.status;
    output.provenance = {{"modelVersion", type_.version}, {"triggeredBy", "manual"}, {"initiatedBy", run.initiated_by}};
    output.pid = context_.environment().ProcessId();
    output.host = context_.environment().HostName();
    output.artifacts.push_back({written_->metadata.id, written_->key.name, written_->version(), written_->metadata.tags});
    output.duration_ms = run.duration.count();
    Time at = context_.clock().Now();
    for (;; at += Duration(1)) {  // one moment may have several
      output.started_at = FormatTime(at);
      output.completed_at = output.started_at;
      output.log_file = RunFiles::NameInRecords(output.LogTierPath());
      if (files_.Create(output.TierPath(), output.ToYaml())) break;
    }
    const Redactor nothing_secret;
    RunLog log(files_, output.LogTierPath(), nothing_secret);
    output_paths_ = {output.TierPath(), log.tier_path()};
    log.Add(LogLevel::kInfo, "model·run", fmt::format("{} of {} ({}): version {}", request_.method, request_.name, type_.type,
                                                      written_->version()));
    log.Finish();
    run.output_id = output.id;
    run.log_file = files_.PathOf(log.tier_path());
  }

  Records& records_;
  const Context& context_;
  Datastore& datastore_;
  RunFiles& files_;
  const RecordType& type_;
  const RecordRequest& request_;
  Definition definition_;
  std::string definition_path_;
  std::vector<std::string> output_paths_;  // of the record and its log; empty: none
  std::optional<DataRecord> written_;
  bool created_ = false;
  Duration begun_{};
  Duration claimed_{};  // when it began to claim the version's number
};

RecordChange Records::Change(const RecordRequest& request, const RecordEdit& edit) { return Changing(*this, request).Run(edit); }

bool Records::Remove(const std::string& name, const std::function<bool(const Json& current)>& still) {
  const RecordRequest request{.name = name, .method = "remove"};
  return Changing(*this, request).Remove(still);
}

}  // namespace swamp

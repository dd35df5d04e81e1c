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
      const PushReport published = Publish();
      if (!Lost(published, Key().VersionFolder(written_->version()))) break;
      // A peer has ended it, so it is made again.
      if (const auto copy = KeptAside(published, *written_); !copy.empty()) context_.files().Remove(copy);
      records_.store().Withdraw(*written_, true);
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
    bool seen_in_bucket = false;  // what the bucket lists was looked at
    std::uint64_t looked_up_to = 0;  // no version up to this number counts but `version`, now or ever
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
    const std::string folder = Key().Folder() + "/";
    bool anything = false;
    std::map<std::uint64_t, DataRecord> pending;
    PushOptions claims;
    for (const std::string& path : UnpublishedPaths(datastore_.replica(context_).cache())) {
      const bool of_name = path.starts_with(folder);
      anything = anything || of_name || path == definition_path_;
      if (!of_name) continue;
      const std::uint64_t version = NumberOf(path.substr(folder.size(), path.rfind('/') - folder.size()));
      if (auto record = records_.store().Find(Key(), version)) pending.emplace(version, std::move(*record));
      if (path.ends_with("/metadata.yaml")) claims.only.push_back(path);
    }
    if (!anything) return;
    bool lost = false;
    if (!claims.only.empty()) lost = GiveWay(pending, datastore_.Push(context_, claims));
    PushOptions rest;
    rest.only = {"data/" + Model() + "/", definition_path_, "outputs/" + type_.type + "/"};
    lost = GiveWay(pending, datastore_.Push(context_, rest)) || lost;
    if (lost) datastore_.PullModelData(context_, Model());
  }

  // Whether any of the versions lost its number.
  bool GiveWay(const std::map<std::uint64_t, DataRecord>& versions, const PushReport& report) {
    bool any = false;
    for (const auto& [version, record] : versions) {
      if (!Lost(report, Key().VersionFolder(version))) continue;
      any = true;
      Cache& cache = datastore_.replica(context_).cache();
      std::filesystem::path copy = KeptAside(report, record);
      const auto content = ReadFile(context_.files(), copy.empty() ? cache.PathOf(record.RawPath()) : copy, kContentLimit);
      if (content && Sha256Hex(*content) != record.metadata.checksum) {
        // Left by a command that died before it had finished a version: the number is a peer's, and so is its metadata.
        const Cache::Guard guard = cache.Lock(context_);
        cache.Disown(record.RawPath(), Sha256Hex(*content));
        context_.files().Remove(cache.PathOf(record.RawPath()));
        continue;
      }
      if (copy.empty() && content) copy = cache.conflicts().Keep(context_, record.RawPath(), *content);
      records_.store().Withdraw(record, true);
      context_.log().Warn(kLog, fmt::format("an earlier change of {} {} could not be published and lost to a peer's; {}", type_.type,
                                            request_.name, copy.empty() ? "it is gone" : "it is kept in " + copy.string()));
    }
    return any;
  }

  // Where the push has put the content of a version that a peer had ended; empty: nowhere.
  std::filesystem::path KeptAside(const PushReport& report, const DataRecord& record) const {
    for (const PushConflict& conflict : report.conflicts) {
      if (conflict.path == record.RawPath() && conflict.local_copy != records_.store().PathOf(conflict.path)) return conflict.local_copy;
    }
    return {};
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
    base.looked_up_to = base.version;
    if (!base.data->metadata.deleted && !(datastore_.synced() && records_.IsComing(*base.data))) {
      base.value = ParseContent(records_.ContentOf(*base.data), base.data->RawPath());
    }
    return base;
  }

  // The newest version as the bucket has it, announced or not.
  Base BaseInBucket() {
    const Duration begun = context_.clock().Elapsed();
    for (;;) {
      const std::uint64_t marker_before = NumberInMarker();
      // Whoever began it has told nobody that it was done. It may have died.
      const bool waited = context_.clock().Elapsed() - begun >= kPeerPatience;
      if (std::optional<Base> base = NewestInBucket(waited)) {
        Remember(base->looked_up_to);
        // Ours may still name a version that was taken back; left so, later pulls would pass it over.
        Push({Key().Marker()});
        // Else a newer one has come meanwhile; or, if it named that before we looked, what is there no more and never will be.
        const std::uint64_t marker = NumberInMarker();
        if (marker <= base->looked_up_to || (waited && marker == marker_before)) return *base;
      }
      context_.clock().Sleep(context_, kPeerPoll);
    }
  }

  // Nothing: the newest one is begun, but not finished. `end_it`: then it never will be.
  std::optional<Base> NewestInBucket(bool end_it) {
    ObjectStore& store = datastore_.store(context_);
    const std::string folder = Key().Folder() + "/";
    Base base;
    base.seen_in_bucket = true;
    std::vector<std::uint64_t> claimed;
    for (const ObjectInfo& object : ListAll(context_, store, folder)) {
      const std::string rest = object.key.substr(folder.size());
      const std::uint64_t version = NumberOf(rest.substr(0, rest.find('/')));
      base.looked_up_to = std::max(base.looked_up_to, version);
      if (version != 0 && rest.ends_with("/metadata.yaml")) claimed.push_back(version);
    }
    std::sort(claimed.rbegin(), claimed.rend());
    for (const std::uint64_t version : claimed) {
      switch (ReadVersion(store, version, base)) {
        case InBucket::kComplete:
          return base;
        case InBucket::kBegun:
          if (!end_it || !End(store, version)) return std::nullopt;
          break;
        case InBucket::kNever:
          break;
      }
    }
    return base;
  }

  enum class InBucket { kComplete, kBegun, kNever };

  InBucket ReadVersion(ObjectStore& store, std::uint64_t version, Base& base) {
    const std::string folder = Key().VersionFolder(version);
    const auto metadata = GetBytes(context_, store, folder + "/metadata.yaml", kContentLimit);
    if (!metadata || IsTombstone(metadata->bytes)) return InBucket::kNever;
    const auto raw = GetBytes(context_, store, folder + "/raw", kContentLimit);
    if (!raw) return InBucket::kBegun;
    DataRecord data{.key = Key(), .metadata = DataMetadata::Parse(metadata->bytes, folder + "/metadata.yaml"), .paths = {}};
    if (IsTombstone(raw->bytes)) return InBucket::kNever;
    if (!data.metadata.checksum.empty() && Sha256Hex(raw->bytes) != data.metadata.checksum) return InBucket::kNever;
    if (!data.metadata.deleted) base.value = ParseContent(raw->bytes, folder + "/raw");
    base.data = std::move(data);
    base.version = version;
    return InBucket::kComplete;
  }

  // Peers wait for a version that is begun, but not for ever. A tombstone takes the place of its content, which is only ever
  // created: either its writer is refused from now on, or has been faster (false).
  bool End(ObjectStore& store, std::uint64_t version) {
    const PutResult put = store.Put(context_, Key().VersionFolder(version) + "/raw", Body::FromBytes(std::string(kTombstone)),
                                    Condition::Absent(), {.writer = datastore_.replica(context_).options().writer});
    return put.stored();
  }

  // Only where numbers are left out, which foreign hands can bring about, can others be finished in between.
  bool AnyBetween(std::uint64_t known, std::uint64_t ours) {
    if (ours <= known + 1) return false;
    ObjectStore& store = datastore_.store(context_);
    const std::string folder = Key().Folder() + "/";
    for (const ObjectInfo& object : ListAll(context_, store, folder)) {
      const std::string rest = object.key.substr(folder.size());
      const std::uint64_t version = NumberOf(rest.substr(0, rest.find('/')));
      if (version > known && version < ours) return true;
    }
    return false;
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
    next.owner.owner_type = "model-method";
    next.owner.owner_ref = definition_.id;
    next.what = type_.type;
    const std::unique_ptr<VersionWriter> writer = store.Begin(std::move(next));
    // Before it is finished: whatever happens then, it may be published by whoever comes next.
    if (IsOnOlderGround(base, writer->version())) {
      writer->Discard();
      return false;
    }
    writer->Append(CompactJson(value));
    written_ = writer->Finish();
    if (!datastore_.synced()) {
      const std::vector<std::uint64_t> here = store.Versions(Key());
      const bool alone = std::none_of(here.begin(), here.end(), [&](std::uint64_t version) {
        return version > base.looked_up_to && version != written_->version();
      });
      if (!alone) store.Withdraw(*written_, false);
      return alone;
    }
    // The claim: nothing of ours is in the bucket before the number is.
    const std::string metadata = Key().VersionFolder(written_->version()) + "/metadata.yaml";
    const PushReport report = Push({metadata});
    const bool lost = Lost(report, Key().VersionFolder(written_->version()));
    if (!lost && !AnyBetween(base.looked_up_to, written_->version())) return true;
    store.Withdraw(*written_, lost);
    return false;
  }

  bool IsOnOlderGround(const Base& base, std::uint64_t number) {
    // A number in between is known to be taken, by a version that has not come here yet.
    if (datastore_.synced() && !base.seen_in_bucket && number != base.version + 1) return true;
    const std::vector<std::uint64_t> here = records_.store().Versions(Key());
    return !here.empty() && here.back() > base.looked_up_to;
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

  PushReport Publish() const {
    if (!datastore_.synced()) return {};
    std::vector<std::string> only = {"data/" + Model() + "/", definition_path_};
    only.insert(only.end(), output_paths_.begin(), output_paths_.end());
    const PushReport report = Push(std::move(only));
    for (const PushConflict& conflict : report.conflicts) {
      if (written_ && conflict.path.starts_with(Key().VersionFolder(written_->version()) + "/")) continue;  // made again
      context_.log().Warn(kLog, ConflictError(conflict, context_.clock().Now()).message());
    }
    return report;
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
};

RecordChange Records::Change(const RecordRequest& request, const RecordEdit& edit) { return Changing(*this, request).Run(edit); }

bool Records::Remove(const std::string& name, const std::function<bool(const Json& current)>& still) {
  const RecordRequest request{.name = name, .method = "remove"};
  return Changing(*this, request).Remove(still);
}

}  // namespace swamp

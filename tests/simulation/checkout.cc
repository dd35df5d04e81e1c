#include "checkout.h"

#include <fmt/format.h>

#include <charconv>

#include "data/catalog.h"
#include "data/collect.h"
#include "data/edit_data.h"
#include "data/version_store.h"
#include "datastore/config_tier.h"
#include "datastore/conflict_folder.h"
#include "datastore/name_space.h"
#include "datastore/namespace_migration.h"
#include "datastore/status.h"
#include "datastore/sync.h"
#include "extension/install.h"
#include "extension/pull.h"
#include "extension/remove.h"
#include "extension/shared_lockfile.h"
#include "extension/testing.h"
#include "extension/update.h"
#include "model/edit_models.h"
#include "model/run.h"
#include "util/digest.h"
#include "util/no_http.h"
#include "util/yaml.h"
#include "vault/vault_config.h"

namespace swamp::simulation {
namespace {

using Kind = Command::Kind;

// ---- extensions ----

struct Package {
  std::string archive;
  std::string checksum;
};

const Package& PackageOf(const std::string& name, const std::string& version) {
  static const std::map<std::string, Package> kPackages = [] {
    std::map<std::string, Package> packages;
    for (int target = 0; target < kExtensionNames; ++target) {
      for (int detail = 0; detail < kExtensionVersions; ++detail) {
        const std::string of_name = ExtensionNameOf(target);
        const std::string of_version = ExtensionVersionOf(detail);
        std::string manifest = "manifestVersion: 1\nname: '" + of_name + "'\nversion: " + of_version + "\nmodels: [a.ts]\n";
        if (target == 1 && detail == 1) manifest += "dependencies: ['" + ExtensionNameOf(0) + "']\n";
        Package package;
        package.archive = testing::ExtensionArchive(
            {{"manifest.yaml", manifest}, {"models/a.ts", "// " + of_name + " " + of_version + "\n"}});
        package.checksum = Sha256Hex(package.archive);
        packages[of_name + "@" + of_version] = std::move(package);
      }
    }
    return packages;
  }();
  return kPackages.at(name + "@" + version);
}

class MemoryRegistry final : public Registry {
 public:
  const std::string& url() const override { return url_; }
  std::optional<Json> Info(const Context&, const ExtensionName& name) override {
    Json info = Json::object();
    info["id"] = info["name"] = name.text();
    info["description"] = "";
    info["latestVersion"] = ExtensionVersionOf(kExtensionVersions - 1);
    return info;
  }
  std::optional<Json> Latest(const Context& context, const ExtensionName& name, Channel channel) override {
    if (channel != Channel::kStable) return std::nullopt;
    auto info = Info(context, name);
    (*info)["latestVersionDetail"] = {{"version", ExtensionVersionOf(kExtensionVersions - 1)}, {"channel", "stable"}};
    return info;
  }
  std::optional<std::vector<RegistryVersion>> Versions(const Context&, const ExtensionName&) override {
    std::vector<RegistryVersion> versions;
    for (int detail = kExtensionVersions - 1; detail >= 0; --detail) {
      versions.push_back({.version = *Version::Parse(ExtensionVersionOf(detail)), .channel = Channel::kStable, .published_at = {}});
    }
    return versions;
  }
  std::optional<std::string> Checksum(const Context&, const ExtensionName& name, const Version& version,
                                      Channel) override {
    return PackageOf(name.text(), version.text()).checksum;
  }
  std::string Download(const Context& context, const ExtensionName& name, const Version& version, Channel,
                       const std::filesystem::path& target) override {
    const Package& package = PackageOf(name.text(), version.text());
    WriteFileAtomically(context.files(), target, package.archive);
    return package.checksum;
  }
  Json Search(const Context&, const SearchQuery&) override { return Json::object(); }
  void Publish(const Context&, const Publication&) override {}

 private:
  std::string url_ = "file:///registry";
};

// ---- one run of the program ----

std::string MarkerText(std::string_view repo_id, std::string_view more) {
  return fmt::format("swampVersion: 20261202.000000.0\nrepoId: {}\ntools: []\ndatastore:\n  type: '@swamp/s3-datastore'\n"
                     "  managedConfig: true\n  config: {{bucket: bucket, region: r, endpoint: 'http://localhost'}}\n{}",
                     repo_id, more);
}

// As the checkout's last command left it.
Marker MarkerOf(SimulatedWorld& world, int checkout) {
  if (!world.plan().namespaces) {
    static const Marker kMarker = Marker::Parse(MarkerText(kRepoId, ""), "the simulation");
    return kMarker;
  }
  const std::string path = FolderOfCheckout(checkout) + "/repo/" + kMarkerFile;
  Disk::Node* file = world.disk().Find(path);
  if (file == nullptr) {
    file = world.disk().MakeFile(path);
    file->bytes = std::make_shared<std::string>(checkout == world.plan().stranger
                                                    ? MarkerText(kOtherRepoId, fmt::format("  namespace: {}\n", kStrangers))
                                                    : MarkerText(kRepoId, ""));
  }
  return Marker::Parse(*file->bytes, path);
}

// "team/" of a checkout that uses the namespace, "" of one that uses none.
std::string PlaceOf(const Marker& marker) {
  const auto slug = StringMember(marker.json().at("datastore"), "namespace");
  return slug ? *slug + "/" : std::string();
}

// "s3://bucket/team at http://localhost" is scoped to "team/".
std::string PlaceOf(const ObjectStore& store) {
  constexpr std::string_view kBucket = "s3://bucket/";
  const std::string name = store.Describe();
  return name.starts_with(kBucket) ? name.substr(kBucket.size(), name.find(' ') - kBucket.size()) + "/" : std::string();
}

// A type whose method does nothing but write down its argument. One version is kept, so that there is garbage.
ModelType NoteType() {
  ModelType type;
  type.name = "test/note";
  type.version = "2026.01.01.1";
  type.methods = {{.name = "write",
                   .description = "Writes a note",
                   .arguments = ParseJson(R"({"type": "object", "properties": {"text": {"type": "string"}}})", "a schema"),
                   .declared_kind = MethodKind::kAction,
                   .execute = [](const MethodCall& call) { call.host.WriteResource("note", "note", call.arguments); }}};
  type.data_output_specs = ParseJson(
      R"([{"specName": "note", "description": "The note", "kind": "resource", "lifetime": "infinite", "garbageCollection": 1}])",
      "the outputs");
  return type;
}

const ModelTypes& Types() {
  static const ModelTypes& kTypes = [] () -> const ModelTypes& {
    static ModelTypes types;
    types.Add(ShellModelType());
    types.Add(NoteType());
    return types;
  }();
  return kTypes;
}

class Program {
 public:
  Program(SimulatedWorld& world, Process& process, CommandRecord& record)
      : world_(world),
        process_(process),
        record_(record),
        seen_(world, process),
        context_(seen_.context()),
        repo_{FolderOfCheckout(process.checkout) + "/repo", MarkerOf(world, process.checkout)},
        place_(PlaceOf(repo_.marker)),
        parts_{.http = http_,
               .use_locks = world.plan().use_locks,
               .decorate_store =
                   [this](std::unique_ptr<ObjectStore> real) {
                     return std::make_unique<FaultyStore>(world_, process_, PlaceOf(*real));
                   },
               .trace_file = std::nullopt},
        datastore_(context_, repo_, ResolveDatastore(context_, repo_), parts_) {
    record_.place = place_;
    if (!world.plan().probe) {
      // As a setup without faults has found it out.
      StateDb& state = datastore_.replica(context_).cache().state();
      const std::string key = std::string(state_key::kCapabilities) + ":" + datastore_.store(context_).Describe();
      if (!state.Value(key)) state.SetValue(key, Capabilities());
    }
    config_ = OpenConfigTier(repo_, datastore_);
    site_.repo_root = repo_.root;
    site_.swamp_folder = repo_.swamp_folder();
    site_.older_pulled_root = repo_.swamp_folder() / "pulled-extensions";
    site_.pulled_root = repo_.swamp_folder() / "config" / "pulled-extensions";
    site_.trusted_collectives = {"swamp"};
  }

  // How the command ended, if by no exception.
  Ending Run(const Command& command) {
    switch (command.kind) {
      case Kind::kPull:
        return Pull(command);
      case Kind::kRemove:
        return Remove(command);
      case Kind::kUpdate:
        return Update();
      case Kind::kInstall:
        return Install();
      case Kind::kCreateModel:
        record_.path = PathOfModel(command.target);
        CreateModel(context_, *config_, Types(), {.type = "command/shell", .name = ModelName(command.target), .global_arguments = {}});
        return Ending::kDone;
      case Kind::kEditModel:
        EditModel(command, false);
        return Ending::kDone;
      case Kind::kRenameModel:
        EditModel(command, true);
        return Ending::kDone;
      case Kind::kDeleteModel:
        record_.path = PathOfModel(command.target);
        DeleteModel(context_, *config_, nullptr, ModelName(command.target), false);
        return Ending::kDone;
      case Kind::kCreateVault:
        CreateVault(context_, *config_, {.type = "local_encryption", .name = VaultName(command.target), .config = {}});
        return Ending::kDone;
      case Kind::kEditVault:
        EditVault(command);
        return Ending::kDone;
      case Kind::kSync:
        Sync({});
        return Ending::kDone;
      case Kind::kSyncPull:
        Sync({.pull = true});
        return Ending::kDone;
      case Kind::kSyncPush:
        Sync({.push = true, .confirmed = true});
        return Ending::kDone;
      case Kind::kReleaseLock:
        datastore_.WritableStore(context_);
        ReleaseLock(context_, datastore_, std::nullopt);
        return Ending::kDone;
      case Kind::kWriteData:
        return WriteData(command);
      case Kind::kWriteRun:
        return WriteRun(command);
      case Kind::kAppendLog:
        return AppendLog(command);
      case Kind::kEvictData:
        return EvictData(command);
      case Kind::kRunMethod:
        return RunNote(command);
      case Kind::kDeleteData:
        return RemoveData(command, true);
      case Kind::kCollectData:
        return RemoveData(command, false);
      case Kind::kSetNamespace:
        if (place_.empty()) PublishPending();
        SetNamespace(context_, repo_, parts_, std::string(kTeam));
        return Ending::kDone;
      case Kind::kUnsetNamespace:
        PublishPending();
        UnsetNamespace(context_, repo_, parts_);
        return Ending::kDone;
      case Kind::kMigrateIn:
        return Migrate({.confirmed = true});
      case Kind::kMigrateOut:
        return Migrate({.reverse = true, .leave = true, .confirmed = true});
    }
    return Ending::kFailed;
  }

  // Takes the lock and gives it back: nobody holds it for ever.
  void TryLock() { datastore_.Lock(context_)->Release(context_); }

 private:
  std::string Capabilities() const {
    const swamp::Capabilities found = world_.plan().server.ToCapabilities();
    return CompactJson({{"create", found.conditional_create},
                        {"replace", found.conditional_replace},
                        {"replaceRefusesMissing", found.replace_refuses_missing},
                        {"delete", found.conditional_delete},
                        {"multipart", found.conditional_multipart},
                        {"bareEtags", found.bare_etags}});
  }

  SharedLockfile& Installed() {
    if (!installed_) installed_ = std::make_unique<SharedLockfile>(context_, repo_, datastore_);
    return *installed_;
  }

  // ---- extensions ----

  Ending Pull(const Command& command) {
    record_.name = ExtensionNameOf(command.target);
    record_.version = ExtensionVersionOf(command.detail);
    swamp::Pull(context_, site_, Installed(), registry_,
                {RequireExtensionReference(record_.name + "@" + record_.version), std::nullopt, true, false, {}});
    return Ending::kDone;
  }

  Ending Remove(const Command& command) {
    record_.name = ExtensionNameOf(command.target);
    swamp::Remove(context_, site_, Installed(), {.name = RequireExtensionName(record_.name), .force = true, .confirm = {}});
    return Ending::kDone;
  }

  Ending Update() {
    const UpdateResult result = swamp::Update(context_, site_, Installed(), registry_, {.only = std::nullopt, .force = true});
    for (const UpdateItem& item : result.extensions) {
      if (item.error && item.error->code == "managed_config_unpublished") return Ending::kUnpublished;
    }
    return Ending::kDone;
  }

  Ending Install() {
    const InstallResult result = swamp::Install(context_, site_, Installed(), registry_, {.only = std::nullopt, .force = true});
    return result.unpublished ? Ending::kFailed : Ending::kDone;
  }

  // ---- documents ----

  static std::string ModelName(int target) { return fmt::format("m{}", target); }
  static std::string VaultName(int target) { return fmt::format("v{}", target); }
  static std::string PathOfModel(int target) { return fmt::format("config/models/command/shell/m{}.yaml", target); }

  void EditModel(const Command& command, bool rename) {
    record_.path = PathOfModel(command.target);
    UpdateModelRequest request;
    request.current = Definitions(context_, *config_).RequireForChange(ModelName(command.target));
    request.text = SetYamlKey(request.current.document.bytes, std::vector<std::string>{"tags", "by"}, fmt::format("command-{}", record_.id));
    if (rename) request.text = SetYamlKey(request.text, std::vector<std::string>{"name"}, fmt::format("{}-{}", ModelName(command.target), record_.id));
    UpdateModel(context_, *config_, Types(), request);
  }

  void EditVault(const Command& command) {
    UpdateVaultRequest request;
    request.current = Vaults(context_, *config_).RequireForChange(VaultName(command.target));
    request.text = SetYamlKey(request.current.document.bytes, std::vector<std::string>{"note"}, fmt::format("command-{}", record_.id));
    UpdateVault(context_, *config_, request);
  }

  // ---- both ways ----

  void Sync(SyncRequest request) {
    request.publish_lockfile = [this](const Context&) { return PublishPending(); };
    SyncDatastore(context_, datastore_, request);
  }

  bool PublishPending() {
    if (!Installed().HasPendingRecord()) return false;
    Installed().Republish(context_);
    return true;
  }

  Ending Migrate(const NamespaceMigrateRequest& request) {
    MigrateNamespace(context_, repo_, parts_, request);
    return Ending::kDone;
  }

  // ---- the data tier, as its commands will write it ----

  Cache& TheCache() { return datastore_.replica(context_).cache(); }

  static std::string DataFolder(int target) {
    return fmt::format("data/command/shell/0b0c0d0e-0000-4000-8000-00000000000{}/result/", target);
  }

  void WriteTier(const std::string& path, const std::string& bytes, const Expected& expected) {
    if (TheCache().Write(context_, path, bytes, expected) != Cache::WriteOutcome::kWritten) {
      throw UserError("already_exists", path + " is there already");
    }
    record_.contents.push_back(path);
    record_.contents.push_back(bytes);
  }

  Ending PublishTier() {
    try {
      const PushReport report = datastore_.Push(context_);
      for (const PushConflict& conflict : report.conflicts) {
        for (std::size_t i = 0; i < record_.contents.size(); i += 2) {
          if (record_.contents[i] == conflict.path) return Ending::kConflict;
        }
      }
      return Ending::kDone;
    } catch (const UserError& error) {
      record_.code = error.code();
      return Ending::kUnpublished;
    }
  }

  Ending WriteData(const Command& command) {
    datastore_.Pull(context_, PullScope::kAll);
    const std::string folder = DataFolder(command.target);
    const std::string latest = ReadFile(context_.files(), TheCache().PathOf(folder + "latest")).value_or("0");
    int version = 0;
    std::from_chars(latest.data(), latest.data() + latest.size(), version);
    ++version;
    while (context_.files().Stat(TheCache().PathOf(fmt::format("{}{}/raw", folder, version)))) ++version;
    WriteTier(fmt::format("{}{}/raw", folder, version), fmt::format("data of command {}\n", record_.id), Expected::Absent());
    WriteTier(folder + "latest", std::to_string(version), Expected::Anything());
    return PublishTier();
  }

  Ending WriteRun(const Command& command) {
    const std::string path = fmt::format("workflow-runs/w{}-{}/workflow-run-c{}.yaml", command.target, command.lane, process_.checkout);
    const bool finished = ReadFile(context_.files(), TheCache().PathOf(path)).value_or("").find("succeeded") != std::string::npos;
    if (finished) return Ending::kFailed;
    WriteTier(path, fmt::format("status: {}\nstep: {}\n", command.detail == 2 ? "succeeded" : "running", record_.id),
              Expected::Anything());
    return PublishTier();
  }

  Ending AppendLog(const Command& command) {
    const std::string path = fmt::format("audit/c{}-{}.jsonl", process_.checkout, command.lane);
    const std::string line = fmt::format("{{\"command\":{}}}\n", record_.id);
    const std::string before = ReadFile(context_.files(), TheCache().PathOf(path)).value_or("");
    WriteTier(path, before + line, Expected::Anything());
    record_.contents = {path, line};
    return PublishTier();
  }

  Ending EvictData(const Command& command) {
    const std::string folder = DataFolder(command.target);
    const std::string latest = ReadFile(context_.files(), TheCache().PathOf(folder + "latest")).value_or("0");
    // Only what is safely in the bucket: who removes the only copy by hand has removed it.
    const std::string path = folder + latest + "/raw";
    if (TheCache().state().FindDirty(path) || !TheCache().state().FindBase(path)) return Ending::kFailed;
    context_.files().Remove(TheCache().PathOf(path));
    return Ending::kDone;
  }

  // ---- runs and their data ----

  Ending RunNote(const Command& command) {
    const ExpressionHost expressions;
    const RunServices services{
        .repo = repo_, .datastore = datastore_, .config = *config_, .types = Types(), .expressions = expressions};
    RunRequest request;
    request.model_or_type = "@test/note";
    request.method = "write";
    request.definition = fmt::format("note{}", command.target);
    request.input_sets = {{{"text", fmt::format("by command {}", record_.id)}}};
    const std::vector<RunResult> results = RunMethod(context_, services, request, {});
    for (const RunResult& result : results) {
      for (const RunArtifact& artifact : result.artifacts) {
        const auto content = ReadFile(context_.files(), artifact.path);
        if (!content) continue;  // another process of this checkout has deleted it by now
        record_.contents.push_back(artifact.path.lexically_relative(TheCache().PathOf("")).string());
        record_.contents.push_back(*content);
      }
    }
    return Ending::kDone;
  }

  // Of the model that this checkout knows by the target's name; all versions, or those that are too many.
  Ending RemoveData(const Command& command, bool whole_name) {
    DataChange change(context_, datastore_);
    const auto store = VersionStore::Open(context_, repo_, datastore_);
    const auto model = Definitions(context_, *config_, &datastore_).Find(fmt::format("note{}", command.target));
    if (!model) return Ending::kFailed;
    const DataOwner owner{"test/note", model->definition.id};
    if (whole_name) {
      DeleteData(*store, {owner, "note"}, std::nullopt);
    } else {
      CollectGarbage(*store, {.dry_run = false, .run_exists = {}, .only = owner});
    }
    const auto catalog = Catalog::Open(context_, repo_, datastore_, *store);
    change.Publish(*catalog);
    return Ending::kDone;
  }

  SimulatedWorld& world_;
  Process& process_;
  CommandRecord& record_;
  ProcessWorld seen_;
  const Context& context_;
  NoHttp http_;
  MemoryRegistry registry_;
  Repository repo_;
  std::string place_;
  DatastoreParts parts_;
  Datastore datastore_;
  std::unique_ptr<ConfigTier> config_;
  ExtensionSite site_;
  std::unique_ptr<SharedLockfile> installed_;
};

Ending EndingOf(const UserError& error) {
  if (error.code() == "managed_config_unpublished") return Ending::kUnpublished;
  if (error.code() == "config_conflict") return Ending::kConflict;
  return Ending::kFailed;
}

}  // namespace

std::string ExtensionNameOf(int target) { return fmt::format("@t/e{}", target); }
std::string ExtensionVersionOf(int detail) { return fmt::format("2026.01.0{}.1", detail + 1); }

std::vector<std::string> NamesThatAPullMayChange(const std::string& name) {
  if (name == ExtensionNameOf(1)) return {name, ExtensionNameOf(0)};
  return {name};
}

void RunCommand(SimulatedWorld& world, const Command& command, bool recovery) {
  Process& process = world.NewProcess(command.checkout);
  world.scheduler().SetProcess(process);
  History& history = world.history();
  const int id = static_cast<int>(history.commands.size());
  // A copy until it ends: other commands are added meanwhile.
  history.commands.push_back({.id = id, .checkout = command.checkout, .command = command, .recovery = recovery, .start = ++history.moment});
  CommandRecord record = history.commands.back();
  process.command = id;
  if (world.tracing()) world.Trace(fmt::format("> {} (command {}, process {})", Describe(command), id, process.number));
  try {
    Program program(world, process, record);
    try {
      record.ending = program.Run(command);
      if (recovery) program.TryLock();
    } catch (const UserError& error) {
      record.ending = EndingOf(error);
      record.code = error.code();
      record.message = error.message();
    }
  } catch (const Crash&) {
    record.ending = Ending::kCrashed;
  } catch (const UserError& error) {
    record.ending = EndingOf(error);
    record.code = error.code();
    record.message = error.message();
  }
  if (!record.path.empty()) record.path.insert(0, record.place);
  for (std::size_t i = 0; i < record.contents.size(); i += 2) record.contents[i].insert(0, record.place);
  if (!process.alive) record.ending = Ending::kCrashed;
  process.alive = false;  // nothing of it goes on
  record.end = ++history.moment;
  if (world.tracing()) world.Trace(fmt::format("< command {}: {} {} {}", id, NameOf(record.ending), record.code, record.message));
  history.commands[static_cast<std::size_t>(id)] = std::move(record);
}

CheckoutFiles FilesOf(SimulatedWorld& world, int checkout) {
  CheckoutFiles found;
  Process& process = world.NewProcess(checkout);
  const ProcessWorld seen(world, process);
  Files& files = seen.context().files();
  const std::string cache = CacheOf(world.plan(), checkout);
  found.place = PlaceOf(MarkerOf(world, checkout));
  for (const std::string& key : ListFilesBelow(files, cache)) {
    if (PlaceOf(key) != found.place || ClassOf(PathIn(key)) == PathClass::kLocal) continue;
    found.tier[key] = ReadFile(files, cache + key).value_or("");
  }
  for (const std::string& place : {std::string(), std::string(kTeam) + "/"}) {
    for (const ConflictFolder::Copy& copy : ConflictFolder(files, cache + place + ".conflicts").List()) {
      found.conflicts[copy.path].insert(ReadFile(files, copy.file).value_or(""));
    }
  }
  found.pending_record = files.Stat(FolderOfCheckout(checkout) + "/repo/" + kPendingLockfileRecord).has_value();
  return found;
}

}  // namespace swamp::simulation

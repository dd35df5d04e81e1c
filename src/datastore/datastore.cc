#include "datastore/datastore.h"

#include <fmt/format.h>

#include "datastore/hydrate.h"
#include "objectstore/directory_store.h"
#include "objectstore/open_store.h"
#include "objectstore/probe.h"
#include "objectstore/resolving_store.h"
#include "objectstore/trace_store.h"
#include "repo/find.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "datastore";

Json CapabilitiesToJson(const Capabilities& capabilities) {
  return {{"create", capabilities.conditional_create},
          {"replace", capabilities.conditional_replace},
          {"replaceRefusesMissing", capabilities.replace_refuses_missing},
          {"delete", capabilities.conditional_delete},
          {"multipart", capabilities.conditional_multipart},
          {"bareEtags", capabilities.bare_etags}};
}

std::optional<Capabilities> CapabilitiesFromJson(const Json& json) {
  Capabilities capabilities;
  const auto read = [&json](const char* key, bool& value) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_boolean()) return false;
    value = found->get<bool>();
    return true;
  };
  const bool complete = json.is_object() && read("create", capabilities.conditional_create) &&
                        read("replace", capabilities.conditional_replace) &&
                        read("replaceRefusesMissing", capabilities.replace_refuses_missing) &&
                        read("delete", capabilities.conditional_delete) &&
                        read("multipart", capabilities.conditional_multipart) &&
                        read("bareEtags", capabilities.bare_etags);
  if (!complete) return std::nullopt;
  return capabilities;
}

// Another bucket or endpoint in the marker means another server.
std::string CapabilitiesKey(const ObjectStore& store) {
  return std::string(state_key::kCapabilities) + ":" + store.Describe();
}

// A folder's own name for what stays on this machine: locks and temporary files of its store.
constexpr const char* kSideFolder = ".datastore-locks";
// Which bucket a cache is of.
constexpr const char* kIdentityFile = ".datastore-identity";

}  // namespace

Datastore::Datastore(const Context& context, const Repository& repo, DatastoreSettings settings,
                     const DatastoreParts& parts)
    : files_(context.files()), repo_root_(repo.root), settings_(std::move(settings)), parts_(parts) {
  if (synced()) {
    s3_config_ = ParseS3Config(settings_.config);
    tier_root_ = CacheRoot(context, repo);
  } else {
    tier_root_ = settings_.folder;
    if (settings_.name_space) tier_root_ /= *settings_.name_space;
  }
}

Datastore::~Datastore() = default;

void Datastore::RequireFolder() const {
  if (synced() || settings_.is_default || files_.Stat(settings_.folder)) return;
  throw UserError("datastore_missing", fmt::format("the datastore's folder {} is not there", settings_.folder.string()),
                  "Mount it or bring it back. To start with an empty one, make the folder by hand.");
}

// The cache of a repository's first bucket has the repository's plain id for a name, as other programs expect. One
// cache never serves two buckets: what is known of one says nothing of the other.
fs::path Datastore::CacheRoot(const Context& context, const Repository& repo) {
  identity_ = fmt::format("{} {} {} {}\n", s3_config_->endpoint, s3_config_->bucket, s3_config_->prefix,
                          settings_.name_space.value_or(""));
  const fs::path repos = DataFolder(context) / "repos";
  const auto rooted = [&](const std::string& name) {
    return settings_.name_space ? repos / name / *settings_.name_space : repos / name;
  };
  const auto known = ReadFile(files_, rooted(repo.id()) / kIdentityFile, 64 << 10);
  if (!known || *known == identity_) return rooted(repo.id());
  return rooted(fmt::format("{}@{}", repo.id(), Sha256Hex(identity_).substr(0, 8)));
}

fs::path Datastore::FolderOf(std::string_view tier_folder) const {
  const bool held = std::find(settings_.directories.begin(), settings_.directories.end(), tier_folder) !=
                    settings_.directories.end();
  return (held ? tier_root_ : repo_root_ / ".swamp") / tier_folder;
}

ConflictFolder Datastore::conflicts() const {
  // A shared folder is no place for one checkout's private copies.
  return {files_, (synced() ? tier_root_ : repo_root_ / ".swamp") / ".conflicts"};
}

std::unique_ptr<ObjectStore> Datastore::OpenBucket(const Context& context, const std::optional<std::string>& name_space) {
  S3Config config = *s3_config_;
  if (name_space) config.prefix = config.prefix.empty() ? *name_space : config.prefix + "/" + *name_space;
  return OpenStore(context, config, parts_.http);
}

std::unique_ptr<ObjectStore> Datastore::Decorate(std::unique_ptr<ObjectStore> opened) {
  if (parts_.decorate_store) opened = parts_.decorate_store(std::move(opened));
  if (parts_.trace_file) opened = std::make_unique<TraceStore>(std::move(opened), *parts_.trace_file);
  return opened;
}

std::unique_ptr<ObjectStore> Datastore::StoreOfNamespace(const Context& context, const std::string& slug) {
  return std::make_unique<ResolvingStore>(Decorate(OpenBucket(context, slug)));
}

std::string Datastore::SharedPlace() const {
  if (!synced()) return settings_.folder.string();
  return fmt::format("{} {} {}", s3_config_->endpoint, s3_config_->bucket, s3_config_->prefix);
}

ObjectStore& Datastore::store(const Context& context) {
  if (store_) return *store_;
  std::unique_ptr<ObjectStore> opened;
  if (synced()) {
    opened = OpenBucket(context, settings_.name_space);
  } else {
    RequireFolder();
    files_.CreateFolders(tier_root_);
    opened = std::make_unique<DirectoryStore>(
        DirectoryStoreOptions{.bucket = tier_root_, .prefix = {}, .side_folder = tier_root_ / kSideFolder});
  }
  opened = Decorate(std::move(opened));
  bare_store_ = opened.get();
  store_ = std::make_unique<ResolvingStore>(std::move(opened));
  return *store_;
}

Replica& Datastore::replica(const Context& context) {
  if (replica_) return *replica_;
  cache_ = std::make_unique<Cache>(context, tier_root_);
  CreateFileExclusively(files_, tier_root_ / kIdentityFile, identity_);
  replica_ = std::make_unique<Replica>(*cache_, store(context),
                                       ReplicaOptions{.writer = context.environment().Holder(),
                                                      .pull_concurrency = s3_config_->pull_concurrency,
                                                      .push_concurrency = s3_config_->push_concurrency,
                                                      .folders = settings_.directories,
                                                      .excludes = ExcludePatterns(settings_.exclude),
                                                      .lazy = settings_.lazy});
  return *replica_;
}

std::optional<Capabilities> Datastore::KnownCapabilities(const Context& context) {
  const auto known = replica(context).cache().state().Value(CapabilitiesKey(store(context)));
  const auto json = known ? TryParseJson(*known) : std::nullopt;
  return json ? CapabilitiesFromJson(*json) : std::nullopt;
}

ObjectStore& Datastore::WritableStore(const Context& context) {
  ObjectStore& usable = store(context);
  if (!synced() || probed_) return usable;
  std::optional<Capabilities> capabilities = KnownCapabilities(context);
  if (!capabilities) {
    capabilities = ProbeStore(context, *bare_store_);
    // A store that refuses in its trouble can look unsafe: what ends the command now is asked again by the next.
    if (capabilities->safe() || settings_.allow_unsafe_store) {
      replica(context).cache().state().SetValue(CapabilitiesKey(usable),
                                                CompactJson(CapabilitiesToJson(*capabilities)));
    }
  }
  usable.Adopt(*capabilities);
  if (!capabilities->safe()) {
    if (!settings_.allow_unsafe_store) {
      throw UserError("store_unsafe",
                      fmt::format("{} does not honour conditional writes, so two checkouts could overwrite each "
                                  "other's changes there",
                                  usable.Describe()),
                      "Use a store that does (AWS S3, Ceph RGW, MinIO), or accept the risk with "
                      "`swamp datastore setup extension ... --allow-unsafe-store`.");
    }
    context.log().Warn(kLog, fmt::format("{} does not honour conditional writes: a change that another checkout "
                                         "makes at the same moment can be lost",
                                         usable.Describe()));
  }
  probed_ = true;
  return usable;
}

std::unique_ptr<StoreLock> Datastore::Lock(const Context& context) {
  ObjectStore& usable = WritableStore(context);
  if (!parts_.use_locks) return NoLock();
  return AcquireLock(context, usable, std::string(kLockKey), {.wait = settings_.lock_timeout});
}

std::unique_ptr<StoreLock> Datastore::LockModel(const Context& context, const std::string& model) {
  ObjectStore& usable = WritableStore(context);
  if (!parts_.use_locks) return NoLock();
  const std::string key = "data/" + model + "/.lock";
  const Duration start = context.clock().Elapsed();
  // Whoever takes the global lock looks for the models' locks after that, so one of the two always sees the other.
  bool told = false;
  for (;;) {
    std::optional<LockView> global = LookAtLock(context, usable, std::string(kLockKey));
    if (!global || global->stale()) {
      const Duration left = settings_.lock_timeout - (context.clock().Elapsed() - start);
      auto lock = AcquireLock(context, usable, key, {.wait = std::max(left, Duration(0))});
      global = LookAtLock(context, usable, std::string(kLockKey));
      if (!global || global->stale()) return lock;
      lock->Release(context);
    }
    if (IsHeldByAncestor(context, global->info)) {
      throw UserError("lock_timeout",
                      fmt::format("the lock on the whole datastore is held by the command that runs this one (pid {})",
                                  global->info.pid),
                      "Run this command after the outer one.");
    }
    if (context.clock().Elapsed() - start >= settings_.lock_timeout) {
      throw UserError("lock_timeout",
                      fmt::format("the whole datastore {} is locked by {} (host {}, pid {}), last alive {} ago", Describe(),
                                  Printable(global->info.holder, 100), Printable(global->info.hostname, 100),
                                  global->info.pid, DescribeDuration(global->age)),
                      "Try again later, or see `swamp datastore lock status`; a lock whose holder is dead is removed by "
                      "`swamp datastore lock release --force`.");
    }
    if (!told) {
      context.log().Info("datastore·lock", fmt::format("waiting for the lock on the whole datastore, held by {}",
                                                       Printable(global->info.holder, 100)));
    }
    told = true;
    context.clock().Sleep(context, std::chrono::seconds(1));
  }
}

template <typename Work>
auto Datastore::WithinTimeLimit(const Context& context, std::string_view what, Work work) {
  try {
    return work(context.WithTimeout(settings_.sync_timeout));
  } catch (const DeadlineExceeded&) {
    throw UserError(
        "sync_timeout",
        fmt::format("the {} did not end within {} with {}", what, DescribeDuration(settings_.sync_timeout), Describe()),
        "What was done stays done. Check the connection; raise the limit with --timeout, "
        "datastore.syncTimeoutMs in .swamp.yaml or SWAMP_DATASTORE_SYNC_TIMEOUT_MS; then run "
        "`swamp datastore sync`.");
  }
}

PullReport Datastore::Pull(const Context& context, PullScope scope, PullEffort effort) {
  return WithinTimeLimit(context, "pull", [&](const Context& limited) {
    return swamp::Pull(limited, replica(limited), scope, effort);
  });
}

PullReport Datastore::PullModelData(const Context& context, const std::string& model) {
  return WithinTimeLimit(context, "pull",
                         [&](const Context& limited) { return swamp::PullModelData(limited, replica(limited), model); });
}

PullReport Datastore::PullFolder(const Context& context, const std::string& folder) {
  return WithinTimeLimit(context, "pull",
                         [&](const Context& limited) { return swamp::PullFolder(limited, replica(limited), folder); });
}

void Datastore::Hydrate(const Context& context, std::span<const std::string> paths) {
  WithinTimeLimit(context, "download", [&](const Context& limited) { swamp::Hydrate(limited, replica(limited), paths); });
}

void Datastore::WithinSyncTimeout(const Context& context, std::string_view what, const std::function<void(const Context&)>& work) {
  WithinTimeLimit(context, what, work);
}

PushReport Datastore::Push(const Context& context, const PushOptions& request) {
  return WithinTimeLimit(context, "push", [&](const Context& limited) {
    WritableStore(limited);
    return swamp::Push(limited, replica(limited), request);
  });
}

std::string Datastore::Describe() const { return store_ ? store_->Describe() : settings_.type; }

}  // namespace swamp

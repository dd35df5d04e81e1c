#include "datastore/status.h"

#include <fmt/format.h>

#include "util/clock.h"
#include "util/relative_path.h"

namespace swamp {
namespace {

constexpr std::string_view kModelLockSuffix = "/.lock";

// The folder is there and can be written to.
std::string ProbeFolder(const Context& context, const Datastore& datastore) {
  Files& files = context.files();
  const std::filesystem::path& folder = datastore.tier_root();
  datastore.RequireFolder();
  files.CreateFolders(folder);
  const auto probe = files.Create(folder / ".datastore-probe", 0600);
  probe->Append("x");
  probe->Close(Durability::kLater);
  return "the folder can be read and written";
}

}  // namespace

DatastoreStatus GetDatastoreStatus(const Context& context, const Repository& repo, Datastore& datastore) {
  const DatastoreSettings& settings = datastore.settings();
  DatastoreStatus status;
  status.type = settings.type;
  status.directories = settings.directories;
  status.exclude = settings.exclude;
  status.managed_config = settings.managed_config;
  status.name_space = settings.name_space;
  status.conflicts = datastore.conflicts().List();
  status.unpublished_lockfile = context.files().Stat(repo.root / kPendingLockfileRecord).has_value();
  const Duration start = context.clock().Elapsed();
  try {
    if (datastore.synced()) {
      ObjectStore& store = datastore.store(context);
      status.path = store.Describe();
      if (const auto known = datastore.KnownCapabilities(context)) status.conditional_writes = known->safe();
      status.unpublished_paths = UnpublishedPaths(datastore.replica(context).cache());
      StringSink sink;
      store.Get(context, std::string(kMetaKey), {}, sink);
      status.message = "the bucket answers";
    } else {
      status.path = datastore.tier_root().string();
      status.message = ProbeFolder(context, datastore);
      status.conditional_writes = true;
    }
    status.healthy = true;
  } catch (const Cancelled&) {
    throw;
  } catch (const UserError& error) {
    status.message = error.message();
  }
  status.latency_ms = static_cast<double>((context.clock().Elapsed() - start).count());
  return status;
}

LockStatus GetLockStatus(const Context& context, Datastore& datastore) {
  LockStatus status;
  status.datastore_type = datastore.settings().type;
  ObjectStore& store = datastore.store(context);
  status.global = LookAtLock(context, store, std::string(kLockKey));
  for (const ObjectInfo& object : ListAll(context, store, "data/")) {
    if (!object.key.ends_with(kModelLockSuffix)) continue;
    if (auto view = LookAtLock(context, store, object.key)) {
      std::string model = object.key.substr(5, object.key.size() - 5 - kModelLockSuffix.size());
      status.models.emplace_back(std::move(model), std::move(*view));
    }
  }
  return status;
}

std::optional<LockInfo> ReleaseLock(const Context& context, Datastore& datastore,
                                    const std::optional<std::string>& model) {
  std::string key(kLockKey);
  if (model) {
    if (const auto reason = WhyUnsafePath(*model)) {
      throw UserError("usage", fmt::format("--model has to be type/id: {}", *reason));
    }
    key = "data/" + *model + std::string(kModelLockSuffix);
  }
  return BreakLock(context, datastore.store(context), key);
}

}  // namespace swamp

#include "datastore/conflict_resolution.h"

#include <fmt/format.h>

#include "datastore/config_tier.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::uint64_t kLimit = 256 << 20;

ConflictFolder::Copy FindCopy(Datastore& datastore, const std::string& path) {
  if (auto copy = datastore.conflicts().Newest(path)) return *copy;
  std::vector<std::string> known;
  for (const ConflictFolder::Copy& copy : datastore.conflicts().List()) known.push_back(copy.path);
  throw UserError("conflict_not_found", fmt::format("there is no conflict of {}", Printable(path)),
                  known.empty() ? "There are none." : "There are: " + Join(known, ", ") + ".");
}

std::optional<std::string> CurrentVersion(const Context& context, Datastore& datastore, const std::string& path) {
  return ReadFile(context.files(), JoinSafely(datastore.tier_root(), path, "this command"), kLimit);
}

void PublishSynced(const Context& context, Datastore& datastore, const std::string& path, const std::string& bytes) {
  datastore.Pull(context, path.starts_with("config/") ? PullScope::kConfig : PullScope::kAll);
  Cache& cache = datastore.replica(context).cache();
  cache.Write(context, path, bytes, Expected::Anything());
  for (const PushConflict& conflict : datastore.Push(context).conflicts) {
    if (conflict.path == path) throw ConflictError(conflict, context.clock().Now());
  }
}

void PublishInFolder(const Context& context, Datastore& datastore, const std::string& path,
                     const std::string& bytes) {
  ObjectStore& store = datastore.store(context);
  const auto current = store.Head(context, path);
  const Condition condition = current ? Condition::Matches(current->info.etag) : Condition::Absent();
  const PutResult result = store.Put(context, path, Body::FromBytes(bytes), condition,
                                     {.writer = context.environment().Holder()});
  if (!result.stored()) {
    throw UserError("config_conflict", fmt::format("{} was changed again just now; yours is still kept", path),
                    "Run the command again.");
  }
}

}  // namespace

ConflictVersions ShowConflict(const Context& context, Datastore& datastore, const std::string& path) {
  ConflictVersions versions{FindCopy(datastore, path), {}, {}};
  versions.local = ReadFile(context.files(), versions.copy.file, kLimit).value_or("");
  versions.remote = CurrentVersion(context, datastore, path);
  return versions;
}

void ResolveConflict(const Context& context, Datastore& datastore, const std::string& path, Keep keep) {
  const ConflictFolder::Copy copy = FindCopy(datastore, path);
  if (keep == Keep::kLocal) {
    const std::string bytes = ReadFile(context.files(), copy.file, kLimit).value_or("");
    if (datastore.synced()) {
      PublishSynced(context, datastore, path, bytes);
    } else {
      PublishInFolder(context, datastore, path, bytes);
    }
  }
  datastore.conflicts().Discard(copy);
}

}  // namespace swamp

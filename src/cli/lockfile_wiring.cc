#include "cli/lockfile_wiring.h"

#include "extension/shared_lockfile.h"

namespace swamp {

std::function<bool(const Context&)> LockfilePublisher(Session& session) {
  return [&session](const Context& context) {
    SharedLockfile lockfile(context, session.repo(), session.datastore());
    if (!lockfile.HasPendingRecord()) return false;
    lockfile.Republish(context);
    return true;
  };
}

std::function<int(const Context&, const Repository&, Datastore&)> LockfileMerger(Session& session) {
  return [&session](const Context& context, const Repository& managed_repo, Datastore& managed) {
    const std::filesystem::path path = RepositoryLockfilePath(context, session.repo());
    const auto text = ReadFile(context.files(), path);
    if (!text) return 0;
    const Lockfile local = Lockfile::Parse(*text, path.string());
    int added = 0;
    SharedLockfile(context, managed_repo, managed)
        .Change(
            context,
            [&](const Lockfile& current) {
              LockfileDelta delta;
              for (const auto& [name, entry] : local.entries()) {
                if (current.Find(name) == nullptr) delta.set[name] = entry;
              }
              added = static_cast<int>(delta.set.size());
              return delta;
            },
            [](const LockfileDelta&) {});
    return added;
  };
}

}  // namespace swamp

#include "cli/lockfile_wiring.h"

#include <algorithm>

#include "datastore/status.h"
#include "datastore/tombstone.h"
#include "extension/receipt.h"
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

std::function<std::vector<std::string>(const Context&)> LostExtensionsFinder(Session& session) {
  return [&session](const Context& context) {
    std::vector<std::string> lost;
    const Repository& repo = session.repo();
    Datastore& datastore = session.datastore();
    // Without managed config the lockfile is this checkout's own; a change that waits to be published says itself what is missing.
    if (!datastore.settings().managed_config || context.files().Stat(repo.root / kPendingLockfileRecord)) return lost;
    const auto shared = GetBytes(context, datastore.store(context), std::string(kLockfilePath));
    const Lockfile lockfile = shared && !IsTombstone(shared->bytes) ? Lockfile::Parse(shared->bytes, "the shared lockfile") : Lockfile();
    for (const std::filesystem::path& root : {repo.swamp_folder() / "config" / "pulled-extensions", repo.swamp_folder() / "pulled-extensions"}) {
      for (const std::string& below : ListFilesBelow(context.files(), root)) {
        const std::filesystem::path path(below);
        if (path.filename() != kReceiptName) continue;
        const auto receipt = ReadReceipt(context, root / path.parent_path());
        if (receipt && lockfile.Find(receipt->name.text()) == nullptr) lost.push_back(receipt->name.text());
      }
    }
    std::sort(lost.begin(), lost.end());
    return lost;
  };
}

}  // namespace swamp

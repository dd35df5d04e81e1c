#include "datastore/sync.h"

#include <fmt/format.h>

#include "datastore/config_tier.h"
#include "util/clock.h"

namespace swamp {
namespace {

void ThrowConflicts(const Context& context, const std::vector<PushConflict>& conflicts) {
  if (conflicts.empty()) return;
  const UserError first = ConflictError(conflicts.front(), context.clock().Now());
  if (conflicts.size() == 1) throw first;
  std::string message = fmt::format("{} paths were changed on both sides:", conflicts.size());
  for (const PushConflict& conflict : conflicts) {
    message += "\n  " + ConflictError(conflict, context.clock().Now()).message();
  }
  throw UserError("config_conflict", message,
                  "List them with `swamp datastore conflicts list`; settle each with `swamp datastore conflicts "
                  "resolve <path> --keep local|remote`.");
}

// Keys that name no tier path harm nobody; what could not be brought over does.
void ThrowIncomplete(const std::vector<PathProblem>& problems) {
  std::vector<std::string> lines;
  for (const PathProblem& problem : problems) {
    if (!problem.message.starts_with("path_escape")) lines.push_back(problem.path + ": " + problem.message);
  }
  if (lines.empty()) return;
  throw UserError("sync_incomplete", fmt::format("{} could not be pulled; all else was:\n  {}",
                                                 lines.size() == 1 ? "one path" : "some paths",
                                                 fmt::join(lines, "\n  ")),
                  "`swamp doctor datastores` looks closer.");
}

void PullInto(const Context& context, Datastore& datastore, SyncResult& result) {
  const PullReport report = datastore.Pull(context, PullScope::kAll, PullEffort::kRestoreMissing);
  result.files_pulled = report.files_pulled + report.files_removed;
  result.problems = report.problems;
}

}  // namespace

SyncResult SyncDatastore(const Context& context, Datastore& datastore, const SyncRequest& request) {
  if (request.timeout) datastore.set_sync_timeout(*request.timeout);
  const bool both = request.pull == request.push;
  SyncResult result;
  result.mode = both ? "sync" : request.pull ? "pull" : "push";
  if (result.mode != "pull" && request.publish_lockfile) {
    result.lockfile_published = request.publish_lockfile(context);
  }
  if (!datastore.synced()) {
    if (result.lockfile_published) return result;
    throw UserError("sync_not_supported",
                    fmt::format("the datastore is the folder {}, which is used as it is: there is nothing to sync",
                                datastore.tier_root().string()));
  }
  if (result.mode != "push") PullInto(context, datastore, result);
  if (result.mode == "push" && !request.confirmed) {
    result.preview = PreviewPush(context, datastore.replica(context), {.walk = true});
    return result;
  }
  if (result.mode != "pull") {
    // Before a walk may take files for new, a cache that lost its state has to be compared with the bucket.
    if (datastore.replica(context).cache().NeedsReconciling()) PullInto(context, datastore, result);
    const PushReport report = datastore.Push(context, {.walk = true});
    result.files_pushed = report.files_pushed + report.files_removed;
    ThrowConflicts(context, report.conflicts);
    if (request.publish_catalog) request.publish_catalog(context);
  }
  ThrowIncomplete(result.problems);
  return result;
}

}  // namespace swamp

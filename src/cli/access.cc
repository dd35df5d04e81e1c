// swamp access: what its parts share.

#include "cli/access.h"

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/model_run.h"
#include "data/edit_data.h"

namespace swamp {

RecordServices RecordServicesOf(Session& session) { return {session.repo(), session.datastore()}; }

void AddRefresh(CLI::App& command, bool& refresh) {
  command.add_flag("--refresh", refresh, "Bring the records up to date first");
}

void PullRecords(Session& session, bool refresh) { PullData(session.context(), session.datastore(), refresh); }

Rendered RenderRecordChange(const RecordChange& change, const std::string& text) {
  Json json = JsonOfRun(change.run);
  if (!change.changed) {  // nothing was written, not even that
    json["outputId"] = nullptr;
    json["logFile"] = nullptr;
  }
  json["changed"] = change.changed;
  return {std::move(json), text};
}

void AddAccessCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "access", "Who may do what on a server");
  AddAccessGroup(*group, session);
  AddAccessGrant(*group, session);
  AddAccessCheck(*group, session);
  AddAccessReload(*group, session);
}

}  // namespace swamp

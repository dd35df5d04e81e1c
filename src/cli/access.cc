// swamp access: what its parts share.

#include "cli/access.h"

#include <fmt/format.h>

#include "cli/builder.h"
#include "cli/commands.h"
#include "cli/model_run.h"
#include "data/edit_data.h"
#include "util/text.h"

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

Duration ParseTokenDuration(const std::string& text) {
  constexpr Duration kLongest = std::chrono::hours(24 * 3660);
  const auto duration = ParseDuration(text);
  if (duration && *duration <= kLongest) return *duration;
  throw UserError("usage", fmt::format("--duration \"{}\" is no time for which a token can be valid", Printable(text, 40)),
                  "Give a number with m, h, d, w, mo or y, such as 24h or 30d; at most 10y.");
}

std::string HowToReadToken(const std::string& name, const std::string& vault, const std::string& secret_key) {
  return fmt::format("Its secret: swamp vault read-secret {} {}\nPresent it as: {}.<secret>\n", vault, secret_key, name);
}

void AddAccessCommands(CLI::App& root, Session& session) {
  CLI::App* group = AddGroup(root, "access", "Who may do what on a server");
  AddAccessGroup(*group, session);
  AddAccessGrant(*group, session);
  AddAccessToken(*group, session);
  AddAccessCheck(*group, session);
  AddAccessReload(*group, session);
}

}  // namespace swamp

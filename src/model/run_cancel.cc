#include "model/run_cancel.h"

#include <fmt/format.h>
#include <signal.h>

#include <set>

#include "model/run.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr Duration kPatience{10'000};
constexpr Duration kPoll{50};

// The process and everything below it.
std::set<pid_t> Family(Files& files, pid_t root) {
  std::vector<std::pair<pid_t, pid_t>> parents;
  for (const FolderEntry& entry : files.List("/proc")) {
    if (entry.name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = ReadProcFile("/proc/" + entry.name + "/stat");
    // "<pid> (<name, which may hold anything>) <state> <ppid> ..."
    const std::size_t end = stat.rfind(')');
    if (end == std::string::npos) continue;
    const std::vector<std::string> fields = Split(stat.substr(end + 1), ' ');
    if (fields.size() > 2) parents.emplace_back(std::stoi(entry.name), std::atoi(fields[2].c_str()));
  }
  std::set<pid_t> family = {root};
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [pid, parent] : parents) {
      if (family.contains(parent) && family.insert(pid).second) grew = true;
    }
  }
  return family;
}

class Canceller {
 public:
  Canceller(RunFiles& files, std::string reason)
      : files_(files), context_(files.context()), reason_(std::move(reason)) {}

  // False: it is over already.
  bool Cancel(OutputRecord& record) {
    const auto pid = static_cast<pid_t>(record.pid);
    if (!reason_.empty()) WriteFileAtomically(context_.files(), CancelNote(files_, record.id), reason_, 0600);
    ::kill(pid, SIGTERM);
    const Duration begun = context_.clock().Elapsed();
    while (IsRunningHere(record.pid) && Reload(record).open()) {
      if (context_.clock().Elapsed() - begun > kPatience) {
        for (const pid_t one : Family(context_.files(), pid)) ::kill(one, SIGKILL);
        while (IsRunningHere(record.pid)) context_.clock().Sleep(context_, kPoll);
        break;
      }
      context_.clock().Sleep(context_, kPoll);
    }
    if (Reload(record).open()) WriteDown(record);
    context_.files().Remove(CancelNote(files_, record.id));
    return record.status == "cancelled";
  }

 private:
  OutputRecord& Reload(OutputRecord& record) {
    const std::string path = record.TierPath();
    if (const auto bytes = files_.Read(path)) record = OutputRecord::Parse(*bytes, path);
    return record;
  }

  // Its owner is gone.
  void WriteDown(OutputRecord& record) {
    const Time now = context_.clock().Now();
    record.status = "cancelled";
    record.completed_at = FormatTime(now);
    if (const auto start = ParseTime(record.started_at)) record.duration_ms = std::max<std::int64_t>((now - *start).count(), 0);
    record.error_message = reason_.empty() ? "cancelled: the command did not stop and was killed" : "cancelled: " + reason_;
    record.error_code = "cancelled";
    files_.Write(record.TierPath(), record.ToYaml());
  }

  RunFiles& files_;
  const Context& context_;
  std::string reason_;
};

}  // namespace

std::vector<OutputRecord> CancelRuns(RunFiles& files, const std::string& definition_id, const std::string& reason) {
  const Outputs outputs(files);
  const std::string host = files.context().environment().HostName();
  std::vector<OutputRecord> cancelled;
  for (OutputRecord& record : outputs.All(definition_id)) {
    if (!record.open() || outputs.ShownStatus(record) == "interrupted") continue;
    if (!record.host.empty() && record.host != host) {
      const std::string what = fmt::format("the run {} of {} is on the host {}", record.id, record.method, record.host);
      if (!definition_id.empty()) throw UserError("run_on_other_host", what, "Cancel it there.");
      files.context().log().Warn("model·cancel", what);
      continue;
    }
    if (record.pid == files.context().environment().ProcessId() || !IsRunningHere(record.pid)) continue;
    if (Canceller(files, reason).Cancel(record)) cancelled.push_back(std::move(record));
  }
  return cancelled;
}

}  // namespace swamp

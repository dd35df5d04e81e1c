#include <fmt/format.h>

#include <algorithm>

#include "data/collect.h"
#include "model/run_steps.h"
#include "util/clock.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr int kMaxRenumbering = 100;

}  // namespace

std::string MethodRunner::WhyCancelled(const Attempt& attempt) const {
  const std::filesystem::path note = CancelNote(files_, attempt.record.id);
  const auto reason = ReadFile(context_.files(), note);
  if (!reason) return "cancelled";
  context_.files().Remove(note);
  return Trim(*reason).empty() ? std::string("cancelled") : fmt::format("cancelled: {}", Printable(Trim(*reason), 400));
}

void MethodRunner::Finish(Attempt& attempt, const std::optional<UserError>& failure, int signal) {
  OutputRecord& record = attempt.record;
  const Duration took = context_.clock().Elapsed() - attempt.begun;
  record.status = !failure ? "succeeded" : signal != 0 ? "cancelled" : "failed";
  record.completed_at = FormatTime(context_.clock().Now());
  record.duration_ms = took.count();
  if (failure) {
    record.error_message = failure->message();
    record.error_code = failure->code();
    attempt.log->Add(LogLevel::kError, "model·run", failure->message());
  }
  attempt.log->Add(LogLevel::kInfo, "model·run", fmt::format("{} after {}", record.status, DescribeDuration(took)));
  attempt.log->Finish();
  WriteRecord(attempt);
  attempt.result.status = record.status;
  if (signal == 0) MakeReports(attempt, failure);
  if (CollectsAfterRuns()) Collect();
  attempt.result.duration = took;
  Publish(attempt, failure);
  for (RunHost::Written& one : attempt.written) attempt.result.artifacts.push_back(std::move(one.artifact));
  Step(!failure ? "Completed" : signal != 0 ? "Cancelled" : "Failed", fmt::format("{} in {}", method_->name, DescribeDuration(took)));
}

bool MethodRunner::CollectsAfterRuns() const {
  const auto found = services_.repo.marker.json().find("autoGc");
  return found != services_.repo.marker.json().end() && found->is_boolean() && found->get<bool>();
}

void MethodRunner::Collect() const {
  CollectRequest request{.run_exists = {}, .only = DataOwner{definition().type, definition().id}};
  // A cache needn't have the records of workflow runs, so nothing follows from one that isn't there.
  if (!services_.datastore.synced()) {
    request.run_exists = [this](const std::string& workflow_id, const std::string& run_id) {
      return WorkflowRunExists(calm_, services_.datastore, workflow_id, run_id);
    };
  }
  Tell("auto_gc_started");
  try {
    const CollectReport collected = CollectGarbage(*store_, request);
    Tell("auto_gc_completed", {{"versionsDeleted", collected.versions_deleted},
                               {"bytesReclaimed", collected.bytes},
                               {"dataEntriesExpired", collected.expired.size()}});
  } catch (const std::exception& error) {
    Warn(fmt::format("old data of {} was not collected: {}", definition().name, Printable(error.what(), 200)));
  }
}

void MethodRunner::WriteRecord(Attempt& attempt) {
  OutputRecord& record = attempt.record;
  record.artifacts.clear();
  for (const RunHost::Written& one : attempt.written) {
    if (one.ephemeral) continue;  // nobody will find it
    record.artifacts.push_back({one.artifact.id, one.artifact.name, one.artifact.version, one.record.metadata.tags});
  }
  files_.Write(record.TierPath(), record.ToYaml());
}

void MethodRunner::Publish(Attempt& attempt, const std::optional<UserError>& failure) {
  if (!services_.datastore.synced()) return;
  const std::string of_model = fmt::format("outputs/{}/{}/{}-", type_->name, method_->name, definition().id);
  PushOptions options;
  options.only = {"data/" + Model() + "/", of_model, EvaluatedDefinitions::TierPathOf(definition())};
  if (model_.stored.automatic) options.only.push_back(model_.stored.document.path);
  try {
    for (int round = 0; round < kMaxRenumbering; ++round) {
      std::vector<PushConflict> conflicts = services_.datastore.Push(calm_, options).conflicts;
      const bool moved = MoveRecord(attempt, conflicts);
      const bool renumbered = Renumber(attempt, conflicts);
      for (const PushConflict& conflict : conflicts) Warn(ConflictError(conflict, context_.clock().Now()).message());
      if (!moved && !renumbered) return;
      WriteRecord(attempt);
    }
    throw UserError("store_busy", "peers kept taking the numbers of the new data versions");
  } catch (const UserError& error) {
    ThrowUnpublished(attempt, error, failure);
  }
}

bool MethodRunner::MoveRecord(Attempt& attempt, std::vector<PushConflict>& conflicts) {
  OutputRecord& record = attempt.record;
  const auto lost_record = TakeLost(conflicts, record.TierPath());
  const auto lost_log = TakeLost(conflicts, attempt.log->tier_path());
  if (!lost_record && !lost_log) return false;
  const std::string log = lost_log ? *lost_log : files_.Read(attempt.log->tier_path()).value_or("");
  const std::string name = record.started_at;
  do {
    attempt.started += Duration(1);
    record.started_at = FormatTime(attempt.started);
  } while (!files_.Create(record.LogTierPath(), log));
  attempt.log->MoveTo(record.LogTierPath());
  record.log_file = RunFiles::NameInRecords(attempt.log->tier_path());
  attempt.result.log_file = files_.PathOf(attempt.log->tier_path());
  if (!lost_record) record.started_at = name;  // only the log stands elsewhere
  return true;
}

std::optional<std::string> MethodRunner::TakeLost(std::vector<PushConflict>& conflicts, const std::string& path) const {
  const auto found = std::find_if(conflicts.begin(), conflicts.end(), [&](const PushConflict& conflict) {
    return conflict.path == path && conflict.kind == PushConflict::Kind::kEdited;
  });
  if (found == conflicts.end()) return std::nullopt;
  std::string ours = ReadFile(context_.files(), found->local_copy).value_or("");
  context_.files().Remove(found->local_copy);
  conflicts.erase(found);
  return ours;
}

bool MethodRunner::Renumber(Attempt& attempt, std::vector<PushConflict>& conflicts) {
  bool any = false;
  const auto renumber = [&](DataRecord& record) {
    const auto lost = std::erase_if(conflicts, [&](const PushConflict& conflict) {
      return conflict.kind == PushConflict::Kind::kImmutable &&
             (conflict.path == record.key.Marker() ||  // the name was removed, and had this number
              conflict.path.starts_with(record.key.VersionFolder(record.version()) + "/"));
    });
    if (lost == 0) return false;
    any = true;
    record = store_->RenumberAbove(record, HighestInBucket(record.key));
    return true;
  };
  for (DataRecord& record : attempt.report_files) renumber(record);
  for (RunHost::Written& one : attempt.written) {
    if (one.ephemeral || !renumber(one.record)) continue;
    one.artifact.version = one.record.version();
    one.artifact.path = store_->PathOf(one.record.RawPath());
  }
  return any;
}

std::uint64_t MethodRunner::HighestInBucket(const DataKey& key) {
  const std::string folder = key.Folder() + "/";
  std::uint64_t highest = 0;
  for (const ObjectInfo& object : ListAll(calm_, services_.datastore.store(calm_), folder)) {
    const std::string rest = object.key.substr(folder.size());
    const std::string number = rest.substr(0, rest.find('/'));
    if (number.empty() || number.size() > 18 || number.find_first_not_of("0123456789") != std::string::npos) continue;
    highest = std::max<std::uint64_t>(highest, std::stoull(number));
  }
  return highest;
}

void MethodRunner::ThrowUnpublished(const Attempt& attempt, const UserError& cause,
                                   const std::optional<UserError>& failure) const {
  RunResult result = attempt.result;
  const std::string what = failure ? fmt::format("{} ({})", attempt.record.status, failure->message()) : attempt.record.status;
  throw RunFailed(UserError("run_unpublished",
                             fmt::format("the run has {}, and is recorded here, but not published: {}", what, cause.message()),
                             fmt::format("{}{}Nothing is lost: `swamp datastore sync` or the next run of {} publishes it.",
                                         cause.hint(), cause.hint().empty() ? "" : " ", definition().name)),
                  std::move(result), 0);
}

}  // namespace swamp

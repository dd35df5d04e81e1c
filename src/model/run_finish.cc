#include <fmt/format.h>

#include <algorithm>

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
  attempt.result.duration = took;
  Publish(attempt, failure);
  for (RunHost::Written& one : attempt.written) attempt.result.artifacts.push_back(std::move(one.artifact));
  Step(!failure ? "Completed" : signal != 0 ? "Cancelled" : "Failed", fmt::format("{} in {}", method_->name, DescribeDuration(took)));
}

void MethodRunner::WriteRecord(Attempt& attempt) {
  OutputRecord& record = attempt.record;
  record.artifacts.clear();
  for (const RunHost::Written& one : attempt.written) {
    record.artifacts.push_back({one.artifact.id, one.artifact.name, one.artifact.version, one.record.metadata.tags});
  }
  files_.Write(record.TierPath(), record.ToYaml());
}

void MethodRunner::Publish(Attempt& attempt, const std::optional<UserError>& failure) {
  if (!services_.datastore.synced()) return;
  const std::string path = attempt.record.TierPath();
  const std::string of_model = fmt::format("outputs/{}/{}/{}-", type_->name, method_->name, definition().id);
  PushOptions options;
  options.only = {"data/" + Model() + "/", of_model, EvaluatedDefinitions::TierPathOf(definition())};
  if (model_.stored.automatic) options.only.push_back(model_.stored.document.path);
  try {
    for (int round = 0; round < kMaxRenumbering; ++round) {
      const PushReport report = services_.datastore.Push(calm_, options);
      if (!Renumber(attempt, report)) {
        TellConflicts(report);
        return;
      }
      WriteRecord(attempt);
    }
    throw UserError("store_busy", "peers kept taking the numbers of the new data versions");
  } catch (const UserError& error) {
    ThrowUnpublished(attempt, error, failure);
  }
}

bool MethodRunner::Renumber(Attempt& attempt, const PushReport& report) {
  bool any = false;
  for (RunHost::Written& one : attempt.written) {
    const bool lost = std::any_of(report.conflicts.begin(), report.conflicts.end(), [&](const PushConflict& conflict) {
      return conflict.kind == PushConflict::Kind::kImmutable &&
             conflict.path.starts_with(one.record.key.VersionFolder(one.record.version()) + "/");
    });
    if (!lost) continue;
    any = true;
    one.record = store_->RenumberAbove(one.record, HighestInBucket(one.record.key));
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

void MethodRunner::TellConflicts(const PushReport& report) const {
  for (const PushConflict& conflict : report.conflicts) Warn(ConflictError(conflict, context_.clock().Now()).message());
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

#include "worker/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "worker";
constexpr std::array<std::string_view, 5> kStatuses = {"idle", "busy", "disconnected", "unverified", "draining"};
constexpr const char* kDispatchType = "swamp/pending-dispatch";
constexpr std::string_view kDispatchName = "pending-";
constexpr std::uint64_t kContentLimit = 8ULL << 20;

const RecordType& WorkerRecords() {
  static const RecordType type{"swamp/worker", "2026.07.06.1", "state-main", 20};
  return type;
}

std::string ModelNameOf(const Worker& worker) { return fmt::format("worker-{}", worker.name); }

}  // namespace

std::optional<Time> Worker::DisconnectedSince() const {
  if (connected()) return std::nullopt;
  return ParseTime(disconnected_at.empty() ? last_seen_at : disconnected_at);
}

Worker Worker::Parse(const Json& json, const std::string& what) {
  Worker worker;
  worker.name = StringMember(json, "name").value_or("");
  worker.status = StringMember(json, "status").value_or("");
  const bool known = std::find(kStatuses.begin(), kStatuses.end(), worker.status) != kStatuses.end();
  if (worker.name.empty() || !known) {
    throw UserError("record_invalid",
                    fmt::format("the worker {} is damaged: it has no {}", Printable(what, 200), known ? "name" : "status that is one"),
                    "It is written anew when the worker connects.");
  }
  worker.last_seen_at = StringMember(json, "lastSeenAt").value_or("");
  worker.disconnected_at = StringMember(json, "disconnectedAt").value_or("");
  worker.record = json;
  return worker;
}

Workers::Workers(const Context& context, const RecordServices& services)
    : context_(context), records_(context, services, WorkerRecords()) {}

std::vector<Worker> Workers::All() {
  return records_.AllAs(kLog, [](const StoredRecord& one) { return Worker::Parse(one.value, one.path.string()); });
}

bool Workers::IsStale(const Worker& worker, Duration older_than) const {
  const auto since = worker.DisconnectedSince();
  return since && context_.clock().Now() - *since > older_than;
}

std::vector<Worker> Workers::Stale(Duration older_than) {
  std::vector<Worker> stale = All();
  std::erase_if(stale, [&](const Worker& one) { return !IsStale(one, older_than); });
  return stale;
}

std::vector<Worker> Workers::Prune(const std::vector<Worker>& workers, Duration older_than) {
  std::vector<Worker> pruned;
  for (const Worker& one : workers) {
    context_.Check();
    const auto still = [&](const Json& current) { return IsStale(Worker::Parse(current, one.name), older_than); };
    if (records_.Remove(ModelNameOf(one), still)) pruned.push_back(one);
  }
  return pruned;
}

std::vector<Json> QueuedDispatches(const Context& context, const RecordServices& services) {
  std::vector<Json> queued;
  const auto store = VersionStore::Open(context, services.repo, services.datastore);
  for (const FolderEntry& entry : context.files().List(store->PathOf(fmt::format("data/{}", kDispatchType)))) {
    if (entry.kind != FileKind::kFolder || !IsUuid(entry.name)) continue;
    const DataOwner owner{kDispatchType, entry.name};
    for (const std::string& name : store->Names(owner)) {
      if (!name.starts_with(kDispatchName)) continue;
      try {
        const auto latest = store->Latest({owner, name});
        if (!latest || latest->metadata.deleted) continue;
        auto json = TryParseJson(store->Content(*latest, kContentLimit));
        if (json && StringMember(*json, "state") == "waiting") queued.push_back(std::move(*json));
      } catch (const IoError&) {
        throw;
      } catch (const Cancelled&) {
        throw;
      } catch (const UserError& error) {
        if (error.code() == "content_unavailable") throw;
        context.log().Warn(kLog, "left out: " + error.message());
      }
    }
  }
  std::stable_sort(queued.begin(), queued.end(), [](const Json& a, const Json& b) {
    return StringMember(a, "queuedAt").value_or("") < StringMember(b, "queuedAt").value_or("");
  });
  return queued;
}

}  // namespace swamp

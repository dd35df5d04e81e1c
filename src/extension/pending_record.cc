#include "extension/pending_record.h"

#include <algorithm>

#include "util/rules.h"

namespace swamp {
namespace {

std::optional<Json> EntryIn(const Lockfile& lockfile, const std::string& name) {
  const Json* entry = lockfile.Find(name);
  return entry == nullptr ? std::nullopt : std::optional(*entry);
}

std::optional<Json> WithoutPullTime(std::optional<Json> entry) {
  if (entry) {
    entry->erase("pulledAt");
    entry->erase(kRepulledAt);
  }
  return entry;
}

bool AreEntries(const Json& object) {
  return object.is_object() && std::all_of(object.begin(), object.end(),
                                           [](const Json& entry) { return entry.is_object(); });
}

// `object[key]`, or `fallback` when it isn't there.
Json MemberOr(const Json& object, std::string_view key, Json fallback) {
  const auto found = object.find(key);
  return found == object.end() ? std::move(fallback) : *found;
}

}  // namespace

Replay DecideReplay(const PendingChange& change, const std::optional<Json>& remote) {
  if (SameEntry(WithoutPullTime(change.ours), WithoutPullTime(remote))) return Replay::kDone;
  return SameEntry(change.base, remote) || RuleOff(Rule::kReplayThreeWays) ? Replay::kApply : Replay::kSuperseded;
}

ReplayResult ReplayChanges(const PendingChanges& changes, const Lockfile& remote) {
  ReplayResult result{remote, {}, {}};
  LockfileDelta delta;
  for (const auto& [name, change] : changes) {
    switch (DecideReplay(change, EntryIn(remote, name))) {
      case Replay::kApply:
        result.outstanding[name] = change;
        if (change.ours) {
          delta.set[name] = *change.ours;
        } else {
          delta.remove.insert(name);
        }
        break;
      case Replay::kDone:
        break;
      case Replay::kSuperseded:
        result.superseded.push_back(name);
        break;
    }
  }
  result.lockfile.Apply(delta);
  return result;
}

void AddDelta(PendingChanges& changes, const LockfileDelta& delta, const Lockfile& remote) {
  for (const auto& [name, entry] : delta.set) changes[name] = {EntryIn(remote, name), entry};
  for (const std::string& name : delta.remove)
    changes[name] = {EntryIn(remote, name), std::nullopt};
}

PendingRecord PendingRecord::Parse(std::string_view text) {
  PendingRecord record;
  record.kind_ = Kind::kUnknown;
  const auto document = TryParseJson(text);
  if (!document || IntegerMember(*document, "version") != 1) return record;
  const Json upserts = MemberOr(*document, "upserts", Json::object());
  const Json removals = MemberOr(*document, "removals", Json::array());
  Json base = MemberOr(*document, "base", Json::object());
  if (!base.is_object()) return record;
  const bool incomplete = MemberOr(*document, "incomplete", false) == true;
  if (!incomplete) {
    for (auto member = base.begin(); member != base.end();) {
      member = member->is_null() ? base.erase(member) : std::next(member);
    }
  }
  const bool removals_are_names =
      removals.is_array() && std::all_of(removals.begin(), removals.end(),
                                         [](const Json& name) { return name.is_string(); });
  if (!AreEntries(upserts) || !AreEntries(base) || !removals_are_names) return record;

  const Lockfile before(base.get<Lockfile::Entries>());
  for (const auto& [name, entry] : upserts.items()) {
    record.changes_[name] = {incomplete ? std::nullopt : EntryIn(before, name), entry};
  }
  for (const Json& removal : removals) {
    const auto name = removal.get<std::string>();
    record.changes_[name] = {incomplete ? std::nullopt : EntryIn(before, name), std::nullopt};
  }
  record.kind_ = incomplete ? Kind::kIncomplete : Kind::kChanges;
  if (incomplete) record.before_ = before;
  return record;
}

std::string PendingRecord::Serialize() const {
  Json upserts = Json::object();
  Json removals = Json::array();
  Json base = Json::object();
  for (const auto& [name, change] : changes_) {
    if (change.ours) {
      upserts[name] = *change.ours;
    } else {
      removals.push_back(name);
    }
    base[name] = change.base ? *change.base : Json(nullptr);
  }
  Json document = Json::object();
  document["version"] = 1;
  document["upserts"] = std::move(upserts);
  document["removals"] = std::move(removals);
  document["base"] = std::move(base);
  return PrettyJson(document);
}

PendingChanges PendingRecord::ChangesGiven(const Lockfile& local) const {
  PendingChanges changes = changes_;
  if (kind_ == Kind::kChanges) return changes;
  for (const auto& [name, entry] : local.entries()) {
    const std::optional<Json> before = EntryIn(before_, name);
    if (!SameEntry(before, entry)) changes[name] = {before, entry};
  }
  for (const auto& [name, entry] : before_.entries()) {
    if (local.Find(name) == nullptr) changes[name] = {entry, std::nullopt};
  }
  return changes;
}

}  // namespace swamp

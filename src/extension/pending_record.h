#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "extension/lockfile.h"

namespace swamp {

// A change of one name that was made here and may not be published yet: three-way merge by entry.
struct PendingChange {
  std::optional<Json>
      base;  // the shared lockfile's entry when the change was made; nothing: there was none
  std::optional<Json> ours;  // what it shall be; nothing: removed
};
using PendingChanges = std::map<std::string, PendingChange>;

enum class Replay {
  kApply,       // the shared entry is still `base`: ours goes over it
  kDone,        // it is ours already
  kSuperseded,  // a peer's acknowledged change of the name came later: it stays, ours is dropped
};

// `remote` is the shared lockfile's entry now. Entries that differ in nothing but `pulledAt` are
// the same pull, made by two checkouts at once.
Replay DecideReplay(const PendingChange& change, const std::optional<Json>& remote);

struct ReplayResult {
  Lockfile lockfile;  // the shared one with every change that applies
  PendingChanges
      outstanding;  // the changes that this adds to the shared one: still to be published
  std::vector<std::string> superseded;  // names whose change was dropped in favour of a peer's
};
ReplayResult ReplayChanges(const PendingChanges& changes, const Lockfile& remote);

// Adds the changes of the command that is running, which go over whatever is there: `remote` as it
// was fetched is their base, also for names that were pending before.
void AddDelta(PendingChanges& changes, const LockfileDelta& delta, const Lockfile& remote);

// The file .swamp/managed-config-lockfile-unpublished: which changes of this checkout may not be in
// the shared lockfile.
//
// {"version":1,"upserts":{name: entry},"removals":[name],"base":{name: entry or null}}. Other
// programs write it without `base` (then only a name that the shared lockfile lacks can be set, and
// none removed), or, before a change that they didn't finish, with "incomplete":true and `base`
// holding all entries before it.
class PendingRecord {
 public:
  PendingRecord() = default;
  explicit PendingRecord(PendingChanges changes) : changes_(std::move(changes)) {}

  // Never throws: what can't be understood is an unknown change.
  static PendingRecord Parse(std::string_view text);
  std::string Serialize() const;

  // What to replay; `local` is the lockfile that this checkout has. Of an unknown change: the local
  // entries, each to be added if the shared lockfile lacks it.
  PendingChanges ChangesGiven(const Lockfile& local) const;
  bool empty() const { return kind_ == Kind::kChanges && changes_.empty(); }
  // False: the changes are a guess from the local lockfile, so that one that is superseded is no
  // news.
  bool certain() const { return kind_ != Kind::kUnknown; }

 private:
  enum class Kind { kChanges, kIncomplete, kUnknown };
  Kind kind_ = Kind::kChanges;
  PendingChanges changes_;
  Lockfile before_;  // kIncomplete: what stood before the change that wasn't finished
};

}  // namespace swamp

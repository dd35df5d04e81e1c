#include "judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "datastore/index.h"
#include "datastore/lock.h"
#include "datastore/tier_path.h"
#include "datastore/tombstone.h"
#include "extension/lockfile.h"
#include "util/digest.h"

namespace swamp::simulation {
namespace {

using Kind = Command::Kind;

std::string Show(const Content& content) {
  if (!content) return "nothing";
  return fmt::format("{} bytes {}", content->size(), Md5Hex(*content).substr(0, 6));
}

std::uint64_t NumberIn(const Content& text) {
  std::uint64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

// A change that its checkout may still have to publish.
bool MayBeOutstanding(const CommandRecord& record) {
  return record.ending == Ending::kUnpublished || record.ending == Ending::kCrashed;
}

bool IsDeletion(const CommandRecord& record) {
  return record.command.kind == Kind::kDeleteModel || record.command.kind == Kind::kDeleteWorkflow;
}

// Those that make a model if there is none, write a version of its data and a record.
bool LeavesVersions(const CommandRecord& record) {
  const Kind kind = record.command.kind;
  return kind == Kind::kRunMethod || kind == Kind::kAddMember || kind == Kind::kMintToken;
}

class Judge {
 public:
  explicit Judge(SimulatedWorld& world) : world_(world), history_(world.history()) {
    for (int i = 0; i < world.plan().checkouts; ++i) checkouts_.push_back(FilesOf(world, i));
  }

  std::vector<std::string> Run() {
    for (const CommandRecord& record : history_.commands) {
      const bool fine = record.ending == Ending::kDone || record.ending == Ending::kConflict || WasToldOfPlaces(record);
      if (record.recovery && !fine) Lose("{} fails although nothing is wrong: {} {}", Name(record), record.code, record.message);
    }
    for (const std::string& place : Places()) ReadLockfiles(place);
    for (const auto& [place, versions] : versions_) JudgeLockfile(versions);
    for (const CommandRecord& record : history_.commands) JudgeExtensionCommand(record);
    for (const auto& [key, writes] : history_.objects) {
      JudgeOwner(key, writes);
      switch (ClassOf(PathIn(key))) {
        case PathClass::kDocument:
          JudgeDocument(key, writes);
          break;
        case PathClass::kImmutable:
          JudgeImmutable(key, writes);
          break;
        case PathClass::kMarker:
          JudgeMarker(key, writes);
          break;
        case PathClass::kRecord:
          JudgeRecord(key, writes);
          break;
        default:
          break;
      }
    }
    JudgeDocumentChanges();
    JudgeTierChanges();
    JudgeAccess();
    for (const std::string& place : Places()) {
      if (!IsUsed(place)) continue;
      JudgeLock(place + std::string(kLockKey));
      JudgeIndex(place);
    }
    JudgeConvergence();
    return std::move(losses_);
  }

 private:
  template <typename... Args>
  void Lose(fmt::format_string<Args...> text, Args&&... args) {
    losses_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  const CommandRecord& CommandOf(int id) const { return history_.commands[static_cast<std::size_t>(id)]; }
  static std::string Name(const CommandRecord& record) {
    return fmt::format("command {} ({}, {})", record.id, Describe(record.command), NameOf(record.ending));
  }

  // ---- namespaces ----

  std::vector<std::string> Places() const {
    if (!world_.plan().namespaces) return {""};
    return {"", std::string(kTeam) + "/", std::string(kStrangers) + "/"};
  }
  // What a checkout left unannounced in a namespace that it uses no more, it was told of.
  bool IsUsed(const std::string& place) const {
    return place.empty() || std::any_of(checkouts_.begin(), checkouts_.end(),
                                        [&](const CheckoutFiles& files) { return files.place == place; });
  }
  // The same path in the other place that the repository may have it in.
  static std::string TwinOf(const std::string& key) {
    return PlaceOf(key).empty() ? std::string(kTeam) + "/" + key : std::string(PathIn(key));
  }
  // A migration that can't be completed says so, and changes nothing.
  static bool WasToldOfPlaces(const CommandRecord& record) {
    return record.code == "namespace_taken" || record.code == "namespace_not_set" || record.code == "namespace_conflict";
  }
  static bool IsMigration(const CommandRecord& record) {
    return record.command.kind == Kind::kMigrateIn || record.command.kind == Kind::kMigrateOut;
  }
  // Whether a migration of the checkout may have made the write: one under way, or one that left it to be published.
  bool MayMove(int checkout, std::int64_t moment) const {
    return std::any_of(history_.commands.begin(), history_.commands.end(), [&](const CommandRecord& record) {
      return IsMigration(record) && record.code != "namespace_not_set" && record.checkout == checkout && record.start < moment;
    });
  }
  // Whether the key had the bytes before, and no migration has taken them away since.
  bool WasLeftAt(const std::string& key, const std::string& bytes, std::int64_t moment) const {
    const auto found = history_.objects.find(key);
    bool there = false;
    if (found == history_.objects.end()) return false;
    for (const ObjectWrite& write : found->second) {
      if (write.moment >= moment) break;
      if (write.after == bytes) there = true;
      if (!write.after && MayMove(write.checkout, write.moment)) there = false;
    }
    return there;
  }
  // A copy to the other place of what is there, or the removal of what was copied.
  bool IsMove(const std::string& key, const ObjectWrite& write) const {
    if (!world_.plan().namespaces || !MayMove(write.checkout, write.moment)) return false;
    if (write.before && write.after) return false;
    if (write.after) return WasInBucket(TwinOf(key), *write.after, write.moment);
    return write.before && WasLeftAt(TwinOf(key), *write.before, write.moment);
  }
  // Whether what was removed from the key lives on in the other place, by a migration that has ended.
  bool LivesOn(const std::string& key, const std::string& bytes, std::int64_t since) const {
    const std::string twin = TwinOf(key);
    if (!world_.plan().namespaces || history_.Now(twin) != bytes) return false;
    if (!history_.At(key, since)) return false;  // it was gone from there already, with the migration
    const std::vector<ObjectWrite>& writes = history_.objects.at(twin);
    const auto made = std::find_if(writes.rbegin(), writes.rend(), [&](const ObjectWrite& write) { return !write.before; });
    const CommandRecord& maker = CommandOf(made->command);
    return IsMigration(maker) && maker.ending == Ending::kDone;
  }
  std::vector<Content> NowAtBoth(const std::string& key) const {
    if (!world_.plan().namespaces) return {history_.Now(key)};
    return {history_.Now(key), history_.Now(TwinOf(key))};
  }

  // What is in a namespace is its repository's alone; what is in none is not the stranger's.
  void JudgeOwner(const std::string& key, const std::vector<ObjectWrite>& writes) {
    const auto& stranger = world_.plan().stranger;
    const std::string_view path = PathIn(key);
    if (!stranger || (ClassOf(path) == PathClass::kLocal && !path.starts_with(kIndexPrefix))) return;
    const std::string_view place = PlaceOf(key);
    bool strangers = !place.empty();
    if (place.starts_with(kTeam)) {
      const auto claim = history_.objects.find(std::string(place) + std::string(kNamespaceKey));
      strangers = claim != history_.objects.end() && claim->second.front().checkout == *stranger;
    }
    for (const ObjectWrite& write : writes) {
      if ((write.checkout == *stranger) != strangers) Lose("{} changed {}, which is another repository's", Name(CommandOf(write.command)), key);
    }
  }

  // ---- the lockfile ----

  static std::optional<Json> EntryOf(const Lockfile& lockfile, const std::string& name) {
    const Json* entry = lockfile.Find(name);
    return entry == nullptr ? std::nullopt : std::optional(*entry);
  }

  struct LockfileVersion {
    std::int64_t moment = 0;
    int command = 0;
    Lockfile lockfile;
    bool moved = false;
  };
  const std::vector<LockfileVersion>& VersionsIn(const std::string& place) const { return versions_.at(place); }

  // What stood for a name at some time during a command.
  std::vector<std::optional<Json>> EntriesDuring(const std::string& name, const CommandRecord& record) const {
    std::vector<std::optional<Json>> entries;
    std::optional<Json> before;
    for (const LockfileVersion& version : VersionsIn(record.place)) {
      if (version.moment > record.end) break;
      if (version.moment >= record.start) {
        if (entries.empty()) entries.push_back(before);
        entries.push_back(EntryOf(version.lockfile, name));
      }
      before = EntryOf(version.lockfile, name);
    }
    if (entries.empty()) entries.push_back(before);
    return entries;
  }

  static bool HasEffect(const CommandRecord& record, const std::optional<Json>& entry) {
    if (record.command.kind == Kind::kRemove) return !entry;
    return entry && EntryVersionText(*entry) == record.version;
  }

  static bool Names(const CommandRecord& record, const std::string& name) {
    if (record.command.kind == Kind::kUpdate) return true;
    if (record.command.kind == Kind::kRemove) return record.name == name;
    if (record.command.kind != Kind::kPull) return false;
    const auto names = NamesThatAPullMayChange(record.name);
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  // Whether an earlier command of the same checkout may have left this very change to be published, and it was made
  // on what it now goes over.
  bool IsReplay(const CommandRecord& now, const std::string& name, const std::optional<Json>& before,
                const std::optional<Json>& after) const {
    for (const CommandRecord& earlier : history_.commands) {
      if (earlier.checkout != now.checkout || earlier.end >= now.end || !Names(earlier, name)) continue;
      // An update leaves to its later pulls what its first could not publish.
      const bool outstanding = MayBeOutstanding(earlier) || earlier.command.kind == Kind::kUpdate;
      if (!outstanding) continue;
      if (earlier.command.kind == Kind::kRemove ? after.has_value() : !after) continue;
      for (const auto& base : EntriesDuring(name, earlier)) {
        if (SameEntry(base, before)) return true;
      }
    }
    return false;
  }

  void ReadLockfiles(const std::string& place) {
    const std::string key = place + std::string(kLockfilePath);
    const auto found = history_.objects.find(key);
    std::vector<LockfileVersion>& versions = versions_[place];
    versions.push_back({});
    if (found != history_.objects.end()) {
      for (const ObjectWrite& write : found->second) {
        LockfileVersion version{write.moment, write.command, {}, IsMove(key, write)};
        if (write.after) version.lockfile = Lockfile::Parse(*write.after, "the bucket's lockfile");
        versions.push_back(std::move(version));
      }
    }
  }

  void JudgeLockfile(const std::vector<LockfileVersion>& versions) {
    for (std::size_t i = 1; i < versions.size(); ++i) {
      if (!versions[i].moved) JudgeLockfileChange(versions[i - 1], versions[i]);
    }
  }

  void JudgeLockfileChange(const LockfileVersion& before, const LockfileVersion& after) {
    std::set<std::string> names;
    for (const auto& [name, entry] : before.lockfile.entries()) names.insert(name);
    for (const auto& [name, entry] : after.lockfile.entries()) names.insert(name);
    const CommandRecord& record = CommandOf(after.command);
    for (const std::string& name : names) {
      const auto was = EntryOf(before.lockfile, name);
      const auto is = EntryOf(after.lockfile, name);
      if (SameEntry(was, is) || Names(record, name) || IsReplay(record, name, was, is)) continue;
      Lose("{} changed the lockfile's entry of {} from {} to {}, which it does not name", Name(record), name,
           was ? EntryVersionText(*was) : "none", is ? EntryVersionText(*is) : "none");
    }
  }

  void JudgeExtensionCommand(const CommandRecord& record) {
    if (record.command.kind != Kind::kPull && record.command.kind != Kind::kRemove) return;
    if (record.ending == Ending::kDone) {
      const auto entries = EntriesDuring(record.name, record);
      if (std::none_of(entries.begin(), entries.end(), [&](const auto& entry) { return HasEffect(record, entry); })) {
        Lose("{} was acknowledged, but {} never was so in the lockfile", Name(record), record.name);
      }
      return;
    }
    if (record.ending != Ending::kUnpublished) return;
    const auto settled = [&](const auto& of_place) { return SettledIn(of_place.second, record); };
    if (std::none_of(versions_.begin(), versions_.end(), settled)) Lose("{} was acknowledged as unpublished and has never been published", Name(record));
  }

  bool SettledIn(const std::vector<LockfileVersion>& versions, const CommandRecord& record) const {
    std::optional<Json> last;
    bool settled = false;
    for (const LockfileVersion& version : versions) {
      const auto entry = EntryOf(version.lockfile, record.name);
      if (version.moment >= record.start) {
        // Published, or a peer's change of the name came later.
        settled = settled || HasEffect(record, entry) ||
                  (!SameEntry(entry, last) && CommandOf(version.command).checkout != record.checkout);
      } else {
        settled = false;
      }
      last = entry;
    }
    for (const auto& entry : EntriesDuring(record.name, record)) settled = settled || HasEffect(record, entry);
    for (const CommandRecord& later : history_.commands) {
      settled = settled || (later.id > record.id && later.checkout == record.checkout && Names(later, record.name) &&
                            later.ending != Ending::kFailed);
    }
    return settled;
  }

  // ---- documents ----

  struct Origin {
    Content parent;
    int command = 0;
    int checkout = 0;
    std::int64_t moment = 0;
  };
  using Origins = std::map<std::string, Origin>;  // by content

  bool WasInBucket(const std::string& path, const std::string& content, std::int64_t before) const {
    const auto found = history_.objects.find(path);
    if (found == history_.objects.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const ObjectWrite& write) {
      return write.moment < before && write.after == content;
    });
  }
  bool WasAbsentWithin(const std::string& path, std::int64_t from, std::int64_t to) const {
    if (!history_.At(path, from)) return true;
    const auto& writes = history_.objects.at(path);
    return std::any_of(writes.begin(), writes.end(), [&](const ObjectWrite& write) {
      return write.moment >= from && write.moment <= to && !write.after;
    });
  }

  // Contents that commands made on a checkout, each with what it was made from.
  const Origins& OriginsOf(const std::string& path) {
    const auto [place, is_new] = origins_.emplace(path, Origins());
    if (!is_new) return place->second;
    const auto files = history_.files.find(path);
    if (files == history_.files.end()) return place->second;
    for (const FileWrite& write : files->second) {
      if (!write.after || WasInBucket(path, *write.after, write.moment)) continue;
      const bool copied = MayMove(write.checkout, write.moment) && WasInBucket(TwinOf(path), *write.after, write.moment);
      if (copied) continue;
      place->second.emplace(*write.after, Origin{write.before, write.command, write.checkout, write.moment});
    }
    return place->second;
  }

  bool IsMadeFrom(const Origins& origins, const std::string& content, const std::string& ancestor) const {
    std::string now = content;
    for (int depth = 0; depth < 1000; ++depth) {
      const auto origin = origins.find(now);
      if (origin == origins.end() || !origin->second.parent) return false;
      if (*origin->second.parent == ancestor) return true;
      now = *origin->second.parent;
    }
    return false;
  }

  // Whether the content goes back to a document that its checkout made where it saw none.
  bool IsNewDocument(const Origins& origins, const std::string& content, const std::string& path) const {
    std::string now = content;
    for (int depth = 0; depth < 1000; ++depth) {
      const auto origin = origins.find(now);
      if (origin == origins.end()) return false;
      if (!origin->second.parent) return true;
      // What it was made from is known to be published: so it was made on a document that a peer has removed since.
      const CommandRecord& maker = CommandOf(origins.contains(*origin->second.parent)
                                                 ? origins.at(*origin->second.parent).command
                                                 : origin->second.command);
      if (!origins.contains(*origin->second.parent)) return false;
      if (maker.ending == Ending::kDone && WasInBucket(path, *origin->second.parent, maker.end)) return false;
      now = *origin->second.parent;
    }
    return false;
  }

  bool RemovedHere(const Origins& origins, const std::string& path, int checkout, const std::string& content,
                   std::int64_t before) const {
    const auto files = history_.files.find(path);
    if (files == history_.files.end()) return false;
    const auto removes = [](const CommandRecord& record) {
      return IsDeletion(record) || record.command.kind == Kind::kRenameModel;
    };
    Content here;
    for (const FileWrite& write : files->second) {
      if (write.moment > before) break;
      if (write.checkout != checkout) continue;
      const bool removed = write.before && !write.after && removes(CommandOf(write.command));
      if (removed && (*write.before == content || IsMadeFrom(origins, *write.before, content))) return true;
      here = write.after;
    }
    // Or its command died between the record of the removal and the removal itself.
    if (!here || (*here != content && !IsMadeFrom(origins, *here, content))) return false;
    return std::any_of(history_.commands.begin(), history_.commands.end(), [&](const CommandRecord& record) {
      return record.checkout == checkout && record.ending == Ending::kCrashed && removes(record) && record.path == path &&
             record.end < before;
    });
  }

  void JudgeDocument(const std::string& path, const std::vector<ObjectWrite>& writes) {
    const Origins& origins = OriginsOf(path);
    for (const ObjectWrite& write : writes) {
      if (write.before == write.after) continue;
      bool good = IsMove(path, write);
      if (good) continue;
      if (!write.after) {
        good = RemovedHere(origins, path, write.checkout, *write.before, write.moment);
      } else if (write.before) {
        good = IsMadeFrom(origins, *write.after, *write.before) ||
               (IsNewDocument(origins, *write.after, path) &&
                RemovedHere(origins, path, write.checkout, *write.before, write.moment));
      } else {
        good = IsNewDocument(origins, *write.after, path);
      }
      if (!good) {
        Lose("{} replaced {} by {} at {}, which was not made from it", Name(CommandOf(write.command)), Show(write.before),
             Show(write.after), path);
      }
    }
  }

  bool KeptAsConflict(int checkout, const std::string& path, const std::string& content) const {
    const auto& conflicts = checkouts_[static_cast<std::size_t>(checkout)].conflicts;
    const auto found = conflicts.find(std::string(PathIn(path)));
    return found != conflicts.end() && found->second.contains(content);
  }

  // Whether a later command of the checkout went on from this content.
  bool GoneOnFrom(const std::vector<FileWrite>& files, const FileWrite& change) {
    return std::any_of(files.begin(), files.end(), [&](const FileWrite& later) {
      return later.moment > change.moment && later.checkout == change.checkout && later.command != change.command &&
             later.before == change.after && CommandOf(later.command).command.kind != Kind::kSync &&
             later.after != change.after;
    });
  }

  bool PeerChangedSince(const std::string& path, int checkout, std::int64_t since) const {
    const auto found = history_.objects.find(path);
    if (found == history_.objects.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const ObjectWrite& write) {
      return write.moment > since && write.checkout != checkout;
    });
  }

  void JudgeDocumentChanges() {
    for (const auto& [path, files] : history_.files) {
      if (ClassOf(PathIn(path)) != PathClass::kDocument) continue;
      const Origins& origins = OriginsOf(path);
      // The last change that each command made of the path.
      std::map<int, const FileWrite*> last;
      for (const FileWrite& change : files) last[change.command] = &change;
      for (const FileWrite& change : files) {
        const CommandRecord& record = CommandOf(change.command);
        const bool made_here = change.after && origins.contains(*change.after) && origins.at(*change.after).command == record.id &&
                               origins.at(*change.after).moment == change.moment;
        if (made_here) JudgeDocumentChange(path, files, change, record);
        const bool removes = IsDeletion(record) && !change.after && last[record.id] == &change;
        if (removes) JudgeRemoval(path, change, record);
      }
    }
  }

  void JudgeDocumentChange(const std::string& path, const std::vector<FileWrite>& files, const FileWrite& change,
                           const CommandRecord& record) {
    if (record.ending == Ending::kFailed) return;  // a peer had created the path: nothing of it is to be kept
    // A run takes the model that a peer has made meanwhile.
    const bool takes_peers = LeavesVersions(record) && !change.before;
    if (takes_peers && record.ending == Ending::kDone && history_.objects.contains(path)) return;
    const bool published = WasInBucket(path, *change.after, history_.moment + 1);
    if (record.ending == Ending::kDone) {
      if (!WasInBucket(path, *change.after, record.end)) Lose("{} was acknowledged, but its {} was not published", Name(record), path);
      return;
    }
    // It was told (or would have been) that the path is a peer's already; then nothing of it is to be kept.
    const bool creates = record.command.kind == Kind::kCreateModel || record.command.kind == Kind::kCreateWorkflow || record.command.kind == Kind::kRenameModel ||
                         LeavesVersions(record);
    const bool untold = record.ending == Ending::kCrashed || LeavesVersions(record);
    if (untold && creates && !change.before && history_.objects.contains(path)) return;
    // What a checkout left unpublished in a namespace that it uses no more, it was told of.
    if (PlaceOf(path).starts_with(kStrangers) && checkouts_[static_cast<std::size_t>(record.checkout)].place != PlaceOf(path)) return;
    if (published || KeptAsConflict(record.checkout, path, *change.after) || GoneOnFrom(files, change)) return;
    Lose("{} changed {}, which was neither published nor kept as a conflict", Name(record), path);
  }

  void JudgeRemoval(const std::string& path, const FileWrite& change, const CommandRecord& record) {
    if (record.ending == Ending::kDone) {
      if (!WasAbsentWithin(path, record.start, record.end)) Lose("{} was acknowledged, but {} was not removed", Name(record), path);
      if (change.before && LivesOn(path, *change.before, record.start)) Lose("{} was acknowledged, but {} lives on", Name(record), TwinOf(path));
    } else if (record.ending == Ending::kUnpublished) {
      const bool settled = WasAbsentWithin(path, record.start, history_.moment) ||
                           PeerChangedSince(path, record.checkout, record.start) ||
                           std::any_of(history_.files.at(path).begin(), history_.files.at(path).end(), [&](const FileWrite& later) {
                             return later.moment > change.moment && later.checkout == record.checkout;
                           });
      if (!settled) Lose("{} was acknowledged as unpublished, but {} was never removed", Name(record), path);
    }
  }

  // ---- the data tier ----

  // Whether a command of the write's checkout was to remove data: one under way, or an earlier one that left it to be
  // published.
  bool RemovesData(const ObjectWrite& write) const {
    return std::any_of(history_.commands.begin(), history_.commands.end(), [&](const CommandRecord& record) {
      const bool removes = record.command.kind == Kind::kDeleteData || record.command.kind == Kind::kCollectData;
      return removes && record.checkout == write.checkout && record.start < write.moment &&
             (record.end > CommandOf(write.command).start || MayBeOutstanding(record));
    });
  }

  void JudgeImmutable(const std::string& path, const std::vector<ObjectWrite>& writes) {
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const ObjectWrite& write = writes[i];
      if ((!write.after && RemovesData(write)) || IsMove(path, write)) continue;
      // A run that gave its version another number takes the first one back.
      const bool takes_back = !write.after && i > 0 && writes[i - 1].checkout == write.checkout && write.before &&
                              LeavesVersions(CommandOf(writes[i - 1].command));
      if (takes_back) continue;
      if (write.before && write.before != write.after) {
        Lose("{} replaced the data version {} ({} by {})", Name(CommandOf(write.command)), path, Show(write.before), Show(write.after));
      }
    }
  }

  void JudgeMarker(const std::string& path, const std::vector<ObjectWrite>& writes) {
    std::uint64_t highest = 0;
    for (const ObjectWrite& write : writes) {
      if (IsMove(path, write)) {
        if (!write.after) highest = 0;  // the name goes on in the other place
        continue;
      }
      if (!write.before && write.after && NumberIn(write.after) <= highest) {
        Lose("{} gave the marker {} the number {} again", Name(CommandOf(write.command)), path, NumberIn(write.after));
      }
      highest = std::max(highest, NumberIn(write.after));
      if (!write.after && RemovesData(write)) continue;
      // Without the lock that keeps them apart, one process of a checkout may publish what another one is about to take back.
      if (!world_.plan().use_locks && HasTwoLanes(write.checkout)) continue;
      if (NumberIn(write.after) < NumberIn(write.before)) {
        Lose("{} set the marker {} back from {} to {}", Name(CommandOf(write.command)), path, NumberIn(write.before), NumberIn(write.after));
      }
    }
  }

  bool HasTwoLanes(int checkout) const {
    return std::any_of(history_.commands.begin(), history_.commands.end(), [&](const CommandRecord& record) {
      return record.checkout == checkout && record.command.lane != 0;
    });
  }

  void JudgeRecord(const std::string& path, const std::vector<ObjectWrite>& writes) {
    for (const ObjectWrite& write : writes) {
      if (IsMove(path, write)) continue;
      const bool owns = PathIn(path).starts_with("outputs/")
                            ? write.checkout == writes.front().checkout
                            : path.find(fmt::format("-c{}.yaml", write.checkout)) != std::string::npos;
      const auto ended = [](const Content& content) { return content && content->find("status: succeeded") != std::string::npos; };
      if (ended(write.before) && !ended(write.after)) Lose("{} set the ended record {} back", Name(CommandOf(write.command)), path);
      // Two runs of one model in one checkout, in one millisecond, without the lock that keeps them apart.
      const bool meet = PathIn(path).starts_with("outputs/") && !world_.plan().use_locks && HasTwoLanes(write.checkout);
      const bool goes_on = path.ends_with(".log") && write.before && write.after && write.after->starts_with(*write.before);
      if (!owns && !meet && !goes_on && write.before != write.after) Lose("{} replaced the record {} of another", Name(CommandOf(write.command)), path);
      const auto step = [](const Content& content) {
        const std::size_t at = content ? content->find("step: ") : std::string::npos;
        return at == std::string::npos ? 0 : NumberIn(content->substr(at + 6));
      };
      if (step(write.after) < step(write.before)) {
        Lose("{} set the record {} back from step {} to {}", Name(CommandOf(write.command)), path, step(write.before), step(write.after));
      }
    }
  }

  bool WasRemoved(const std::string& path, const std::string& bytes) const {
    const auto found = history_.objects.find(path);
    return found != history_.objects.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const ObjectWrite& write) {
             return !write.after && write.before == bytes && RemovesData(write);
           });
  }

  void JudgeTierChanges() {
    for (const CommandRecord& record : history_.commands) {
      if (record.ending != Ending::kDone && record.ending != Ending::kUnpublished) continue;
      for (std::size_t i = 0; i + 1 < record.contents.size(); i += 2) {
        const std::string& path = record.contents[i];
        const std::string& bytes = record.contents[i + 1];
        const std::vector<Content> now = NowAtBoth(path);
        const auto any = [&](const auto& holds) { return std::any_of(now.begin(), now.end(), holds); };
        bool there = false;
        switch (ClassOf(PathIn(path))) {
          case PathClass::kImmutable: {
            const auto& tier = checkouts_[static_cast<std::size_t>(record.checkout)].tier;
            const bool both_kept = now.front() && tier.contains(path) && tier.at(path) == bytes;  // told at each push
            there = any([&](const Content& content) { return content == bytes; }) ||
                    (record.ending == Ending::kUnpublished && both_kept) || WasRemoved(path, bytes);
            break;
          }
          case PathClass::kMarker:
            there = any([&](const Content& content) { return NumberIn(content) >= NumberIn(bytes); });
            break;
          case PathClass::kRecord:
            there = record.ending == Ending::kDone ? WasInBucket(path, bytes, record.end)
                                                   : WasInBucket(path, bytes, history_.moment + 1) ||
                                                         GoneOnFrom(history_.files.at(path), {.moment = record.start, .command = record.id, .checkout = record.checkout, .before = {}, .after = bytes});
            break;
          case PathClass::kSegment:
            there = any([&](const Content& content) { return content && content->find(bytes) != std::string::npos; });
            break;
          default:
            there = true;
        }
        if (!there) Lose("{} was acknowledged, but its {} is not in the bucket", Name(record), path);
      }
    }
  }

  // ---- access ----

  static bool HasMember(const std::string& content, const CommandRecord& record) {
    const auto group = TryParseJson(content);
    if (!group || StringMember(*group, "name") != record.name) return false;
    return content.find("\"" + record.version.substr(record.version.find(':') + 1) + "\"") != std::string::npos;
  }

  // Whether the group, as every checkout reads it in the end, has the member that the command added.
  bool IsMember(const CommandRecord& record) const {
    for (const auto& [key, writes] : history_.objects) {
      if (!key.starts_with("data/swamp/group/") || !key.ends_with("/latest") || !writes.back().after) continue;
      const Content raw = history_.Now(key.substr(0, key.size() - 6) + *writes.back().after + "/raw");
      if (raw && HasMember(*raw, record)) return true;
    }
    // Its user was told that it counts only if nobody changes the group first.
    return record.ending == Ending::kUnpublished &&
           std::any_of(history_.commands.begin(), history_.commands.end(), [&](const CommandRecord& other) {
             return other.command.kind == Kind::kAddMember && other.name == record.name && other.checkout != record.checkout &&
                    other.end > record.start;
           });
  }

  bool KeepsSecret(const CommandRecord& record) const {
    const auto found = history_.objects.find("_control/token-secrets/values/" + record.name);
    if (found == history_.objects.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const ObjectWrite& write) {
      return write.command == record.id && write.after && write.after == found->second.back().after;
    });
  }

  void JudgeAccess() {
    for (const CommandRecord& record : history_.commands) {
      const bool acknowledged = record.ending == Ending::kDone || record.ending == Ending::kUnpublished;
      if (!acknowledged) continue;
      // Two processes of one checkout share their files: only the lock keeps one from publishing what the other takes back.
      const bool meet = !world_.plan().use_locks && HasTwoLanes(record.checkout);
      if (record.command.kind == Kind::kAddMember && !meet && !IsMember(record)) {
        Lose("{} was acknowledged, but {} lacks {}", Name(record), record.name, record.version);
      }
      if (record.command.kind == Kind::kMintToken && record.ending == Ending::kDone && !KeepsSecret(record)) {
        Lose("{} was acknowledged, but its secret {} is gone", Name(record), record.name);
      }
    }
    const auto key = history_.objects.find("_control/token-secrets/encryption-key");
    if (key == history_.objects.end()) return;
    for (const ObjectWrite& write : key->second) {
      if (write.before && write.before != write.after) Lose("{} replaced the key of the token secrets", Name(CommandOf(write.command)));
    }
  }

  // ---- the lock ----

  void JudgeLock(const std::string& key) {
    const auto found = history_.objects.find(key);
    if (found == history_.objects.end()) return;
    const ObjectWrite* before = nullptr;
    for (const ObjectWrite& write : found->second) {
      const bool others = before != nullptr && before->after && before->process != write.process;
      const bool forced = CommandOf(write.command).command.kind == Kind::kReleaseLock;
      const bool alive = others && write.time - before->time < Duration(30'000);
      // Where deleting can't be made conditional, a late release can hit another's lock: what is lost is time.
      const bool unconditional = !write.after && !world_.plan().server.delete_condition;
      if (others && alive && !forced && !unconditional) {
        Lose("{} took away a lock that {} had kept alive {} ms before", Name(CommandOf(write.command)),
             Name(CommandOf(before->command)), (write.time - before->time).count());
      }
      before = &write;
    }
    // One that arrives when its sender has long given up is taken over when it is stale.
    if (before->after && !before->late) Lose("the lock is held for ever, by {}", Name(CommandOf(before->command)));
  }

  // ---- in the end ----

  std::map<std::string, std::string> FinalObjects(const std::string& place) const {
    std::map<std::string, std::string> objects;
    for (const auto& [key, writes] : history_.objects) {
      if (!writes.back().after || PlaceOf(key) != place || ClassOf(PathIn(key)) == PathClass::kLocal) continue;
      objects[key] = *writes.back().after;
    }
    return objects;
  }

  // Of a name that was removed after it had reached the number: a version that was made here without knowing that is told
  // of at each push.
  bool IsUsedUp(const std::string& marker, const std::string& number) const {
    const auto found = history_.objects.find(marker);
    return found != history_.objects.end() &&
           std::any_of(found->second.begin(), found->second.end(),
                       [&](const ObjectWrite& write) { return NumberIn(write.before) >= NumberIn(number); });
  }

  // What a run that died had said so far: only a walk finds it.
  bool IsLeftLog(const std::string& path) const {
    return PathIn(path).starts_with("outputs/") && path.ends_with(".log") && !world_.plan().recover_by_sync;
  }

  // A request that its sender has given up arrives after the removal of what it makes: an object that nobody lists.
  bool CameTooLate(const std::string& key) const {
    const ObjectWrite& last = history_.objects.at(key).back();
    return ClassOf(PathIn(key)) == PathClass::kImmutable && last.late && !last.before;
  }

  void JudgeConvergence() {
    for (std::size_t i = 0; i < checkouts_.size(); ++i) {
      const auto objects = FinalObjects(checkouts_[i].place);
      const auto& tier = checkouts_[i].tier;
      if (checkouts_[i].pending_record) Lose("c{} still has an unpublished change of the lockfile on record", i);
      for (const auto& [path, bytes] : objects) {
        const auto here = tier.find(path);
        const bool immutable = ClassOf(PathIn(path)) == PathClass::kImmutable;
        if (here == tier.end()) {
          if (!CameTooLate(path)) Lose("c{} lacks {}, which is in the bucket", i, path);
        } else if (here->second != bytes && !immutable && !IsLeftLog(path)) {
          Lose("c{} has {} of {}, the bucket has {}", i, Show(here->second), path, Show(bytes));
        }
      }
      for (const auto& [path, bytes] : tier) {
        if (IsLeftLog(path)) continue;
        if (ClassOf(PathIn(path)) == PathClass::kMarker && IsUsedUp(path, bytes)) continue;
        if (!objects.contains(path)) Lose("c{} has {}, which is not in the bucket", i, path);
      }
    }
  }

  void JudgeIndex(const std::string& place) {
    const std::string prefix = place + std::string(kIndexPrefix);
    std::map<std::string, IndexEntry> entries;
    for (const auto& [key, writes] : history_.objects) {
      if (!key.starts_with(prefix) || PathIn(key) == kMetaKey || !writes.back().after) continue;
      const auto shard = IndexShard::Parse(*writes.back().after);
      if (!shard) {
        Lose("the shard {} is torn", key);
        continue;
      }
      for (const auto& [path, entry] : shard->Entries()) entries[place + path] = entry;
    }
    const auto objects = FinalObjects(place);
    for (const auto& [path, bytes] : objects) {
      const auto entry = entries.find(path);
      if (entry == entries.end()) {
        if (!CameTooLate(path)) Lose("the index lacks {}", path);
      } else if (entry->second.size != bytes.size() || (!entry->second.sha256.empty() && entry->second.sha256 != Sha256Hex(bytes))) {
        Lose("the index says of {} what it is not", path);
      }
    }
    for (const auto& [path, entry] : entries) {
      // The entry of a version that was removed while it was announced is left for readers to take out.
      const auto writes = history_.objects.find(path);
      const bool removed = ClassOf(PathIn(path)) == PathClass::kImmutable && writes != history_.objects.end() &&
                           !writes->second.back().after && RemovesData(writes->second.back());
      if (!objects.contains(path) && !removed) Lose("the index has {}, which is not there", path);
    }
  }

  SimulatedWorld& world_;
  History& history_;
  std::vector<CheckoutFiles> checkouts_;
  std::map<std::string, std::vector<LockfileVersion>> versions_;  // by place
  std::map<std::string, Origins> origins_;
  std::vector<std::string> losses_;
};

}  // namespace

std::vector<std::string> FindLosses(SimulatedWorld& world) { return Judge(world).Run(); }

}  // namespace swamp::simulation

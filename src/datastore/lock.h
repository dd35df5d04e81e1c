#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "objectstore/object_store.h"
#include "util/executor.h"
#include "util/json.h"

namespace swamp {

// What a lock object says. Format: docs/s3-guide.md.
struct LockInfo {
  std::string holder;    // "user@host"
  std::string hostname;
  std::int64_t pid = 0;
  std::string acquired_at;
  Duration ttl{30'000};
  std::string nonce;  // tells this acquisition from every other

  // An empty, torn or foreign body is a lock of unknown holder.
  static LockInfo Parse(std::string_view body);
  std::string Serialize() const;
};

// A lock as it stands in the store, judged by the store's clock alone: nobody's own clock counts.
struct LockView {
  LockInfo info;
  ETag etag;
  Duration age{};  // since it was written or last kept alive
  bool stale() const;
};

// Nothing: nobody holds it.
std::optional<LockView> LookAtLock(const Context& context, ObjectStore& store, const std::string& key);

struct LockOptions {
  Duration wait{60'000};  // then UserError lock_timeout (exit 75)
  Duration ttl{30'000};
};

// Variables by which a command that holds a lock tells the programs that it runs whose children they are: the process id of
// the nearest such command, as other programs of this kind say it, and the ids of all, separated by blanks.
inline constexpr const char* kLockHolderPid = "SWAMP_LOCK_HOLDER_PID";
inline constexpr const char* kLockHolderPids = "SWAMP_LOCK_HOLDER_PIDS";
// What to set of them for a child of this process.
std::map<std::string, std::string> LockHolderVariables(const Context& context);
// Whether the lock is held by a command that this one is a part of: it cannot be waited for.
bool IsHeldByAncestor(const Context& context, const LockInfo& lock);

// A lease on one key, kept alive from behind until it is released. It saves writers from wasting each
// other's time; that nothing is lost rests on conditional writes alone.
//
// Made with a create-only PUT; a stale one is taken over by a PUT on its ETag, never by deleting it.
class StoreLock {
 public:
  virtual ~StoreLock() = default;
  // Throws UserError lock_lost when somebody else has taken the lock meanwhile (the process was paused
  // for longer than its ttl). Call before each write that the lock is to cover.
  virtual void EnsureHeld(const Context& context) = 0;
  // Gives the lock up; another's lock is left alone, with a warning. Never throws for the store's sake:
  // work that succeeded is not undone by a lock that couldn't be removed. Destroying does the same.
  virtual void Release(const Context& context) = 0;
};

// Waits for the lock; says on the log whom it waits for. Throws lock_timeout naming holder, host, pid and age; at once when
// the holder is a command that this one is a part of.
std::unique_ptr<StoreLock> AcquireLock(const Context& context, ObjectStore& store, const std::string& key,
                                       const LockOptions& options);

// Removes a lock whoever holds it, as long as it is still the one that was looked at.
// Nothing: nobody held it, or it changed hands just now.
std::optional<LockInfo> BreakLock(const Context& context, ObjectStore& store, const std::string& key);

// A lock that is always free; shows that correctness doesn't rest on locks.
std::unique_ptr<StoreLock> NoLock();

}  // namespace swamp

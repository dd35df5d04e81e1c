#include "datastore/lock.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/clock.h"
#include "util/context.h"
#include "util/environment.h"
#include "util/log.h"
#include "util/random.h"
#include "util/rules.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kLog = "datastore·lock";
constexpr Duration kUnknownTtl{30'000};
constexpr Duration kLongestTtl = std::chrono::minutes(10);
// Last-Modified counts whole seconds.
constexpr Duration kClockGrain{1'000};
constexpr std::uint64_t kBodyLimit = 64 << 10;

std::string DescribeHolder(const LockView& view) {
  if (view.info.nonce.empty() && view.info.holder.empty()) {
    return fmt::format("an unknown holder, for {}", DescribeDuration(view.age));
  }
  return fmt::format("{} (host {}, pid {}), last alive {} ago", Printable(view.info.holder, 100),
                     Printable(view.info.hostname, 100), view.info.pid, DescribeDuration(view.age));
}

class HeldLock final : public StoreLock {
 public:
  HeldLock(const Context& context, ObjectStore& store, std::string key, LockInfo info, ETag etag)
      : context_(context), store_(store), key_(std::move(key)), info_(std::move(info)), etag_(std::move(etag)) {
    confirmed_ = context.clock().Elapsed();
    heartbeat_ = context.executor().Start(context, [this](const Context& task) { KeepAlive(task); });
  }

  ~HeldLock() override {
    try {
      Release(context_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): an interrupted release leaves a lock that goes stale
    }
  }

  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  void EnsureHeld(const Context& context) override {
    {
      const std::lock_guard guard(mutex_);
      if (!lost_ && context.clock().Elapsed() - confirmed_ < info_.ttl / 2) return;
    }
    if (!IsLost()) Beat(context);
    if (IsLost()) {
      throw UserError("lock_lost",
                      fmt::format("the lock {} was taken over by another process while this one was paused", key_),
                      "Nothing was overwritten. Run the command again.");
    }
  }

  void Release(const Context& context) override {
    if (released_) return;
    released_ = true;
    heartbeat_.reset();  // waits for a beat that is under way
    if (lost_) return;
    // A command that is being interrupted still has to give its locks back.
    Cancellation unhurried;
    const Context calm = context.WithCancellation(unhurried).WithTimeout(std::chrono::seconds(10));
    try {
      RemoveOwn(calm);
    } catch (const UserError& error) {
      context.log().Warn(kLog, fmt::format("the lock {} could not be removed and stays until it is stale: {}",
                                           key_, error.message()));
    }
  }

 private:
  bool IsLost() {
    const std::lock_guard guard(mutex_);
    return lost_;
  }

  void KeepAlive(const Context& task) {
    for (;;) {
      task.clock().Sleep(task, info_.ttl / 3);
      try {
        Beat(task);
      } catch (const StoreError&) {  // NOLINT(bugprone-empty-catch): EnsureHeld asks again
      }
      if (IsLost()) return;
    }
  }

  // One beat at a time. Writes the same lock anew, so that the store's clock sees it young.
  void Beat(const Context& context) {
    const std::lock_guard beat(beat_mutex_);
    ETag etag;
    {
      const std::lock_guard guard(mutex_);
      if (lost_) return;
      etag = etag_;
    }
    // Other programs judge a lock's age by this field; and it makes each beat an ETag of its own.
    LockInfo renewed = info_;
    renewed.acquired_at = FormatTime(context.clock().Now());
    const Duration before = context.clock().Elapsed();
    const PutResult result = store_.Put(context, key_, Body::FromBytes(renewed.Serialize()),
                                        Condition::Matches(etag), {.writer = info_.holder});
    const std::lock_guard guard(mutex_);
    if (result.stored()) {
      etag_ = result.etag;
      confirmed_ = before;
    } else {
      lost_ = true;
    }
  }

  void RemoveOwn(const Context& context) {
    ETag etag = etag_;
    if (!store_.capabilities().conditional_delete) {
      // Whose lock it is shows in the nonce; the store can't check it for us.
      const auto object = GetBytes(context, store_, key_, kBodyLimit);
      if (!object) return;
      if (LockInfo::Parse(object->bytes).nonce != info_.nonce) return WarnTaken(context);
      etag = object->state.info.etag;
    }
    if (store_.Delete(context, key_, etag) == DeleteOutcome::kRefused) WarnTaken(context);
  }

  void WarnTaken(const Context& context) const {
    context.log().Warn(kLog, fmt::format("the lock {} is another process's by now and was left alone", key_));
  }

  Context context_;
  ObjectStore& store_;
  std::string key_;
  LockInfo info_;
  bool released_ = false;
  std::mutex beat_mutex_;
  std::mutex mutex_;  // for what follows
  ETag etag_;
  Duration confirmed_{};
  bool lost_ = false;
  std::unique_ptr<BackgroundTask> heartbeat_;  // last: it uses all of the above
};

class FreeLock final : public StoreLock {
 public:
  void EnsureHeld(const Context&) override {}
  void Release(const Context&) override {}
};

// A holder on this host whose process has ended will not come back. (Were it wrong: the holder's next beat finds out.)
bool IsHolderDead(const Context& context, const LockInfo& lock) {
  return lock.pid > 0 && lock.hostname == context.environment().HostName() &&
         !context.environment().IsProcessAlive(lock.pid);
}

LockInfo NewLock(const Context& context, Duration ttl) {
  LockInfo info;
  info.holder = context.environment().Holder();
  info.hostname = context.environment().HostName();
  info.pid = context.environment().ProcessId();
  info.acquired_at = FormatTime(context.clock().Now());
  info.ttl = ttl;
  info.nonce = context.random().Uuid();
  return info;
}

}  // namespace

std::map<std::string, std::string> LockHolderVariables(const Context& context) {
  const std::string own = std::to_string(context.environment().ProcessId());
  const auto above = context.environment().GetNonEmpty(kLockHolderPids);
  return {{kLockHolderPid, own}, {kLockHolderPids, above ? *above + " " + own : own}};
}

bool IsHeldByAncestor(const Context& context, const LockInfo& lock) {
  if (lock.pid <= 0 || lock.hostname != context.environment().HostName()) return false;
  const std::string pid = std::to_string(lock.pid);
  for (const char* name : {kLockHolderPid, kLockHolderPids}) {
    const std::vector<std::string> pids = Split(context.environment().Get(name).value_or(""), ' ');
    if (std::find(pids.begin(), pids.end(), pid) != pids.end()) return true;
  }
  return false;
}

LockInfo LockInfo::Parse(std::string_view body) {
  LockInfo info;
  info.ttl = kUnknownTtl;
  const auto json = TryParseJson(body);
  if (!json || !json->is_object()) return info;
  info.holder = StringMember(*json, "holder").value_or("");
  info.hostname = StringMember(*json, "hostname").value_or("");
  info.pid = IntegerMember(*json, "pid").value_or(0);
  info.acquired_at = StringMember(*json, "acquiredAt").value_or("");
  info.nonce = StringMember(*json, "nonce").value_or("");
  const auto ttl = IntegerMember(*json, "ttlMs");
  if (ttl && *ttl > 0) info.ttl = std::min(Duration(*ttl), kLongestTtl);
  return info;
}

std::string LockInfo::Serialize() const {
  return CompactJson({{"holder", holder},
                      {"hostname", hostname},
                      {"pid", pid},
                      {"acquiredAt", acquired_at},
                      {"ttlMs", ttl.count()},
                      {"nonce", nonce}}) +
         "\n";
}

bool LockView::stale() const { return age > info.ttl + kClockGrain; }

std::optional<LockView> LookAtLock(const Context& context, ObjectStore& store, const std::string& key) {
  const auto object = GetBytes(context, store, key, kBodyLimit);
  if (!object) return std::nullopt;
  return LockView{LockInfo::Parse(object->bytes), object->state.info.etag,
                  std::max(Duration(0), object->state.store_now - object->state.info.last_modified)};
}

std::unique_ptr<StoreLock> AcquireLock(const Context& context, ObjectStore& store, const std::string& key,
                                       const LockOptions& options) {
  const LockInfo mine = NewLock(context, options.ttl);
  const Body body = Body::FromBytes(mine.Serialize());
  const PutOptions put{.writer = mine.holder};
  const Duration start = context.clock().Elapsed();
  const auto waited = [&] { return context.clock().Elapsed() - start; };
  bool told = false;
  for (Duration pause(50);; pause = std::min(pause * 2, Duration(1'000))) {
    PutResult result = store.Put(context, key, body, Condition::Absent(), put);
    std::optional<LockView> other;
    if (!result.stored()) {
      other = LookAtLock(context, store, key);
      // A send whose answer was lost, and that somebody sent again for us, looks like a refusal.
      if (other && other->info.nonce == mine.nonce) {
        return std::make_unique<HeldLock>(context, store, key, mine, other->etag);
      }
      if (other && (other->stale() || IsHolderDead(context, other->info))) {
        if (RuleOff(Rule::kTakeoverBySwap)) {
          if (const auto now = store.Head(context, key)) other->etag = now->info.etag;
        }
        result = store.Put(context, key, body, Condition::Matches(other->etag), put);
        if (result.stored()) {
          context.log().Warn(kLog, fmt::format("the lock {} was stale and has been taken over from {}", key,
                                               DescribeHolder(*other)));
        }
      }
    }
    if (result.stored()) return std::make_unique<HeldLock>(context, store, key, mine, result.etag);
    if (other && !other->stale() && IsHeldByAncestor(context, other->info)) {
      throw UserError("lock_timeout",
                      fmt::format("the lock {} is held by the command that runs this one (pid {}), so it would never get free",
                                  key, other->info.pid),
                      "Let the command inside work on another model, or run it after the outer one.");
    }
    if (waited() >= options.wait) {
      throw UserError(
          "lock_timeout",
          fmt::format("the lock {} of {} is held by {}", key, store.Describe(),
                      other ? DescribeHolder(*other) : std::string("others in turn")),
          fmt::format("Waited {}. Try again later, or see `swamp datastore lock status`; a lock whose holder "
                      "is dead is removed by `swamp datastore lock release --force`.",
                      DescribeDuration(waited())));
    }
    if (other && !told && waited() >= Duration(1'000)) {
      told = true;
      context.log().Info(kLog, fmt::format("waiting for the lock {}, held by {}", key, DescribeHolder(*other)));
    }
    const Duration jittered =
        pause / 2 + Duration(static_cast<std::int64_t>(
                        context.random().Below(static_cast<std::uint64_t>(pause.count()))));
    context.clock().Sleep(context, std::clamp(options.wait - waited(), Duration(1), jittered));
  }
}

std::optional<LockInfo> BreakLock(const Context& context, ObjectStore& store, const std::string& key) {
  const auto view = LookAtLock(context, store, key);
  if (!view) return std::nullopt;
  const auto again = LookAtLock(context, store, key);
  if (!again || again->info.nonce != view->info.nonce) return std::nullopt;
  if (store.Delete(context, key, again->etag) == DeleteOutcome::kRefused) return std::nullopt;
  return view->info;
}

std::unique_ptr<StoreLock> NoLock() { return std::make_unique<FreeLock>(); }

}  // namespace swamp

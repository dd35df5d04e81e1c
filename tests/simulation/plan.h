#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "objectstore/memory_store.h"
#include "scheduler.h"

namespace swamp::simulation {

// One command that a checkout runs. What it does exactly depends on what it finds.
struct Command {
  enum class Kind {
    kPull,         // extension pull of one of a few names, at one of a few versions
    kRemove,       // extension rm
    kUpdate,       // extension update of all
    kInstall,      // extension install: restores files, publishes what is pending
    kCreateModel,  // fails when the name is taken
    kEditModel,
    kRenameModel,
    kDeleteModel,
    kCreateVault,
    kEditVault,
    kSync,
    kSyncPull,
    kSyncPush,
    kReleaseLock,  // by force
    kWriteData,    // the next version of a data name, then its `latest` marker
    kWriteRun,     // a step further in a workflow run's record
    kAppendLog,
    kEvictData,    // somebody deletes a cached data file by hand
    kRunMethod,    // model method run of a type directly: makes the model, leaves data and a record
    kDeleteData,   // data delete of a name
    kCollectData,  // data gc of one model
    kSetNamespace,    // datastore namespace set
    kUnsetNamespace,  // namespace unset
    kMigrateIn,       // namespace migrate
    kMigrateOut,      // namespace unset --migrate
  };
  int checkout = 0;
  Kind kind = Kind::kSync;
  int target = 0;  // which name
  int detail = 0;  // which version
  int lane = 0;    // commands of one lane run one after the other; a checkout may have two
};
std::string NameOf(Command::Kind kind);

// Something that goes wrong at the `at`-th call (from 0) that a checkout makes to its store, or the `at`-th change that it
// makes to its files.
struct Fault {
  enum class Kind {
    kRefuse,         // a write is answered 412 or 404 although nothing has been looked at
    kConflict,       // 409: not applied, and the client can't know
    kErrorBefore,    // 500, not applied
    kErrorAfter,     // 500, applied
    kThrottle,       // 503
    kUnreachable,    // no connection
    kTimeoutBefore,  // no answer for half a minute; not applied
    kTimeoutAfter,   // likewise; applied
    kTimeoutLate,    // likewise; applied some time after the client has given up waiting
    kCutAnswer,      // half an answer
    kSlowRequest,    // comes late to the server, so that others overtake it
    kSlowAnswer,     // comes late from the server
    kStall,          // the process is paused, for longer than a lock lives
    kCrashBefore,
    kCrashAfter,
  };
  int checkout = 0;
  bool files = false;  // only kStall, kCrashBefore and kCrashAfter
  int at = 0;
  int times = 1;  // this many calls in a row
  Kind kind = Kind::kErrorBefore;
  int ms = 0;  // of slow ones and stalls
};
std::string NameOf(Fault::Kind kind);

// All that a seed decides before a run, and that a shrinker may take away.
struct Plan {
  std::uint64_t seed = 0;
  int checkouts = 2;
  ServerBehaviour server;
  std::string server_name;
  Mixing mixing;
  bool use_locks = true;
  bool heartbeats = true;
  bool probe = false;          // each checkout finds out what the store can, among the faults
  bool recover_by_sync = true; // else by ordinary commands alone
  bool namespaces = false;     // some are set, unset, and migrated to
  std::optional<int> stranger; // a checkout of another repository, which has a namespace of its own in the same bucket
  std::vector<Duration> clock_offsets;
  std::vector<Command> commands;
  std::vector<Fault> faults;
};

Plan MakePlan(std::uint64_t seed);
std::string Describe(const Command& command);
std::string Describe(const Fault& fault);

}  // namespace swamp::simulation

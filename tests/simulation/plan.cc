#include "plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace swamp::simulation {
namespace {

using Kind = Command::Kind;

constexpr std::array<std::string_view, 25> kCommandNames = {
    "extension pull", "extension rm", "extension update", "extension install", "model create",
    "model edit",     "model rename", "model delete",     "vault create",      "vault edit",
    "datastore sync", "sync --pull",  "sync --push",      "lock release",      "write data",
    "write run",      "append log",   "evict data",        "model method run", "data delete",
    "data gc",        "namespace set",    "namespace unset", "namespace migrate", "unset --migrate"};
constexpr std::array<std::string_view, 15> kFaultNames = {
    "412/404 lie",    "409",           "500 not applied", "500 applied",  "503",         "unreachable", "time-out, not applied",
    "time-out, applied", "time-out, applied late", "cut answer", "slow request",    "slow answer",  "stall",       "crash before", "crash after"};

// What runs are about, so that commands meet on the same paths: each with its share of a hundred.
struct Share {
  Kind kind;
  int percent;
};
using Theme = std::vector<Share>;

const Theme kExtensions = {{Kind::kPull, 45}, {Kind::kRemove, 20}, {Kind::kUpdate, 8}, {Kind::kInstall, 7},
                           {Kind::kCreateModel, 5}, {Kind::kSync, 12}, {Kind::kReleaseLock, 3}};
const Theme kDocuments = {{Kind::kCreateModel, 26}, {Kind::kEditModel, 30}, {Kind::kRenameModel, 4}, {Kind::kDeleteModel, 18},
                          {Kind::kCreateVault, 4}, {Kind::kEditVault, 4}, {Kind::kSync, 8}, {Kind::kSyncPull, 3},
                          {Kind::kSyncPush, 3}};
const Theme kTier = {{Kind::kWriteData, 40}, {Kind::kWriteRun, 18}, {Kind::kAppendLog, 8}, {Kind::kEvictData, 6},
                     {Kind::kSync, 10}, {Kind::kSyncPull, 10}, {Kind::kSyncPush, 8}};
const Theme kRuns = {{Kind::kRunMethod, 58}, {Kind::kDeleteData, 10}, {Kind::kCollectData, 8}, {Kind::kEditModel, 4},
                     {Kind::kSync, 8},       {Kind::kSyncPull, 6},    {Kind::kSyncPush, 4},    {Kind::kReleaseLock, 2}};
const Theme kNamespaces = {{Kind::kSetNamespace, 16}, {Kind::kUnsetNamespace, 3}, {Kind::kMigrateIn, 14}, {Kind::kMigrateOut, 5},
                           {Kind::kCreateModel, 14},  {Kind::kEditModel, 12},    {Kind::kDeleteModel, 6}, {Kind::kPull, 8},
                           {Kind::kRunMethod, 10},    {Kind::kWriteData, 4},     {Kind::kSync, 6},       {Kind::kReleaseLock, 2}};
const Theme kAll = {{Kind::kPull, 16}, {Kind::kRemove, 7}, {Kind::kUpdate, 3}, {Kind::kInstall, 3},
                    {Kind::kCreateModel, 13}, {Kind::kEditModel, 13}, {Kind::kRenameModel, 2}, {Kind::kDeleteModel, 8},
                    {Kind::kCreateVault, 3}, {Kind::kEditVault, 3}, {Kind::kSync, 8}, {Kind::kSyncPull, 4},
                    {Kind::kSyncPush, 4}, {Kind::kReleaseLock, 2}, {Kind::kWriteData, 6}, {Kind::kWriteRun, 3},
                    {Kind::kAppendLog, 2}};

Kind Draw(Dice& dice, const Theme& theme) {
  int left = dice.Below(100);
  for (const Share& share : theme) {
    left -= share.percent;
    if (left < 0) return share.kind;
  }
  return theme.front().kind;
}

Fault DrawStoreFault(Dice& dice) {
  using F = Fault::Kind;
  static constexpr std::array kKinds = {F::kRefuse,       F::kConflict,     F::kErrorBefore, F::kErrorAfter, F::kThrottle,
                                        F::kUnreachable,  F::kTimeoutAfter, F::kCutAnswer,   F::kSlowRequest, F::kSlowRequest,
                                        F::kSlowAnswer,   F::kStall,        F::kCrashBefore, F::kCrashAfter,  F::kTimeoutBefore,
                                        F::kTimeoutLate};
  Fault fault;
  fault.kind = kKinds[static_cast<std::size_t>(dice.Below(static_cast<int>(kKinds.size())))];
  fault.at = dice.Below(120);
  switch (fault.kind) {
    case F::kSlowRequest:
    case F::kSlowAnswer:
      fault.ms = 1 << dice.Below(15);
      break;
    case F::kStall:
      fault.ms = 20'000 + dice.Below(60'000);
      break;
    case F::kTimeoutLate:
      fault.ms = 1 << dice.Below(17);
      break;
    case F::kCrashBefore:
    case F::kCrashAfter:
      break;
    default:
      // Longer than the retries, now and then: only then does a command hear of it.
      if (dice.Percent(40)) fault.times = 3 + dice.Below(12);
      break;
  }
  return fault;
}

Fault DrawFileFault(Dice& dice) {
  using F = Fault::Kind;
  static constexpr std::array kKinds = {F::kCrashBefore, F::kCrashAfter, F::kCrashAfter, F::kStall};
  Fault fault;
  fault.files = true;
  fault.kind = kKinds[static_cast<std::size_t>(dice.Below(static_cast<int>(kKinds.size())))];
  fault.at = dice.Below(60);
  if (fault.kind == F::kStall) fault.ms = 1 << dice.Below(16);
  return fault;
}

}  // namespace

std::string NameOf(Kind kind) { return std::string(kCommandNames[static_cast<std::size_t>(kind)]); }
std::string NameOf(Fault::Kind kind) { return std::string(kFaultNames[static_cast<std::size_t>(kind)]); }

std::string Describe(const Command& command) {
  return fmt::format("c{}{} {} #{}.{}", command.checkout, command.lane == 0 ? "" : "'", NameOf(command.kind), command.target,
                     command.detail);
}

std::string Describe(const Fault& fault) {
  std::string text = fmt::format("c{} {} at {} {}", fault.checkout, NameOf(fault.kind), fault.files ? "file change" : "store call",
                                 fault.at);
  if (fault.times > 1) text += fmt::format(", {} in a row", fault.times);
  if (fault.ms > 0) text += fmt::format(", {} ms", fault.ms);
  return text;
}

Plan MakePlan(std::uint64_t seed) {
  Dice dice(seed * 0x2545f4914f6cdd1d + 1);
  Plan plan;
  plan.seed = seed;
  const int crowd = dice.Below(20);
  plan.checkouts = crowd < 11 ? 2 : crowd < 17 ? 3 : crowd < 19 ? 4 : 5 + dice.Below(2);
  switch (dice.Below(5)) {
    case 0:
      plan.server_name = "AWS";
      break;
    case 1:
      plan.server = ServerBehaviour::OldMinio();
      plan.server_name = "old MinIO";
      break;
    case 2:
      plan.server.opaque_etags = true;
      plan.server_name = "AWS with KMS";
      break;
    default:
      plan.server = ServerBehaviour::CephRgw();
      plan.server_name = "Ceph RGW";
      break;
  }
  static constexpr std::array kStay = {0, 0, 50, 90};
  static constexpr std::array kLatency = {0, 0, 20, 200};
  plan.mixing = {kStay[static_cast<std::size_t>(dice.Below(4))], kLatency[static_cast<std::size_t>(dice.Below(4))]};
  plan.use_locks = !dice.Percent(30);
  plan.heartbeats = !dice.Percent(25);
  plan.probe = dice.Percent(3);
  plan.recover_by_sync = dice.Percent(60);
  for (int i = 0; i < plan.checkouts; ++i) {
    constexpr int kDay = 24 * 3600 * 1000;
    plan.clock_offsets.emplace_back(dice.Percent(50) ? 0 : dice.Below(2 * kDay) - kDay);
  }

  static const std::array<const Theme*, 7> kThemes = {&kExtensions, &kDocuments, &kDocuments, &kTier, &kAll, &kRuns, &kNamespaces};
  const Theme& theme = *kThemes[static_cast<std::size_t>(dice.Below(7))];
  plan.namespaces = &theme == &kNamespaces;
  if (plan.namespaces) {
    // Who turns locks off answers for what a migration meets.
    plan.use_locks = true;
    if (plan.checkouts > 2 || dice.Percent(30)) plan.stranger = plan.checkouts - 1;
  }
  const int names = 1 + dice.Below(3);
  const bool two_processes = dice.Percent(25);  // at a time, in each checkout
  for (int checkout = 0; checkout < plan.checkouts; ++checkout) {
    const int count = plan.checkouts > 3 ? 2 + dice.Below(2) : 2 + dice.Below(4);
    for (int i = 0; i < count; ++i) {
      Kind kind = Draw(dice, theme);
      // Two repositories that use no namespace share everything there, as they asked for.
      const bool leaves = kind == Kind::kUnsetNamespace || kind == Kind::kMigrateOut;
      if (leaves && checkout == plan.stranger) kind = Kind::kSync;
      plan.commands.push_back({.checkout = checkout, .kind = kind, .target = dice.Below(names), .detail = dice.Below(3), .lane = two_processes ? i % 2 : 0});
    }
  }
  const int faults = dice.Percent(10) ? 0 : 1 + dice.Below(6);
  for (int i = 0; i < faults; ++i) {
    Fault fault = dice.Percent(70) ? DrawStoreFault(dice) : DrawFileFault(dice);
    fault.checkout = dice.Below(plan.checkouts);
    plan.faults.push_back(fault);
  }
  return plan;
}

}  // namespace swamp::simulation

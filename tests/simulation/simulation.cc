#include "simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include "checkout.h"
#include "judge.h"
#include "world.h"

namespace swamp::simulation {
namespace {

constexpr std::int64_t kStepLimit = 200'000;
constexpr int kRecoveryRounds = 3;

using Kind = Command::Kind;

void StartCheckouts(SimulatedWorld& world) {
  std::set<std::pair<int, int>> lanes;
  for (const Command& command : world.plan().commands) lanes.emplace(command.checkout, command.lane);
  for (const auto& lane : lanes) {
    world.scheduler().Start(world.NewProcess(lane.first), false, [&world, lane] {
      for (const Command& command : world.plan().commands) {
        if (command.checkout != lane.first || command.lane != lane.second) continue;
        world.scheduler().GiveWay();
        RunCommand(world, command, false);
      }
    });
  }
}

// Every checkout of the repository is told of the namespace, and takes along what only it has.
void MoveToNamespace(SimulatedWorld& world) {
  for (int checkout = 0; checkout < world.plan().checkouts; ++checkout) {
    if (checkout == world.plan().stranger) continue;
    if (world.plan().recover_by_sync) RunCommand(world, {.checkout = checkout, .kind = Kind::kSync}, true);
    RunCommand(world, {.checkout = checkout, .kind = Kind::kSetNamespace}, true);
    RunCommand(world, {.checkout = checkout, .kind = Kind::kMigrateIn}, true);
  }
}

// Nothing goes wrong any more: every checkout does what its user would do anyway.
void StartRecovery(SimulatedWorld& world) {
  world.scheduler().Start(world.NewProcess(0), false, [&world] {
    const Plan& plan = world.plan();
    if (plan.namespaces) MoveToNamespace(world);
    for (int round = 0; round < kRecoveryRounds; ++round) {
      for (int checkout = 0; checkout < plan.checkouts; ++checkout) {
        if (plan.recover_by_sync) {
          RunCommand(world, {.checkout = checkout, .kind = Kind::kSync}, true);
        } else if (round == 0) {
          RunCommand(world, {.checkout = checkout, .kind = Kind::kInstall}, true);
          RunCommand(world, {.checkout = checkout, .kind = Kind::kCreateModel, .target = 100 + checkout}, true);
          RunCommand(world, {.checkout = checkout, .kind = Kind::kSyncPull}, true);
        } else {
          RunCommand(world, {.checkout = checkout, .kind = Kind::kSyncPull}, true);
        }
      }
    }
  });
}

}  // namespace

Outcome Simulate(const Plan& plan, Tracing tracing) {
  SimulatedWorld world(plan, tracing == Tracing::kOn);
  Outcome outcome;
  try {
    StartCheckouts(world);
    world.scheduler().Run(kStepLimit);
    world.EndFaults();
    world.Trace("-- from here on nothing goes wrong --");
    StartRecovery(world);
    world.scheduler().Run(kStepLimit);
    world.scheduler().Start(world.NewProcess(0), false, [&] { outcome.losses = FindLosses(world); });
    world.scheduler().Run(kStepLimit);
  } catch (const std::exception& error) {
    outcome.losses.push_back(fmt::format("the run broke off: {}", error.what()));
  }
  outcome.steps = world.scheduler().steps();
  outcome.commands = static_cast<int>(world.history().commands.size());
  outcome.faults = world.faults_injected();
  for (const CommandRecord& record : world.history().commands) ++outcome.endings[static_cast<std::size_t>(record.ending)];
  outcome.trace = world.trace();
  return outcome;
}

Plan Shrink(Plan plan) {
  const auto loses = [](const Plan& candidate) { return !Simulate(candidate).losses.empty(); };
  // Taking something away changes the order of all that follows: with another seed the loss may show again.
  constexpr std::uint64_t kOrders = 40;
  const auto try_orders = [&](Plan candidate) -> std::optional<Plan> {
    const std::uint64_t seed = candidate.seed;
    for (std::uint64_t i = 0; i < kOrders; ++i) {
      candidate.seed = seed + i * 7919;
      if (loses(candidate)) return candidate;
    }
    return std::nullopt;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = plan.faults.size(); i-- > 0;) {
      Plan candidate = plan;
      candidate.faults.erase(candidate.faults.begin() + static_cast<std::ptrdiff_t>(i));
      if (const auto found = try_orders(candidate)) {
        plan = *found;
        smaller = true;
      }
    }
    for (std::size_t i = plan.commands.size(); i-- > 0;) {
      Plan candidate = plan;
      candidate.commands.erase(candidate.commands.begin() + static_cast<std::ptrdiff_t>(i));
      if (const auto found = try_orders(candidate)) {
        plan = *found;
        smaller = true;
      }
    }
  }
  return plan;
}

}  // namespace swamp::simulation

// simulate: runs the sync engine in a simulated world, seed by seed, and looks for losses. See README.md.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <ctime>
#include <numeric>
#include <optional>
#include <string>

#include "history.h"
#include "simulation.h"
#include "util/rules.h"

namespace swamp::simulation {
namespace {

struct Options {
  std::uint64_t seeds = 10'000;
  std::uint64_t first_seed = 1;
  std::optional<std::uint64_t> replay;
  std::optional<Rule> without;
  bool list_rules = false;
  bool shrink = true;
  bool until_first_loss = false;
};

constexpr const char* kUsage =
    "simulate [--seeds N] [--first-seed S] [--without RULE] [--no-shrink] [--until-first-loss]\n"
    "simulate --replay S [--without RULE]\n"
    "simulate --list-rules\n";

std::optional<Options> Parse(int argc, char** argv) {
  Options options;
  const auto number = [](const char* text) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const std::string_view view(text);
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    if (error != std::errc() || end != view.data() + view.size()) return std::nullopt;
    return value;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--list-rules") {
      options.list_rules = true;
    } else if (flag == "--no-shrink") {
      options.shrink = false;
    } else if (flag == "--until-first-loss") {
      options.until_first_loss = true;
    } else if (i + 1 < argc && flag == "--without") {
      options.without = FindRule(argv[++i]);
      if (!options.without) return std::nullopt;
    } else if (i + 1 < argc && (flag == "--seeds" || flag == "--first-seed" || flag == "--replay")) {
      const auto value = number(argv[++i]);
      if (!value) return std::nullopt;
      if (flag == "--seeds") options.seeds = *value;
      if (flag == "--first-seed") options.first_seed = *value;
      if (flag == "--replay") options.replay = *value;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

void PrintPlan(const Plan& plan) {
  fmt::print("seed {}: {} checkouts, {}, {}{}, recovery by {}\n", plan.seed, plan.checkouts, plan.server_name,
             plan.use_locks ? "locks" : "no locks", plan.heartbeats ? "" : " without heartbeats",
             plan.recover_by_sync ? "sync" : "commands");
  for (const Command& command : plan.commands) fmt::print("  {}\n", Describe(command));
  for (const Fault& fault : plan.faults) fmt::print("  fault: {}\n", Describe(fault));
}

int Replay(const Plan& plan) {
  PrintPlan(plan);
  const Outcome outcome = Simulate(plan, Tracing::kOn);
  for (const std::string& line : outcome.trace) fmt::print("{}\n", line);
  for (const std::string& loss : outcome.losses) fmt::print("LOSS: {}\n", loss);
  return outcome.losses.empty() ? 0 : 1;
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

int RunSeeds(const Options& options) {
  std::uint64_t runs = 0;
  std::uint64_t lost = 0;
  std::int64_t steps = 0;
  std::int64_t commands = 0;
  std::int64_t faults = 0;
  std::vector<std::int64_t> endings(5);
  std::optional<std::uint64_t> first_loss;
  for (std::uint64_t seed = options.first_seed; seed < options.first_seed + options.seeds; ++seed) {
    const Outcome outcome = Simulate(MakePlan(seed));
    ++runs;
    steps += outcome.steps;
    commands += outcome.commands;
    faults += outcome.faults;
    for (std::size_t i = 0; i < endings.size(); ++i) endings[i] += outcome.endings[i];
    if (outcome.losses.empty()) continue;
    ++lost;
    fmt::print("seed {}: {}\n", seed, outcome.losses.front());
    if (!first_loss) first_loss = seed;
    if (options.until_first_loss) break;
  }
  fmt::print("{} runs, {} commands (", runs, commands);
  for (std::size_t i = 0; i < endings.size(); ++i) {
    fmt::print("{}{} {}", i == 0 ? "" : ", ", endings[i], NameOf(static_cast<Ending>(i)));
  }
  fmt::print("), {} steps, {} faults injected, {} losses, {:.1f} s of CPU\n", steps, faults, lost, CpuSeconds());
  if (!first_loss) return 0;
  if (options.shrink) {
    fmt::print("\nThe first one, shrunk:\n");
    Replay(Shrink(MakePlan(*first_loss)));
  }
  return 1;
}

int Main(int argc, char** argv) {
  const auto options = Parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  if (options->list_rules) {
    for (const RuleInfo& rule : kRules) fmt::print("{:<28} {}\n", rule.name, rule.meaning);
    return 0;
  }
  if (options->without) TurnRuleOff(*options->without);
  return options->replay ? Replay(MakePlan(*options->replay)) : RunSeeds(*options);
}

}  // namespace
}  // namespace swamp::simulation

int main(int argc, char** argv) { return swamp::simulation::Main(argc, argv); }

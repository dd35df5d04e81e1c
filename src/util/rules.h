#pragma once

// The rules of docs/managed-config.md, so that the simulation can turn one off and show that it misses it. In the
// program there is nothing to turn off: RuleOff is the constant false, and the branches behind it aren't compiled in.

#include <array>
#include <optional>
#include <string_view>

namespace swamp {

enum class Rule {
  kConditionalUpload,
  kUnmodifiedNeverUploaded,
  kNamedPathsOnly,
  kMergeByEntry,
  kReplayThreeWays,
  kPendingRecordFirst,
  kTombstones,
  kMetaBeforeListings,
  kLateIndexWrites,
  kDirtyRowFirst,
  kShardMerge,
  kTakeoverBySwap,
};

struct RuleInfo {
  Rule rule;
  std::string_view name;
  std::string_view meaning;
};
inline constexpr std::array<RuleInfo, 12> kRules = {{
    {Rule::kConditionalUpload, "conditional-upload", "an upload replaces only the version that its checkout has seen"},
    {Rule::kUnmodifiedNeverUploaded, "unmodified-never-uploaded", "a file that equals its base is never uploaded"},
    {Rule::kNamedPathsOnly, "named-paths-only", "a push takes the paths that commands have named, not all that differs"},
    {Rule::kMergeByEntry, "merge-by-entry", "the lockfile is merged entry by entry onto the bucket's"},
    {Rule::kReplayThreeWays, "replay-three-ways", "a late lockfile change gives way to a peer's later one"},
    {Rule::kPendingRecordFirst, "pending-record-first", "a lockfile change is on record before it is published"},
    {Rule::kTombstones, "tombstones", "a removal leaves a tombstone where deleting can't be conditional"},
    {Rule::kMetaBeforeListings, "meta-before-listings", "a pull reads the meta document before it lists"},
    {Rule::kLateIndexWrites, "late-index-writes", "an index write that comes late is checked against the object"},
    {Rule::kDirtyRowFirst, "dirty-row-first", "a change is recorded before the file is written"},
    {Rule::kShardMerge, "shard-merge", "an index shard is written as a merge into what is there"},
    {Rule::kTakeoverBySwap, "takeover-by-swap", "a stale lock is taken over by a swap of the version that was looked at"},
}};

inline std::optional<Rule> FindRule(std::string_view name) {
  for (const RuleInfo& info : kRules) {
    if (info.name == name) return info.rule;
  }
  return std::nullopt;
}

#ifdef SWAMP_RULE_SWITCHES
// Of the simulation alone, which is one thread.
inline std::array<bool, kRules.size()> rules_turned_off{};
inline void TurnRuleOff(Rule rule) { rules_turned_off[static_cast<std::size_t>(rule)] = true; }
inline void TurnAllRulesOn() { rules_turned_off = {}; }
inline bool RuleOff(Rule rule) { return rules_turned_off[static_cast<std::size_t>(rule)]; }
#else
constexpr bool RuleOff(Rule) { return false; }
#endif

}  // namespace swamp

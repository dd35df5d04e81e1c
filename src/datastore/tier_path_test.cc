#include "datastore/tier_path.h"

#include <gtest/gtest.h>

namespace swamp {
namespace {

TEST(ClassOf, GivesEachPathItsRule) {
  const std::vector<std::pair<std::string, PathClass>> cases = {
      {"config/upstream_extensions.json", PathClass::kLockfile},
      {"config/models/command/shell/m1.yaml", PathClass::kDocument},
      {"config/managed-config-migrated.json", PathClass::kDocument},
      {"auto-definitions/swamp/group/ops.yaml", PathClass::kDocument},
      {"data/command/shell/id/result/1/raw", PathClass::kImmutable},
      {"data/command/shell/id/latest/1/raw", PathClass::kImmutable},
      {"data/command/shell/id/result/latest", PathClass::kMarker},
      {"outputs/command/shell/execute/x.yaml", PathClass::kRecord},
      {"workflow-runs/id/workflow-run-x.yaml", PathClass::kRecord},
      {"definitions-evaluated/command/shell/m1.yaml", PathClass::kDerived},
      {".catalog-export.json", PathClass::kLocal},
      {"audit/vault-audit-2026-12-01.jsonl", PathClass::kSegment},
      {"data/_catalog.db", PathClass::kLocal},
      {"data/_catalog.db-wal", PathClass::kLocal},
      {"data/command/shell/id/.lock", PathClass::kLocal},
      {"workflow-runs/id/.runs-index.json", PathClass::kLocal},
      {"secrets/local_encryption/v1/k.enc", PathClass::kLocal},
      {"vault-bundles/x.js", PathClass::kLocal},
      {".datastore-state.db", PathClass::kLocal},
      {".conflicts/config/models/x.yaml.2026", PathClass::kLocal},
      {"config/.x.yaml.0123.tmp", PathClass::kLocal},
      {"config/.git/x", PathClass::kLocal},
      {"_index/config.json", PathClass::kLocal},
      {"config/pulled-extensions/@acme/x/manifest.yaml", PathClass::kLocal},
      {"other/x", PathClass::kLocal},
      {"data", PathClass::kLocal},
  };
  for (const auto& [path, expected] : cases) EXPECT_EQ(ClassOf(path), expected) << path;
}

TEST(PartitionOf, FollowsTheLayoutThatAllProgramsShare) {
  EXPECT_EQ(PartitionOf("data/command/shell/ID/result/1/raw"), "data--command--shell--ID");
  EXPECT_EQ(PartitionOf("data/t/ID/result/1/raw"), "data--t--ID");
  EXPECT_EQ(PartitionOf("data/t/ID/result/latest"), "data--t--ID--result");
  EXPECT_EQ(PartitionOf("data/command/shell/ID/result/latest"), "data--command--shell");
  EXPECT_EQ(PartitionOf("outputs/command/shell/execute/x.yaml"), "outputs--command--shell--execute");
  EXPECT_EQ(PartitionOf("workflow-runs/ID/x.yaml"), "workflow-runs--ID");
  EXPECT_EQ(PartitionOf("config/models/command/shell/m1.yaml"), "config");
  EXPECT_EQ(PartitionOf("auto-definitions/swamp/group/ops.yaml"), "auto-definitions");
  EXPECT_EQ(PartitionOf(".catalog-export.json"), "_root");
}

TEST(ExcludePatterns, MatchAsGitignoreDoes) {
  const ExcludePatterns patterns({"*.tmp", "/config/local/", "data/**/scratch", "!keep.tmp", "# note", ""});
  EXPECT_TRUE(patterns.Match("data/a/b.tmp"));
  EXPECT_FALSE(patterns.Match("data/a/keep.tmp"));
  EXPECT_TRUE(patterns.Match("config/local/x/y"));
  EXPECT_FALSE(patterns.Match("config/local"));
  EXPECT_TRUE(patterns.Match("data/scratch/x"));
  EXPECT_TRUE(patterns.Match("data/a/b/scratch"));
  EXPECT_FALSE(patterns.Match("other/data/scratch"));
  EXPECT_FALSE(ExcludePatterns().Match("x"));
}

}  // namespace
}  // namespace swamp

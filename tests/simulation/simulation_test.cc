#include "simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "disk.h"
#include "util/rules.h"
#include "util/test_world.h"
#include "world.h"

namespace swamp::simulation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kSeeds = 10'000;

TEST(Simulation, ASeedIsOneRunAndNoOther) {
  const Plan plan = MakePlan(7);
  const Outcome first = Simulate(plan, Tracing::kOn);
  EXPECT_EQ(first.trace, Simulate(plan, Tracing::kOn).trace);
  EXPECT_NE(first.trace, Simulate(MakePlan(8), Tracing::kOn).trace);
}

TEST(Simulation, LosesNothing) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_THAT(Simulate(MakePlan(seed)).losses, IsEmpty()) << "simulate --replay " << seed;
  }
}

TEST(Simulation, ShrinksToWhatTheLossNeeds) {
  TurnRuleOff(Rule::kConditionalUpload);
  std::uint64_t seed = 1;
  while (seed < kSeeds && Simulate(MakePlan(seed)).losses.empty()) ++seed;
  const Plan plan = MakePlan(seed);
  const Plan shrunk = Shrink(plan);
  EXPECT_THAT(Simulate(shrunk).losses, Not(IsEmpty()));
  EXPECT_LT(shrunk.commands.size(), plan.commands.size());
  TurnAllRulesOn();
}

class WithoutRule : public ::testing::TestWithParam<RuleInfo> {
 protected:
  void TearDown() override { TurnAllRulesOn(); }
};

std::string NameOfRule(const ::testing::TestParamInfo<RuleInfo>& info) {
  std::string name;
  bool upper = true;
  for (const char c : info.param.name) {
    if (c == '-') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, WithoutRule, ::testing::ValuesIn(kRules), NameOfRule);

TEST_P(WithoutRule, SomethingIsLost) {
  TurnRuleOff(GetParam().rule);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = Simulate(MakePlan(seed));
    if (outcome.losses.empty()) continue;
    RecordProperty("seeds", std::to_string(seed));
    std::printf("without %s: found after %llu seeds: %s\n", std::string(GetParam().name).c_str(),
                static_cast<unsigned long long>(seed), outcome.losses.front().c_str());
    return;
  }
  FAIL() << "the simulation does not miss the rule " << GetParam().name;
}

// ---- the disk in memory is one, as far as the engine can tell ----

class NoEvents final : public FileEvents {
 public:
  void BeforeChange(const std::string&) override {}
  void AfterChange(const std::string&, const std::string*, const std::string*) override {}
};

class FilesContract : public ::testing::TestWithParam<bool> {
 protected:
  Files& files() { return GetParam() ? static_cast<Files&>(in_memory) : system; }
  std::filesystem::path Root() const { return GetParam() ? std::filesystem::path("/c0") : folder.path(); }
  void Put(const std::filesystem::path& path, std::string_view bytes) { WriteFileAtomically(files(), path, bytes); }

  RealTimeWorld world;
  TemporaryFolder folder;
  SystemFiles system{world.random};
  Disk disk;
  Process process;
  Scheduler scheduler{1, {}};
  NoEvents events;
  ProcessFiles in_memory{disk, process, scheduler, events};
};

INSTANTIATE_TEST_SUITE_P(Disks, FilesContract, ::testing::Bool(),
                         [](const auto& disk) { return disk.param ? "Memory" : "System"; });

TEST_P(FilesContract, AFileIsThereOnceItIsCommitted) {
  const auto path = Root() / "a/b";
  {
    const auto file = files().Create(path, 0644);
    file->Append("one");
    EXPECT_FALSE(files().Stat(path));
    EXPECT_TRUE(files().Stat(file->temporary_path()));
  }
  EXPECT_THAT(files().List(Root() / "a"), IsEmpty()) << "a file that isn't committed vanishes";
  Put(path, "one");
  EXPECT_EQ(ReadFile(files(), path), "one");
  EXPECT_EQ(files().Stat(path)->size, 3U);
}

TEST_P(FilesContract, AnOpenFileGoesOnShowingTheSameBytes) {
  Put(Root() / "a", "one");
  const auto file = files().Open(Root() / "a");
  Put(Root() / "a", "other");
  std::string bytes(3, '\0');
  file->ReadAt(0, bytes);
  EXPECT_EQ(bytes, "one");
}

TEST_P(FilesContract, AnExclusiveFileReplacesNothing) {
  EXPECT_TRUE(CreateFileExclusively(files(), Root() / "a", "one"));
  EXPECT_FALSE(CreateFileExclusively(files(), Root() / "a", "two"));
  EXPECT_EQ(ReadFile(files(), Root() / "a"), "one");
}

TEST_P(FilesContract, RemovesFilesAndEmptyFolders) {
  Put(Root() / "a/b", "one");
  EXPECT_FALSE(files().Remove(Root() / "a"));
  EXPECT_TRUE(files().Remove(Root() / "a/b"));
  EXPECT_FALSE(files().Remove(Root() / "a/b"));
  EXPECT_TRUE(files().Remove(Root() / "a"));
  EXPECT_FALSE(files().Stat(Root() / "a"));
}

TEST_P(FilesContract, RenamesFilesAndFolders) {
  Put(Root() / "a/b", "one");
  files().Rename(Root() / "a", Root() / "c");
  EXPECT_EQ(ReadFile(files(), Root() / "c/b"), "one");
  Put(Root() / "d", "two");
  files().Rename(Root() / "d", Root() / "c/b");
  EXPECT_EQ(ReadFile(files(), Root() / "c/b"), "two");
  EXPECT_THROW(files().Rename(Root() / "none", Root() / "x"), IoError);
}

TEST_P(FilesContract, ListsByName) {
  Put(Root() / "b", "");
  Put(Root() / "a/x", "");
  std::vector<std::string> names;
  for (const FolderEntry& entry : files().List(Root())) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_THAT(files().List(Root() / "none"), IsEmpty());
  EXPECT_THROW(files().Open(Root() / "a"), IoError);
}

TEST_P(FilesContract, ALockIsHeldByOne) {
  auto lock = files().Lock(world.context, Root() / "lock", Duration(0));
  EXPECT_TRUE(lock);
  EXPECT_FALSE(files().Lock(world.context, Root() / "lock", Duration(0)));
  lock.reset();
  EXPECT_TRUE(files().Lock(world.context, Root() / "lock", Duration(0)));
}

}  // namespace
}  // namespace swamp::simulation

#include "repo/marker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "repo/test_repo.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

Marker Parse(const std::string& text) { return Marker::Parse(text, ".swamp.yaml"); }

TEST(Marker, IsNothingWithoutAFile) {
  TestRepo repo;
  EXPECT_FALSE(Marker::Load(repo.world.files, repo.root));
}

TEST(Marker, RefusesWhatIsNoMap) {
  for (const char* text : {"- a\n", "just text\n", "a: [\n"}) {
    TestRepo repo;
    repo.Write(".swamp.yaml", text);
    const UserError error = ErrorOf([&] { Marker::Load(repo.world.files, repo.root); });
    EXPECT_EQ(error.code(), "marker_invalid") << text;
    EXPECT_THAT(error.message(), HasSubstr((repo.root / ".swamp.yaml").string()));
  }
}

TEST(Marker, ReadsAnEmptyFileAsAnEmptyMap) {
  const Marker marker = Parse("");
  EXPECT_EQ(marker.json(), Json::object());
  EXPECT_FALSE(marker.String("repoId"));
  EXPECT_FALSE(marker.Bool("managedConfig"));
  EXPECT_THAT(marker.Tools(), IsEmpty());
}

TEST(Marker, ReadsValuesOfTheExpectedKindOnly) {
  const Marker marker = Parse("a: yes\nb: true\nc: 1\nd: [x, y]\ne: ~\nf: [1]\n");
  EXPECT_EQ(marker.String("a"), "yes");
  EXPECT_FALSE(marker.String("c"));
  EXPECT_TRUE(marker.Bool("b"));
  EXPECT_FALSE(marker.Bool("a"));
  EXPECT_THAT(marker.Strings("d"), ElementsAre("x", "y"));
  EXPECT_THAT(marker.Strings("e"), IsEmpty());
  EXPECT_THAT(marker.Strings("absent"), IsEmpty());
  for (const char* key : {"a", "f"}) {
    const UserError error = ErrorOf([&] { marker.Strings(key); });
    EXPECT_EQ(error.code(), "marker_invalid");
    EXPECT_THAT(error.message(), HasSubstr("\"" + std::string(key) + "\""));
  }
}

TEST(Marker, ReadsTheToolKeyOfOldPrograms) {
  EXPECT_THAT(Parse("tools: [cursor, kiro]\n").Tools(), ElementsAre("cursor", "kiro"));
  EXPECT_THAT(Parse("tool: cursor\n").Tools(), ElementsAre("cursor"));
  EXPECT_THAT(Parse("tool: none\n").Tools(), IsEmpty());
  EXPECT_THAT(Parse("tool: cursor\ntools: []\n").Tools(), IsEmpty());
}

TEST(Marker, SettingAKeyLeavesEveryOtherByte) {
  Marker marker = Parse("# ours\nrepoId: 'x'   # keep\nteam:   {a: 1}\ntools:\n  - claude\n");
  marker.Set({"tools"}, Json::array({"kiro"}));
  marker.Set({"datastore", "type"}, "filesystem");
  EXPECT_EQ(marker.text(),
            "# ours\nrepoId: 'x'   # keep\nteam:   {a: 1}\ntools:\n  - kiro\n"
            "datastore:\n  type: filesystem\n");
  EXPECT_EQ(marker.json()["datastore"]["type"], "filesystem");
}

TEST(Marker, QuotesInDoubleQuotesWhereQuotingIsNeeded) {
  Marker marker = Parse("");
  marker.Set({"swampVersion"}, "1.10");
  marker.Set({"initializedAt"}, "2026-12-02T01:02:03.004Z");
  EXPECT_EQ(marker.text(), "swampVersion: \"1.10\"\ninitializedAt: \"2026-12-02T01:02:03.004Z\"\n");
}

TEST(Marker, RemovesAKeyAndNothingElse) {
  Marker marker = Parse("a: 1 # one\nb: 2\n# three\nc: 3\n");
  marker.Remove({"b"});
  marker.Remove({"absent"});
  EXPECT_EQ(marker.text(), "a: 1 # one\n# three\nc: 3\n");
  marker.Remove({"a"});
  marker.Remove({"c"});
  EXPECT_EQ(marker.json(), Json::object());
}

TEST(ChangeMarker, WritesTheChange) {
  TestRepo repo;
  repo.Write(".swamp.yaml", "repoId: x\nkept: 1 # why\n");
  EXPECT_TRUE(
      ChangeMarker(repo.context, repo.root, [](Marker& marker) { marker.Set({"autoGc"}, true); }));
  EXPECT_EQ(repo.Read(".swamp.yaml"), "repoId: x\nkept: 1 # why\nautoGc: true\n");
}

TEST(ChangeMarker, DoesNotRewriteAnUnchangedFile) {
  TestRepo repo;
  repo.Write(".swamp.yaml", "tool: claude\nautoGc:   true");
  const auto before = repo.world.files.Stat(repo.root / ".swamp.yaml");
  EXPECT_FALSE(
      ChangeMarker(repo.context, repo.root, [](Marker& marker) { marker.Set({"autoGc"}, true); }));
  EXPECT_EQ(repo.world.files.Stat(repo.root / ".swamp.yaml")->inode, before->inode);
}

TEST(ChangeMarker, WritesNothingWhenTheChangeThrows) {
  TestRepo repo;
  repo.Write(".swamp.yaml", "a: 1\n");
  ErrorOf([&] {
    ChangeMarker(repo.context, repo.root, [](Marker& marker) {
      marker.Set({"a"}, 2);
      throw UserError("stop", "stop");
    });
  });
  EXPECT_EQ(repo.Read(".swamp.yaml"), "a: 1\n");
}

TEST(ChangeMarker, GivesTheMarkerOfAnOldProgramWhatItLacks) {
  TestRepo repo;
  repo.Write(".swamp.yaml", "swampVersion: 1.0.0\ntool: cursor\n");
  ChangeMarker(repo.context, repo.root, [](Marker& marker) { marker.Set({"autoGc"}, true); });
  EXPECT_THAT(repo.Read(".swamp.yaml"),
              MatchesRegex("swampVersion: 1\\.0\\.0\nautoGc: true\ntools:\n  - cursor\n"
                           "repoId: \"?[0-9a-f]{8}-[0-9a-f-]{27}\"?\n"));
}

TEST(ChangeMarker, NeedsARepository) {
  TestRepo repo;
  EXPECT_EQ(ErrorOf([&] { ChangeMarker(repo.context, repo.root, [](Marker&) {}); }).code(),
            "not_a_repository");
}

TEST(ChangeMarker, WaitsForAnotherChangeOnlySoLong) {
  TestRepo repo;
  repo.Write(".swamp.yaml", "a: 1\n");
  const auto lock =
      repo.world.files.Lock(repo.context, repo.root / ".swamp" / ".marker.lock", Duration(0));
  ASSERT_TRUE(lock);
  const UserError error = ErrorOf(
      [&] { ChangeMarker(repo.context, repo.root, [](Marker& marker) { marker.Set({"a"}, 2); }); });
  EXPECT_EQ(error.code(), "marker_busy");
  EXPECT_EQ(repo.Read(".swamp.yaml"), "a: 1\n");
}

TEST(ChangeMarker, LosesNoKeyThatAnotherChangeSets) {
  constexpr int kWriters = 8;
  TemporaryFolder folder;
  RealTimeWorld world;
  WriteFileAtomically(world.files, folder.path() / ".swamp.yaml", "repoId: x\n");
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      ChangeMarker(world.context, folder.path(),
                   [i](Marker& marker) { marker.Set({"key" + std::to_string(i)}, i); });
    });
  }
  for (std::thread& writer : writers) writer.join();
  const auto marker = Marker::Load(world.files, folder.path());
  ASSERT_TRUE(marker);
  for (int i = 0; i < kWriters; ++i) {
    EXPECT_EQ(IntegerMember(marker->json(), "key" + std::to_string(i)), i);
  }
}

}  // namespace
}  // namespace swamp

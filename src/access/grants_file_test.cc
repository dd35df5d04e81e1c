#include "access/grants_file.h"

#include <gmock/gmock.h>

#include "model/records_testing.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;

std::string FaultOf(const std::string& text) {
  try {
    ParseGrantsFile(text, "g.yaml");
  } catch (const UserError& error) {
    return error.message();
  }
  return "";
}

TEST(GrantsFiles, SayWhatIsGranted) {
  const auto terms = ParseGrantsFile(
      "grants:\n- subject: group:ops\n  effect: deny\n  actions: [run, read, run]\n  resource: model:prod-*\n  condition: name != 'x'\n"
      "- {subject: user:a, effect: allow, actions: [admin], resource: 'access:*'}\n"
      "- {subject: user:a, effect: allow, actions: [admin], resource: 'access:*'}\n",
      "g.yaml");
  ASSERT_EQ(terms.size(), 2u) << "each once";
  EXPECT_EQ(terms[0].subject.text(), "group:ops");
  EXPECT_EQ(terms[0].effect, Effect::kDeny);
  EXPECT_THAT(terms[0].actions, ::testing::ElementsAre("read", "run"));
  EXPECT_EQ(terms[0].condition, "name != 'x'");
  EXPECT_TRUE(ParseGrantsFile("grants: []\n", "g.yaml").empty());
  EXPECT_TRUE(ParseGrantsFile("grants:\n", "g.yaml").empty());
}

TEST(GrantsFiles, FaultsAreNamedWithEntryAndLine) {
  const std::string good = "grants:\n  # a comment\n  - subject: user:a\n    effect: allow\n    actions: [run]\n    resource: model:x\n";
  EXPECT_EQ(FaultOf(good), "");
  EXPECT_THAT(FaultOf(good + "  - subject: user:b\n    effect: maybe\n    actions: [run]\n    resource: model:x\n"),
              HasSubstr("g.yaml: entry 2 (line 7): its effect \"maybe\""));
  EXPECT_THAT(FaultOf(good + "    conditon: 'false'\n"), HasSubstr("unknown key conditon"));
  EXPECT_THAT(FaultOf(good + "    condition: 'a b'\n"), HasSubstr("condition can't be used"));
  EXPECT_THAT(FaultOf(good + "    condition: [x]\n"), HasSubstr("no text \"condition\""));
  EXPECT_THAT(FaultOf("grants:\n- subject: a\n   x: [\n"), HasSubstr("g.yaml"));
  EXPECT_THAT(FaultOf("grant: []\n"), HasSubstr("no list \"grants\""));
  EXPECT_THAT(FaultOf("grants: []\nmore: 1\n"), HasSubstr("besides"));
  EXPECT_THAT(FaultOf(""), HasSubstr("no list"));
  EXPECT_THAT(FaultOf("grants: 7\n"), HasSubstr("no list"));
}

class Reloading : public ::testing::Test, protected RecordFolder {
 protected:
  void Write(const std::string& name, const std::string& text) { WriteFileAtomically(world.files, folder.path() / "grants" / name, text); }
  ReloadReport Reload() { return ReloadGrants(world.context, grants, folder.path() / "grants"); }
  std::size_t Active() {
    std::size_t count = 0;
    for (const StoredGrant& one : grants.All()) count += one.grant.active ? 1 : 0;
    return count;
  }
  Grants grants{world.context, services()};
};

TEST_F(Reloading, FollowsTheFilesAndLeavesOtherGrantsAlone) {
  grants.Create({Subject::Parse("user:x"), Effect::kAllow, {"run"}, Resource::Parse("model:*"), {}});
  Write("a.yaml", "grants: [{subject: user:a, effect: allow, actions: [run], resource: model:x}]\n");
  Write("b.yml", "grants: [{subject: user:a, effect: allow, actions: [run], resource: model:x}]\n");
  Write(".hidden.yaml", "nonsense");
  Write("readme.txt", "nonsense");
  EXPECT_EQ(Reload().files.size(), 2u);
  EXPECT_EQ(Active(), 3u) << "the same terms in two files are two grants";
  world.files.Remove(folder.path() / "grants" / "b.yml");
  const ReloadReport report = Reload();
  ASSERT_EQ(report.gone.size(), 1u);
  EXPECT_EQ(report.gone[0].name, "b.yml");
  EXPECT_EQ(report.gone[0].revoked, 1u);
  EXPECT_EQ(Active(), 2u);
  Write("a.yaml", "grants: [{subject: user:a, effect: deny, actions: [run], resource: model:x}]\n");
  const ReloadReport changed = Reload();
  EXPECT_EQ(changed.files[0].created, 1u);
  EXPECT_EQ(changed.files[0].revoked, 1u);
  EXPECT_EQ(Active(), 2u);
  Write("a.yaml", "grants: [{subject: user:a, effect: allow, actions: [run], resource: model:x}]\n");
  Reload();
  EXPECT_EQ(grants.All().size(), 4u) << "what comes back is the grant that it was";
}

TEST_F(Reloading, ABadFileKeepsWhatItHadGranted) {
  Write("a.yaml", "grants: [{subject: user:a, effect: deny, actions: [run], resource: model:x}]\n");
  Reload();
  Write("a.yaml", "grants: [{subject: user:a, effect: deny, actions: [run], resource: 'model:*x'}]\n");
  const ReloadReport report = Reload();
  ASSERT_TRUE(report.files[0].error);
  EXPECT_EQ(report.files[0].error->code(), "grants_file_invalid");
  EXPECT_EQ(Active(), 1u);
}

}  // namespace
}  // namespace swamp

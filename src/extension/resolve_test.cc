#include "extension/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using testing::Checkout;
using testing::CodeOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::string Needs(const std::string& dependency) {
  return "dependencies: ['" + dependency + "']\n";
}

TEST(EX19, ResolvesConstraintsToTheNewestThatSatisfies) {
  const std::pair<const char*, const char*> cases[] = {{"@c/b", "2027.01.01.1"},
                                                       {"@c/b@>=2026.04.24", "2027.01.01.1"},
                                                       {"@c/b@^2026.04.24.1", "2026.05.01.1"},
                                                       {"@c/b@~2026.04.24.1", "2026.04.24.1"},
                                                       {"@c/b@2026.04.23.1", "2026.04.23.1"}};
  for (const auto& [dependency, version] : cases) {
    Checkout fresh;
    for (const char* published : {"2026.04.23.1", "2026.04.24.1", "2026.05.01.1", "2027.01.01.1"}) {
      fresh.Publish("@c/b", published);
    }
    fresh.Publish("@c/a", "2026.01.01.1", {}, Needs(dependency));
    fresh.Pull("@c/a");
    EXPECT_THAT(fresh.Entries(), ElementsAre("@c/a 2026.01.01.1", std::string("@c/b ") + version))
        << dependency;
  }
}

TEST(EX19, KeepsAnInstalledVersionThatSatisfies) {
  Checkout t;
  t.Publish("@c/b", "2026.04.24.1");
  t.Pull("@c/b");
  t.Publish("@c/b", "2026.05.01.1");
  t.Publish("@c/a", "2026.01.01.1", {}, Needs("@c/b@>=2026.04.24"));
  t.registry.asked.clear();
  EXPECT_THAT(t.Pull("@c/a").dependencies, IsEmpty());
  EXPECT_THAT(t.Entries(), ElementsAre("@c/a 2026.01.01.1", "@c/b 2026.04.24.1"));
  EXPECT_THAT(t.registry.asked, Not(Contains(HasSubstr("@c/b"))));
  t.Publish("@c/a", "2026.01.02.1", {}, Needs("@c/b@>=2026.05.01"));
  EXPECT_EQ(t.Pull("@c/a").dependencies.at(0).replaced_version, "2026.04.24.1");
  EXPECT_THAT(t.Entries(), ElementsAre("@c/a 2026.01.02.1", "@c/b 2026.05.01.1"));
}

TEST(EX19, TakesADependencyFromBetaWhenThereIsNothingElse) {
  Checkout t;
  t.Publish("@c/b", "2026.04.24.1", {}, "", "-beta");
  t.Publish("@c/a", "2026.01.01.1", {}, Needs("@c/b@>=2026.04.24"));
  EXPECT_EQ(t.Pull("@c/a").dependencies.at(0).channel, "beta");
}

TEST(Resolve, InstallsADependencyAtThePinWhenItsFilesAreMissing) {
  Checkout t;
  t.Publish("@c/b", "2026.04.24.1");
  t.Pull("@c/b");
  const Json pinned = *t.installed.lockfile.Find("@c/b");
  std::filesystem::remove_all(t.site.swamp_folder);
  t.Publish("@c/b", "2026.05.01.1");
  t.Publish("@c/a", "2026.01.01.1", {}, Needs("@c/b"));
  t.Pull("@c/a");
  EXPECT_EQ(*t.installed.lockfile.Find("@c/b"), pinned);
  EXPECT_TRUE(t.world.Exists(Checkout::InTree("@c/b/models/a.ts")));
}

TEST(EX19, FindsACycleBeforeAnythingIsWritten) {
  Checkout t;
  t.Publish("@c/a", "2026.01.01.1", {}, Needs("@c/b"));
  t.Publish("@c/b", "2026.01.01.1", {}, Needs("@c/c"));
  t.Publish("@c/c", "2026.01.01.1", {}, Needs("@c/a"));
  EXPECT_THAT(MessageOf([&] { t.Pull("@c/a"); }), HasSubstr("@c/a -> @c/b -> @c/c -> @c/a"));
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/a"); }), "dependency_cycle");
  EXPECT_THAT(t.Sources(), IsEmpty());
  EXPECT_THAT(t.Entries(), IsEmpty());
}

TEST(EX19, GoesTenDeepAndNoDeeper) {
  Checkout t;
  for (int i = 0; i <= 11; ++i) {
    t.Publish("@c/n" + std::to_string(i), "2026.01.01.1", {},
              i < 11 ? Needs("@c/n" + std::to_string(i + 1)) : "");
  }
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/n0"); }), "dependency_too_deep");
  EXPECT_THAT(t.Entries(), IsEmpty());
  EXPECT_EQ(t.Pull("@c/n1").dependencies.size(), 10U);
  // Known from a shorter path, it is too deep on a longer one all the same.
  t.Publish("@c/m", "2026.01.01.1", {}, "dependencies: ['@c/n1', '@c/n0']\n");
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/m"); }), "dependency_too_deep");
}

TEST(Resolve, MeetsTheDemandsOfAllThatNeedADependency) {
  Checkout t;
  for (const char* version : {"2026.01.01.1", "2026.02.01.1", "2026.03.01.1"})
    t.Publish("@c/d", version);
  t.Publish("@c/b", "2026.01.01.1", {}, Needs("@c/d@>=2026.02.01"));
  t.Publish("@c/c", "2026.01.01.1", {}, Needs("@c/d@<2026.03.01"));
  t.Publish("@c/a", "2026.01.01.1", {}, "dependencies: ['@c/b', '@c/c']\n");
  t.Pull("@c/a");
  EXPECT_THAT(t.Entries(), Contains("@c/d 2026.02.01.1"));
  EXPECT_EQ(t.Sources().size(), 4U) << "each once";

  t.Publish("@c/e", "2026.01.01.1", {}, Needs("@c/d@2026.01.01.1"));
  t.Publish("@c/a", "2026.01.02.1", {}, "dependencies: ['@c/b', '@c/e']\n");
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/a"); }), "dependency_conflict");
  EXPECT_THAT(
      MessageOf([&] { t.Pull("@c/a"); }),
      HasSubstr(
          "no version of @c/d will do: @c/b asks for >=2026.02.01, @c/e asks for 2026.01.01.1"));
}

TEST(Resolve, NamesWhoNeedsWhatDoesNotExist) {
  Checkout t;
  t.Publish("@c/a", "2026.01.01.1", {}, Needs("@c/none"));
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/a"); }), "extension_not_found");
  t.Publish("@c/b", "2026.01.01.1");
  t.Publish("@c/a", "2026.01.02.1", {}, Needs("@c/b@>=2027.01.01"));
  EXPECT_THAT(MessageOf([&] { t.Pull("@c/a"); }), HasSubstr("@c/a asks for >=2027.01.01"));
  EXPECT_THAT(t.Entries(), IsEmpty());
}

TEST(Resolve, NeedsNoFilesOfABuiltInDependency) {
  Checkout t;
  t.Publish("@c/a", "2026.01.01.1", {}, Needs("@swamp/s3-datastore@>=2026.01.01"));
  EXPECT_THAT(t.Pull("@c/a").dependencies, IsEmpty());
  EXPECT_THAT(t.Entries(), ElementsAre("@c/a 2026.01.01.1"));
}

TEST(Resolve, WarnsOfADeprecatedExtensionAndRefusesAWithdrawnOne) {
  Checkout t;
  t.Publish("@c/a", "2026.01.01.1");
  t.world.Write("registry/@c/a/status.yaml", "deprecated: {reason: old, supersededBy: '@c/b'}\n");
  EXPECT_THAT(t.Pull("@c/a").warnings, ElementsAre("@c/a is deprecated: old; use @c/b"));
  t.world.Write("registry/@c/a/status.yaml", "yanked: [{reason: leaks}]\n");
  EXPECT_THAT(MessageOf([&] { t.Pull("@c/a"); }), HasSubstr("@c/a was withdrawn: leaks"));
}

TEST(Resolve, SkipsWithdrawnVersionsOfDependencies) {
  Checkout t;
  t.Publish("@c/b", "2026.01.01.1");
  t.Publish("@c/b", "2026.01.02.1");
  t.world.Write("registry/@c/b/status.yaml", "yanked: [{version: 2026.01.02.1}]\n");
  t.Publish("@c/a", "2026.01.01.1", {}, Needs("@c/b"));
  t.Pull("@c/a");
  EXPECT_THAT(t.Entries(), Contains("@c/b 2026.01.01.1"));
}

TEST(EX12, InstallsNestedNamesOfOnePullTogether) {
  Checkout t;
  t.Publish("@c/aws/iam", "2026.01.01.1", {}, Needs("@c/aws"));
  t.Publish("@c/aws", "2026.01.01.1");
  t.Pull("@c/aws/iam");
  EXPECT_THAT(t.Sources(), UnorderedElementsAre(::testing::Key("@c/aws/models/a.ts"),
                                                ::testing::Key("@c/aws/iam/models/a.ts")));
  t.Publish("@c/z/models", "2026.01.01.1", {{"models/a.ts", "inner"}}, Needs("@c/z"));
  t.Publish("@c/z", "2026.01.01.1", {{"models/a.ts", ""}, {"models/models/a.ts", "outer"}});
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/z/models"); }), "extension_conflict");
}

}  // namespace
}  // namespace swamp

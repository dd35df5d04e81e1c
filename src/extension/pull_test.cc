#include "extension/pull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "extension/checkout_testing.h"
#include "extension/staging.h"

namespace swamp {
namespace {

using ::testing::AllOf;
using testing::Checkout;
using testing::CodeOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FailingFiles;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using testing::MessageOf;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Pull, InstallsAndRecordsTheNewestStableVersion) {
  Checkout t;
  t.Publish("@c/x", "2026.01.09.1");
  t.Publish("@c/x", "2026.01.10.1", {{"models/a.ts", "a"}, {"bundles/a.js", "b"}},
            "description: The x\n");
  t.Publish("@c/x", "2026.02.01.1", {}, "", "-beta");
  const PullResult result = t.Pull("@c/x");
  EXPECT_EQ(result.extension.version, "2026.01.10.1");
  EXPECT_EQ(result.extension.description, "The x");
  EXPECT_EQ(result.extension.integrity, "verified");
  const std::string bundle =
      ".swamp/bundles/" + BundleNamespace(".swamp/pulled-extensions/@c/x/models") + "/a.js";
  EXPECT_THAT(result.extension.files,
              ElementsAre(bundle, ".swamp/pulled-extensions/@c/x/manifest.yaml",
                          ".swamp/pulled-extensions/@c/x/models/a.ts"));
  EXPECT_EQ(t.world.Read("repo/" + bundle), "b");
  const Json& entry = *t.installed.lockfile.Find("@c/x");
  std::vector<std::string> keys;
  for (const auto& [key, value] : entry.items()) keys.push_back(key);
  EXPECT_THAT(
      keys, ElementsAre("version", "pulledAt", "files", "checksum", "filesChecksum", "serverUrl"));
  EXPECT_EQ(entry["serverUrl"], "file:///registry");
  EXPECT_EQ(entry["checksum"],
            *t.registry.Checksum(t.context(), *ExtensionName::Parse("@c/x"),
                                 *Version::Parse("2026.01.10.1"), Channel::kStable));
  EXPECT_THAT(t.world.files.List(t.site.pulled_root / ".staging"), ::testing::SizeIs(2))
      << "nothing is left";
}

TEST(Pull, RefusesAWrongChecksumAndWritesNothing) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.world.Write("registry/@c/x/2026.01.01.1.tar.gz.sha256", std::string(64, 'a'));
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/x"); }), "checksum_mismatch");
  EXPECT_THAT(t.Sources(), IsEmpty());
  EXPECT_THAT(t.Entries(), IsEmpty());
}

TEST(Pull, SaysWhenTheRegistryKnowsNoChecksum) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.registry.knows_checksums = false;
  EXPECT_EQ(t.Pull("@c/x").extension.integrity, "unverified");
}

TEST(Pull, RefusesAnArchiveOfAnotherExtension) {
  Checkout t;
  t.Publish("@c/y", "2026.01.01.1");
  const std::string bytes = t.world.Read("registry/@c/y/2026.01.01.1.tar.gz");
  t.world.Write("registry/@c/x/2026.01.01.1.tar.gz", bytes);
  t.world.Write("registry/@c/x/2026.01.01.1.tar.gz.sha256", Sha256Hex(bytes));
  EXPECT_THAT(MessageOf([&] { t.Pull("@c/x"); }), HasSubstr("the archive is @c/y"));
}

TEST(Pull, NamesWhatItDoesNotFind) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/none"); }), "extension_not_found");
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/x@2026.01.01.2"); }), "version_not_found");
  EXPECT_THAT(MessageOf([&] { t.Pull("@c/x@2026.01.01.2"); }),
              HasSubstr("There are 2026.01.01.1."));
}

TEST(EX21, NamesTheChannelsWhenThereIsNoStableVersion) {
  Checkout t;
  t.Publish("@c/x", "2026.05.01.1", {}, "", "-beta");
  EXPECT_THAT(MessageOf([&] { t.Pull("@c/x"); }),
              AllOf(HasSubstr("@c/x has no stable version"), HasSubstr("beta has 2026.05.01.1"),
                    HasSubstr("swamp extension pull @c/x --channel beta"), Not(HasSubstr("null"))));
  t.Pull("@c/x", [](PullRequest& request) { request.channel = Channel::kBeta; });
  EXPECT_EQ((*t.installed.lockfile.Find("@c/x"))["channel"], "beta");
  t.Publish("@c/x", "2026.05.02.1", {}, "", "-beta");
  EXPECT_EQ(t.Pull("@c/x").extension.version, "2026.05.02.1")
      << "the installed channel is followed";
}

TEST(EX22, PullsNothingOlderThanWhatIsInstalledUnlessAskedTo) {
  Checkout t;
  t.Publish("@c/x", "2026.05.10.2");
  t.Pull("@c/x");
  t.world.Write("registry/@c/x/status.yaml", "yanked: [{version: 2026.05.10.2}]\n");
  t.Publish("@c/x", "2026.05.9.12");
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/x"); }), "version_withdrawn");
  EXPECT_THAT(t.Entries(), ElementsAre("@c/x 2026.05.10.2"));
  t.Pull("@c/x@2026.05.9.12");
  EXPECT_THAT(t.Entries(), ElementsAre("@c/x 2026.05.9.12"));
}

TEST(EX04, KeepsTheLockfilesBytesWhenTheSameVersionIsPulledAgain) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  const std::string before = t.installed.lockfile.Serialize();
  t.world.clock.Advance(Duration(86'400'000));
  t.Pull("@c/x");
  EXPECT_EQ(t.installed.lockfile.Serialize(), before);
}

TEST(Pull, RefusesAPinnedVersionWhoseContentChanged) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1", {{"models/a.ts", "one"}});
  t.Pull("@c/x");
  t.Publish("@c/x", "2026.01.01.1", {{"models/a.ts", "two"}});
  EXPECT_THAT(MessageOf([&] { t.Pull("@c/x"); }),
              AllOf(HasSubstr("the lockfile says"),
                    HasSubstr("swamp extension pull @c/x@2026.01.01.1 --force")));
  t.Pull("@c/x", [](PullRequest& request) { request.force = true; });
  EXPECT_THAT(t.Sources(), ElementsAre(Pair("@c/x/models/a.ts", "two")));
}

TEST(EX12, ExtensionsOfOneCollectiveKeepTheirOwnHelpers) {
  Checkout t;
  t.Publish("@c/ec2", "2026.01.01.1",
            {{"models/a.ts", ""}, {"models/_lib/aws.ts", "ec2"}, {"files/README.md", "ec2"}});
  t.Publish("@c/eks", "2026.01.01.1",
            {{"models/a.ts", ""}, {"models/_lib/aws.ts", "eks"}, {"files/README.md", "eks"}});
  t.Pull("@c/ec2");
  t.Pull("@c/eks");
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/ec2/models/_lib/aws.ts")), "ec2");
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/eks/models/_lib/aws.ts")), "eks");
}

TEST(EX14, ReportsEditedFilesAndLeavesThemUnlessForced) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  t.world.Write(Checkout::InTree("@c/x/models/a.ts"), "edited");
  t.Publish("@c/x", "2026.01.02.1");
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/x"); }), "extension_edited");
  EXPECT_THAT(MessageOf([&] { t.Pull("@c/x"); }),
              HasSubstr(".swamp/pulled-extensions/@c/x/models/a.ts"));
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/models/a.ts")), "edited");
  EXPECT_THAT(t.Entries(), ElementsAre("@c/x 2026.01.01.1"));
  t.Pull("@c/x", [](PullRequest& request) { request.force = true; });
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/models/a.ts")), "// @c/x 2026.01.02.1\n");
}

TEST(Pull, RefusesFilesInTheWayUnlessForced) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.world.Write(Checkout::InTree("@c/x/models/a.ts"), "mine");
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/x"); }), "extension_conflict");
  EXPECT_THAT(t.Entries(), IsEmpty());
  t.Pull("@c/x", [](PullRequest& request) { request.force = true; });
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/models/a.ts")), "// @c/x 2026.01.01.1\n");
}

TEST(Pull, GoesOnOverFilesThatAnInterruptedPullLeftUnrecorded) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  t.installed.lockfile = {};
  t.Publish("@c/x", "2026.01.02.1");
  t.Pull("@c/x");
  EXPECT_THAT(t.Entries(), ElementsAre("@c/x 2026.01.02.1"));
}

TEST(Pull, AsksOnceBeforeAnythingChanges) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1", {}, "dependencies: ['@d/y', '@swamp/z']\n");
  t.Publish("@d/y", "2026.01.01.1");
  t.Publish("@swamp/z", "2026.01.01.1");
  PullPlan plan;
  const PullResult result = t.Pull("@c/x", [&](PullRequest& request) {
    request.confirm = [&](const PullPlan& asked) {
      plan = asked;
      return false;
    };
  });
  EXPECT_TRUE(result.cancelled);
  EXPECT_EQ(plan.extensions.size(), 3U);
  EXPECT_THAT(plan.untrusted_collectives, ElementsAre("c", "d"));
  EXPECT_THAT(t.Sources(), IsEmpty());
  EXPECT_THAT(t.Entries(), IsEmpty());
}

TEST(EX28, TheBuiltInDatastoreNeedsNoRegistry) {
  Checkout t;
  std::filesystem::remove_all(t.world.root / "registry");
  EXPECT_EQ(t.Pull("@swamp/s3-datastore").extension.integrity, "built_in");
  EXPECT_THAT(t.registry.asked, IsEmpty());
}

TEST(Pull, KeepsTheExtensionWhenTheLockfileCannotBePublished) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.installed.unpublished = true;
  EXPECT_EQ(CodeOf([&] { t.Pull("@c/x"); }), "managed_config_unpublished");
  EXPECT_THAT(t.Sources(), Contains(Key("@c/x/models/a.ts")));
}

TEST(Pull, MakesItsEntryAnewWhenAPeerPublishesMeanwhile) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.installed.peer = [](Lockfile& lockfile) {
    LockfileDelta delta;
    delta.set["@c/peer"] = Json{{"version", "2026.01.01.1"}};
    delta.set["@c/x"] =
        Json{{"version", "2026.01.01.1"}, {"pulledAt", "earlier"}, {"note", "theirs"}};
    lockfile.Apply(delta);
  };
  t.Pull("@c/x");
  EXPECT_THAT(t.Entries(), ElementsAre("@c/peer 2026.01.01.1", "@c/x 2026.01.01.1"));
  EXPECT_EQ((*t.installed.lockfile.Find("@c/x"))["note"], "theirs");
  EXPECT_EQ((*t.installed.lockfile.Find("@c/x"))["pulledAt"], "earlier");
}

TEST(EX07, TenPullsAtOnceAllLand) {
  Checkout t;
  std::vector<std::string> expected;
  for (int i = 0; i < 10; ++i) {
    t.Publish("@c/x" + std::to_string(i), "2026.01.01.1");
    expected.push_back("@c/x" + std::to_string(i) + " 2026.01.01.1");
  }
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  // A wait on a lock must be real here: the threads share no turn.
  SystemClock clock;
  World world{clock,      t.world.random, t.world.files, t.world.environment, t.world.executor,
              t.world.log};
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&, i] {
      const PullRequest request{
          RequireExtensionReference("@c/x" + std::to_string(i)), std::nullopt, false, false, {}};
      try {
        Pull(Context(world, t.world.cancellation), t.site, t.installed, t.registry, request);
      } catch (const std::exception& error) {
        ++failures;
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(t.Entries(), expected);
  EXPECT_EQ(t.Sources().size(), 10U);
}

TEST(Pull, LeavesTheOldOrTheNewExtensionWhereverItIsKilled) {
  for (int steps = 0;; ++steps) {
    Checkout t;
    t.Publish("@c/x", "2026.01.01.1",
              {{"models/a.ts", "1"}, {"models/b.ts", "1"}, {"bundles/a.js", "1"}});
    t.Pull("@c/x");
    t.world.Write(Checkout::InTree("@c/x/mine.txt"), "mine");
    const auto old_tree = t.world.Tree("repo");
    t.Publish("@c/x", "2026.01.02.1",
              {{"models/a.ts", "2"}, {"vaults/v.ts", "2"}, {"bundles/a.js", "2"}},
              "dependencies: ['@c/y']\n");
    t.Publish("@c/y", "2026.01.01.1");
    FailingFiles files(t.world.files, FailingFiles::Kind::kCrash, steps);
    const PullRequest request{RequireExtensionReference("@c/x"), std::nullopt, false, false, {}};
    const bool ended = CodeOf([&] {
                         Pull(t.world.ContextWith(files), t.site, t.installed, t.registry, request);
                       }) == "none";
    RecoverInterruptedInstalls(t.context(), t.site);
    if (ended) {
      EXPECT_THAT(t.Sources(),
                  UnorderedElementsAre(Pair("@c/x/models/a.ts", "2"), Pair("@c/x/vaults/v.ts", "2"),
                                       Pair("@c/x/mine.txt", "mine"), Key("@c/y/models/a.ts")));
      EXPECT_THAT(t.Entries(), ElementsAre("@c/x 2026.01.02.1", "@c/y 2026.01.01.1"));
    } else {
      { const StagingArea next_command(t.context(), t.site); }
      EXPECT_EQ(t.world.Tree("repo"), old_tree) << "step " << steps;
      EXPECT_THAT(t.Entries(), ElementsAre("@c/x 2026.01.01.1"));
    }
    if (!files.has_failed()) break;
  }
}

}  // namespace
}  // namespace swamp

// Several checkouts on one plain folder with managed config: the same promises without a bucket.

#include <thread>

#include "backends.h"
#include "repo/marker.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class SharedFolder : public ::testing::Test {
 protected:
  SharedFolder() : bucket(Backend::kFolder), shared(bucket.folder() / "shared") {}

  Checkout& Join(const std::string& name) {
    Checkout& checkout = bucket.Plain(name);
    checkout.Do({"datastore", "setup", "filesystem", "--path", shared.string()});
    checkout.Do({"datastore", "config", "migrate", "-y"});
    return checkout;
  }

  Json Lockfile() {
    const auto text = ReadFile(bucket.context().files(), shared / kLockfileKey);
    return text ? ParseJson(*text, "the lockfile") : Json::object();
  }

  Bucket bucket;  // for its registry
  fs::path shared;
};

TEST_F(SharedFolder, F1_AnUnrelatedCommandLeavesTheLockfileAlone) {
  bucket.Publish("@acme/x", "2026.01.01.1");
  bucket.Publish("@acme/y", "2026.01.01.1");
  Checkout& a = Join("one");
  Checkout& c = Join("two");
  a.Do({"model", "create", "command/shell", "old"});
  a.Do({"extension", "pull", "@acme/x", "-y"});
  c.Do({"extension", "pull", "@acme/y", "-y"});
  const auto written = fs::last_write_time(shared / kLockfileKey);
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"vault", "create", "local_encryption", "v1"});
  a.Do({"model", "edit", "old"}, {.input = ModelText("echo edited"), .has_input = true});
  a.Do({"model", "delete", "m1", "-y"});
  EXPECT_EQ(fs::last_write_time(shared / kLockfileKey), written);
  EXPECT_TRUE(Lockfile().contains("@acme/x"));
  EXPECT_TRUE(Lockfile().contains("@acme/y"));
  EXPECT_THAT(c.ModelNames(), UnorderedElementsAre("old"));
}

TEST_F(SharedFolder, ConcurrentPullsAndCreationsAllStay) {
  for (int i = 0; i < 4; ++i) bucket.Publish("@acme/x" + std::to_string(i), "2026.01.01.1");
  std::vector<Checkout*> checkouts;
  for (int i = 0; i < 4; ++i) checkouts.push_back(&Join("n" + std::to_string(i)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([checkout = checkouts[static_cast<std::size_t>(i)], i] {
      checkout->Do({"extension", "pull", "@acme/x" + std::to_string(i), "-y"});
      checkout->Do({"model", "create", "command/shell", "m" + std::to_string(i)});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Lockfile().size(), 4U);
  EXPECT_THAT(checkouts[0]->ModelNames(), UnorderedElementsAre("m0", "m1", "m2", "m3"));
}

TEST_F(SharedFolder, OfManyCreatorsOfOneNameOneSucceeds) {
  std::vector<Checkout*> checkouts;
  for (int i = 0; i < 8; ++i) checkouts.push_back(&Join("n" + std::to_string(i)));
  std::atomic<int> successes = 0;
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  for (Checkout* checkout : checkouts) {
    threads.emplace_back([&, checkout] {
      const RunResult result = checkout->Run({"model", "create", "command/shell", "same", "--json"});
      if (result.exit_code == 0) ++successes;
      if (result.error_code() == "model_exists") ++told;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(successes, 1);
  EXPECT_EQ(told, 7);
}

TEST_F(SharedFolder, AFolderThatIsGoneIsNotAnEmptyDatastore) {
  Checkout& a = Join("one");
  a.Do({"model", "create", "command/shell", "m1"});
  fs::rename(shared, bucket.folder() / "elsewhere");
  a.Fail({"model", "search"}, "datastore_missing");
  a.Fail({"extension", "list"}, "datastore_missing");
  a.Fail({"model", "create", "command/shell", "m2"}, "datastore_missing");
  EXPECT_FALSE(a.Run({"datastore", "status", "--json"}).json()["healthy"]);
  EXPECT_FALSE(fs::exists(shared));
  fs::rename(bucket.folder() / "elsewhere", shared);
  EXPECT_THAT(a.ModelNames(), ElementsAre("m1"));
}

TEST_F(SharedFolder, DS65_ARelativePathIsTheSameFolderFromEverywhere) {
  Checkout& a = bucket.Plain("rel");
  a.Do({"datastore", "setup", "filesystem", "--path", "../relative/"});
  fs::create_directories(a.folder() / "sub" / "deeper");
  const std::string expected = (bucket.folder() / "relative").string();
  EXPECT_EQ(a.Do({"datastore", "status"})["path"], expected);
  EXPECT_EQ(a.Do({"datastore", "status"}, {.environment = {}, .folder = a.folder() / "sub" / "deeper"})["path"], expected);
  EXPECT_EQ(a.Do({"datastore", "status", "--repo-dir", a.folder().string()}, {.environment = {}, .folder = "/"})["path"],
            expected);
}

TEST_F(SharedFolder, DS60_GoingBackToAFolderBringsWhatIsOnlyInTheBucket) {
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "here"});
  bucket.Clone("c").Do({"model", "create", "command/shell", "there"});
  a.Do({"datastore", "setup", "filesystem", "--path", (bucket.folder() / "back").string()});
  EXPECT_THAT(a.ModelNames(), UnorderedElementsAre("here", "there"));
}

TEST_F(SharedFolder, SettingUpKeepsOtherKeysAndComments) {
  Checkout& a = bucket.Plain("plain");
  const fs::path marker = a.folder() / ".swamp.yaml";
  const std::string before = *ReadFile(bucket.context().files(), marker);
  WriteFileAtomically(bucket.context().files(), marker, "# ours, do not touch\n" + before + "futureKey: [1, 2]  # odd\n");
  a.Do({"datastore", "setup", "filesystem", "--path", "/" + std::string("tmp/") + bucket.prefix()});
  const std::string after = *ReadFile(bucket.context().files(), marker);
  EXPECT_THAT(after, HasSubstr("# ours, do not touch\n"));
  EXPECT_THAT(after, HasSubstr("futureKey: [1, 2]  # odd\n"));
  fs::remove_all("/tmp/" + bucket.prefix());
}

}  // namespace
}  // namespace swamp::e2e

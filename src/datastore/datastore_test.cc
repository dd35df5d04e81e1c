#include "datastore/datastore.h"

#include <gtest/gtest.h>

#include "datastore/config_tier.h"
#include "objectstore/fault_store.h"
#include "objectstore/memory_store.h"
#include "util/no_http.h"
#include "util/test_world.h"

namespace swamp {
namespace {

class DatastoreTest : public ::testing::Test {
 protected:
  DatastoreTest() {
    world.environment = FixedEnvironment({{"SWAMP_HOME", folder.path() / "home"}}, folder.path());
  }

  // As a new process of the same checkout; `refusals` of its first writes are refused out of hand.
  std::unique_ptr<Datastore> Open(int refusals) {
    const auto decorate = [this, refusals](std::unique_ptr<ObjectStore>) {
      auto store = std::make_unique<FaultStore>(std::make_unique<MemoryStore>(bucket));
      store->Add({.kind = Fault::Kind::kRefuse, .operation = StoreOperation::kPut, .skip = 1, .times = refusals});
      return store;
    };
    return std::make_unique<Datastore>(world.context, repo, ResolveDatastore(world.context, repo),
                                       DatastoreParts{.http = http, .decorate_store = decorate, .trace_file = {}});
  }

  TestWorld world;
  TemporaryFolder folder;
  NoHttp http;
  MemoryBucket bucket{world.clock};
  Repository repo{folder.path(), Marker::Parse("repoId: 5a3d0f52-0000-4000-8000-000000000001\n"
                                               "datastore:\n"
                                               "  type: '@swamp/s3-datastore'\n"
                                               "  managedConfig: true\n"
                                               "  config: {bucket: bucket, region: r, endpoint: 'http://localhost'}\n",
                                               "a test")};
};

TEST_F(DatastoreTest, AStoreThatLookedUnsafeInItsTroubleIsLookedAtAgain) {
  try {
    Open(/*refusals=*/100)->WritableStore(world.context);
    FAIL() << "a store that refuses all writes passed for a safe one";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "store_unsafe");
  }
  EXPECT_TRUE(Open(/*refusals=*/0)->WritableStore(world.context).capabilities().safe());
}

// Two processes of one checkout create documents; the second pushes the first's along with its own.
TEST_F(DatastoreTest, ACommandIsNotDoneWhenAnotherProcessWasToldThatAPeerWasFaster) {
  const auto first = Open(0);
  const auto second = Open(0);
  const auto tier = OpenConfigTier(repo, *first);
  const auto change = tier->Begin(world.context);
  change->Create("models/command/shell/m1.yaml", "ours");
  bucket.Plant("config/models/command/shell/m1.yaml", "a peer's");
  second->Push(world.context);
  EXPECT_THROW(change->Publish(), DocumentExists);
  EXPECT_EQ(tier->Read(world.context, "models/command/shell/m1.yaml")->bytes, "a peer's");
}

TEST_F(DatastoreTest, ARemovalIsNotDoneWhenAnotherProcessWasToldThatAPeerWasFaster) {
  const auto first = Open(0);
  const auto second = Open(0);
  const auto tier = OpenConfigTier(repo, *first);
  auto change = tier->Begin(world.context);
  change->Create("models/command/shell/m1.yaml", "ours");
  change->Publish();
  change = tier->Begin(world.context);
  change->Remove("models/command/shell/m1.yaml", tier->Read(world.context, "models/command/shell/m1.yaml")->version);
  bucket.Plant("config/models/command/shell/m1.yaml", "a peer's");
  second->Push(world.context);
  EXPECT_THROW(change->Publish(), UserError);
  EXPECT_EQ(tier->Read(world.context, "models/command/shell/m1.yaml")->bytes, "a peer's");
}

// One process removes a document, another of the same checkout makes one of its name before that is published.
TEST_F(DatastoreTest, ARemovalIsPublishedBeforeWhatIsMadeInItsPlace) {
  const auto first = Open(0);
  const auto second = Open(0);
  const auto first_tier = OpenConfigTier(repo, *first);
  const auto second_tier = OpenConfigTier(repo, *second);
  auto removal = first_tier->Begin(world.context);
  removal->Create("models/command/shell/m1.yaml", "old");
  removal->Publish();
  removal = first_tier->Begin(world.context);
  const auto creation = second_tier->Begin(world.context);
  removal->Remove("models/command/shell/m1.yaml",
                  first_tier->Read(world.context, "models/command/shell/m1.yaml")->version);
  creation->Create("models/command/shell/m1.yaml", "new");
  EXPECT_FALSE(second->store(world.context).Head(world.context, "config/models/command/shell/m1.yaml"));
  creation->Publish();
  EXPECT_NO_THROW(removal->Publish()) << "it was removed; that there is another now is not its matter";
  EXPECT_EQ(first_tier->Read(world.context, "models/command/shell/m1.yaml")->bytes, "new");
}

}  // namespace
}  // namespace swamp

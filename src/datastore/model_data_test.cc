// What a method run needs of the datastore: one model's lock, a pull of one model's data, a push of named paths.

#include <gmock/gmock.h>

#include "datastore/datastore.h"
#include "datastore/two_checkouts.h"
#include "util/no_http.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kModel = "command/shell/0d4a1f7e-50f9-4f0e-8f0b-6f1f3d2a9c11";
constexpr const char* kOther = "command/shell/11111111-50f9-4f0e-8f0b-6f1f3d2a9c11";

void WriteVersion(Checkout& checkout, const std::string& model, const std::string& name, int version) {
  const std::string folder = "data/" + model + "/" + name + "/";
  checkout.Write(folder + std::to_string(version) + "/raw", "raw " + std::to_string(version));
  checkout.Write(folder + std::to_string(version) + "/metadata.yaml", "version: " + std::to_string(version) + "\n");
  checkout.Write(folder + "latest", std::to_string(version));
}

TEST(PullModelData, BringsOneModelsDataAndNothingElse) {
  TwoCheckouts t;
  WriteVersion(*t.a, kModel, "result", 1);
  WriteVersion(*t.a, kOther, "result", 1);
  t.a->Write("config/models/command/shell/m.yaml", "x: 1\n");
  t.a->Push();
  EXPECT_EQ(PullModelData(t.world.context, *t.c->replica, kModel).files_pulled, 3);
  EXPECT_EQ(t.c->Read("data/" + std::string(kModel) + "/result/latest"), "1");
  EXPECT_EQ(t.c->Read("data/" + std::string(kOther) + "/result/latest"), std::nullopt);
  EXPECT_EQ(t.c->Read("config/models/command/shell/m.yaml"), std::nullopt);
  // What was left out is not taken for pulled.
  EXPECT_EQ(t.c->Pull().files_pulled, 4);
}

TEST(PullModelData, FollowsNewVersionsAndRemovalsOfThatModelOnly) {
  TwoCheckouts t;
  WriteVersion(*t.a, kModel, "result", 1);
  WriteVersion(*t.a, kModel, "old", 1);
  WriteVersion(*t.a, kOther, "result", 1);
  t.a->Push();
  t.c->Pull();
  WriteVersion(*t.a, kModel, "result", 2);
  WriteVersion(*t.a, kOther, "result", 2);
  for (const char* file : {"1/raw", "1/metadata.yaml", "latest"}) t.a->Remove("data/" + std::string(kModel) + "/old/" + file);
  t.a->Push();
  const PullReport report = PullModelData(t.world.context, *t.c->replica, kModel);
  EXPECT_EQ(report.files_pulled, 3);
  EXPECT_EQ(report.files_removed, 3);
  EXPECT_EQ(t.c->Read("data/" + std::string(kModel) + "/result/latest"), "2");
  EXPECT_EQ(t.c->Read("data/" + std::string(kOther) + "/result/latest"), "1");
}

TEST(PullModelData, WhenNothingIsNewIsOneRequest) {
  TwoCheckouts t;
  WriteVersion(*t.a, kModel, "result", 1);
  t.a->Push();
  PullModelData(t.world.context, *t.c->replica, kModel);
  EXPECT_TRUE(PullModelData(t.world.context, *t.c->replica, kModel).unchanged);
  // Also after a push of its own.
  WriteVersion(*t.c, kModel, "result", 2);
  t.c->Push();
  EXPECT_TRUE(PullModelData(t.world.context, *t.c->replica, kModel).unchanged);
}

TEST(PullModelData, TypesOfOneSegmentHaveAShardForEachName) {
  TwoCheckouts t;
  const std::string model = "probe/0d4a1f7e-50f9-4f0e-8f0b-6f1f3d2a9c11";
  WriteVersion(*t.a, model, "one", 1);
  WriteVersion(*t.a, model, "two", 1);
  t.a->Push();
  EXPECT_EQ(PullModelData(t.world.context, *t.c->replica, model).files_pulled, 6);
}

TEST(PullModelData, AfterALostStateDatabaseEverythingIsComparedFirst) {
  TwoCheckouts t;
  WriteVersion(*t.a, kModel, "result", 1);
  WriteVersion(*t.a, kOther, "result", 1);
  t.a->Push();
  t.c->Pull();
  t.c->replica.reset();
  t.c->cache.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(t.c->root / (std::string(".datastore-state.db") + suffix));
  }
  t.c->Reopen();
  PullModelData(t.world.context, *t.c->replica, kModel);
  EXPECT_FALSE(t.c->cache->NeedsReconciling());
}

TEST(PullFolder, BringsThatFolderAndNothingElse) {
  TwoCheckouts t;
  WriteVersion(*t.a, kModel, "result", 1);
  t.a->Write("auto-definitions/command/shell/adhoc.yaml", "x: 1\n");
  t.a->Push();
  EXPECT_EQ(PullFolder(t.world.context, *t.c->replica, "auto-definitions").files_pulled, 1);
  EXPECT_TRUE(PullFolder(t.world.context, *t.c->replica, "auto-definitions").unchanged);
  EXPECT_EQ(t.c->Pull().files_pulled, 3);
}

TEST(PushOnly, TakesTheNamedPathsAndLeavesOthersRecorded) {
  TwoCheckouts t;
  WriteVersion(*t.a, kModel, "result", 1);
  WriteVersion(*t.a, kOther, "result", 1);
  t.a->Write("config/models/command/shell/m.yaml", "x: 1\n");
  const PushReport report = Push(t.world.context, *t.a->replica, {.only = {"data/" + std::string(kModel) + "/"}});
  EXPECT_EQ(report.files_pushed, 3);
  EXPECT_EQ(UnpublishedPaths(*t.a->cache).size(), 4u);
  t.c->Pull();
  EXPECT_EQ(t.c->Read("data/" + std::string(kModel) + "/result/latest"), "1");
  EXPECT_EQ(t.c->Read("config/models/command/shell/m.yaml"), std::nullopt);
  EXPECT_EQ(t.a->Push().files_pushed, 4);
}

// One process with a datastore that is a plain folder.
class LockModelTest : public ::testing::Test {
 protected:
  std::unique_ptr<Datastore> Open(int pid, std::map<std::string, std::string> variables = {}) {
    variables["SWAMP_HOME"] = folder.path() / "home";
    variables["SWAMP_LOCK_TIMEOUT_MS"] = "5000";
    world.environment = FixedEnvironment(variables, folder.path());
    world.environment.process_id = pid;
    return std::make_unique<Datastore>(world.context, repo, ResolveDatastore(world.context, repo),
                                       DatastoreParts{.http = http, .decorate_store = {}, .trace_file = {}});
  }
  std::string WhyRefused(Datastore& datastore, const std::string& model) {
    return WhyRefused(world.context, datastore, model);
  }
  static std::string WhyRefused(const Context& context, Datastore& datastore, const std::string& model) {
    try {
      datastore.LockModel(context, model);
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "lock_timeout");
      return error.message();
    }
    return "it was not refused";
  }

  TestWorld world;
  TemporaryFolder folder;
  NoHttp http;
  Repository repo{folder.path(), Marker::Parse("repoId: 5a3d0f52-0000-4000-8000-000000000001\n", "a test")};
};

TEST_F(LockModelTest, ModelsAreLockedApart) {
  const auto first = Open(1);
  const auto lock = first->LockModel(world.context, kModel);
  const auto second = Open(2);
  EXPECT_NO_THROW(second->LockModel(world.context, kOther));
  EXPECT_THAT(WhyRefused(*second, kModel), HasSubstr("is held by user@host (host host, pid 1)"));
}

TEST_F(LockModelTest, NoneIsGivenWhileTheWholeDatastoreIsLocked) {
  const auto first = Open(1);
  auto global = first->Lock(world.context);
  const auto second = Open(2);
  EXPECT_THAT(WhyRefused(*second, kModel), HasSubstr("the whole datastore"));
  global->Release(world.context);
  EXPECT_NO_THROW(second->LockModel(world.context, kModel));
}

TEST_F(LockModelTest, MW36_AChildOfTheHolderIsToldAtOnceThatItWouldWaitForever) {
  const auto parent = Open(7);
  const auto lock = parent->LockModel(world.context, kModel);
  const auto variables = LockHolderVariables(world.context);
  EXPECT_EQ(variables.at("SWAMP_LOCK_HOLDER_PID"), "7");
  const auto child = Open(8, variables);
  // The child's own clock: the holder's heartbeat moves the other one when it likes.
  ManualClock clock;
  World childs_world{clock, world.random, world.files, world.environment, world.executor, world.log};
  const Context context(childs_world, world.cancellation);
  EXPECT_THAT(WhyRefused(context, *child, kModel), HasSubstr("held by the command that runs this one (pid 7)"));
  EXPECT_EQ(clock.Elapsed(), Duration(0));
  // A grandchild knows its whole line.
  const auto grandchild = Open(9, LockHolderVariables(world.context));
  EXPECT_THAT(WhyRefused(*grandchild, kModel), HasSubstr("pid 7"));
}

}  // namespace
}  // namespace swamp

#include "worker/worker.h"

#include <gmock/gmock.h>

#include "model/records_testing.h"
#include "vault/control_plane_vault.h"
#include "worker/enrollment_token.h"

namespace swamp {
namespace {

using ::testing::IsEmpty;

class EnrollmentTokensTest : public ::testing::Test, protected RecordFolder {
 protected:
  EnrollmentToken Create(const std::string& name) {
    return tokens.Create({.name = name, .duration = std::chrono::hours(1), .max_enrollments = 2, .vault = {}});
  }
  TokenSecrets secrets{world.context, *config, repo, datastore};
  EnrollmentTokens tokens{world.context, services(), secrets};
};

TEST_F(EnrollmentTokensTest, AreCreatedOnceAndRevoked) {
  const EnrollmentToken token = Create("w");
  EXPECT_EQ(token.secret_key, "worker-token-w");
  const auto secret = ControlPlaneVault(world.context, datastore).Get("worker-token-w");
  ASSERT_TRUE(secret);
  EXPECT_EQ(secret->size(), 64u);
  EXPECT_THAT(FilesWith(*secret), IsEmpty());
  EXPECT_EQ(EnrollmentToken::Parse(token.ToJson(), "w").ToJson(), token.ToJson());
  EXPECT_EQ(CodeOf([&] { Create("w"); }), "token_exists");
  EXPECT_FALSE(tokens.Revoke("w").already);
  EXPECT_TRUE(tokens.Revoke("w").already);
  EXPECT_EQ(CodeOf([&] { Create("w"); }), "token_exists") << "also over a revoked one";
  EXPECT_EQ(CodeOf([&] { tokens.Revoke("x"); }), "token_not_found");
  EXPECT_EQ(CodeOf([&] { Create(std::string(49, 'a')); }), "validation_failed");
}

TEST_F(EnrollmentTokensTest, ExpireByTheClock) {
  Create("w");
  world.clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(tokens.All()[0].EffectiveState(world.clock.Now()), EnrollmentToken::State::kExpired);
  tokens.Revoke("w");
  EXPECT_EQ(tokens.All()[0].EffectiveState(world.clock.Now()), EnrollmentToken::State::kRevoked);
}

TEST(EnrollmentTokenRecords, NumbersOfMachines) {
  EXPECT_EQ(ParseMaxEnrollments("3"), 3u);
  EXPECT_EQ(ParseMaxEnrollments("unlimited"), std::nullopt);
  for (const char* bad : {"0", "-1", "", "x", "99999999999999999999"}) EXPECT_THROW(ParseMaxEnrollments(bad), UserError) << bad;
  Json json = {{"name", "t"}, {"state", "enrolled"}, {"expiresAt", "2026-12-01T15:29:01.064Z"}, {"vaultName", "v"}, {"secretKey", "k"},
               {"maxEnrollments", "unlimited"}};
  json["bindings"] = Json::array({{{"machineId", "m"}, {"enrolledAt", "2026-12-01T15:29:01.064Z"}}});
  const EnrollmentToken token = EnrollmentToken::Parse(json, "t");
  EXPECT_FALSE(token.max_enrollments);
  EXPECT_EQ(token.bindings.size(), 1u);
  json["maxEnrollments"] = 0;
  EXPECT_THROW(EnrollmentToken::Parse(json, "t"), UserError);
}

class WorkersTest : public ::testing::Test, protected RecordFolder {
 protected:
  // As a server writes it.
  void Write(const std::string& name, const std::string& status, Duration ago) {
    const RecordType type{"swamp/worker", "2026.07.06.1", "state-main", 20};
    Json json = {{"name", name}, {"status", status}, {"lastSeenAt", FormatTime(world.clock.Now() - ago)}};
    if (status == "disconnected") json["disconnectedAt"] = FormatTime(world.clock.Now() - ago);
    Records(world.context, services(), type)
        .Change({.name = "worker-" + name, .method = "update", .create = true}, [&](const auto&) { return json; });
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Worker& one : workers.All()) names.push_back(one.name);
    return names;
  }
  Workers workers{world.context, services()};
};

constexpr Duration kDay = std::chrono::hours(24);

TEST_F(WorkersTest, ThoseThatAreGoneForLongArePrunedAndRunningOnesNever) {
  Write("old", "disconnected", 8 * kDay);
  Write("new", "disconnected", 6 * kDay);
  Write("idle", "idle", 100 * kDay);
  Write("busy", "busy", 100 * kDay);
  const auto stale = workers.Stale(7 * kDay);
  ASSERT_EQ(stale.size(), 1u);
  EXPECT_EQ(workers.Prune(stale, 7 * kDay).size(), 1u);
  EXPECT_THAT(Names(), ::testing::ElementsAre("busy", "idle", "new"));
}

TEST_F(WorkersTest, OneThatCameBackMeanwhileStays) {
  Write("w", "disconnected", 8 * kDay);
  const auto stale = workers.Stale(7 * kDay);
  Write("w", "idle", Duration(0));
  EXPECT_THAT(workers.Prune(stale, 7 * kDay), IsEmpty());
  EXPECT_EQ(Names().size(), 1u);
}

TEST_F(WorkersTest, TheQueueIsWhatWaitsLongestFirst) {
  const RecordType type{"swamp/pending-dispatch", "2026.07.04.1", "pending-q1", 10};
  const auto write = [&](const std::string& id, const std::string& state, const std::string& at) {
    RecordType one = type;
    one.data_name = "pending-" + id;
    Records(world.context, services(), one).Change({.name = "pending", .method = "update", .create = true}, [&](const auto&) {
      return Json{{"queueId", id}, {"state", state}, {"queuedAt", at}};
    });
  };
  write("q1", "waiting", "2026-12-01T10:00:00.000Z");
  write("q2", "dispatched", "2026-12-01T09:00:00.000Z");
  write("q3", "waiting", "2026-12-01T09:30:00.000Z");
  const auto queued = QueuedDispatches(world.context, services());
  ASSERT_EQ(queued.size(), 2u);
  EXPECT_EQ(queued[0]["queueId"], "q3");
}

}  // namespace
}  // namespace swamp

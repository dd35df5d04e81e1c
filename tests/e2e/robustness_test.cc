// Caches that vanish, disks that are full, clocks that are wrong, servers that refuse.

#include <sys/mount.h>

#include <fstream>
#include <thread>

#include "backends.h"
#include "util/text.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class Robustness : public OnEveryBucket {};
SWAMP_ON_EVERY_BUCKET(Robustness);

TEST_P(Robustness, TheCacheMayBeDeletedBetweenAnyTwoCommands) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  const auto forget = [&] { fs::remove_all(a.home()); fs::create_directories(a.home()); };
  forget();
  a.Do({"model", "create", "command/shell", "m1"});
  forget();
  a.Do({"model", "get", "m1"});
  forget();
  a.Do({"model", "edit", "m1"}, {.input = ModelText("echo edited"), .has_input = true});
  forget();
  a.Do({"extension", "pull", "@acme/x", "-y"});
  forget();
  EXPECT_THAT(a.ListedExtensions(), ElementsAre("@acme/x"));
  forget();
  EXPECT_EQ(a.Do({"datastore", "sync", "--push", "-y"})["filesPushed"], 0);
  forget();
  a.Do({"vault", "create", "local_encryption", "v1"});
  forget();
  a.Do({"model", "delete", "m1", "-y"});
  forget();
  EXPECT_THAT(a.ModelNames(), Not(Contains("m1")));
  EXPECT_THAT(bucket.LockfileNames(), ElementsAre("@acme/x"));
  EXPECT_TRUE(a.Do({"datastore", "conflicts", "list"})["conflicts"].empty());
}

TEST_P(Robustness, TheStateDatabaseMayBeDeletedAndNothingIsForced) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"model", "create", "command/shell", "m2"});
  Checkout& c = bucket.Clone("c");
  c.Do({"model", "edit", "m1"}, {.input = ModelText("echo theirs"), .has_input = true});
  c.Do({"model", "delete", "m2", "-y"});
  const fs::path cache = a.cache();
  for (const auto& entry : fs::directory_iterator(cache)) {
    if (entry.path().filename().string().starts_with(".datastore-state.db")) fs::remove(entry.path());
  }
  a.Do({"datastore", "sync", "--push", "-y"});
  EXPECT_THAT(*bucket.Peek(ModelKey("m1")), HasSubstr("theirs"));
  EXPECT_THAT(c.ModelNames(), Not(Contains("m2"))) << "a removal was undone";
}

TEST_P(Robustness, DS46_ADamagedStateDatabaseIsMadeAnew) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  std::ofstream(a.cache() / ".datastore-state.db", std::ios::trunc) << "this is no database, but long enough to be one "
                                                                    << std::string(5000, 'x');
  fs::remove(a.cache() / ".datastore-state.db-wal");
  a.Do({"model", "create", "command/shell", "m2"});
  EXPECT_THAT(bucket.Clone("c").ModelNames(), UnorderedElementsAre("m1", "m2"));
}

// A small file system of its own; nothing when this process may not mount one.
class SmallDisk {
 public:
  explicit SmallDisk(const fs::path& place) : place_(place) {
    fs::create_directories(place);
    mounted_ = ::mount("tmpfs", place.c_str(), "tmpfs", 0, "size=512k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(place_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  void Fill() const {
    std::ofstream file(place_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void Free() const { fs::remove(place_ / "filler"); }

 private:
  fs::path place_;
  bool mounted_ = false;
};

TEST_P(Robustness, AFullDiskIsAClearErrorAndNothingIsHalfWritten) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  fs::remove_all(a.home());
  const SmallDisk disk(a.home());
  if (!disk.mounted()) GTEST_SKIP() << "may not mount a file system here";
  a.Do({"model", "search"});
  const auto keys = bucket.Keys();
  disk.Fill();
  const RunResult failed = a.Run({"model", "create", "command/shell", "m2", "--json"});
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_EQ(failed.error_code(), "disk_full") << failed;
  EXPECT_EQ(bucket.Keys(), keys);
  disk.Free();
  a.Do({"model", "create", "command/shell", "m2"});
  EXPECT_THAT(bucket.Clone("c").ModelNames(), UnorderedElementsAre("m1", "m2"));
}

TEST_P(Robustness, ManyProcessesOfOneCheckoutAtOnceAllSucceed) {
  Bucket bucket(GetParam());
  for (int i = 0; i < 4; ++i) bucket.Publish("@acme/x" + std::to_string(i), "2026.01.01.1");
  Checkout& a = bucket.first();
  fs::remove_all(a.home());
  fs::create_directories(a.home());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&a, i] { a.Do({"model", "create", "command/shell", "m" + std::to_string(i)}); });
    threads.emplace_back([&a, i] { a.Do({"extension", "pull", "@acme/x" + std::to_string(i), "-y"}); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(bucket.LockfileNames(), ElementsAre("@acme/x0", "@acme/x1", "@acme/x2", "@acme/x3"));
  EXPECT_THAT(bucket.Clone("c").ModelNames(), UnorderedElementsAre("m0", "m1", "m2", "m3"));
  EXPECT_TRUE(a.Do({"datastore", "status"})["unpublished"]["paths"].empty());
}

TEST_P(Robustness, SeveralCheckoutsAtOnceAllSucceed) {
  Bucket bucket(GetParam());
  std::vector<Checkout*> checkouts = {&bucket.first()};
  for (int i = 1; i < 4; ++i) checkouts.push_back(&bucket.Clone("c" + std::to_string(i)));
  for (int i = 0; i < 4; ++i) bucket.Publish("@acme/x" + std::to_string(i), "2026.01.01.1");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([checkout = checkouts[static_cast<std::size_t>(i)], i] {
      checkout->Do({"extension", "pull", "@acme/x" + std::to_string(i), "-y"});
      checkout->Do({"model", "create", "command/shell", "m" + std::to_string(i)});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(bucket.LockfileNames(), ElementsAre("@acme/x0", "@acme/x1", "@acme/x2", "@acme/x3"));
  EXPECT_THAT(bucket.Clone("late").ModelNames(), UnorderedElementsAre("m0", "m1", "m2", "m3"));
}

TEST_P(Robustness, AClockThatIsAnHourOffHarmsNobody) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  Checkout& c = bucket.Clone("c");
  for (const char* offset : {"3600000", "-3600000"}) {
    const RunOptions wrong{.environment = {{"SWAMP_TEST_CLOCK_OFFSET_MS", offset}}};
    const std::string name = std::string("m") + (offset[0] == '-' ? "behind" : "ahead");
    c.Do({"model", "create", "command/shell", name}, wrong);
    c.Do({"extension", "pull", "@acme/x", "-y"}, wrong);
    a.Do({"model", "create", "command/shell", name + "2"});
    c.Do({"datastore", "sync"}, wrong);
    EXPECT_THAT(a.ModelNames(), IsSupersetOf({name, name + "2"}));
  }
  EXPECT_THAT(bucket.LockfileNames(), ElementsAre("@acme/x"));
}

TEST_P(Robustness, DS26_TheBreakGlassDoesNotWaitForTheLock) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  const std::string lock =
      R"({"holder":"eve@far","hostname":"far","pid":7,"acquiredAt":"2026-12-01T00:00:00.000Z","ttlMs":30000,"nonce":"n1"})";
  ASSERT_TRUE(bucket.store()
                  .Put(bucket.context(), ".datastore.lock", Body::FromBytes(lock), Condition::Absent(), {})
                  .stored());
  const Json status = a.Do({"datastore", "lock", "status"});
  EXPECT_TRUE(status["held"]);
  EXPECT_EQ(status["info"]["holder"], "eve@far");
  const Json released = a.Do({"datastore", "lock", "release", "--force"});
  EXPECT_TRUE(released["released"]);
  EXPECT_EQ(released["previousHolder"]["holder"], "eve@far");
  EXPECT_FALSE(a.Do({"datastore", "lock", "status"})["held"]);
  EXPECT_FALSE(a.Do({"datastore", "lock", "release", "--force"})["released"]);
}

TEST_P(Robustness, DS27_NoCommandLeavesALockBehindHoweverItEnds) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"extension", "pull", "@acme/x", "-y"});
  const std::vector<std::vector<std::string>> failing = {
      {"extension", "pull", "@acme/nosuch", "-y"}, {"extension", "rm", "@acme/nosuch", "-y"},
      {"model", "create", "nope/x", "m"},          {"model", "create", "command/shell", "../evil"},
      {"model", "edit", "nosuch"},                 {"model", "delete", "nosuch", "-y"},
      {"vault", "create", "nope", "v"},            {"vault", "get", "nosuch"},
      {"datastore", "conflicts", "show", "x"},     {"extension", "pull", "@acme/x@1?y#z", "-y"},
  };
  for (std::vector<std::string> arguments : failing) {
    arguments.emplace_back("--json");
    const RunResult result = a.Run(arguments);
    EXPECT_NE(result.exit_code, 0) << Join(arguments, " ");
    EXPECT_NE(result.error_code(), "") << Join(arguments, " ") << "\n" << result;
    EXPECT_EQ(result.out, "") << Join(arguments, " ");
    EXPECT_FALSE(bucket.Peek(".datastore.lock")) << Join(arguments, " ");
  }
}

// ---- servers that refuse: real ones only ----

class Refusals : public ::testing::Test {
 protected:
  void SetUp() override { NeedsServerOf(Backend::kRgw); }
};

TEST_F(Refusals, WrongKeysAreAClearErrorAndNothingChanges) {
  Bucket bucket(Backend::kRgw);
  Checkout& a = bucket.first();
  const auto keys = bucket.Keys();
  const RunOptions wrong_id{.environment = {{"AWS_ACCESS_KEY_ID", "nobodysaccesskey"}}};
  const RunOptions wrong_secret{.environment = {{"AWS_SECRET_ACCESS_KEY", "not-the-secret-at-all"}}};
  for (const RunOptions& options : {wrong_id, wrong_secret}) {
    const RunResult failed = a.Fail({"model", "create", "command/shell", "m1"}, "store_access_denied", options);
    EXPECT_THAT(failed.err, Not(HasSubstr("not-the-secret-at-all")));
    EXPECT_THAT(failed.err, HasSubstr("hint"));
  }
  EXPECT_EQ(bucket.Keys(), keys);
  EXPECT_THAT(a.ModelNames(), Not(Contains("m1")));
}

TEST_F(Refusals, ABucketThatIsNotThere) {
  Bucket bucket(Backend::kRgw);
  Checkout& plain = bucket.Plain("p");
  Json config = bucket.DatastoreConfig();
  config["bucket"] = "there-is-no-such-bucket";
  const std::string marker = *ReadFile(bucket.context().files(), plain.folder() / ".swamp.yaml");
  plain.Fail({"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(config)},
             "store_no_bucket");
  EXPECT_EQ(*ReadFile(bucket.context().files(), plain.folder() / ".swamp.yaml"), marker);
}

TEST_F(Refusals, ABucketWithoutTheRightToWrite) {
  Bucket bucket(Backend::kRgw);
  Checkout& a = bucket.first();
  a.proxy()->AddRule({.action = ProxyRule::Action::kForbid, .method = "PUT"});
  a.proxy()->AddRule({.action = ProxyRule::Action::kForbid, .method = "DELETE"});
  const auto keys = bucket.Keys();
  const RunResult failed = a.Fail({"model", "create", "command/shell", "m1"}, "managed_config_unpublished");
  EXPECT_THAT(failed.err, HasSubstr("AccessDenied"));
  EXPECT_EQ(bucket.Keys(), keys);
  a.EndFaults();
  a.Do({"datastore", "sync"});
  EXPECT_THAT(bucket.Clone("c").ModelNames(), ElementsAre("m1"));

  Checkout& plain = bucket.Plain("p");
  plain.proxy()->AddRule({.action = ProxyRule::Action::kForbid, .method = "PUT"});
  const std::string marker = *ReadFile(bucket.context().files(), plain.folder() / ".swamp.yaml");
  plain.Fail({"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(bucket.DatastoreConfig())},
             "store_access_denied");
  EXPECT_EQ(*ReadFile(bucket.context().files(), plain.folder() / ".swamp.yaml"), marker);
}

TEST_F(Refusals, AServerThatIsDown) {
  Bucket bucket(Backend::kRgw);
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  const RunOptions down{.environment = {{"TEST_ENDPOINT", "http://127.0.0.1:1"}}};
  a.Fail({"extension", "pull", "@acme/x", "-y"}, "managed_lockfile_unavailable", down);
  EXPECT_FALSE(fs::exists(a.folder() / ".swamp/config/pulled-extensions/@acme/x"));
  Checkout& plain = bucket.Plain("p");
  plain.Fail({"datastore", "setup", "extension", "@swamp/s3-datastore", "--config", CompactJson(bucket.DatastoreConfig())},
             "store_unreachable", down);
}

TEST_F(Refusals, AnUnconditionalWriteWouldBeNoticed) {
  Bucket bucket(Backend::kRgw);
  bucket.first().Do({"model", "create", "command/shell", "m1"});
  const Proxy::Writes ours = Proxy::TakeWrites();
  EXPECT_GE(ours.count, 3) << "the document, the index shard, the meta object";
  EXPECT_THAT(ours.unconditional, IsEmpty());

  CurlHttpClient http;
  http.Send(bucket.context(), {.method = "PUT", .url = bucket.first().proxy()->url() + "/bucket/key"});
  EXPECT_THAT(Proxy::TakeWrites().unconditional, ElementsAre("PUT /bucket/key"));
}

TEST_P(Robustness, PublishingTheLockfileTakesNoOtherChangeAlong) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  a.FailPuts(ModelKey("m1"), Proxy::Moment::kBefore);
  EXPECT_NE(a.RunWithInput({"model", "edit", "m1"}, ModelText("echo A")).exit_code, 0);
  a.EndFaults();
  bucket.Clone("c").RunWithInput({"model", "edit", "m1"}, ModelText("echo C"));
  a.Do({"extension", "pull", "@acme/x", "-y"});
  // The edit's turn has not come: its conflict is told by what publishes it.
  EXPECT_THAT(CompactJson(a.Do({"datastore", "status"})["unpublished"]["paths"]), HasSubstr("m1.yaml"));
  a.Run({"datastore", "sync", "--json"});
  EXPECT_THAT(CompactJson(a.Do({"datastore", "conflicts", "list"})), HasSubstr("m1.yaml"));
}

TEST_P(Robustness, AMarkerWhoseIdIsAPathIsRefused) {
  Bucket bucket(GetParam());
  Checkout& c = bucket.Clone("c");
  std::string marker = ReadFile(bucket.context().files(), c.folder() / ".swamp.yaml").value();
  const std::size_t start = marker.find("repoId: ") + 8;
  marker.replace(start, marker.find('\n', start) - start, "../../x");
  std::ofstream(c.folder() / ".swamp.yaml") << marker;
  c.Fail({"model", "search"}, "repo_id_invalid");
  EXPECT_FALSE(fs::exists(c.home() / "x"));
}

TEST_F(Refusals, DS16_TheUploadFailsAtTheEndAndOnePushCompletesItLater) {
  Bucket bucket(Backend::kRgw);
  Checkout& a = bucket.first();
  a.proxy()->AddRule({.action = ProxyRule::Action::kCut});
  const RunResult failed = a.Fail({"model", "create", "command/shell", "m1"}, "managed_config_unpublished");
  EXPECT_THAT(failed.err, HasSubstr("datastore sync"));
  EXPECT_THAT(a.ModelNames(false), ElementsAre("m1")) << "reading needs no server";
  a.EndFaults();
  EXPECT_EQ(a.Do({"datastore", "sync"})["filesPushed"], 1);
  EXPECT_THAT(bucket.Clone("c").ModelNames(), ElementsAre("m1"));
}

TEST_F(Refusals, DS72_AStoreThatNeverAnswersEndsAtTheTimeLimit) {
  Bucket bucket(Backend::kRgw);
  Checkout& a = bucket.first();
  a.proxy()->AddRule({.action = ProxyRule::Action::kHang});
  const auto start = std::chrono::steady_clock::now();
  const RunResult failed = a.Fail({"datastore", "sync", "--pull", "--timeout", "2"}, "sync_timeout");
  EXPECT_EQ(failed.exit_code, 75);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_THAT(failed.err, HasSubstr("--timeout"));
}

TEST_F(Refusals, ModelCreateTakesAtMostEightRequestsAndAnIdleSyncOne) {
  Bucket bucket(Backend::kRgw);
  Checkout& a = bucket.first();
  a.Do({"datastore", "sync"});
  a.TakeRequests();
  a.Do({"model", "create", "command/shell", "m1"});
  EXPECT_LE(a.TakeRequests().size(), 8U);
  a.Do({"datastore", "sync"});
  EXPECT_EQ(a.TakeRequests().size(), 1U);
}

TEST_F(Refusals, DS44_RightsOnThePrefixAreEnough) {
  Bucket bucket(Backend::kRgw);
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"datastore", "sync"});
  a.Do({"datastore", "status"});
  a.Do({"datastore", "lock", "status"});
  for (const std::string& request : a.TakeRequests()) {
    EXPECT_THAT(request, HasSubstr(bucket.prefix())) << "a request outside the prefix";
  }
}

}  // namespace
}  // namespace swamp::e2e

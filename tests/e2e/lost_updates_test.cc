// The faults that this program exists to rule out: one checkout's command must never undo another's.

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class LostUpdates : public OnEveryBucket {};
SWAMP_ON_EVERY_BUCKET(LostUpdates);

// ---- F1: a stale cache and an unrelated command ----

struct Unrelated {
  std::string name;
  std::vector<std::string> arguments;
  std::string input;
};

std::vector<Unrelated> UnrelatedCommands() {
  return {{"model create", {"model", "create", "command/shell", "fresh"}, ""},
          {"vault create", {"vault", "create", "local_encryption", "fresh"}, ""},
          {"model edit", {"model", "edit", "old"}, ModelText("echo edited")},
          {"vault edit", {"vault", "edit", "oldvault"}, "config:\n  auto_generate: true\n  key_file: k\n"},
          {"model delete", {"model", "delete", "doomed", "-y"}, ""},
          {"sync", {"datastore", "sync"}, ""},
          {"sync --push", {"datastore", "sync", "--push", "-y"}, ""},
          {"sync --push, preview", {"datastore", "sync", "--push"}, ""}};
}

TEST_P(LostUpdates, F1_AnUnrelatedCommandOfAStaleCheckoutLeavesTheLockfileAsItsPublisherLeftIt) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  bucket.Publish("@acme/y", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "old"});
  a.Do({"model", "create", "command/shell", "doomed"});
  a.Do({"vault", "create", "local_encryption", "oldvault"});
  a.Do({"extension", "pull", "@acme/x", "-y"});
  Checkout& c = bucket.Clone("c");
  c.Do({"extension", "pull", "@acme/y", "-y"});
  const std::string published = bucket.EtagOf(kLockfileKey);
  const auto bytes = bucket.Peek(kLockfileKey);
  ASSERT_THAT(bucket.LockfileNames(), ElementsAre("@acme/x", "@acme/y"));
  for (const Unrelated& command : UnrelatedCommands()) {
    a.Do(command.arguments, {.input = command.input, .has_input = !command.input.empty()});
    EXPECT_EQ(bucket.EtagOf(kLockfileKey), published) << "after " << command.name;
    EXPECT_EQ(bucket.Peek(kLockfileKey), bytes) << "after " << command.name;
  }
  if (a.proxy() != nullptr) {
    int pulls = 0;
    for (const std::string& request : a.TakeRequests()) {
      if (request.starts_with("PUT ") && request.find(kLockfileKey) != std::string::npos) ++pulls;
    }
    EXPECT_EQ(pulls, 1) << "only the pull of @acme/x may write the lockfile";
  }
}

TEST_P(LostUpdates, F1_TheSameWhenTheStaleCacheHasAnEditedCopyOfTheLockfile) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  bucket.Publish("@acme/y", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"extension", "pull", "@acme/x", "-y"});
  bucket.Clone("c").Do({"extension", "pull", "@acme/y", "-y"});
  const std::string published = bucket.EtagOf(kLockfileKey);
  WriteFileAtomically(bucket.context().files(), a.cache() / kLockfileKey, "{}\n");
  a.Do({"model", "create", "command/shell", "m1"});
  a.Do({"datastore", "sync"});
  a.Do({"datastore", "sync", "--push", "-y"});
  EXPECT_EQ(bucket.EtagOf(kLockfileKey), published);
  EXPECT_THAT(a.ListedExtensions(), ElementsAre("@acme/x", "@acme/y"));
}

// ---- B5: a publish that failed, and what a peer did meanwhile ----

struct Retry {
  std::string name;
  std::vector<std::string> arguments;
};

class FailedPublish : public ::testing::TestWithParam<std::tuple<Backend, Proxy::Moment, std::string>> {
 protected:
  void SetUp() override { NeedsServerOf(std::get<0>(GetParam())); }
};

std::vector<std::string> RetryCommand(const std::string& name) {
  if (name == "Sync") return {"datastore", "sync"};
  if (name == "Push") return {"datastore", "sync", "--push", "-y"};
  if (name == "PushPreview") return {"datastore", "sync", "--push"};
  if (name == "Install") return {"extension", "install"};
  return {"extension", "pull", "@acme/w", "-y"};
}

std::string FailedPublishName(const ::testing::TestParamInfo<FailedPublish::ParamType>& info) {
  return NameOf(std::get<0>(info.param)) +
         (std::get<1>(info.param) == Proxy::Moment::kBefore ? "Refused" : "AnswerLost") + std::get<2>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Buckets, FailedPublish,
                         ::testing::Combine(::testing::Values(Backend::kRgw, Backend::kFolder, Backend::kRgwNoLocks,
                                                              Backend::kFolderNoLocks),
                                            ::testing::Values(Proxy::Moment::kBefore, Proxy::Moment::kAfter),
                                            ::testing::Values("Sync", "Push", "PushPreview", "Install", "NextPull")),
                         FailedPublishName);

TEST_P(FailedPublish, B5_IsMadeUpForWithoutTouchingWhatAPeerPublishedMeanwhile) {
  const auto& [backend, moment, retry] = GetParam();
  Bucket bucket(backend);
  for (const char* name : {"@acme/w", "@acme/x", "@acme/y", "@acme/z"}) bucket.Publish(name, "2026.01.01.1");
  Checkout& a = bucket.first();
  Checkout& c = bucket.Clone("c");
  a.Do({"extension", "pull", "@acme/x", "-y"});
  a.FailPuts(kLockfileKey, moment);
  const RunResult failed = a.Run({"extension", "pull", "@acme/y", "-y", "--json"});
  a.EndFaults();
  if (moment == Proxy::Moment::kBefore) {
    EXPECT_NE(failed.exit_code, 0) << failed;
    EXPECT_EQ(failed.error_code(), "managed_config_unpublished") << failed;
    EXPECT_EQ(failed.out, "");
    EXPECT_TRUE(a.Do({"datastore", "status"})["unpublished"]["lockfile"]);
    EXPECT_THAT(a.ListedExtensions(), Contains("@acme/y")) << "the change stays applied here";
  } else {
    // The write took effect, and reading shows it: success is the truth.
    EXPECT_EQ(failed.exit_code, 0) << failed;
  }
  c.Do({"extension", "pull", "@acme/z", "-y"});
  a.Do(RetryCommand(retry));
  EXPECT_THAT(bucket.LockfileNames(), ::testing::IsSupersetOf({"@acme/x", "@acme/y", "@acme/z"}));
  EXPECT_FALSE(a.Do({"datastore", "status"})["unpublished"]["lockfile"]);
  EXPECT_THAT(a.Do({"extension", "list", "--refresh"})["extensions"].size(), ::testing::Ge(3U));
}

// ---- an unpublished change meets a peer's later change of the same name ----

TEST_P(LostUpdates, AnOldPullDoesNotRollBackAPeersUpdate) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  bucket.Publish("@acme/x", "2026.02.01.1");
  Checkout& a = bucket.first();
  Checkout& c = bucket.Clone("c");
  a.FailPuts(kLockfileKey, Proxy::Moment::kBefore);
  a.Fail({"extension", "pull", "@acme/x@2026.01.01.1", "-y"}, "managed_config_unpublished");
  a.EndFaults();
  c.Do({"extension", "pull", "@acme/x@2026.02.01.1", "-y"});
  const Json synced = a.Do({"datastore", "sync"});
  EXPECT_EQ(bucket.Lockfile()["@acme/x"]["version"], "2026.02.01.1");
  EXPECT_THAT(CompactJson(synced["warnings"]), HasSubstr("@acme/x")) << "A is told";
  EXPECT_FALSE(a.Do({"datastore", "status"})["unpublished"]["lockfile"]);
}

TEST_P(LostUpdates, AnOldRemovalDoesNotRemoveWhatAPeerPulledAgain) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  Checkout& a = bucket.first();
  Checkout& c = bucket.Clone("c");
  a.Do({"extension", "pull", "@acme/x", "-y"});
  a.FailPuts(kLockfileKey, Proxy::Moment::kBefore);
  a.Fail({"extension", "rm", "@acme/x", "-y"}, "managed_config_unpublished");
  a.EndFaults();
  c.Do({"extension", "pull", "@acme/x", "-y"});
  const Json synced = a.Do({"datastore", "sync"});
  EXPECT_THAT(bucket.LockfileNames(), ElementsAre("@acme/x"));
  EXPECT_THAT(CompactJson(synced["warnings"]), HasSubstr("@acme/x")) << "A is told";
}

TEST_P(LostUpdates, AnUnpublishedRemovalThatNobodyContradictsIsMadeUpFor) {
  Bucket bucket(GetParam());
  bucket.Publish("@acme/x", "2026.01.01.1");
  bucket.Publish("@acme/y", "2026.01.01.1");
  Checkout& a = bucket.first();
  a.Do({"extension", "pull", "@acme/x", "-y"});
  a.FailPuts(kLockfileKey, Proxy::Moment::kBefore);
  a.Fail({"extension", "rm", "@acme/x", "-y"}, "managed_config_unpublished");
  a.EndFaults();
  bucket.Clone("c").Do({"extension", "pull", "@acme/y", "-y"});
  a.Do({"datastore", "sync"});
  EXPECT_THAT(bucket.LockfileNames(), ElementsAre("@acme/y"));
}

// ---- documents ----

TEST_P(LostUpdates, TheSameDocumentChangedOnBothSides) {
  for (const std::string keep : {"local", "remote"}) {
    Bucket bucket(GetParam());
    Checkout& a = bucket.first();
    a.Do({"model", "create", "command/shell", "m1"});
    Checkout& c = bucket.Clone("c");
    c.Do({"datastore", "sync"});
    c.Do({"model", "edit", "m1"}, {.input = ModelText("echo theirs"), .has_input = true});
    const RunResult failed =
        a.Fail({"model", "edit", "m1"}, "config_conflict", {.input = ModelText("echo ours"), .has_input = true});
    EXPECT_THAT(failed.err, HasSubstr("datastore conflicts resolve"));
    EXPECT_THAT(*bucket.Peek(ModelKey("m1")), HasSubstr("theirs"));
    const Json listed = a.Do({"datastore", "conflicts", "list"})["conflicts"];
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0]["path"], ModelKey("m1"));
    const Json shown = a.Do({"datastore", "conflicts", "show", ModelKey("m1")});
    EXPECT_THAT(shown["local"].get<std::string>(), HasSubstr("ours"));
    EXPECT_THAT(shown["remote"].get<std::string>(), HasSubstr("theirs"));
    a.Do({"datastore", "conflicts", "resolve", ModelKey("m1"), "--keep", keep});
    EXPECT_THAT(*bucket.Peek(ModelKey("m1")), HasSubstr(keep == "local" ? "ours" : "theirs"));
    EXPECT_TRUE(a.Do({"datastore", "conflicts", "list"})["conflicts"].empty());
    c.Do({"datastore", "sync"});
    EXPECT_THAT(*ReadFile(bucket.context().files(), c.cache() / ModelKey("m1")),
                HasSubstr(keep == "local" ? "ours" : "theirs"));
  }
}

TEST_P(LostUpdates, TheSameChangeOnBothSidesIsNoConflict) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  Checkout& c = bucket.Clone("c");
  c.Do({"datastore", "sync"});
  // Both unpublished at first, so that neither sees the other's.
  a.FailPuts(ModelKey("m1"), Proxy::Moment::kBefore);
  const std::string text = *bucket.Peek(ModelKey("m1")) + "# the same line\n";
  a.Fail({"model", "edit", "m1"}, "managed_config_unpublished", {.input = text, .has_input = true});
  a.EndFaults();
  c.Do({"model", "edit", "m1"}, {.input = text, .has_input = true});
  a.Do({"datastore", "sync"});
  EXPECT_TRUE(a.Do({"datastore", "conflicts", "list"})["conflicts"].empty());
  EXPECT_TRUE(a.Do({"datastore", "status"})["unpublished"]["paths"].empty());
}

TEST_P(LostUpdates, AnUnpublishedEditMeetsAPeersEdit) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  Checkout& c = bucket.Clone("c");
  c.Do({"datastore", "sync"});
  a.FailPuts(ModelKey("m1"), Proxy::Moment::kBefore);
  a.Fail({"model", "edit", "m1"}, "managed_config_unpublished", {.input = ModelText("echo ours"), .has_input = true});
  a.EndFaults();
  EXPECT_THAT(a.Do({"datastore", "status"})["unpublished"]["paths"], ElementsAre(ModelKey("m1")));
  c.Do({"model", "edit", "m1"}, {.input = ModelText("echo theirs"), .has_input = true});
  a.Fail({"datastore", "sync"}, "config_conflict");
  EXPECT_THAT(*bucket.Peek(ModelKey("m1")), HasSubstr("theirs"));
  EXPECT_THAT(a.Do({"datastore", "conflicts", "show", ModelKey("m1")})["local"].get<std::string>(), HasSubstr("ours"));
}

TEST_P(LostUpdates, APeerDeletedWhatIsEditedHere) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  Checkout& c = bucket.Clone("c");
  c.Do({"model", "delete", "m1", "-y"});
  const RunResult failed =
      a.Fail({"model", "edit", "m1"}, "config_conflict", {.input = ModelText("echo ours"), .has_input = true});
  EXPECT_THAT(c.ModelNames(), Not(Contains("m1")));
  EXPECT_THAT(a.Do({"datastore", "conflicts", "show", ModelKey("m1")})["local"].get<std::string>(), HasSubstr("ours"));
  a.Do({"datastore", "conflicts", "resolve", ModelKey("m1"), "--keep", "local"});
  EXPECT_THAT(c.ModelNames(), Contains("m1"));
}

TEST_P(LostUpdates, WhatIsDeletedHereWasEditedByAPeer) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  Checkout& c = bucket.Clone("c");
  c.Do({"model", "edit", "m1"}, {.input = ModelText("echo theirs"), .has_input = true});
  a.Fail({"model", "delete", "m1", "-y"}, "config_conflict");
  EXPECT_THAT(*bucket.Peek(ModelKey("m1")), HasSubstr("theirs"));
  EXPECT_THAT(a.ModelNames(false), Contains("m1"));
  // Having seen it, A may delete it.
  a.Do({"model", "delete", "m1", "-y"});
  EXPECT_THAT(c.ModelNames(), Not(Contains("m1")));
}

TEST_P(LostUpdates, DS21_WhatWasDeletedStaysDeleted) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  a.Do({"model", "create", "command/shell", "m1"});
  Checkout& c = bucket.Clone("c");
  c.Do({"datastore", "sync"});
  a.Do({"model", "delete", "m1", "-y"});
  a.Do({"datastore", "sync", "--pull"});
  EXPECT_THAT(a.ModelNames(), Not(Contains("m1")));
  c.Do({"datastore", "sync"});
  c.Do({"datastore", "sync", "--push", "-y"});
  EXPECT_THAT(c.ModelNames(), Not(Contains("m1")));
  EXPECT_THAT(a.ModelNames(), Not(Contains("m1")));
  a.Do({"model", "create", "command/shell", "m1"});
  EXPECT_THAT(c.ModelNames(), Contains("m1"));
}

TEST_P(LostUpdates, OfTwoCreatorsOfOneNameTheSecondIsToldByName) {
  Bucket bucket(GetParam());
  Checkout& a = bucket.first();
  Checkout& c = bucket.Clone("c");
  c.Do({"model", "search"});
  a.Do({"model", "create", "command/shell", "m1"});
  const std::string id = a.Do({"model", "get", "m1"})["id"];
  c.Fail({"model", "create", "command/shell", "m1"}, "model_exists");
  EXPECT_EQ(c.Do({"model", "get", "m1"})["id"], id);
  EXPECT_TRUE(c.Do({"datastore", "conflicts", "list"})["conflicts"].empty());
}

}  // namespace
}  // namespace swamp::e2e

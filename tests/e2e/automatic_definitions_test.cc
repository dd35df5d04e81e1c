// Definitions that direct runs have made, edited by people: by the same rules as people's own.

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::HasSubstr;

class AutomaticDefinitions : public OnEveryBucket {
 protected:
  void SetUp() override {
    OnEveryBucket::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    bucket.emplace(GetParam());
    a().Do({"model", "@command/shell", "method", "run", "execute", "d1", "--input", "run=echo A"});
    c = &bucket->Clone("c");
    c->Do({"datastore", "sync"});
  }
  Checkout& a() { return bucket->first(); }
  static std::string Text(const std::string& team, const std::string& more = "") { return "tags:\n  team: " + team + "\n" + more; }
  std::string InBucket() { return bucket->Peek("auto-definitions/command/shell/d1.yaml").value_or(""); }

  std::optional<Bucket> bucket;
  Checkout* c = nullptr;
};

SWAMP_ON_EVERY_BUCKET(AutomaticDefinitions);

TEST_P(AutomaticDefinitions, AreEditedInPlaceForEverybody) {
  const std::string id = a().Do({"model", "get", "d1"})["id"];
  const RunResult edit = a().RunWithInput({"model", "edit", "d1", "--json"}, Text("storage"));
  ASSERT_EQ(edit.exit_code, 0) << edit;
  EXPECT_THAT(edit.json()["path"].get<std::string>(), HasSubstr("auto-definitions/command/shell/d1.yaml"));
  EXPECT_THAT(InBucket(), HasSubstr("team: storage"));
  EXPECT_THAT(InBucket(), HasSubstr(id));
  c->Do({"datastore", "sync", "--pull"});
  EXPECT_EQ(c->Do({"model", "get", "d1"})["tags"]["team"], "storage");
  EXPECT_EQ(c->Do({"model", "get", "d1"})["autoCreated"], true);
  EXPECT_TRUE(a().Do({"datastore", "status"})["unpublished"]["paths"].empty());
}

TEST_P(AutomaticDefinitions, AStaleEditLosesNothing) {
  // Piped text was written with what the checkout showed; a peer's edit came in between.
  a().RunWithInput({"model", "edit", "d1"}, Text("storage"));
  const RunResult stale = c->RunWithInput({"model", "edit", "d1", "--json"}, Text("network"));
  EXPECT_EQ(stale.error_code(), "config_conflict") << stale;
  EXPECT_THAT(InBucket(), HasSubstr("team: storage"));
  EXPECT_EQ(c->Do({"model", "get", "d1"})["tags"]["team"], "storage");
  const Json conflicts = c->Do({"datastore", "conflicts", "list"});
  EXPECT_THAT(conflicts.dump(), HasSubstr("auto-definitions/command/shell/d1.yaml"));
  c->Do({"datastore", "conflicts", "resolve", "auto-definitions/command/shell/d1.yaml", "--keep", "local"});
  EXPECT_THAT(InBucket(), HasSubstr("team: network"));
}

TEST_P(AutomaticDefinitions, OfTwoEditsOnBothSidesOneIsKeptAside) {
  a().FailPuts("auto-definitions/command/shell/d1.yaml", Proxy::Moment::kBefore);
  EXPECT_NE(a().RunWithInput({"model", "edit", "d1"}, Text("network")).exit_code, 0);
  a().EndFaults();
  EXPECT_EQ(c->RunWithInput({"model", "edit", "d1"}, Text("storage")).exit_code, 0);
  EXPECT_EQ(a().Run({"datastore", "sync", "--json"}).error_code(), "config_conflict");
  EXPECT_THAT(InBucket(), HasSubstr("team: storage"));
  EXPECT_THAT(a().Do({"datastore", "conflicts", "show", "auto-definitions/command/shell/d1.yaml"}).dump(), HasSubstr("network"));
}

TEST_P(AutomaticDefinitions, MayBeRenamedButNotOverAnother) {
  a().Do({"model", "create", "command/shell", "taken"});
  EXPECT_EQ(a().RunWithInput({"model", "edit", "d1", "--json"}, Text("x", "name: taken\n")).error_code(), "model_exists");
  const RunResult renamed = a().RunWithInput({"model", "edit", "d1", "--json"}, Text("x", "name: d2\n"));
  ASSERT_EQ(renamed.exit_code, 0) << renamed;
  EXPECT_EQ(a().Do({"model", "get", "d2"})["autoCreated"], true);
  a().Fail({"model", "get", "d1"}, "model_not_found");
  c->Do({"datastore", "sync", "--pull"});
  EXPECT_EQ(c->Do({"model", "get", "d2"})["tags"]["team"], "x");
  EXPECT_EQ(c->Do({"data", "list", "d2"})["total"], 4);  // result, log, and the report's two
}

TEST(AutomaticDefinitionsHere, AreEditedWithoutABucketToo) {
  Bucket bucket(Backend::kFolder);
  Checkout& plain = bucket.Plain("plain");
  plain.Do({"model", "@command/shell", "method", "run", "execute", "d1", "--input", "run=echo A"});
  EXPECT_EQ(plain.RunWithInput({"model", "edit", "d1"}, "tags:\n  team: x\n").exit_code, 0);
  EXPECT_EQ(plain.Do({"model", "get", "d1"})["tags"]["team"], "x");
  EXPECT_EQ(plain.RunWithInput({"model", "edit", "d1", "--json"}, "id: 7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10\n").error_code(),
            "validation_failed");
}

}  // namespace
}  // namespace swamp::e2e

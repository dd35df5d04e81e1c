#include "model/records.h"

#include <gmock/gmock.h>

#include "model/control_plane_types.h"
#include "model/records_testing.h"
#include "objectstore/memory_store.h"
#include "objectstore/store_decorator.h"
#include "util/no_http.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const RecordType& Notes() {
  static const RecordType type{"swamp/note", "2026.01.01.1", "note-main", 3};
  return type;
}

class RecordsTest : public ::testing::Test, protected RecordFolder {
 protected:
  RecordChange Set(const std::string& name, int value) {
    return records.Change({.name = name, .method = "set", .create = true}, [&](const auto&) { return Json{{"name", name}, {"value", value}}; });
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const StoredRecord& one : records.All()) names.push_back(one.model_name);
    return names;
  }
  std::vector<std::uint64_t> VersionsOf(const RecordChange& change) {
    return VersionStore::Open(world.context, repo, datastore)->Versions({{"swamp/note", change.run.model_id}, "note-main"});
  }

  Records records{world.context, services(), Notes()};
};

TEST_F(RecordsTest, EachChangeIsAVersionThatFollowsTheOneThatWasRead) {
  const RecordChange first = Set("a", 1);
  EXPECT_TRUE(first.changed);
  EXPECT_TRUE(first.run.auto_created);
  const RecordChange second = Set("a", 2);
  EXPECT_FALSE(second.run.auto_created);
  EXPECT_EQ(second.run.model_id, first.run.model_id);
  EXPECT_EQ(second.run.artifacts[0].version, 2u);
  EXPECT_EQ(records.Find("a")->value["value"], 2);
  EXPECT_FALSE(records.Find("b"));
}

TEST_F(RecordsTest, WhatStaysAsItIsWritesNothing) {
  const RecordChange first = Set("a", 1);
  EXPECT_FALSE(Set("a", 1).changed);
  EXPECT_FALSE(records.Change({.name = "a", .method = "set"}, [](const auto&) { return std::nullopt; }).changed);
  EXPECT_THAT(VersionsOf(first), ElementsAre(1u));
  EXPECT_EQ(RunFiles(world.context, repo, datastore).List("outputs").size(), 2u) << "one record with its log";
}

TEST_F(RecordsTest, WithoutARecordTheEditIsToldSoAndNothingIsMade) {
  bool told = false;
  const auto edit = [&](const std::optional<Json>& current) -> std::optional<Json> {
    told = !current;
    throw UserError("not_there", "it is not there");
  };
  EXPECT_EQ(CodeOf([&] { records.Change({.name = "a", .method = "set"}, edit); }), "not_there");
  EXPECT_TRUE(told);
  EXPECT_FALSE(records.files().Read("auto-definitions/swamp/note/a.yaml"));
  for (const char* name : {"", "../x", "@a/b", "A", "a.b", "-a"}) {
    EXPECT_EQ(CodeOf([&] { Set(name, 1); }), "validation_failed") << name;
  }
}

// As without a lock: another process writes between the reading and the writing.
TEST_F(RecordsTest, AnEditOnOldGroundIsMadeAgainOnTheNewOne) {
  RecordChange first = Set("a", 1);
  auto store = VersionStore::Open(world.context, repo, datastore);
  int calls = 0;
  const RecordChange change = records.Change({.name = "a", .method = "add"}, [&](const std::optional<Json>& current) -> std::optional<Json> {
    if (calls++ == 0) {
      NewVersion other{.key = {{"swamp/note", first.run.model_id}, "note-main"}};
      other.tags = {{"type", "resource"}, {"modelName", "a"}};
      other.owner.owner_type = "model-method";
      other.owner.owner_ref = first.run.model_id;
      store->Write(std::move(other), R"({"name":"a","value":10})");
    }
    return Json{{"name", "a"}, {"value", (*current)["value"].template get<int>() + 1}};
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(change.value["value"], 11);
  EXPECT_EQ(records.Find("a")->value["value"], 11);
  EXPECT_EQ(VersionsOf(first).size(), 3u);
}

TEST_F(RecordsTest, ADamagedRecordIsLeftOutOrStopsADecision) {
  Set("a", 1);
  const RecordChange damaged = Set("b", 1);
  WriteFileAtomically(world.files, damaged.run.artifacts[0].path, "{");
  EXPECT_THAT(Names(), ElementsAre("a"));
  EXPECT_EQ(CodeOf([&] { records.All(Records::Broken::kAreErrors); }), "record_invalid");
}

TEST_F(RecordsTest, SV21_ARecordIsFoundWithoutItsDefinition) {
  const RecordChange first = Set("a", 1);
  records.files().Remove("auto-definitions/swamp/note/a.yaml");
  EXPECT_THAT(Names(), ElementsAre("a"));
  const RecordChange second = Set("a", 2);
  EXPECT_EQ(second.run.model_id, first.run.model_id) << "taken over, not made anew";
  EXPECT_FALSE(second.run.auto_created);
  EXPECT_TRUE(records.files().Read("auto-definitions/swamp/note/a.yaml"));
}

TEST_F(RecordsTest, RemovingTakesDefinitionAndDataIfItIsStillToGo) {
  Set("a", 1);
  EXPECT_FALSE(records.Remove("a", [](const Json& current) { return current["value"] == 2; }));
  EXPECT_THAT(Names(), ElementsAre("a"));
  EXPECT_TRUE(records.Remove("a", [](const Json& current) { return current["value"] == 1; }));
  EXPECT_THAT(Names(), IsEmpty());
  EXPECT_FALSE(records.files().Read("auto-definitions/swamp/note/a.yaml"));
  EXPECT_FALSE(records.Remove("a", [](const Json&) { return true; }));
}

// A checkout of a bucket, without locks.
struct BucketCheckout {
  explicit BucketCheckout(MemoryBucket& bucket) {
    world.environment = FixedEnvironment({{"SWAMP_HOME", folder.path() / "home"}}, folder.path());
    datastore = std::make_unique<Datastore>(
        context(), repo, ResolveDatastore(context(), repo),
        DatastoreParts{.http = http,
                       .use_locks = false,
                       .decorate_store =
                           [&](std::unique_ptr<ObjectStore>) {
                             return std::make_unique<Interrupted>(std::make_unique<MemoryStore>(bucket), *this);
                           },
                       .trace_file = {}});
    datastore->WritableStore(context());
    records = std::make_unique<Records>(context(), RecordServices{repo, *datastore}, Notes());
  }

  // Calls the test between two requests.
  struct Interrupted final : StoreDecorator {
    Interrupted(std::unique_ptr<ObjectStore> inner_store, BucketCheckout& checkout) : StoreDecorator(std::move(inner_store)), owner(checkout) {}
    GetResult Get(const Context& context, const std::string& key, const GetOptions& options, BodySink& sink) override {
      const GetResult result = inner().Get(context, key, options, sink);
      if (owner.after_get) owner.after_get(key);
      return result;
    }
    PutResult Put(const Context& context, const std::string& key, const Body& body, const Condition& condition,
                  const PutOptions& options) override {
      if (owner.before_put) owner.before_put(key);
      return inner().Put(context, key, body, condition, options);
    }
    BucketCheckout& owner;
  };

  const Context& context() { return world.context; }
  RecordChange AddOne() {
    return records->Change({.name = "a", .method = "add", .create = true}, [](const std::optional<Json>& current) {
      return Json{{"name", "a"}, {"value", current ? (*current)["value"].get<int>() + 1 : 1}};
    });
  }
  void WriteMarker(const DataKey& key, const std::string& text) {
    WriteFileAtomically(world.files, datastore->replica(context()).cache().PathOf(key.Marker()), text);
  }

  TestWorld world;
  TemporaryFolder folder;
  NoHttp http;
  Repository repo{folder.path() / "repo", Marker::Parse("repoId: 5a3d0f52-0000-4000-8000-000000000001\n"
                                                        "datastore:\n"
                                                        "  type: '@swamp/s3-datastore'\n"
                                                        "  config: {bucket: bucket, region: r, endpoint: 'http://localhost'}\n",
                                                        "a test")};
  std::function<void(const std::string& key)> after_get;
  std::function<void(const std::string& key)> before_put;
  std::unique_ptr<Datastore> datastore;
  std::unique_ptr<Records> records;
};

struct RecordsInABucket : ::testing::Test {
  ManualClock clock;
  MemoryBucket bucket{clock};
  BucketCheckout slow{bucket};
  BucketCheckout peer{bucket};
};

// By foreign hands: its newest versions were deleted, its marker was not.
TEST_F(RecordsInABucket, AMarkerThatNamesWhatIsThereNoMoreHoldsNobodyUp) {
  const DataKey key{{"swamp/note", slow.AddOne().run.model_id}, "note-main"};
  slow.WriteMarker(key, "5");
  EXPECT_EQ(slow.AddOne().run.artifacts[0].version, 6u);
  EXPECT_EQ(slow.records->Find("a")->value["value"], 2);
}

TEST_F(RecordsInABucket, WhoSleepsAfterLookingAtTheBucketDoesntChangeWhatWasThereThen) {
  slow.AddOne();
  peer.world.clock.Advance(Duration(1));  // versions of one moment and one content are one
  bool met = false;
  slow.before_put = [&](const std::string& key) {
    if (met || !key.ends_with("/2/metadata.yaml")) return;
    met = true;
    peer.AddOne();
  };
  bool slept = false;
  slow.after_get = [&](const std::string& key) {
    if (slept || !key.ends_with("/2/raw")) return;
    slept = true;
    peer.AddOne();
    slow.world.clock.Advance(Duration(60'000));
  };
  EXPECT_EQ(slow.AddOne().value["value"], 4);
  EXPECT_TRUE(slept);
}

TEST_F(RecordsInABucket, WhatIsFinishedBelowAClaimThatLeavesNumbersOutIsBuiltOn) {
  const DataKey key{{"swamp/note", slow.AddOne().run.model_id}, "note-main"};
  slow.WriteMarker(key, "5");
  bool slept = false;
  slow.after_get = [&](const std::string& path) {
    if (slept || !path.ends_with("/1/raw")) return;
    slept = true;
    peer.AddOne();
    slow.world.clock.Advance(Duration(60'000));
  };
  EXPECT_EQ(slow.AddOne().value["value"], 3);
  EXPECT_TRUE(slept);
}

TEST(ControlPlaneTypes, AreKnownByAnySpelling) {
  for (const char* name : {"swamp/grant", "@swamp/grant", "Swamp::Grant", "swamp.grant", " @SWAMP//group/ ", "swamp server-token/x"}) {
    const bool other = std::string_view(name).find("/x") != std::string_view::npos;
    EXPECT_EQ(IsControlPlaneType(name), !other) << name;
  }
  for (const char* name : {"command/shell", "grant", "", "../x", "swamp/grants", "acme/swamp/grant"}) {
    EXPECT_FALSE(IsControlPlaneType(name)) << name;
  }
}

}  // namespace
}  // namespace swamp

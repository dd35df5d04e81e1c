// Data under lazy hydration: metadata answers by itself, content comes when it is read, rows of what isn't here stay.

#include <gmock/gmock.h>

#include "data/collect.h"
#include "data/edit_data.h"
#include "data/query.h"
#include "data/testing.h"
#include "datastore/hydrate.h"
#include "datastore/two_checkouts.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LazyData : public ::testing::Test {
 protected:
  LazyData() { Become(true); }

  void Become(bool lazy) {
    t.c->replica = std::make_unique<Replica>(*t.c->cache, *t.c->store,
                                             ReplicaOptions{.writer = "cat@c", .folders = AllFolders(), .lazy = lazy});
    theirs = std::make_unique<VersionStore>(t.world.context, t.c->root, t.c->cache.get(), t.folder.path() / "changes");
    theirs->set_fetcher([this](std::span<const std::string> paths) { Hydrate(t.world.context, *t.c->replica, paths); });
    OpenCatalog(lazy);
  }
  void OpenCatalog(bool lazy) {
    catalog = std::make_unique<Catalog>(t.world.context, *theirs, t.c->cache.get(),
                                        CatalogOptions{.database = t.folder.path() / "catalog.db", .lazy = lazy});
  }
  void Publish(const std::string& name, const std::string& content) {
    ours.Write(TestVersion(TestKey(name)), content);
    t.a->Push();
  }
  bool IsHere(const std::string& name, std::uint64_t version) {
    return t.c->Read(TestKey(name).VersionFolder(version) + "/raw").has_value();
  }
  DataQueryResult Run(const DataQuery& query) { return DataQueries(t.world.context, *theirs, *catalog).Run(query); }
  std::vector<std::string> NamesOf(const std::string& predicate) {
    std::vector<std::string> names;
    for (const Json& one : Run({.predicate = predicate}).results) {
      names.push_back(fmt::format("{}/{}", one["name"].get<std::string>(), one["version"].get<int>()));
    }
    return names;
  }
  int Gets() { return t.c->faults->calls(StoreOperation::kGet); }
  void StoreDown() {
    t.c->faults->Add({.times = -1, .error = StoreError::Kind::kUnreachable});
  }
  template <typename Action>
  std::string WhyNot(const Action& action) {
    try {
      action();
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "content_unavailable");
      return error.message();
    }
    return "nothing was thrown";
  }

  TwoCheckouts t;
  VersionStore ours{t.world.context, t.a->root, t.a->cache.get()};
  std::unique_ptr<VersionStore> theirs;
  std::unique_ptr<Catalog> catalog;
};

TEST_F(LazyData, DS47_MetadataAnswersWithoutFetching) {
  Publish("result", R"({"x":1})");
  Publish("result", R"({"x":2})");
  t.c->Pull();
  const int before = Gets();
  EXPECT_THAT(theirs->Names(TestKey("").owner), ElementsAre("result"));
  EXPECT_THAT(theirs->Versions(TestKey("result")), ElementsAre(1u, 2u));
  EXPECT_EQ(theirs->Latest(TestKey("result"))->metadata.size, 7u);
  EXPECT_THAT(NamesOf(R"(name == "result" && version > 0)"), ElementsAre("result/1", "result/2"));
  EXPECT_EQ(Gets(), before);
  EXPECT_FALSE(IsHere("result", 2));
}

TEST_F(LazyData, DS47_ReadersFetchWhatTheyRead) {
  Publish("result", R"({"x":1})");
  Publish("result", R"({"x":2})");
  t.c->Pull();
  const int before = Gets();
  EXPECT_EQ(theirs->Content(*theirs->Latest(TestKey("result"))), R"({"x":2})");
  EXPECT_EQ(theirs->Content(*theirs->Latest(TestKey("result"))), R"({"x":2})");
  EXPECT_EQ(Gets(), before + 1);
  EXPECT_FALSE(IsHere("result", 1));
  const std::filesystem::path path = theirs->ContentPath(*theirs->Find(TestKey("result"), 1));
  EXPECT_EQ(ReadFile(t.world.files, path), R"({"x":1})");
}

TEST_F(LazyData, DS47_AQueryOfBodiesFetchesThoseThatItHasToLookAt) {
  Publish("result", R"({"x":1})");
  Publish("other", R"({"x":1})");
  Publish("third", R"({"x":3})");
  ours.Write([] {
    NewVersion version = TestVersion(TestKey("image"));
    version.content_type = "image/png";
    return version;
  }(), "binary");
  t.a->Push();
  t.c->Pull();
  EXPECT_THAT(NamesOf(R"(name.startsWith("o") && attributes.x == 1)"), ElementsAre("other/1"));
  EXPECT_FALSE(IsHere("result", 1));
  const DataQueryResult result = Run({.predicate = R"(attributes.x == 1)"});
  EXPECT_EQ(result.results.size(), 2u);
  EXPECT_TRUE(IsHere("third", 1));
  EXPECT_FALSE(IsHere("image", 1));
  // And with a limit no more than it takes.
  Publish("zz", R"({"x":1})");
  t.c->Pull();
  EXPECT_EQ(Run({.predicate = "attributes.x == 1", .limit = 1}).results.size(), 1u);
  EXPECT_FALSE(IsHere("zz", 1));
  EXPECT_EQ(Run({.predicate = R"(name == "zz")", .with_content = true}).results[0]["content"]["x"], 1);
}

TEST_F(LazyData, DS47_AStoreThatIsDownIsNoEmptyAnswer) {
  Publish("result", R"({"x":1})");
  t.c->Pull();
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  StoreDown();
  const DataRecord record = *theirs->Latest(TestKey("result"));
  EXPECT_THAT(WhyNot([&] { theirs->Content(record); }), HasSubstr("result version 1"));
  EXPECT_THAT(WhyNot([&] { NamesOf("attributes.x == 1"); }), HasSubstr("result version 1"));
  EXPECT_THAT(WhyNot([&] { Run({.predicate = "attributes.x == 1", .limit = 5}); }), HasSubstr("result version 1"));
  EXPECT_THAT(WhyNot([&] { Run({.predicate = "true", .with_content = true}); }), HasSubstr("result version 1"));
  EXPECT_THAT(WhyNot([&] { Run({.predicate = "true", .select = "attributes.x"}); }), HasSubstr("result version 1"));
  EXPECT_THAT(WhyNot([&] { DataQueries(t.world.context, *theirs, *catalog).Latest("m1", "result"); }), HasSubstr("result version 1"));
  EXPECT_THAT(WhyNot([&] { ReadBodyIfValid(*theirs, record); }), HasSubstr("result version 1"));
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  t.c->faults->Clear();
  EXPECT_THAT(NamesOf("attributes.x == 1"), ElementsAre("result/1"));
}

TEST_F(LazyData, DA13_RowsOfWhatIsNotHereStay) {
  Publish("result", R"({"x":1})");
  Publish("other", R"({"x":1})");
  t.c->Pull();
  EXPECT_THAT(NamesOf("true"), ElementsAre("other/1", "result/1"));
  catalog->Rebuild();
  EXPECT_THAT(NamesOf("true"), ElementsAre("other/1", "result/1"));
  {  // another schema version: the table is made again
    catalog.reset();
    Database((t.folder.path() / "catalog.db").native()).Execute("UPDATE catalog_meta SET value='3' WHERE key='schema_version'");
    OpenCatalog(true);
  }
  EXPECT_THAT(NamesOf("true"), ElementsAre("other/1", "result/1"));
  // The cache is lost, and the bucket can't be reached: nothing proves that anything is gone.
  theirs.reset();
  catalog.reset();
  t.c->replica.reset();
  t.c->cache.reset();
  std::filesystem::remove_all(t.c->root);
  t.c->Reopen();
  Become(true);
  StoreDown();
  EXPECT_THAT(NamesOf("true"), ElementsAre("other/1", "result/1"));
  catalog->Rebuild();
  EXPECT_THAT(NamesOf("true"), ElementsAre("other/1", "result/1"));
  // The bucket proves it.
  ours.RemoveName(TestKey("other"));
  t.a->Push();
  t.c->faults->Clear();
  t.c->Pull();
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  EXPECT_THAT(NamesOf("attributes.x == 1"), ElementsAre("result/1"));
}

TEST_F(LazyData, DA13_OnlyAProvenAbsenceRemovesARow) {
  Publish("result", "{}");
  Publish("other", "{}");
  t.c->Pull();
  EXPECT_THAT(NamesOf("true"), ElementsAre("other/1", "result/1"));
  // By a peer, and here before anybody else knows.
  ours.RemoveName(TestKey("other"));
  t.a->Push();
  t.c->Pull();
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  theirs->RemoveName(TestKey("result"));
  EXPECT_THAT(NamesOf("true"), IsEmpty());
}

TEST_F(LazyData, WhoBecomesFullSeesAllBeforeTheNextPull) {
  Publish("result", R"({"x":1})");
  t.c->Pull();
  Become(false);
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  EXPECT_THAT(NamesOf("attributes.x == 1"), ElementsAre("result/1"));
}

TEST_F(LazyData, RemovingAVersionRemovesTheContentThatNeverCame) {
  for (int i = 0; i < 3; ++i) Publish("result", "12345");
  t.c->Pull();
  const std::vector<std::uint64_t> gone = {1, 2};
  EXPECT_GT(theirs->Remove(TestKey("result"), gone), 10u);
  t.c->Push();
  EXPECT_EQ(t.bucket.Peek(TestKey("result").VersionFolder(1) + "/raw"), std::nullopt);
  EXPECT_EQ(t.bucket.Peek(TestKey("result").VersionFolder(3) + "/raw"), "12345");
  theirs->RemoveName(TestKey("result"));
  t.c->Push();
  t.a->Pull();
  EXPECT_THAT(ours.Names(TestKey("").owner), IsEmpty());
  EXPECT_EQ(t.bucket.Peek(TestKey("result").VersionFolder(3) + "/raw"), std::nullopt);
}

TEST_F(LazyData, GarbageIsCollectedAndNamesAreChangedAsWithFullHydration) {
  NewVersion version = TestVersion(TestKey("result"));
  version.versions_kept = VersionsKept::Newest(1);
  for (int i = 0; i < 3; ++i) ours.Write(version, "12345");
  Publish("old", R"({"x":1})");
  t.a->Push();
  t.c->Pull();
  const CollectReport look = CollectGarbage(*theirs, {.dry_run = true});
  EXPECT_EQ(look.versions_deleted, 2u);
  const CollectReport done = CollectGarbage(*theirs, {});
  EXPECT_EQ(done.versions_deleted, 2u);
  EXPECT_EQ(done.bytes, look.bytes);
  EXPECT_FALSE(IsHere("result", 1));
  t.c->Push();
  t.a->Pull();
  EXPECT_THAT(ours.Versions(TestKey("result")), ElementsAre(3u));
  RenameData(*theirs, TestKey("old"), "new");
  t.c->Push();
  t.a->Pull();
  EXPECT_EQ(ours.Content(*ours.Resolve(TestKey("old"))), R"({"x":1})");
  EXPECT_EQ(ours.Resolve(TestKey("old"))->key.name, "new");
}

// The marker can be here before the versions that it names.
TEST_F(LazyData, AWithdrawnVersionNeverTakesThePublishedMarkerBack) {
  Publish("result", "one");
  Publish("result", "two");
  t.c->Pull();
  for (const std::uint64_t version : {1u, 2u}) {
    std::filesystem::remove_all(t.c->root / TestKey("result").VersionFolder(version));
  }
  const DataRecord record = theirs->Write(TestVersion(TestKey("result")), "mine");
  ASSERT_EQ(record.version(), 3u);
  theirs->Withdraw(record);
  EXPECT_EQ(t.c->Read(TestKey("result").Marker()), "2");
}

}  // namespace
}  // namespace swamp

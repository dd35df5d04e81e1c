#include "data/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "data/testing.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Queries : public ::testing::Test, public DataFolder<> {
 protected:
  void SetUp() override { Reopen(); }
  // As another process.
  void Reopen(const CatalogOptions& more = {}) {
    CatalogOptions options = more;
    options.database = folder.path() / "data" / "_catalog.db";
    catalog = std::make_unique<Catalog>(world.context, store, nullptr, options);
  }
  DataQueryResult Run(const DataQuery& query) { return DataQueries(world.context, store, *catalog).Run(query); }
  std::vector<std::string> NamesOf(const std::string& predicate) {
    std::vector<std::string> names;
    for (const Json& one : Run({.predicate = predicate}).results) {
      names.push_back(fmt::format("{}/{}", one["name"].get<std::string>(), one["version"].get<int>()));
    }
    return names;
  }
  Json Select(const std::string& predicate, const std::string& select) {
    return DataQueries(world.context, store, *catalog).Query(predicate, select);
  }
  std::string Refusal(const DataQuery& query) {
    try {
      Run(query);
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "query_invalid");
      return error.message() + " " + error.hint();
    }
    return "";
  }

  std::unique_ptr<Catalog> catalog;
};

TEST_F(Queries, FindLatestVersionsUnlessAskedForMore) {
  Write("result", R"({"exitCode":0})");
  Write("result", R"({"exitCode":3})");
  Write("log", R"({"exitCode":1})");
  EXPECT_THAT(NamesOf("true"), ElementsAre("log/1", "result/2"));  // first made: by their places
  EXPECT_THAT(NamesOf(R"(name == "result" && version >= 1)"), ElementsAre("result/1", "result/2"));
  EXPECT_THAT(NamesOf("!isLatest"), ElementsAre("result/1"));
  EXPECT_THAT(NamesOf(R"(name != "version")"), ElementsAre("log/1", "result/2"));
  EXPECT_THAT(NamesOf("attributes.exitCode > 0"), ElementsAre("log/1", "result/2"));
  EXPECT_EQ(Select(R"(name == "result")", "attributes.exitCode"), Json({3}));
}

TEST_F(Queries, FollowWhatIsWrittenAndRemoved) {
  Write("result", "{}");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  Write("result", "{}");
  Write("other", "{}");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/2", "other/1"));
  const std::vector<std::uint64_t> gone = {2};
  store.Remove(TestKey("result"), gone);
  store.RemoveName(TestKey("other"));
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  Reopen();
  EXPECT_THAT(NamesOf("version > 0"), ElementsAre("result/1"));
}

TEST_F(Queries, DA01_ANumericNameStaysFound) {
  store.Write(TestVersion(TestKey("207333", "@team/x")), "{}");
  store.Write(TestVersion(TestKey("207333", "@team/x")), "{}");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(NamesOf(R"(name == "207333")"), ElementsAre("207333/2"));
    EXPECT_THAT(NamesOf(R"(name == "other")"), IsEmpty());
  }
}

TEST_F(Queries, ADamagedOrForeignCatalogIsMadeAgain) {
  Write("result", "{}");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  const auto damage = [&](const std::function<void()>& how) {
    catalog.reset();
    how();
    Reopen();
    EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  };
  const std::string path = folder.path() / "data" / "_catalog.db";
  damage([&] { std::ofstream(path, std::ios::trunc) << std::string(10000, 'x'); });
  damage([&] { std::filesystem::remove(path); });
  damage([&] {
    Database database(path);
    database.Execute("UPDATE catalog_meta SET value='3' WHERE key='schema_version'; DELETE FROM catalog");
  });
  damage([&] {
    Database database(path);
    database.Execute("DROP TABLE catalog");
  });
  damage([&] {
    Database database(path);
    database.Execute("DELETE FROM catalog_meta WHERE key='populated'; DELETE FROM catalog");
  });
}

TEST_F(Queries, OnASharedFolderWhatOthersWriteIsFound) {
  Reopen({.shared_folder = true});
  Write("result", "{}");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  VersionStore peer(world.context, folder.path(), nullptr);  // without our log
  peer.Write(TestVersion(TestKey("result")), "{}");
  peer.Write(TestVersion(TestKey("theirs")), "{}");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/2", "theirs/1"));
  peer.RemoveName(TestKey("result"));
  EXPECT_THAT(NamesOf("true"), ElementsAre("theirs/1"));
}

TEST_F(Queries, DA13_UnderLazyHydrationUnseenRowsStay) {
  Write("result", "{}");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  std::filesystem::remove_all(folder.path() / "data" / "command");
  Reopen({.shared_folder = true, .lazy = true});
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  Reopen({.shared_folder = true});
  EXPECT_THAT(NamesOf("true"), IsEmpty());
}

TEST_F(Queries, RenamesLeaveTheOlderRows) {
  const DataRecord record = Write("result", R"({"a":1})");
  Write("renamed", R"({"a":1})");
  store.WriteTombstone(record, "renamed");
  EXPECT_THAT(NamesOf("true"), ElementsAre("renamed/1"));
  EXPECT_THAT(NamesOf("version > 0"), ElementsAre("renamed/1", "result/1"));
  DataQueries queries(world.context, store, *catalog);
  EXPECT_EQ(queries.Latest("m1", "result")["attributes"], Json({{"a", 1}}));
  EXPECT_EQ(queries.Latest(kTestModel, "renamed")["name"], "renamed");
  EXPECT_EQ(queries.Latest("m1", "nosuch"), Json(nullptr));
  store.WriteTombstone(*store.Latest(TestKey("renamed")));
  EXPECT_EQ(queries.Latest("m1", "result"), Json(nullptr));
}

TEST_F(Queries, DA16_LatestFollowsWrites) {
  DataQueries queries(world.context, store, *catalog);
  EXPECT_EQ(queries.Latest("m1", "result"), Json(nullptr));
  Write("result", R"({"a":1})");
  EXPECT_EQ(queries.Latest("m1", "result")["attributes"]["a"], 1);
  Write("result", R"({"a":2})");
  EXPECT_EQ(queries.Latest("m1", "result")["attributes"]["a"], 2);
}

TEST_F(Queries, EachStepHasItsLatest) {
  const auto write = [&](const std::string& step) {
    NewVersion version = TestVersion(TestKey("result"));
    version.owner.step_name = step;
    store.Write(version, "{}");
  };
  write("a");
  write("b");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1", "result/2"));
  write("a");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/2", "result/3"));
  write("");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/4"));
  write("b");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/5"));
  catalog->Rebuild();
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/5"));
}

TEST_F(Queries, LimitsOrdersAndSnapshots) {
  for (const char* name : {"b", "c", "a"}) Write(name, "{}");
  const DataQueryResult two = Run({.predicate = "true", .limit = 2, .order_by = "name"});
  ASSERT_EQ(two.results.size(), 2u);
  EXPECT_EQ(two.results[0]["name"], "a");
  EXPECT_TRUE(two.limited);
  EXPECT_FALSE(Run({.predicate = "true", .limit = 3}).limited);
  EXPECT_EQ(Run({.predicate = "true", .order_by = "name", .descending = true}).results[0]["name"], "c");
  EXPECT_THAT(Refusal({.predicate = "true", .order_by = "attributes"}), HasSubstr("can't be ordered by attributes"));
}

TEST_F(Queries, WrongOnesSayWhatThereIs) {
  EXPECT_THAT(Refusal({.predicate = "nmae == \"x\""}), HasSubstr("names nmae"));
  EXPECT_THAT(Refusal({.predicate = "nmae == \"x\""}), HasSubstr("modelName"));
  EXPECT_THAT(Refusal({.predicate = "bogus =="}), HasSubstr("the predicate is not valid"));
  EXPECT_THAT(Refusal({.predicate = "true", .select = "nosuch(1)"}), HasSubstr("projection"));
  // Names that a macro binds, and types, are none of ours.
  EXPECT_EQ(Refusal({.predicate = "[1].exists(x, x == 1) && type(name) == string"}), "");
}

TEST_F(Queries, ErrorsAreCountedAndSkipped) {
  Write("a", R"({"n":1})");
  Write("b", R"({})");
  Write("c", "no json");
  const DataQueryResult result = Run({.predicate = "attributes.n == 1"});
  EXPECT_EQ(result.results.size(), 1u);
  EXPECT_EQ(result.skipped_errors, 2u);
  EXPECT_THAT(result.first_error, HasSubstr("n"));
}

TEST_F(Queries, DA14_ProjectionsAreAlwaysJson) {
  Write("a", R"({"items":[1,2]})");
  Write("b", R"({})");
  EXPECT_EQ(Select("true", "attributes.items.size()"), Json({2, nullptr}));
  const Json made = Select(R"(name == "a")", R"({"n": size(name), "t": timestamp(createdAt), "b": b"x", "i": 1.0/0.0, "o": optional.of(1)})");
  EXPECT_EQ(made[0]["n"], 1);
  EXPECT_TRUE(made[0]["t"].is_string());
  EXPECT_EQ(CompactJson(Select(R"(name == "a")", "version")), "[1]");
}

TEST_F(Queries, BodiesByTheirType) {
  NewVersion text = TestVersion(TestKey("text"));
  text.content_type = "text/plain; charset=utf-8";
  store.Write(text, "hello");
  NewVersion binary = TestVersion(TestKey("binary"));
  binary.content_type = "application/octet-stream";
  store.Write(binary, std::string("\xff\0", 2));
  Write("json", "[1]");
  EXPECT_EQ(Select("true", "content"), Json({"", {1}, "hello"}));
  EXPECT_EQ(Select("true", "attributes"), Json({Json::object(), {1}, Json::object()}));
}

TEST_F(Queries, TagsAreReadWhateverIsInThem) {
  NewVersion version = TestVersion(TestKey("result"));
  version.tags["quote"] = "a\"b\\c";
  version.tags["plain"] = "{:,}";
  version.tags["Ä"] = "";
  store.Write(version, "{}");
  EXPECT_EQ(Select("true", "tags"), Json::array({Json(version.tags)}));
  EXPECT_THAT(NamesOf(R"(tags.quote == "a\"b\\c" && tags.plain.contains(":") && tags["Ä"] == "")"), ElementsAre("result/1"));
  version.tags.erase("quote");
  store.Write(version, "{}");
  EXPECT_EQ(Select("true", "tags"), Json::array({Json(version.tags)}));
}

TEST_F(Queries, ARowWhoseContentIsGoneIsLeftOut) {
  const DataRecord record = Write("result", "{}");
  EXPECT_THAT(NamesOf("true"), ElementsAre("result/1"));
  world.files.Remove(folder.path() / record.RawPath());
  EXPECT_THAT(NamesOf("true"), IsEmpty());
}

// ---- push-down ----

// Predicates of all kinds, those that SQL can't do among them.
class RandomPredicates {
 public:
  explicit RandomPredicates(unsigned seed) : random_(seed) {}

  std::string Make(int depth = 3) {
    if (depth == 0 || Below(4) == 0) return Atom();
    switch (Below(4)) {
      case 0:
        return "(" + Make(depth - 1) + " && " + Make(depth - 1) + ")";
      case 1:
        return "(" + Make(depth - 1) + " || " + Make(depth - 1) + ")";
      case 2:
        return "!(" + Make(depth - 1) + ")";
      default:
        return "(" + Make(depth - 1) + " && " + Make(depth - 1) + " && " + Make(depth - 1) + ")";
    }
  }

 private:
  std::size_t Below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }
  std::string Pick(const std::vector<std::string>& from) { return from[Below(from.size())]; }
  std::string Text() {
    return Pick({"\"a\"", "\"b\"", "\"\"", "\"ab\"", "\"Ä\"", "\"%\"", "\"resource\"", "\"file\"", "'a\\'b'", "\"m1\"", "\"\\u0000\""});
  }
  std::string TextField() {
    return Pick({"name", "specName", "dataType", "tags.team", "tags[\"x.y\"]", "tags.type", "modelName", "createdAt", "tags.nosuch", "ns"});
  }
  std::string Comparison() { return Pick({"==", "!=", "<", "<=", ">", ">="}); }
  std::string Atom() {
    switch (Below(14)) {
      case 0:
      case 1:
      case 2:
        return TextField() + " " + Comparison() + " " + Text();
      case 3:
        return Text() + " " + Comparison() + " " + TextField();
      case 4:
        return Pick({"version", "size"}) + " " + Comparison() + " " + Pick({"0", "1", "2", "2.5", "3u", "9007199254740993"});
      case 5:
        return TextField() + Pick({".startsWith(", ".contains(", ".endsWith("}) + Text() + ")";
      case 6:
        return TextField() + " in [" + Text() + ", " + Text() + "]";
      case 7:
        return Pick({"streaming", "isLatest", "streaming == true", "isLatest != true", "true", "false"});
      case 8:
        return Pick({"\"team\"", "\"x.y\"", "\"nosuch\""}) + " in tags";
      case 9:
        return Pick({"has(tags.team)", "size(name) == 1", "attributes.n > 1", "attributes.nosuch == 1", "content.n == 2"});
      case 10:
        return Pick({"name.matches(\"^a\")", "tags.exists(k, k == \"team\")", "name == specName", "name + \"b\" == \"ab\""});
      case 11:
        return "tags.team == " + Text();
      case 12:
        return Pick({"version / 2", "version - 1"}) + " " + Comparison() + " 1";
      default:
        return "(" + TextField() + " == " + Text() + ") == true";
    }
  }
  std::mt19937 random_;
};

TEST_F(Queries, GiveTheSameWithAndWithoutPushDown) {
  int number = 0;
  for (const char* name : {"a", "b", "ab", "Ä", "%", "ba"}) {
    for (int version = 0; version < 3; ++version) {
      NewVersion request = TestVersion(TestKey(name));
      request.tags["type"] = number % 2 == 0 ? "resource" : "file";
      if (number % 3 == 0) request.tags["team"] = number % 2 == 0 ? "a" : "Ä";
      if (number % 4 == 0) request.tags["x.y"] = "b";
      request.streaming = number % 5 == 0;
      store.Write(request, fmt::format(R"({{"n":{}}})", number++));
      world.clock.Advance(Duration(1000));
    }
  }
  RandomPredicates predicates(20261202);
  int pushed = 0;
  int matched = 0;
  constexpr int kPredicates = 3000;
  for (int i = 0; i < kPredicates; ++i) {
    const std::string predicate = predicates.Make();
    DataQuery query{.predicate = predicate};
    DataQueryResult with;
    try {
      with = Run(query);
    } catch (const UserError& error) {  // a type error that is certain
      ASSERT_EQ(error.code(), "query_invalid") << predicate << ": " << error.message();
      continue;
    }
    query.push_down = false;
    const DataQueryResult without = Run(query);
    ASSERT_EQ(with.results, without.results) << predicate;
    if (with.evaluated < without.evaluated) ++pushed;
    if (!with.results.empty()) ++matched;
  }
  EXPECT_GT(pushed, kPredicates / 4);
  EXPECT_GT(matched, kPredicates / 4);
}

TEST_F(Queries, NarrowInSqlWhatSqlCanDo) {
  for (const char* name : {"a", "b", "c"}) {
    NewVersion request = TestVersion(TestKey(name));
    request.tags["team"] = name;
    store.Write(request, "{}");
  }
  for (const char* predicate : {"name == \"a\" && attributes == {}", "tags.team == \"a\"", "name.startsWith(\"a\")", "name < \"b\"",
                                "!(name == \"b\" || tags.team == \"c\")", "name in [\"a\"]"}) {
    const DataQueryResult result = Run({.predicate = predicate});
    EXPECT_EQ(result.evaluated, 1u) << predicate;
    EXPECT_EQ(result.results.size(), 1u) << predicate;
  }
}

}  // namespace
}  // namespace swamp

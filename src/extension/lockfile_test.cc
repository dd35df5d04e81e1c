#include "extension/lockfile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

using testing::CodeOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;

Lockfile Parse(std::string_view text) { return Lockfile::Parse(text, "upstream_extensions.json"); }

constexpr std::string_view kTwo = R"({
  "@c/b": {
    "version": "2026.01.01.1",
    "pulledAt": "2026-01-02T00:00:00.000Z",
    "files": []
  },
  "@c/a": {
    "future": {
      "z": 1,
      "a": [
        2
      ]
    },
    "version": "2026.01.01.1"
  }
}
)";

TEST(Lockfile, WritesNamesInOrderAndEntriesAsTheyWere) {
  const std::string text = Parse(kTwo).Serialize();
  EXPECT_EQ(text, R"({
  "@c/a": {
    "future": {
      "z": 1,
      "a": [
        2
      ]
    },
    "version": "2026.01.01.1"
  },
  "@c/b": {
    "version": "2026.01.01.1",
    "pulledAt": "2026-01-02T00:00:00.000Z",
    "files": []
  }
}
)");
  EXPECT_EQ(Parse(text).Serialize(), text);
}

TEST(Lockfile, IsEmptyWithoutText) {
  EXPECT_TRUE(Parse("").empty());
  EXPECT_TRUE(Parse(" \n").empty());
  EXPECT_EQ(Lockfile().Serialize(), "{}\n");
}

TEST(EX06, RefusesADamagedLockfileWithLineAndColumn) {
  EXPECT_THAT(MessageOf([] { Parse("{\n  \"@c/a\": {\n    \"version\": \"20"); }),
              HasSubstr("upstream_extensions.json is not valid JSON: line 3, column"));
  EXPECT_THAT(MessageOf([] { Parse("{\n<<<<<<< HEAD\n  \"@c/a\": {}\n=======\n}\n"); }),
              HasSubstr("line 2, column 1: "));
  EXPECT_THAT(MessageOf([] { Parse("{\n<<<<<<< HEAD\n}\n"); }), HasSubstr("unfinished merge"));
  EXPECT_THAT(MessageOf([] { Parse("[]"); }), HasSubstr("line 1, column 1: it is not an object"));
  for (const char* text :
       {"{", "[]", "1", "{\"@c/a\": 1}", "{\"@c/a\": {}}", "{\"@c/a\": {\"version\": 1}}",
        "{\"@c/a\": {\"version\": \"1\", \"files\": {}}}",
        "{\"@c/a\": {\"version\": \"1\", \"files\": [1]}}"}) {
    EXPECT_EQ(CodeOf([&] { Parse(text); }), "lockfile_invalid") << text;
  }
}

TEST(EX06, KeepsUnknownKeysInAnyRewrite) {
  Lockfile lockfile = Parse(kTwo);
  LockfileDelta delta;
  delta.set["@c/c"] = Json{{"version", "2026.01.01.1"}};
  delta.remove = {"@c/b", "@c/none"};
  lockfile.Apply(delta);
  std::vector<std::string> names;
  for (const auto& [name, entry] : lockfile.entries()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("@c/a", "@c/c"));
  EXPECT_THAT(lockfile.Serialize(), HasSubstr("\"future\""));

  const EntryFacts facts{.version = *Version::Parse("2026.01.01.2"),
                         .pulled_at = "2026-02-01T00:00:00.000Z",
                         .files = {"b", "a"},
                         .include = {},
                         .checksum = "c",
                         .files_checksum = "f",
                         .server_url = "https://r",
                         .channel = Channel::kStable,
                         .dependencies = {}};
  EXPECT_EQ(
      CompactJson(MakeEntry(facts, lockfile.Find("@c/a"))),
      R"({"version":"2026.01.01.2","pulledAt":"2026-02-01T00:00:00.000Z","files":["a","b"],"checksum":"c",)"
      R"("filesChecksum":"f","serverUrl":"https://r","future":{"z":1,"a":[2]}})");
}

TEST(EX04, KeepsThePullTimeOfTheSameVersion) {
  EntryFacts facts{.version = *Version::Parse("2026.01.01.1"),
                   .pulled_at = "2026-02-01T00:00:00.000Z",
                   .files = {},
                   .include = {"run.ts"},
                   .checksum = "c",
                   .files_checksum = "f",
                   .server_url = "https://r",
                   .channel = Channel::kBeta,
                   .dependencies = {"@c/d"}};
  const Lockfile lockfile = Parse(kTwo);
  const Json entry = MakeEntry(facts, lockfile.Find("@c/b"));
  EXPECT_EQ(entry["pulledAt"], "2026-01-02T00:00:00.000Z");
  EXPECT_EQ(entry["channel"], "beta");
  EXPECT_EQ(MakeEntry(facts, &entry), entry) << "pulling again changes nothing";
  EXPECT_EQ(MakeEntry(facts, nullptr)["pulledAt"], "2026-02-01T00:00:00.000Z");
  facts.version = *Version::Parse("2026.01.01.2");
  EXPECT_EQ(MakeEntry(facts, &entry)["pulledAt"], "2026-02-01T00:00:00.000Z");
}

TEST(Lockfile, ComparesEntriesWithoutRegardToTheOrderOfKeys) {
  EXPECT_TRUE(SameEntry(Json::parse(R"({"a":1,"b":{"c":2,"d":3}})"),
                        Json::parse(R"({"b":{"d":3,"c":2},"a":1})")));
  EXPECT_FALSE(SameEntry(Json::parse(R"({"a":1})"), Json::parse(R"({"a":2})")));
  EXPECT_FALSE(SameEntry(Json::parse(R"({"a":[1,2]})"), Json::parse(R"({"a":[2,1]})")));
  EXPECT_FALSE(SameEntry(Json::object(), std::nullopt));
  EXPECT_TRUE(SameEntry(std::nullopt, std::nullopt));
  EXPECT_TRUE(Parse(R"({"@c/a":{"version":"1","x":2}})") ==
              Parse(R"({"@c/a":{"x":2,"version":"1"}})"));
  EXPECT_FALSE(Parse(R"({"@c/a":{"version":"1"}})") == Parse("{}"));
}

TEST(Lockfile, ReadsWhatAnEntrySays) {
  const Json entry = Json::parse(
      R"({"version":"2026.01.01.1","channel":"rc","checksum":"sha256-ABCD","files":["a"],"filesChecksum":"f"})");
  EXPECT_EQ(EntryVersion(entry)->text(), "2026.01.01.1");
  EXPECT_EQ(EntryChannel(entry), Channel::kRc);
  EXPECT_EQ(EntryChecksum(entry), "abcd");
  EXPECT_EQ(EntryFilesChecksum(entry), "f");
  EXPECT_THAT(EntryFiles(entry), ElementsAre("a"));
  const Json bare = Json::parse(R"({"version":"x"})");
  EXPECT_FALSE(EntryVersion(bare));
  EXPECT_EQ(EntryChannel(bare), Channel::kStable);
  EXPECT_TRUE(EntryFiles(bare).empty());
}

}  // namespace
}  // namespace swamp

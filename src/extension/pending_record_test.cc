#include "extension/pending_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json Entry(std::string_view version, std::string_view pulled_at = "2026-01-01T00:00:00.000Z") {
  return Json{{"version", version}, {"pulledAt", pulled_at}};
}

Lockfile With(std::map<std::string, Json> entries) { return Lockfile(std::move(entries)); }

// "name: base -> ours" of each, versions only.
std::vector<std::string> Shown(const PendingChanges& changes) {
  const auto version = [](const std::optional<Json>& entry) {
    return entry ? EntryVersionText(*entry) : "none";
  };
  std::vector<std::string> lines;
  for (const auto& [name, change] : changes) {
    lines.push_back(name + ": " + version(change.base) + " -> " + version(change.ours));
  }
  return lines;
}

struct ReplayCase {
  const char* name;
  std::optional<Json> base;
  std::optional<Json> ours;
  std::optional<Json> remote;
  Replay expected;
};

TEST(DecideReplay, ComparesBaseOursAndRemote) {
  const std::optional<Json> none;
  const Json v1 = Entry("1");
  const Json v2 = Entry("2");
  const Json v3 = Entry("3");
  const ReplayCase cases[] = {
      {"a new name that the remote still lacks", none, v1, none, Replay::kApply},
      {"a new name that a peer pulled in another version", none, v1, v2, Replay::kSuperseded},
      {"a new name, published before", none, v1, v1, Replay::kDone},
      {"an update over what stood there", v1, v2, v1, Replay::kApply},
      {"an update over a peer's newer one", v1, v2, v3, Replay::kSuperseded},
      {"an update over a peer's removal", v1, v2, none, Replay::kSuperseded},
      {"a removal of what stood there", v1, none, v1, Replay::kApply},
      {"a removal of what a peer updated", v1, none, v2, Replay::kSuperseded},
      {"a removal that a peer made too", v1, none, none, Replay::kDone},
      {"a removal of what a peer removed and pulled again", v1, none,
       Entry("1", "2026-02-02T00:00:00.000Z"), Replay::kSuperseded},
      {"the same pull made by a peer at another moment", none, v1,
       Entry("1", "2026-02-02T00:00:00.000Z"), Replay::kDone},
      {"a base with its keys in another order",
       Json::parse(R"({"pulledAt":"2026-01-01T00:00:00.000Z","version":"1"})"), v2, v1,
       Replay::kApply},
  };
  for (const ReplayCase& test : cases) {
    EXPECT_EQ(DecideReplay({test.base, test.ours}, test.remote), test.expected) << test.name;
  }
}

TEST(ReplayChanges, AppliesWhatItMayAndReportsTheRest) {
  const PendingChanges changes = {{"@c/new", {std::nullopt, Entry("1")}},
                                  {"@c/old", {Entry("1"), Entry("2")}},
                                  {"@c/gone", {Entry("1"), std::nullopt}},
                                  {"@c/done", {std::nullopt, Entry("1")}}};
  const Lockfile remote = With({{"@c/old", Entry("3")},
                                {"@c/gone", Entry("1")},
                                {"@c/done", Entry("1")},
                                {"@c/peer", Entry("9")}});
  const ReplayResult result = ReplayChanges(changes, remote);
  EXPECT_TRUE(result.lockfile == With({{"@c/new", Entry("1")},
                                       {"@c/old", Entry("3")},
                                       {"@c/done", Entry("1")},
                                       {"@c/peer", Entry("9")}}));
  EXPECT_THAT(result.superseded, ElementsAre("@c/old"));
  EXPECT_THAT(Shown(result.outstanding), ElementsAre("@c/gone: 1 -> none", "@c/new: none -> 1"));
}

TEST(AddDelta, TakesTheFetchedEntriesAsBases) {
  PendingChanges changes = {{"@c/a", {Entry("1"), Entry("2")}},
                            {"@c/b", {std::nullopt, Entry("1")}}};
  LockfileDelta delta;
  delta.set["@c/a"] = Entry("4");
  delta.remove = {"@c/c"};
  AddDelta(changes, delta, With({{"@c/a", Entry("3")}, {"@c/c", Entry("7")}}));
  EXPECT_THAT(Shown(changes), ElementsAre("@c/a: 3 -> 4", "@c/b: none -> 1", "@c/c: 7 -> none"));
}

TEST(PendingRecord, ReadsBackWhatItWrote) {
  const PendingChanges changes = {{"@c/new", {std::nullopt, Entry("1")}},
                                  {"@c/old", {Entry("1"), Entry("2")}},
                                  {"@c/gone", {Entry("5"), std::nullopt}}};
  const std::string text = PendingRecord(changes).Serialize();
  const PendingRecord record = PendingRecord::Parse(text);
  EXPECT_TRUE(record.certain());
  EXPECT_EQ(Shown(record.ChangesGiven({})), Shown(changes));
  EXPECT_EQ(record.Serialize(), text);
  const Json document = Json::parse(text);
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["removals"], Json::array({"@c/gone"}));
  EXPECT_TRUE(document["base"]["@c/new"].is_null());
}

TEST(PendingRecord, OfAnotherProgramHasNoBases) {
  const PendingRecord record = PendingRecord::Parse(
      R"({"version":1,"upserts":{"@c/a":{"version":"1"}},"removals":["@c/b"]})");
  EXPECT_TRUE(record.certain());
  const PendingChanges changes = record.ChangesGiven({});
  EXPECT_THAT(Shown(changes), ElementsAre("@c/a: none -> 1", "@c/b: none -> none"));
  const ReplayResult result = ReplayChanges(changes, With({{"@c/b", Entry("2")}}));
  EXPECT_NE(result.lockfile.Find("@c/a"), nullptr);
  EXPECT_NE(result.lockfile.Find("@c/b"), nullptr)
      << "nobody knows whether it is still what was to be removed";
}

TEST(PendingRecord, OfAnInterruptedChangeIsTheDifferenceToTheLocalLockfile) {
  const PendingRecord record = PendingRecord::Parse(
      R"({"version":1,"upserts":{"@c/before":{"version":"1"}},"removals":[],"incomplete":true,)"
      R"("base":{"@c/before":{"version":"1"},"@c/updated":{"version":"1"},"@c/removed":{"version":"1"}}})");
  EXPECT_TRUE(record.certain());
  const Lockfile local = With({{"@c/before", Json{{"version", "1"}}},
                               {"@c/updated", Json{{"version", "2"}}},
                               {"@c/added", Json{{"version", "1"}}}});
  EXPECT_THAT(Shown(record.ChangesGiven(local)),
              ElementsAre("@c/added: none -> 1", "@c/before: none -> 1", "@c/removed: 1 -> none",
                          "@c/updated: 1 -> 2"));
}

TEST(PendingRecord, ThatCannotBeReadAddsLocalEntriesAndChangesNone) {
  for (const char* text :
       {"", "2026-01-01T00:00:00.000Z", "{", "[]", "{\"version\":2}",
        "{\"version\":1,\"upserts\":[]}", "{\"version\":1,\"upserts\":{\"@c/a\":1}}",
        "{\"version\":1,\"removals\":[1]}", "{\"version\":1,\"base\":{\"@c/a\":1}}",
        "{\"version\":1,\"base\":[]}"}) {
    const PendingRecord record = PendingRecord::Parse(text);
    EXPECT_FALSE(record.certain()) << text;
    const Lockfile local = With({{"@c/here", Entry("1")}, {"@c/both", Entry("1")}});
    const ReplayResult result = ReplayChanges(
        record.ChangesGiven(local), With({{"@c/both", Entry("2")}, {"@c/there", Entry("1")}}));
    EXPECT_TRUE(result.lockfile ==
                With({{"@c/here", Entry("1")}, {"@c/both", Entry("2")}, {"@c/there", Entry("1")}}))
        << text;
  }
}

TEST(PendingRecord, WithNothingToPublishIsEmpty) {
  EXPECT_THAT(
      PendingRecord::Parse(PendingRecord().Serialize()).ChangesGiven(With({{"@c/a", Entry("1")}})),
      IsEmpty());
}

}  // namespace
}  // namespace swamp

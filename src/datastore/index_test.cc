#include "datastore/index.h"

#include <gtest/gtest.h>

namespace swamp {
namespace {

TEST(IndexShard, KeepsWhatItDoesNotKnow) {
  auto shard = IndexShard::Parse(
      R"({"version":1,"future":[1],"entries":{"a":{"key":"a","size":1,"lastModified":"t","mode":7},"b":{"key":"b","size":2}}})");
  ASSERT_TRUE(shard);
  shard->Set("a", {5, "u", "", "ff"});
  const Json json = ParseJson(shard->Serialize(), "x");
  EXPECT_EQ(json["future"], Json::array({1}));
  EXPECT_EQ(json["entries"]["a"], ParseJson(R"({"key":"a","size":5,"lastModified":"u","mode":7,"sha256":"ff"})", "x"));
  EXPECT_EQ(json["entries"]["b"], ParseJson(R"({"key":"b","size":2})", "x"));
  EXPECT_EQ(json["version"], 1);
}

TEST(IndexShard, ReadsBackWhatItWrote) {
  IndexShard shard;
  shard.Set("data/x", {5, "2026-12-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z", "ab"});
  const auto again = IndexShard::Parse(shard.Serialize());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->Find("data/x"), shard.Find("data/x"));
  EXPECT_FALSE(again->Find("data/y"));
  EXPECT_TRUE(IndexShard::Parse(IndexShard().Serialize())->empty());
}

TEST(IndexShard, IsNotReadFromAnythingElse) {
  for (const char* text : {"", "{", "[]", "{}", R"({"entries":[]})", R"({"entries":1})"}) {
    EXPECT_FALSE(IndexShard::Parse(text)) << text;
  }
  EXPECT_TRUE(IndexShard::Parse(R"({"entries":{"a":1,"b":{"size":-1},"c":{"size":"x"}}})")->Entries().empty());
}

TEST(IndexMeta, IsThisWritersOwnByItsNonce) {
  const auto meta = IndexMeta::Parse(
      R"({"version":2,"partitions":["data--x","config"],"commitSeq":7,"lastCompacted":"t","nonce":"old"})");
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->commit_seq, 7U);
  EXPECT_EQ(meta->Serialize("n1"),
            R"({"version":2,"partitions":["config","data--x"],"commitSeq":7,"lastCompacted":"t","nonce":"n1"})"
            "\n");
  EXPECT_NE(meta->Serialize("n1"), meta->Serialize("n2"));
}

TEST(IndexMeta, IsNotReadFromVersion1OrDamage) {
  for (const char* text : {"{}", R"({"version":1})", R"({"version":2,"partitions":[1],"commitSeq":1})",
                           R"({"version":2,"partitions":[],"commitSeq":-1})", R"({"version":2,"partitions":[]})"}) {
    EXPECT_FALSE(IndexMeta::Parse(text)) << text;
  }
}

}  // namespace
}  // namespace swamp

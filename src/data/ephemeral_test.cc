#include "data/ephemeral.h"

#include <gmock/gmock.h>

#include "util/test_world.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;

const DataKey kKey{{"test/type", "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10"}, "result"};

NewVersion Request(const DataKey& key = kKey) {
  return {.key = key, .lifetime = *Lifetime::Parse("ephemeral"), .tags = {{"type", "resource"}}};
}

DataRecord Write(EphemeralData& data, const Context& context, std::string_view bytes, const DataKey& key = kKey) {
  const auto writer = data.Begin(context, Request(key));
  writer->Append(bytes);
  return writer->Finish();
}

std::string CodeOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.code();
  }
  return "";
}

TEST(EphemeralData, CountsItsVersionsAndKeepsOneId) {
  TestWorld world;
  EphemeralData data(1000);
  EXPECT_TRUE(data.empty());
  const DataRecord first = Write(data, world.context, "one");
  const DataRecord second = Write(data, world.context, "two");
  EXPECT_EQ(first.metadata.id, second.metadata.id);
  EXPECT_THAT(data.Versions(kKey), ElementsAre(1u, 2u));
  EXPECT_EQ(data.Latest(kKey)->content, "two");
  EXPECT_EQ(data.Find(kKey, 1)->content, "one");
  EXPECT_EQ(data.Find(kKey, 3), nullptr);
  EXPECT_EQ(data.LatestOf(kKey.owner).size(), 1u);
  data.Remove(second);
  EXPECT_EQ(data.Latest(kKey)->content, "one");
}

TEST(EphemeralData, NobodySeesWhatIsNotFinished) {
  TestWorld world;
  EphemeralData data(10);
  {
    const auto writer = data.Begin(world.context, Request());
    writer->Append("123456789");
    EXPECT_EQ(data.Latest(kKey), nullptr);
  }
  Write(data, world.context, "1234567890");  // its room is free again
}

TEST(EphemeralData, DA20_MoreThanTheBudgetIsRefusedBeforeMemoryIsGone) {
  TestWorld world;
  EphemeralData data(10);
  Write(data, world.context, "12345");
  const auto writer = data.Begin(world.context, Request({kKey.owner, "other"}));
  writer->Append("123");
  EXPECT_EQ(CodeOf([&] { writer->Append("456"); }), "ephemeral_budget_exceeded");
  writer->Reserve(2);
  EXPECT_EQ(CodeOf([&] { writer->Reserve(1); }), "ephemeral_budget_exceeded");
  writer->Append("45");  // was reserved
  EXPECT_EQ(writer->Finish().metadata.size, 5u);
  EXPECT_EQ(CodeOf([&] { Write(data, world.context, "x"); }), "ephemeral_budget_exceeded");
}

TEST(EphemeralData, WhatANameDoesNotKeepMakesRoom) {
  TestWorld world;
  EphemeralData data(10);
  for (int i = 0; i < 5; ++i) {
    NewVersion request = Request();
    request.versions_kept = VersionsKept::Newest(1);
    const auto writer = data.Begin(world.context, request);
    writer->Append("12345");
    writer->Finish();
  }
  EXPECT_THAT(data.Versions(kKey), ElementsAre(5u));
}

TEST(EphemeralData, TheBudgetIsASizeInPowersOf1024) {
  TestWorld world;
  const auto budget = [&](const std::string& text) {
    world.environment = FixedEnvironment({{"SWAMP_EPHEMERAL_BUDGET", text}}, "/");
    return EphemeralBudget(world.context);
  };
  EXPECT_EQ(budget(""), 512u << 20);
  EXPECT_EQ(budget("100"), 100u);
  EXPECT_EQ(budget("2k"), 2048u);
  EXPECT_EQ(budget("3 MB"), 3u << 20);
  EXPECT_EQ(budget("1g"), 1u << 30);
  for (const char* bad : {"x", "1t", "-1", "1kk", "99999999999999999999", "99999999999g", "b"}) {
    EXPECT_EQ(CodeOf([&] { budget(bad); }), "usage") << bad;
  }
}

}  // namespace
}  // namespace swamp

#include "cel/collections.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace swamp::cel {
namespace {

// Keys "k0", "k1", ... with their numbers.
const ArrayMap* Numbered(Arena& arena, int size) {
  MapBuilder builder(arena, static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) builder.Add(Value::String(arena.Copy("k" + std::to_string(i))), Value::Int(i));
  return builder.Build();
}

TEST(ArrayMap, FindsEveryKeyWhateverItsSize) {
  Arena arena;
  for (const int size : {0, 1, 8, 9, 100, 5000}) {
    const ArrayMap& map = *Numbered(arena, size);
    ASSERT_EQ(map.size(), static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) {
      EXPECT_EQ(map.FindField("k" + std::to_string(i), arena).as_int(), i);
      EXPECT_EQ(map.KeyAt(static_cast<std::size_t>(i), arena).text(), "k" + std::to_string(i));
    }
    EXPECT_TRUE(map.FindField("k" + std::to_string(size), arena).is_missing());
    EXPECT_TRUE(map.Find(Value::Int(0), arena).is_missing());
  }
}

TEST(ArrayMap, TakesNumbersOfOneValueForOneKey) {
  Arena arena;
  for (const std::size_t others : {0U, 20U}) {
    MapBuilder builder(arena, others + 3);
    EXPECT_EQ(builder.Add(Value::Int(1), Value::String("int")), MapBuilder::Added::kYes);
    EXPECT_EQ(builder.Add(Value::Uint(2), Value::String("uint")), MapBuilder::Added::kYes);
    EXPECT_EQ(builder.Add(Value::Uint(1), Value::Null()), MapBuilder::Added::kDuplicate);
    EXPECT_EQ(builder.Add(Value::Double(3), Value::Null()), MapBuilder::Added::kBadKey);
    EXPECT_EQ(builder.Add(Value::Null(), Value::Null()), MapBuilder::Added::kBadKey);
    for (std::size_t i = 0; i < others; ++i) builder.Add(Value::Int(static_cast<std::int64_t>(100 + i)), Value::Null());
    const ArrayMap& map = *builder.Build();
    EXPECT_EQ(map.Find(Value::Double(1.0), arena).text(), "int");
    EXPECT_EQ(map.Find(Value::Uint(1), arena).text(), "int");
    EXPECT_EQ(map.Find(Value::Int(2), arena).text(), "uint");
    EXPECT_TRUE(map.Find(Value::Double(1.5), arena).is_missing());
    EXPECT_TRUE(map.Find(Value::Double(std::numeric_limits<double>::quiet_NaN()), arena).is_missing());
    EXPECT_TRUE(map.Find(Value::Double(1e300), arena).is_missing());
    EXPECT_TRUE(map.Find(Value::Bool(true), arena).is_missing());
  }
}

TEST(NormalizedKey, KeepsUintsThatNoIntCanHold) {
  EXPECT_EQ(NormalizedKey(Value::Uint(UINT64_MAX))->as_uint(), UINT64_MAX);
  EXPECT_EQ(NormalizedKey(Value::Double(0x1p63))->as_uint(), std::uint64_t{1} << 63);
  EXPECT_EQ(NormalizedKey(Value::Double(-0x1p63))->as_int(), INT64_MIN);
  EXPECT_FALSE(NormalizedKey(Value::Double(0x1p64)));
}

TEST(Extent, CountsWhatAWalkWouldSee) {
  Arena arena;
  const Value inner = Value::Of(arena.New<ArrayList>(std::span<const Value>(arena.NewArray<Value>(3))));
  EXPECT_EQ(ExtentOf(inner).weight, 4U);
  EXPECT_EQ(ExtentOf(inner).depth, 1);
  const auto twice = arena.NewArray<Value>(2);
  twice[0] = twice[1] = inner;
  const Value outer = Value::Of(arena.New<ArrayList>(std::span<const Value>(twice)));
  EXPECT_EQ(ExtentOf(outer).weight, 9U);
  EXPECT_EQ(ExtentOf(outer).depth, 2);
  EXPECT_EQ(ExtentOf(Value::String(std::string_view("0123456789abcdef0123456789abcdef"))).weight, 2U);
}

TEST(Extent, SaturatesInsteadOfWrapping) {
  Extent extent{.weight = UINT32_MAX - 1, .depth = UINT16_MAX};
  extent.Add({.weight = 5, .depth = UINT16_MAX});
  EXPECT_EQ(extent.weight, UINT32_MAX);
  EXPECT_EQ(extent.depth, UINT16_MAX);
}

}  // namespace
}  // namespace swamp::cel

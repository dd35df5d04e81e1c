#include "cel/arena.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace swamp::cel {
namespace {

TEST(Arena, GrowsATextInPlaceWhenItIsTheLast) {
  Arena arena;
  const std::string_view first = arena.Copy("ab");
  const std::string_view second = arena.Concatenate(first, "cd");
  EXPECT_EQ(second, "abcd");
  EXPECT_EQ(second.data(), first.data());
  const std::string_view other = arena.Concatenate(first, "xy");
  EXPECT_EQ(other, "abxy");
  EXPECT_EQ(second, "abcd");
}

TEST(Arena, GivesMemoryThatIsAlignedAndApart) {
  Arena arena(16);
  char* const text = static_cast<char*>(arena.Allocate(3, 1));
  auto* const number = arena.New<std::uint64_t>(7U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(number) % alignof(std::uint64_t), 0U);
  std::memset(text, 0xff, 3);
  EXPECT_EQ(*number, 7U);
  EXPECT_EQ(arena.NewArray<int>(100'000).size(), 100'000U);
}

TEST(Arena, RunsDestructorsWhenItLetsGo) {
  const auto shared = std::make_shared<int>(1);
  {
    Arena arena;
    arena.New<std::shared_ptr<int>>(shared);
    EXPECT_EQ(shared.use_count(), 2);
    arena.Reset();
    EXPECT_EQ(shared.use_count(), 1);
    arena.New<std::shared_ptr<int>>(shared);
    Arena moved = std::move(arena);
    EXPECT_EQ(shared.use_count(), 2);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Arena, UsesItsMemoryAnewAfterReset) {
  Arena arena;
  void* const before = arena.Allocate(100);
  arena.Reset();
  EXPECT_EQ(arena.Allocate(100), before);
  for (int i = 0; i < 100; ++i) arena.Allocate(10'000);
  arena.Reset();
  EXPECT_NE(arena.Allocate(100), nullptr);
}

}  // namespace
}  // namespace swamp::cel

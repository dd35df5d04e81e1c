#include "repo/this_program.h"

#include <gtest/gtest.h>

#include "util/test_world.h"

namespace swamp {
namespace {

TEST(ThisProgram, IsTheFileThatRuns) {
  TestWorld world;
  EXPECT_EQ(ThisProgram(world.files), std::filesystem::read_symlink("/proc/self/exe"));
}

}  // namespace
}  // namespace swamp

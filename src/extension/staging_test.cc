#include "extension/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using testing::Checkout;
using testing::CodeOf;
using ::testing::IsEmpty;
using testing::MessageOf;

TEST(StagingArea, IsRemovedAtItsEndAndByTheNextCommandAfterACrash) {
  Checkout t;
  const std::filesystem::path root = t.site.pulled_root / ".staging";
  t.world.Write(Checkout::InTree(".staging/dead/new/a.ts"), "left over");
  const Context context = t.context();
  std::filesystem::path folder;
  {
    const StagingArea staging(context, t.site);
    folder = staging.folder();
    EXPECT_TRUE(t.world.files.Stat(folder));
    EXPECT_FALSE(t.world.files.Stat(root / "dead"));
    const StagingArea another(context, t.site);
    EXPECT_TRUE(t.world.files.Stat(folder)) << "a live command's folder stays";
    EXPECT_NE(another.folder(), folder);
  }
  EXPECT_FALSE(t.world.files.Stat(folder));
}

TEST(EX07, AWaiterForTheInstallLockGivesUpInOneLine) {
  Checkout t;
  t.site.lock_wait = Duration(200);
  const auto held = LockInstallation(t.context(), t.site);
  EXPECT_EQ(CodeOf([&] { LockInstallation(t.context(), t.site); }), "lock_timeout");
  const std::string message = MessageOf([&] { LockInstallation(t.context(), t.site); });
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(RecoverInterruptedInstalls, WritesNothingWhenThereIsNothingToUndo) {
  Checkout t;
  RecoverInterruptedInstalls(t.context(), t.site);
  EXPECT_THAT(ListFilesBelow(t.world.files, t.site.repo_root), IsEmpty());
  EXPECT_FALSE(t.world.files.Stat(t.site.pulled_root));
}

}  // namespace
}  // namespace swamp

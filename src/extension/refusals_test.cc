#include "extension/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

using ::testing::AllOf;
using testing::CodeOf;
using ::testing::HasSubstr;
using testing::MessageOf;

const ExtensionName kX = *ExtensionName::Parse("@c/x");

TEST(Refusals, NameAFewFilesAndCountTheOthers) {
  EXPECT_EQ(ListOf({"a", "b"}), "a, b");
  EXPECT_EQ(ListOf({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}),
            "1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
  EXPECT_EQ(ListOf({"a\nb"}), "a\\nb");
}

TEST(Refusals, SayWhoseAFileInTheWayIs) {
  EXPECT_EQ(CodeOf([] { RefuseConflicts(kX, {}); }), "none");
  EXPECT_THAT(MessageOf([] {
                RefuseConflicts(kX, {{"mine.ts", ""}, {"theirs.ts", "@c/y"}});
              }),
              AllOf(HasSubstr("mine.ts, theirs.ts (of @c/y)"), HasSubstr("--force")));
}

TEST(Refusals, TellAKnownEditFromAnUnknownOne) {
  ExtensionSite site;
  site.repo_root = "/w";
  TreeState state;
  state.folder = "/w/.swamp/pulled-extensions/@c/x";
  EXPECT_EQ(CodeOf([&] { RefuseEdited(site, kX, state); }), "none");
  state.edited = {"models/a.ts"};
  EXPECT_THAT(
      MessageOf([&] { RefuseEdited(site, kX, state); }),
      HasSubstr(
          "were edited here and would be overwritten: .swamp/pulled-extensions/@c/x/models/a.ts"));
  state.edits_are_known = false;
  EXPECT_THAT(MessageOf([&] { RefuseEdited(site, kX, state); }), HasSubstr("may have been edited"));
}

TEST(Refusals, SuggestNamesThatAreInstalled) {
  const Lockfile lockfile({{"@c/alpha", Json{{"version", "1"}}}});
  EXPECT_THAT(MessageOf([&] { RefuseNotInstalled(*ExtensionName::Parse("@c/alpah"), lockfile); }),
              HasSubstr("Did you mean @c/alpha?"));
  EXPECT_THAT(MessageOf([&] { RefuseNotInstalled(kX, Lockfile()); }),
              HasSubstr("swamp extension list"));
}

}  // namespace
}  // namespace swamp

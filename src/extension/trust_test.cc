#include "extension/trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"

namespace swamp {
namespace {

using testing::CodeOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;

TEST(EX03, MembershipAloneGivesNoTrust) {
  TrustSettings settings{{"swamp", "@acme"}, false, {"team", "acme"}};
  EXPECT_THAT(ResolveTrust(settings), ElementsAre("swamp", "acme"));
  settings.trust_member_collectives = true;
  EXPECT_THAT(ResolveTrust(settings), ElementsAre("swamp", "acme", "team"));
}

TEST(EX03, NamesTheCommandThatTrustsACollective) {
  const std::vector<std::string> trusted = {"swamp"};
  const ExtensionName name = *ExtensionName::Parse("@c/x");
  EXPECT_THAT(MessageOf([&] { RequireTrusted(trusted, name); }),
              HasSubstr("swamp extension trust add c"));
  EXPECT_EQ(CodeOf([&] { RequireTrusted(trusted, name); }), "extension_untrusted");
  EXPECT_EQ(CodeOf([&] { RequireTrusted(trusted, *ExtensionName::Parse("@swamp/x")); }), "none");
  EXPECT_EQ(CodeOf([&] { RequireTrusted({}, *ExtensionName::Parse("@swamp/x")); }),
            "extension_untrusted");
  EXPECT_FALSE(IsTrusted(trusted, *ExtensionName::Parse("@swamp-evil/x")));
}

TEST(Trust, ListsChangeByOneName) {
  const TrustChange added = AddTrusted({"swamp"}, "@acme");
  EXPECT_EQ(added.action, "added");
  EXPECT_THAT(added.trusted_collectives, ElementsAre("swamp", "acme"));
  EXPECT_EQ(AddTrusted({"@acme"}, "acme").action, "unchanged");
  const TrustChange removed = RemoveTrusted({"swamp", "@acme"}, "acme");
  EXPECT_EQ(removed.action, "removed");
  EXPECT_THAT(removed.trusted_collectives, ElementsAre("swamp"));
  EXPECT_EQ(RemoveTrusted({"swamp"}, "acme").action, "unchanged");
  for (const char* bad : {"", "@", "a/b", "Acme", "a b"}) {
    EXPECT_EQ(CodeOf([&] { AddTrusted({}, bad); }), "collective_invalid") << bad;
  }
}

}  // namespace
}  // namespace swamp

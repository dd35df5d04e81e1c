#include "extension/extension_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace swamp {
namespace {

Version V(std::string_view text) { return Version::Parse(text).value(); }

bool Allows(std::string_view constraint, std::string_view version) {
  return VersionConstraint::Parse(constraint).value().Allows(V(version));
}

TEST(ExtensionName, HasACollectiveAndOneOrMoreSegments) {
  EXPECT_EQ(ExtensionName::Parse("@c/x")->collective(), "c");
  EXPECT_EQ(ExtensionName::Parse("@my-team/aws/ec2_v2")->collective(), "my-team");
}

TEST(ExtensionName, RefusesWhateverIsNotOfTheGrammar) {
  for (const char* text : {"", "@", "c/x", "@c", "@c/", "@/x", "@c//x", "@C/x", "@c/x/../y",
                           "@c/%2f", "@c/x y", "@c/x\n", "@c/.x", "@c/x/", "@c/\xc3\xa9"}) {
    EXPECT_FALSE(ExtensionName::Parse(text)) << text;
  }
  EXPECT_FALSE(ExtensionName::Parse("@c/" + std::string(300, 'a')));
}

TEST(Version, ComparesNumberByNumber) {
  EXPECT_LT(V("2026.05.9.12"), V("2026.05.10.2"));
  EXPECT_LT(V("2026.05.10.2"), V("2026.05.10.10"));
  EXPECT_EQ(V("2026.05.09.1"), V("2026.5.9.01"));
  EXPECT_LT(V("2026.01.01.18446744073709551616"), V("2026.01.01.18446744073709551617"));
  EXPECT_GT(V("2026.01.01.100000000000000000000"), V("2026.01.01.99999999999999999999"));
}

TEST(Version, RefusesWhateverIsNotFourNumbers) {
  for (const char* text : {"", "1", "2026.01.01", "2026.01.01.1.1", "2026.01.01.x", "2026.01..1",
                           "2026.01.01.-1", "2026.01.01.1 ", "1?y#z", "latest"}) {
    EXPECT_FALSE(Version::Parse(text)) << text;
  }
}

TEST(Version, IsACalendarVersionOnlyAsADateWithTwoDigits) {
  EXPECT_TRUE(V("2026.12.01.1").IsCalendarVersion());
  for (const char* text : {"2026.5.09.1", "2026.05.9.1", "2026.13.01.1", "2026.00.01.1",
                           "2026.01.32.1", "26.01.01.1", "2026.01.01.01"}) {
    EXPECT_FALSE(V(text).IsCalendarVersion()) << text;
  }
}

TEST(VersionConstraint, KeepsToItsOperator) {
  EXPECT_TRUE(Allows("", "2026.01.01.1"));
  EXPECT_TRUE(Allows("2026.01.01.1", "2026.1.1.1"));
  EXPECT_FALSE(Allows("2026.01.01.1", "2026.01.01.2"));
  EXPECT_TRUE(Allows(">=2026.04.24", "2026.04.24.1"));
  EXPECT_FALSE(Allows(">=2026.04.24", "2026.04.23.9"));
  EXPECT_FALSE(Allows(">2026.04.24.1", "2026.04.24.1"));
  EXPECT_TRUE(Allows("<=2026.04.24.1", "2026.04.24.1"));
  EXPECT_FALSE(Allows("<2026.04.24.1", "2026.04.24.1"));
  EXPECT_TRUE(Allows("^2026.04.24.1", "2026.12.01.1"));
  EXPECT_FALSE(Allows("^2026.04.24.1", "2027.01.01.1"));
  EXPECT_FALSE(Allows("^2026.04.24.1", "2026.04.23.9"));
  EXPECT_TRUE(Allows("~2026.04.24.1", "2026.04.30.1"));
  EXPECT_FALSE(Allows("~2026.04.24.1", "2026.05.01.1"));
}

TEST(VersionConstraint, RefusesWhatHasNoBound) {
  for (const char* text :
       {">=", "^", "x", ">=a", "2026.01", "2026", ">=2026.01.01.1.1", "!2026.01.01.1"}) {
    EXPECT_FALSE(VersionConstraint::Parse(text)) << text;
  }
}

TEST(EX19, SplitsNameAndConstraintBeforeAnyLookup) {
  const auto dependency = ParseDependency("@c/b@>=2026.04.24");
  ASSERT_TRUE(dependency);
  EXPECT_EQ(dependency->name.text(), "@c/b");
  EXPECT_TRUE(dependency->constraint.Allows(V("2026.05.01.1")));
  EXPECT_EQ(ParseDependency("@c/b")->constraint.text(), "");
  EXPECT_FALSE(ParseDependency("@c/b@"));
  EXPECT_FALSE(ParseDependency("b@2026.01.01.1"));
}

TEST(EX19, RefusesABadReferenceByGrammar) {
  for (const char* text :
       {"@c/x@1?y#z", "@c/x/../y", "@c/x%2fy", "", "@", "@c/x@", "@c/x@@2026.01.01.1"}) {
    try {
      RequireExtensionReference(text);
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "extension_reference_invalid") << text;
    }
  }
  const ExtensionReference reference = RequireExtensionReference("@c/x/y@2026.01.01.1");
  EXPECT_EQ(reference.name.text(), "@c/x/y");
  EXPECT_EQ(reference.version->text(), "2026.01.01.1");
}

TEST(EX21, CountsTheNextVersionFromTheHighestOfAll) {
  EXPECT_EQ(NextVersion("2026.12.01", {}).text(), "2026.12.01.1");
  EXPECT_EQ(NextVersion("2026.12.01", {V("2026.11.30.7")}).text(), "2026.12.01.1");
  EXPECT_EQ(NextVersion("2026.12.01", {V("2026.12.01.9"), V("2026.12.01.2")}).text(),
            "2026.12.01.10");
  EXPECT_EQ(NextVersion("2026.12.01", {V("2026.12.05.1")}).text(), "2026.12.05.2");
}

TEST(Channel, IsReadByName) {
  EXPECT_EQ(RequireChannel("beta"), Channel::kBeta);
  EXPECT_THROW(RequireChannel("Beta"), UserError);
}

}  // namespace
}  // namespace swamp

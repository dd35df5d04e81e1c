#include "extension/info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using testing::Checkout;
using testing::CodeOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const ExtensionName kX = *ExtensionName::Parse("@c/x");

TEST(GetInfo, AddsContentsAndDependenciesToTheRegistrysDescription) {
  Checkout t;
  t.Publish("@c/d", "2026.01.01.1");
  t.Publish("@c/x", "2026.01.01.1", {}, "description: The x\ndependencies: ['@c/d']\n");
  t.Pull("@c/x");
  const ExtensionInfo info = GetInfo(t.context(), t.installed, t.registry, kX);
  EXPECT_EQ(info.entry["description"], "The x");
  EXPECT_EQ(info.content_metadata["models"], Json::array({"a.ts"}));
  EXPECT_EQ(info.content_metadata["vaults"], Json::array());
  EXPECT_EQ(info.dependencies, Json::array({"@c/d"}));
  EXPECT_EQ(info.installed_version, "2026.01.01.1");
  EXPECT_EQ(CodeOf([&] {
              GetInfo(t.context(), t.installed, t.registry, *ExtensionName::Parse("@c/none"));
            }),
            "extension_not_found");
}

TEST(EX21, InfoNamesTheChannelAndPrintsNoNull) {
  Checkout t;
  t.Publish("@c/x", "2026.05.01.1", {}, "", "-beta");
  const ExtensionInfo info = GetInfo(t.context(), t.installed, t.registry, kX);
  EXPECT_THAT(info.hint, HasSubstr("swamp extension pull @c/x --channel beta"));
  EXPECT_THAT(CompactJson(info.entry), Not(HasSubstr("null")));
  EXPECT_EQ(info.content_metadata["models"], Json::array({"a.ts"}));
  const SearchResult found = Search(t.context(), t.registry, {});
  EXPECT_THAT(CompactJson(found.extensions), Not(HasSubstr("null")));
}

TEST(EX27, SearchHasItsListAndCountsAlways) {
  Checkout t;
  SearchQuery query;
  query.text = "nothing";
  const SearchResult result = Search(t.context(), t.registry, query);
  EXPECT_EQ(result.query, "nothing");
  EXPECT_EQ(result.extensions, Json::array());
  EXPECT_EQ(result.total, 0);
  EXPECT_EQ(result.page, 1);
  EXPECT_EQ(result.per_page, 20);
}

TEST(Search, RefusesNumbersThatMakeNoSense) {
  Checkout t;
  for (const auto& [page, per_page] : {std::pair{0, 20}, {1, 0}, {1, 101}, {-1, 20}}) {
    SearchQuery query;
    query.page = page;
    query.per_page = per_page;
    EXPECT_EQ(CodeOf([&] { Search(t.context(), t.registry, query); }), "search_invalid");
  }
  SearchQuery query;
  query.channels = {"nightly"};
  EXPECT_EQ(CodeOf([&] { Search(t.context(), t.registry, query); }), "extension_reference_invalid");
}

TEST(EX21, CountsTheNextVersionByAllChannelsAndTheDate) {
  Checkout t;  // whose clock shows 2025-12-01
  EXPECT_EQ(GetPublishedVersions(t.context(), t.registry, kX).next, "2025.12.01.1");
  t.Publish("@c/x", "2025.11.30.4");
  t.Publish("@c/x", "2025.12.01.7", {}, "", "-beta");
  const PublishedVersions published = GetPublishedVersions(t.context(), t.registry, kX);
  EXPECT_EQ(published.current, "2025.11.30.4");
  EXPECT_EQ(published.next, "2025.12.01.8");
  ASSERT_THAT(published.channels, SizeIs(1));
  EXPECT_EQ(published.channels[0].channel, Channel::kBeta);
}

}  // namespace
}  // namespace swamp

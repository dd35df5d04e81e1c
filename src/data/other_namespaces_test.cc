#include "data/other_namespaces.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/catalog_rows.h"
#include "data/other_data.h"

namespace swamp {
namespace {

constexpr const char* kModel = "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10";

std::string Path(const std::string& below) { return fmt::format("data/command/shell/{}/{}", kModel, below); }

TEST(ParseDataPath, TakesApartByDepthBehindTheFirstUuid) {
  const auto raw = ParseDataPath(Path("207333/12/raw"));
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->key, (DataKey{{"command/shell", kModel}, "207333"}));
  EXPECT_EQ(raw->version, 12u);
  EXPECT_EQ(raw->file, "raw");
  const auto marker = ParseDataPath(fmt::format("data/t/{0}/{0}/latest", kModel));
  ASSERT_TRUE(marker);
  EXPECT_EQ(marker->key.name, kModel);
  EXPECT_EQ(marker->version, 0u);
  for (const std::string& other :
       {Path("a/1/other"), Path("a/01/raw"), Path("a/0/raw"), Path("a/x/raw"), Path("a/99999999999999999999/raw"), Path("a/1/raw/x"),
        Path("a"), Path(".a/latest"), fmt::format("data/{}/a/1/raw", kModel), std::string("data/a/b/c/d/e"), std::string("outputs/a"),
        Path("a//raw"), Path("latest/latest"), std::string()}) {
    EXPECT_FALSE(ParseDataPath(other)) << other;
  }
}

TEST(ParseModelReference, KnowsOnesOwnOthersAndAny) {
  EXPECT_FALSE(ParseModelReference("web", "blue").name_space);
  EXPECT_EQ(ParseModelReference("infra:web", "blue").name_space, "infra");
  EXPECT_EQ(ParseModelReference("infra:@team/web", "").name, "@team/web");
  EXPECT_FALSE(ParseModelReference("blue:web", "blue").name_space);
  EXPECT_EQ(ParseModelReference("blue:web", "blue").name, "web");
  EXPECT_TRUE(ParseModelReference("*:web", "blue").any());
  EXPECT_THROW(ParseModelReference(":web", ""), UserError);
  EXPECT_THROW(ParseModelReference("../x:web", ""), UserError);
}

TEST(LatestOf, IsOneForEachStepUnlessOneWithoutCameLater) {
  using Versions = std::set<std::uint64_t>;
  EXPECT_EQ(LatestOf({{3, "b"}, {2, "a"}, {1, "a"}}, 3), (Versions{2, 3}));
  EXPECT_EQ(LatestOf({{3, ""}, {2, "a"}}, 3), (Versions{3}));
  EXPECT_EQ(LatestOf({{3, "a"}, {2, ""}, {1, "b"}}, 3), (Versions{3}));
  EXPECT_EQ(LatestOf({{3, "a"}, {2, "a"}}, 2), (Versions{2}));
  EXPECT_EQ(LatestOf({{3, "", false}, {2, ""}}, 3), (Versions{}));
}

}  // namespace
}  // namespace swamp

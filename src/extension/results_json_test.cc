#include "extension/results_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using testing::Checkout;
using ::testing::ElementsAre;

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(EX27, EveryAnswerHasItsKeysWithoutData) {
  EXPECT_EQ(CompactJson(ToJson(std::vector<ListedExtension>())), R"({"extensions":[]})");
  EXPECT_EQ(CompactJson(ToJson(InstallResult())),
            R"({"entries":[],"installed":0,"migrated":0,"upToDate":0,"failed":0})");
  EXPECT_EQ(CompactJson(ToJson(UpdateResult())),
            R"({"extensions":[],"summary":{"total":0,"upToDate":0,"updated":0,"failed":0}})");
  EXPECT_EQ(CompactJson(OutdatedToJson({})),
            R"({"extensions":[],"hasUpdateAvailable":false,"hasDeprecated":false})");
  SearchResult search;
  search.extensions = Json::array();
  EXPECT_EQ(CompactJson(ToJson(search)),
            R"({"query":"","extensions":[],"meta":{"total":0,"page":0,"perPage":0}})");
  EXPECT_EQ(
      CompactJson(ToJson(TrustSettings{{"swamp"}, false, {}})),
      R"({"explicit":["swamp"],"membership":[],"resolved":["swamp"],"trustMemberCollectives":false})");
}

TEST(ResultsJson, AnswersAsTheCommandsAreKnownTo) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1", {}, "description: The x\n");
  const Json pulled = ToJson(t.Pull("@c/x"));
  EXPECT_THAT(Keys(pulled), ElementsAre("name", "version", "description", "integrity",
                                        "extractedFiles", "channel", "dependencies", "warnings"));
  EXPECT_EQ(pulled["extractedFiles"].size(), 2U);
  const Json listed = ToJson(ListExtensions(t.context(), t.site, t.installed));
  EXPECT_THAT(Keys(listed["extensions"][0]), ElementsAre("name", "version", "pulledAt", "files",
                                                         "channel", "installed", "builtIn"));
  const Json installed = ToJson(Install(t.context(), t.site, t.installed, t.registry, {}));
  EXPECT_EQ(installed["entries"][0]["status"], "up_to_date");
  EXPECT_EQ(installed["upToDate"], 1);
  const Json info =
      ToJson(GetInfo(t.context(), t.installed, t.registry, *ExtensionName::Parse("@c/x")));
  EXPECT_EQ(info["contentMetadata"]["extensions"], Json::array());
  EXPECT_EQ(info["dependencies"], Json::array());
  const Json versions =
      ToJson(GetPublishedVersions(t.context(), t.registry, *ExtensionName::Parse("@c/x")));
  EXPECT_THAT(Keys(versions), ElementsAre("extensionName", "currentPublished", "publishedAt",
                                          "nextVersion", "channels"));
  const Json removed =
      ToJson(Remove(t.context(), t.site, t.installed, {*ExtensionName::Parse("@c/x"), false, {}}));
  EXPECT_EQ(removed["removed"]["filesDeleted"], 2);
  EXPECT_EQ(removed["removed"]["filesSkipped"], 0);
  EXPECT_EQ(removed["removed"]["dirsRemoved"], 3);
}

TEST(EX27, AnItemsFailureIsInTheItemWithItsCause) {
  Checkout t;
  t.Publish("@c/x", "2026.01.01.1");
  t.Pull("@c/x");
  std::filesystem::remove_all(t.site.swamp_folder);
  std::filesystem::remove_all(t.world.root / "registry/@c");
  const Json installed = ToJson(Install(t.context(), t.site, t.installed, t.registry, {}));
  EXPECT_EQ(installed["entries"][0]["status"], "failed");
  EXPECT_EQ(installed["entries"][0]["code"], "version_not_found");
  EXPECT_TRUE(installed["entries"][0].contains("error"));
  const Json updated = ToJson(Update(t.context(), t.site, t.installed, t.registry, {}));
  EXPECT_EQ(updated["extensions"][0]["code"], "extension_not_found");
  EXPECT_EQ(updated["summary"]["failed"], 1);
}

TEST(ResultsJson, ShowsRefusedPathsWithTheirCode) {
  InstallResult result;
  InstallItem item;
  item.name = "@c/x";
  item.refused = {{"../a", "it has the segment \"..\""}};
  result.entries.push_back(item);
  EXPECT_EQ(ToJson(result)["entries"][0]["refusedPaths"][0]["code"], "path_escape");
}

TEST(ResultsJson, NamesThePackedAndThePublished) {
  Checkout t;
  t.world.Write("src/manifest.yaml",
                "manifestVersion: 1\nname: '@c/x'\nversion: 2026.01.01.1\nmodels: [a.ts]\n");
  t.world.Write("src/models/a.ts", "");
  PackRequest request;
  request.source = t.world.root / "src";
  request.out = t.world.root / "a.tar.gz";
  const Json packed = ToJson(Pack(t.context(), request));
  EXPECT_EQ(packed["files"], Json::array({"manifest.yaml", "models/a.ts"}));
  const Json pushed =
      ToJson(Push(t.context(), t.registry, {t.world.root / "a.tar.gz", Channel::kBeta, false}));
  EXPECT_EQ(pushed["status"], "published");
  EXPECT_EQ(pushed["checksum"], packed["checksum"]);
}

}  // namespace
}  // namespace swamp

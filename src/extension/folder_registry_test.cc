#include "extension/folder_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"
#include "util/digest.h"

namespace swamp {
namespace {

using testing::CodeOf;
using ::testing::ElementsAre;
using testing::ExtensionArchive;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using ::testing::SizeIs;
using testing::TempWorld;

const ExtensionName kWeb = *ExtensionName::Parse("@acme/web");

Version V(std::string_view text) { return *Version::Parse(text); }

class FolderRegistryTest : public ::testing::Test {
 protected:
  FolderRegistryTest() { std::filesystem::create_directories(world_.root / "r"); }

  static std::string Archive(const std::string& name, const std::string& version,
                             const std::string& more = "") {
    return ExtensionArchive(
        {{"manifest.yaml", "manifestVersion: 1\nname: '" + name + "'\nversion: " + version +
                               "\nmodels: [a.ts]\n" + more},
         {"models/a.ts", "export const model = {};\n"}});
  }

  // Copies an archive in, as cp and sha256sum would.
  void Copy(const std::string& name, const std::string& file, const std::string& bytes) {
    world_.Write("r/" + name + "/" + file, bytes);
    world_.Write("r/" + name + "/" + file + ".sha256", Sha256Hex(bytes) + "  " + file + "\n");
  }
  void CopyVersion(const std::string& name, const std::string& version,
                   const std::string& suffix = "", const std::string& more = "") {
    Copy(name, version + suffix + ".tar.gz", Archive(name, version, more));
  }

  std::vector<std::string> Found(const SearchQuery& query) {
    std::vector<std::string> names;
    const Json result = registry_.Search(world_.context(), query);
    for (const Json& entry : result["extensions"]) names.push_back(entry["name"]);
    return names;
  }

  std::string Download(const std::string& version) {
    return registry_.Download(world_.context(), kWeb, V(version), Channel::kStable,
                              world_.root / "got");
  }

  TempWorld world_;
  FolderRegistry registry_{world_.root / "r", "file:///r"};
};

TEST_F(FolderRegistryTest, AnswersFromFilesThatWereCopiedIn) {
  CopyVersion("@acme/web", "2026.01.09.1");
  CopyVersion("@acme/web", "2026.01.10.1", "",
              "description: The web\nlabels: [http]\nplatforms: [linux]\n");
  CopyVersion("@acme/web", "2026.02.01.1", "-beta");
  world_.Write("r/@acme/web/notes.txt", "hello");
  const Json info = *registry_.Info(world_.context(), kWeb);
  EXPECT_EQ(info["latestVersion"], "2026.01.10.1");
  EXPECT_EQ(info["latestBeta"], "2026.02.01.1");
  EXPECT_FALSE(info.contains("latestRc"));
  EXPECT_EQ(info["namespace"], "acme");
  EXPECT_EQ(info["contentTypes"], Json::array({"models"}));
  EXPECT_TRUE(info["yankedAt"].is_null());
  const auto versions = *registry_.Versions(world_.context(), kWeb);
  ASSERT_THAT(versions, SizeIs(3));
  EXPECT_EQ(versions[0].version.text(), "2026.02.01.1");
  EXPECT_EQ(versions[0].channel, Channel::kBeta);
  const Json latest = *registry_.Latest(world_.context(), kWeb, Channel::kStable);
  EXPECT_EQ(latest["latestVersionDetail"]["version"], "2026.01.10.1");
  EXPECT_EQ(latest["latestVersionDetail"]["models"], Json::array({"a.ts"}));
  EXPECT_FALSE(registry_.Latest(world_.context(), kWeb, Channel::kRc));
  EXPECT_EQ(registry_.Checksum(world_.context(), kWeb, V("2026.01.10.1"), Channel::kStable),
            Download("2026.01.10.1"));
  EXPECT_EQ(Sha256Hex(world_.Read("got")), Download("2026.01.10.1"));
}

TEST_F(FolderRegistryTest, SaysWhenThereIsNoSuchThing) {
  EXPECT_FALSE(registry_.Info(world_.context(), kWeb));
  EXPECT_FALSE(registry_.Versions(world_.context(), kWeb));
  EXPECT_EQ(CodeOf([&] { Download("2026.01.01.1"); }), "version_not_found");
  FolderRegistry gone(world_.root / "nowhere", "file:///nowhere");
  EXPECT_EQ(CodeOf([&] { gone.Info(world_.context(), kWeb); }), "registry_unavailable")
      << "an unmounted drive";
}

TEST_F(FolderRegistryTest, ShowsAnArchiveOnlyOnceItsChecksumIsThere) {
  CopyVersion("@acme/web", "2026.01.01.1");
  const std::string bytes = Archive("@acme/web", "2026.01.02.1");
  world_.Write("r/@acme/web/2026.01.02.1.tar.gz", bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ((*registry_.Info(world_.context(), kWeb))["latestVersion"], "2026.01.01.1");
  EXPECT_EQ(CodeOf([&] { Download("2026.01.02.1"); }), "version_not_found");
  world_.Write("r/@acme/web/2026.01.02.1.tar.gz.sha256", "half a chec");
  EXPECT_EQ((*registry_.Info(world_.context(), kWeb))["latestVersion"], "2026.01.01.1");
}

TEST_F(FolderRegistryTest, DescribesByAnOlderManifestWhileTheNewestArchiveIsStillHalf) {
  CopyVersion("@acme/web", "2026.01.01.1", "", "description: The web\n");
  const std::string bytes = Archive("@acme/web", "2026.01.02.1");
  world_.Write("r/@acme/web/2026.01.02.1.tar.gz.sha256", Sha256Hex(bytes));
  world_.Write("r/@acme/web/2026.01.02.1.tar.gz", bytes.substr(0, bytes.size() / 2));
  const Json info = *registry_.Info(world_.context(), kWeb);
  EXPECT_EQ(info["description"], "The web");
  EXPECT_EQ(info["latestVersion"], "2026.01.02.1");
  EXPECT_NE(Download("2026.01.02.1"),
            *registry_.Checksum(world_.context(), kWeb, V("2026.01.02.1"), Channel::kStable))
      << "so that who pulls it now refuses it";
}

TEST_F(FolderRegistryTest, HonoursYankedAndDeprecated) {
  CopyVersion("@acme/web", "2026.01.01.1");
  CopyVersion("@acme/web", "2026.01.02.1");
  world_.Write("r/@acme/web/status.yaml",
               "deprecated: {reason: old, supersededBy: '@acme/web2'}\nyanked:\n  - {version: "
               "2026.01.02.1, reason: leaks}\n");
  const Json info = *registry_.Info(world_.context(), kWeb);
  EXPECT_EQ(info["latestVersion"], "2026.01.01.1");
  const RegistryEntry entry = ReadRegistryEntry(info);
  EXPECT_EQ(entry.deprecated, "old");
  EXPECT_EQ(entry.superseded_by, "@acme/web2");
  EXPECT_FALSE(entry.withdrawn);
  EXPECT_TRUE((*registry_.Versions(world_.context(), kWeb))[0].withdrawn);
  EXPECT_THAT(MessageOf([&] { Download("2026.01.02.1"); }), HasSubstr("was withdrawn: leaks"));
  EXPECT_EQ(CodeOf([&] { Download("2026.01.02.1"); }), "version_withdrawn");

  world_.Write("r/@acme/web/status.yaml", "yanked:\n  - reason: all bad\n");
  EXPECT_EQ(ReadRegistryEntry(*registry_.Info(world_.context(), kWeb)).withdrawn, "all bad");
  EXPECT_EQ(CodeOf([&] { Download("2026.01.01.1"); }), "version_withdrawn");
}

TEST_F(FolderRegistryTest, RefusesAStatusThatItCannotRead) {
  CopyVersion("@acme/web", "2026.01.01.1");
  CopyVersion("@acme/api", "2026.01.01.1");
  for (const char* text : {"yanked: [", "- a", "yanked: 2026.01.01.1", "yanked: [{version: 1}]",
                           "yankd: []", "yanked: [2026.01.01.1]", "deprecated: yes"}) {
    world_.Write("r/@acme/web/status.yaml", text);
    EXPECT_EQ(CodeOf([&] { registry_.Info(world_.context(), kWeb); }), "registry_answer_invalid")
        << text;
    EXPECT_THAT(Found({}), ElementsAre("@acme/api")) << text;
  }
}

TEST_F(FolderRegistryTest, SearchesNamesDescriptionsAndLabels) {
  CopyVersion("@acme/web", "2026.01.01.1", "",
              "description: Serves pages\nlabels: [http, fast]\nplatforms: [linux]\n");
  CopyVersion("@acme/web/dns", "2026.01.01.1", "-beta");
  CopyVersion("@other/db", "2026.01.01.1");
  world_.Write("r/@acme/empty/readme.txt", "");
  world_.Write("r/no-collective/2026.01.01.1.tar.gz", "");
  EXPECT_THAT(Found({}), ElementsAre("@acme/web", "@acme/web/dns", "@other/db"));
  const auto found = [&](auto set) {
    SearchQuery query;
    set(query);
    return Found(query);
  };
  EXPECT_THAT(found([](SearchQuery& q) { q.text = "PAGES"; }), ElementsAre("@acme/web"));
  EXPECT_THAT(found([](SearchQuery& q) { q.text = "fas"; }), ElementsAre("@acme/web"));
  EXPECT_THAT(found([](SearchQuery& q) { q.collective = "@other"; }), ElementsAre("@other/db"));
  EXPECT_THAT(found([](SearchQuery& q) { q.labels = {"http"}; }), ElementsAre("@acme/web"));
  EXPECT_THAT(found([](SearchQuery& q) { q.platforms = {"linux"}; }), ElementsAre("@acme/web"));
  EXPECT_THAT(found([](SearchQuery& q) { q.channels = {"beta"}; }), ElementsAre("@acme/web/dns"));
  EXPECT_THAT(found([](SearchQuery& q) { q.content_types = {"vaults"}; }), IsEmpty());
  EXPECT_THAT(found([](SearchQuery& q) { q.per_page = 2, q.page = 2; }), ElementsAre("@other/db"));
  SearchQuery beyond;
  beyond.page = 9;
  const Json result = registry_.Search(world_.context(), beyond);
  EXPECT_EQ(result["extensions"], Json::array());
  EXPECT_EQ(result["meta"]["total"], 3);
}

TEST_F(FolderRegistryTest, PublishesAVersionOnceAndNeverReplacesIt) {
  const auto publish = [&](const std::string& bytes, Channel channel) {
    world_.Write("new.tar.gz", bytes);
    const Manifest manifest = ParseManifest(
        "manifestVersion: 1\nname: '@acme/web'\nversion: 2026.01.01.1\nmodels: [a.ts]\n", "m");
    registry_.Publish(world_.context(), {manifest, channel, world_.root / "new.tar.gz",
                                         Sha256Hex(bytes), bytes.size()});
  };
  const std::string bytes = Archive("@acme/web", "2026.01.01.1");
  publish(bytes, Channel::kBeta);
  EXPECT_EQ((*registry_.Info(world_.context(), kWeb))["latestBeta"], "2026.01.01.1");
  EXPECT_EQ(CodeOf([&] { publish(bytes, Channel::kBeta); }), "version_exists");
  EXPECT_EQ(CodeOf([&] { publish(bytes, Channel::kStable); }), "version_exists");
  EXPECT_EQ(world_.Read("r/@acme/web/2026.01.01.1-beta.tar.gz"), bytes);
}

TEST_F(FolderRegistryTest, FinishesAPublicationThatWasInterruptedBeforeTheChecksum) {
  const std::string bytes = Archive("@acme/web", "2026.01.01.1");
  world_.Write("r/@acme/web/2026.01.01.1.tar.gz", bytes);
  const Manifest manifest = ParseManifest(
      "manifestVersion: 1\nname: '@acme/web'\nversion: 2026.01.01.1\nmodels: [a.ts]\n", "m");
  world_.Write("other.tar.gz", "other");
  EXPECT_EQ(CodeOf([&] {
              registry_.Publish(world_.context(),
                                {manifest, Channel::kStable, world_.root / "other.tar.gz",
                                 Sha256Hex("other"), 5});
            }),
            "version_exists");
  world_.Write("same.tar.gz", bytes);
  registry_.Publish(world_.context(), {manifest, Channel::kStable, world_.root / "same.tar.gz",
                                       Sha256Hex(bytes), bytes.size()});
  EXPECT_EQ(Download("2026.01.01.1"), Sha256Hex(bytes));
}

}  // namespace
}  // namespace swamp

#include "extension/site.h"

#include <gtest/gtest.h>

namespace swamp {
namespace {

ExtensionSite Site() {
  ExtensionSite site;
  site.repo_root = "/w";
  site.pulled_root = "/w/.swamp/pulled-extensions";
  site.swamp_folder = "/w/.swamp";
  return site;
}

TEST(BundleNamespace, IsThe32BitFnv1aHash) {
  // The published test vectors.
  EXPECT_EQ(BundleNamespace(""), "811c9dc5");
  EXPECT_EQ(BundleNamespace("a"), "e40c292c");
  EXPECT_EQ(BundleNamespace("foobar"), "bf9cf968");
}

TEST(BundleFolder, IsNamedAfterTheKindFolderInTheRepository) {
  const ExtensionSite site = Site();
  EXPECT_EQ(
      BundleFolder(site, site.pulled_root, *ExtensionName::Parse("@c/x"), *KindOfFolder("vaults")),
      "/w/.swamp/vault-bundles/" + BundleNamespace(".swamp/pulled-extensions/@c/x/vaults"));
}

TEST(EX09, AnInstallPlaceIsFoundByWholeSegments) {
  const ExtensionSite site = Site();
  EXPECT_TRUE(IsInstallPlace(site, "/w/.swamp/pulled-extensions/@c/x/manifest.yaml"));
  EXPECT_TRUE(IsInstallPlace(site, "/w/.swamp/report-bundles/00000000/a.js"));
  for (const char* path :
       {"/w/.swamp/pulled-extensions", "/w/.swamp/pulled-extensions-evil/x", "/w/.swamp/data/x",
        "/w/src/main.ts", "/etc/passwd", "/w/.swamp/bundles-evil/x"}) {
    EXPECT_FALSE(IsInstallPlace(site, path)) << path;
  }
}

}  // namespace
}  // namespace swamp

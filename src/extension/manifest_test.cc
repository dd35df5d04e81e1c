#include "extension/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace swamp {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string FaultsOf(std::string_view text) {
  try {
    ParseManifest(text, "manifest.yaml");
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "manifest_invalid");
    return error.message();
  }
  return "none";
}

constexpr std::string_view kHead = "manifestVersion: 1\nname: '@c/x'\nversion: 2026.01.01.1\n";

std::string With(std::string_view rest) { return std::string(kHead) + std::string(rest); }

TEST(Manifest, KeepsEveryField) {
  const Manifest manifest = ParseManifest(With("description: |\n  Two\n  lines\n"
                                               "repository: https://example.com/x\n"
                                               "paths: {base: manifest}\n"
                                               "models: [a.ts, sub/b.ts]\n"
                                               "skills: [helper]\n"
                                               "include: [run.ts]\n"
                                               "additionalFiles: [a/t.txt, b/t.txt]\n"
                                               "binaries: [bin/tool]\n"
                                               "platforms: []\n"
                                               "labels: [one, two]\n"
                                               "releaseNotes: new\n"
                                               "dependencies: ['@c/b@>=2026.04.24', '@d/e']\n"
                                               "someday: {new: key}\n"),
                                          "manifest.yaml");
  EXPECT_EQ(manifest.name.text(), "@c/x");
  EXPECT_EQ(manifest.version.text(), "2026.01.01.1");
  EXPECT_EQ(manifest.description, "Two\nlines\n");
  EXPECT_EQ(manifest.paths_base, PathsBase::kManifest);
  EXPECT_THAT(manifest.entries.at(ExtensionKind::kModel), ElementsAre("a.ts", "sub/b.ts"));
  EXPECT_THAT(manifest.labels, ElementsAre("one", "two"));
  ASSERT_EQ(manifest.dependencies.size(), 2U);
  EXPECT_EQ(manifest.dependencies[0].name.text(), "@c/b");

  std::vector<std::string> paths;
  for (const DeclaredPath& declared : DeclaredPaths(manifest)) {
    paths.push_back(declared.field + "=" + declared.archive_path);
  }
  EXPECT_THAT(paths, ElementsAre("models[0]=models/a.ts", "models[1]=models/sub/b.ts",
                                 "skills[0]=skills/helper", "include[0]=models/run.ts",
                                 "additionalFiles[0]=files/a/t.txt",
                                 "additionalFiles[1]=files/b/t.txt", "binaries[0]=files/bin/tool"));
}

TEST(Manifest, ListsEveryFaultWithItsField) {
  EXPECT_THAT(
      FaultsOf("manifestVersion: 1\nname: c/x\nmodels: [/a.ts, 'b\\c.ts', ../d.ts, 7]\nlabels: x\n"
               "repository: ftp://x\npaths: {base: here, other: 1}\ndependencies: ['@c/b@x']\n"),
      AllOf(HasSubstr("has 11 faults"), HasSubstr("name: \"c/x\""),
            HasSubstr("version: is missing"),
            HasSubstr("models[0]: \"/a.ts\" is refused: it is absolute"), HasSubstr("models[1]:"),
            HasSubstr("models[2]:"), HasSubstr("models[3]: must be a text"),
            HasSubstr("labels: must be a list"), HasSubstr("repository:"), HasSubstr("paths.base:"),
            HasSubstr("dependencies[0]:")));
}

TEST(Manifest, SaysWhenItsVersionIsMissingOrNewer) {
  EXPECT_THAT(FaultsOf("name: '@c/x'\n"), HasSubstr("has no manifestVersion"));
  EXPECT_THAT(FaultsOf("manifestVersion: 2\nmodels: 3\n"),
              HasSubstr("manifestVersion 2; this program reads"));
  EXPECT_THAT(FaultsOf("manifestVersion: '1'\n"), HasSubstr("manifestVersion \"1\""));
}

TEST(Manifest, NeedsAtLeastOneEntry) {
  EXPECT_THAT(FaultsOf(With("models:\n")), HasSubstr("none of models, workflows"));
  EXPECT_EQ(FaultsOf(With("workflows: [w.yaml]\n")), "none");
}

TEST(Manifest, BoundsLabelsAndReleaseNotes) {
  std::string labels = "models: [a.ts]\nlabels:\n";
  for (int i = 0; i < 21; ++i) labels += "  - l" + std::to_string(i) + "\n";
  EXPECT_THAT(FaultsOf(With(labels)), HasSubstr("labels: there are 21"));
  std::string umlauts;
  for (int i = 0; i < 5000; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(FaultsOf(With("models: [a.ts]\nreleaseNotes: " + umlauts + "\n")), "none");
  EXPECT_THAT(FaultsOf(With("models: [a.ts]\nreleaseNotes: " + umlauts + "x\n")),
              HasSubstr("releaseNotes:"));
}

TEST(EX09, RefusesPathsOfAManifestThatLeadOut) {
  for (const char* key :
       {"models", "workflows", "skills", "include", "additionalFiles", "binaries"}) {
    EXPECT_THAT(
        FaultsOf(With("vaults: [v.ts]\n" + std::string(key) + ": [\"a\\0b\", x/../../y]\n")),
        AllOf(HasSubstr(std::string(key) + "[0]: \"a\\x00b\" is refused: it has a NUL byte"),
              HasSubstr(std::string(key) + "[1]:")))
        << key;
  }
}

TEST(Manifest, NamesTheLineOfBrokenYaml) {
  EXPECT_THAT(FaultsOf("manifestVersion: 1\nname: [\n"),
              HasSubstr("manifest.yaml is not valid YAML: line "));
  EXPECT_THAT(FaultsOf("- a\n"), HasSubstr("is not a map"));
}

}  // namespace
}  // namespace swamp

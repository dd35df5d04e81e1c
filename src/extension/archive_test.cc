#include "extension/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extension/testing.h"
#include "util/digest.h"

namespace swamp {
namespace {

using ::testing::AllOf;
using testing::CodeOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::ExtensionArchive;
using testing::Gzip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::PaxPath;
using testing::StringFile;
using testing::TarEnd;
using testing::TarFile;
using testing::TarHeader;
using testing::TempWorld;

constexpr std::string_view kManifest =
    "manifestVersion: 1\nname: '@c/x'\nversion: 2026.01.01.1\nmodels: [a.ts]\nbinaries: "
    "[bin/tool]\n";

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveContents Unpack(std::string bytes, const ArchiveLimits& limits = {}) {
    return ReadArchive(world_.context(), StringFile(std::move(bytes)), world_.root / "target",
                       limits);
  }

  static std::string Manifest() { return TarFile("extension/manifest.yaml", kManifest); }

  // Refused, with a message that holds `part`, and nothing is left.
  void ExpectRefused(const std::string& bytes, const std::string& part,
                     const ArchiveLimits& limits = {}) {
    EXPECT_THAT(MessageOf([&] { Unpack(bytes, limits); }), HasSubstr(part));
    EXPECT_EQ(CodeOf([&] { Unpack(bytes, limits); }), "archive_invalid");
    EXPECT_FALSE(world_.Exists("target"));
  }

  TempWorld world_;
};

TEST_F(ArchiveTest, UnpacksWithTheModesThatTheManifestAsksFor) {
  const ArchiveContents contents =
      Unpack(ExtensionArchive({{"manifest.yaml", std::string(kManifest)},
                               {"models/a.ts", "export const model = 1;\n"},
                               {"models/sub/COPYING", "text"},
                               {"files/bin/tool", "#!/bin/sh\n"},
                               {"files/note.txt", "n"},
                               {"bundles/a.js", "eval(1)"}}));
  EXPECT_EQ(contents.manifest.name.text(), "@c/x");
  std::vector<std::string> paths;
  for (const ArchiveFile& file : contents.files) paths.push_back(file.path);
  EXPECT_THAT(paths, ElementsAre("bundles/a.js", "files/bin/tool", "files/note.txt",
                                 "manifest.yaml", "models/a.ts", "models/sub/COPYING"));
  EXPECT_EQ(contents.files[2].sha256, Sha256Hex("n"));
  EXPECT_THAT(contents.warnings, IsEmpty());
  EXPECT_EQ(world_.Read("target/models/a.ts"), "export const model = 1;\n");
  EXPECT_EQ(world_.files.Stat(world_.root / "target/manifest.yaml")->mode, 0444U);
  EXPECT_EQ(world_.files.Stat(world_.root / "target/files/bin/tool")->mode, 0755U);
  EXPECT_EQ(world_.files.Stat(world_.root / "target/files/note.txt")->mode, 0644U);
}

TEST_F(ArchiveTest, ChecksWithoutWritingWhenThereIsNoTarget) {
  const StringFile file(Gzip(Manifest() + TarFile("extension/models/a.ts", "x") + TarEnd()));
  EXPECT_EQ(ReadArchive(world_.context(), file, std::nullopt).files.size(), 2U);
  EXPECT_THAT(ListFilesBelow(world_.files, world_.root), IsEmpty());
}

TEST_F(ArchiveTest, EX09_RefusesPathsThatLeadOut) {
  const std::string nul("extension/a\0/../../x", 20);
  for (const std::string& name :
       {std::string("../x"), std::string("/abs"), std::string("extension/../../x"),
        std::string("extension/a\\..\\b"), std::string("extension/models/./a.ts"),
        std::string("extension//a.ts"), nul,
        "extension/models/" + std::string(1, '\xff') + ".ts"}) {
    const std::string bad = TarFile("extension/models/a.ts", "x");
    ExpectRefused(Gzip(Manifest() + bad + TarFile(name, "evil") + TarEnd()), "is refused: ");
    ExpectRefused(Gzip(Manifest() + bad + PaxPath(name) + TarFile("short", "evil") + TarEnd()),
                  "is refused: ");
    ExpectRefused(Gzip(Manifest() + TarFile("././@LongLink", name + '\0', 'L') +
                       TarFile("short", "evil") + TarEnd()),
                  "is refused: ");
  }
  ExpectRefused(Gzip(Manifest() + TarFile("extension/a\n\x1b[2J/../x", "") + TarEnd()),
                "\"extension/a\\n\\x1b[2J/../x\" is refused");
  ExpectRefused(Gzip(Manifest() + TarFile(nul, "") + TarEnd()),
                "\"extension/a\\x00/../../x\" is refused: it has a NUL");
}

TEST_F(ArchiveTest, RefusesAnythingBesideTheTopFolder) {
  ExpectRefused(Gzip(Manifest() + TarFile("other/a.ts", "") + TarEnd()),
                "must be in one folder, extension/");
  ExpectRefused(Gzip(Manifest() + TarFile("extensions", "") + TarEnd()), "must be in one folder");
  ExpectRefused(Gzip(TarFile("extension", "") + TarEnd()), "it must be a folder");
  ExpectRefused(Gzip(TarFile("extension/models/a.ts", "") + TarEnd()),
                "has no extension/manifest.yaml");
}

TEST_F(ArchiveTest, RefusesLinksAndDevices) {
  for (const char type : {'1', '2', '3', '4', '6', 'S', 'Z'}) {
    ExpectRefused(Gzip(Manifest() + TarHeader("extension/models/l.ts", 0, type) + TarEnd()),
                  "only files and folders are allowed");
  }
}

TEST_F(ArchiveTest, RefusesNamesThatMeetWhenCaseIsIgnored) {
  ExpectRefused(Gzip(Manifest() + TarFile("extension/models/a.ts", "1") +
                     TarFile("extension/models/A.ts", "2") + TarEnd()),
                "another file of that name");
  ExpectRefused(Gzip(Manifest() + Manifest() + TarEnd()), "another file of that name");
  ExpectRefused(Gzip(Manifest() + TarFile("extension/models/a.ts", "1") +
                     TarFile("extension/models/A.ts/b.ts", "2") + TarEnd()),
                "there is a file where its folder would be");
}

TEST_F(ArchiveTest, RefusesForeignEndingsHiddenFilesAndForbiddenCalls) {
  ExpectRefused(ExtensionArchive({{"manifest.yaml", std::string(kManifest)}, {"models/a.exe", ""}}),
                "in models/ only");
  ExpectRefused(ExtensionArchive({{"manifest.yaml", std::string(kManifest)}, {"files/.env", ""}}),
                "hidden files");
  ExpectRefused(
      ExtensionArchive({{"manifest.yaml", std::string(kManifest)}, {"skills/s/a.ts", "eval('1')"}}),
      "line 1 calls eval(");
}

TEST_F(ArchiveTest, BoundsCountsAndSizesWhileReading) {
  ArchiveLimits limits;
  limits.source_file_bytes = 1000;
  limits.source_bytes = 1500;
  limits.source_files = 4;
  limits.entries = 6;
  limits.unpacked_bytes = 64 << 10;
  const std::string manifest(kManifest);
  ExpectRefused(
      ExtensionArchive({{"manifest.yaml", manifest}, {"models/a.ts", std::string(1001, ' ')}}),
      "more than 1000 bytes", limits);
  ExpectRefused(
      ExtensionArchive({{"manifest.yaml", manifest}, {"files/a.txt", std::string(1001, ' ')}}),
      "more than 1000 bytes", limits);
  ExpectRefused(ExtensionArchive({{"manifest.yaml", manifest},
                                  {"models/a.json", std::string(800, ' ')},
                                  {"models/b.json", std::string(800, ' ')}}),
                "at most 1500 are allowed", limits);
  ExpectRefused(ExtensionArchive({{"manifest.yaml", manifest},
                                  {"models/a.ts", ""},
                                  {"models/b.ts", ""},
                                  {"models/c.ts", ""},
                                  {"models/d.ts", ""}}),
                "5 source files; at most 4", limits);
  std::string folders = Manifest();
  for (int i = 0; i < 6; ++i)
    folders += TarHeader("extension/models/" + std::to_string(i) + "/", 0, '5');
  ExpectRefused(Gzip(folders + TarEnd()), "more than 6 entries", limits);
  ExpectRefused(
      ExtensionArchive({{"manifest.yaml", manifest}, {"bundles/a.js", std::string(65 << 10, ' ')}}),
      "unpacks to more bytes", limits);
  EXPECT_EQ(Unpack(ExtensionArchive({{"manifest.yaml", manifest},
                                     {"bundles/a.js", std::string(5000, ' ')},
                                     {"files/bin/tool", std::string(5000, ' ')}}),
                   limits)
                .files.size(),
            3U)
      << "bundles and binaries are no sources";
}

TEST_F(ArchiveTest, RefusesADamagedArchive) {
  const std::string whole =
      ExtensionArchive({{"manifest.yaml", std::string(kManifest)}, {"models/a.ts", "x"}});
  ExpectRefused(whole.substr(0, whole.size() - 5), "not a complete gzip file");
  std::string flipped = whole;
  flipped[flipped.size() - 6] = static_cast<char>(flipped[flipped.size() - 6] ^ 1);  // its CRC
  ExpectRefused(flipped, "not a complete gzip file");
}

TEST_F(ArchiveTest, EX11_LeavesSystemClutterOut) {
  const ArchiveContents contents =
      Unpack(ExtensionArchive({{"manifest.yaml", std::string(kManifest)},
                               {"models/a.ts", ""},
                               {"models/._a.ts", "\x01\x02"},
                               {"models/.DS_Store", ""},
                               {"files/bin/tool", ""}}));
  EXPECT_EQ(contents.files.size(), 3U);
  EXPECT_FALSE(world_.Exists("target/models/.DS_Store"));
}

TEST_F(ArchiveTest, WarnsOfWhatIsMissingAndOfFoldersItDoesNotKnow) {
  const ArchiveContents contents = Unpack(ExtensionArchive(
      {{"manifest.yaml", std::string(kManifest)}, {"webhooks/w.ts", ""}, {"README.md", ""}}));
  EXPECT_THAT(contents.warnings,
              AllOf(Contains(HasSubstr("the manifest lists a.ts (models[0])")),
                    Contains(HasSubstr("the manifest lists bin/tool (binaries[0])")),
                    Contains(HasSubstr("webhooks is of no kind")),
                    Contains(HasSubstr("README.md is of no kind"))));
  EXPECT_FALSE(world_.Exists("target/webhooks"));
}

TEST_F(ArchiveTest, MustBeTheExtensionThatWasAskedFor) {
  const std::string bytes =
      ExtensionArchive({{"manifest.yaml", std::string(kManifest)}, {"models/a.ts", ""}});
  const auto read_as = [&](std::string_view name, std::string_view version) {
    ReadArchiveOf(world_.context(), StringFile(bytes), *ExtensionName::Parse(name),
                  *Version::Parse(version), world_.root / "target");
  };
  EXPECT_THAT(MessageOf([&] { read_as("@c/y", "2026.01.01.1"); }),
              HasSubstr("the archive is @c/x 2026.01.01.1 where @c/y 2026.01.01.1 was asked for"));
  EXPECT_FALSE(world_.Exists("target"));
  EXPECT_EQ(CodeOf([&] { read_as("@c/x", "2026.01.01.2"); }), "archive_invalid");
  EXPECT_EQ(CodeOf([&] { read_as("@c/x", "2026.01.01.1"); }), "none");
  EXPECT_TRUE(world_.Exists("target/manifest.yaml"));
}

TEST_F(ArchiveTest, FindsTheManifestWhereverItStands) {
  const StringFile file(ExtensionArchive({{"bundles/a.js", std::string(100000, 'x')},
                                          {"manifest.yaml", std::string(kManifest)},
                                          {"models/a.ts", ""}}));
  EXPECT_EQ(ReadArchiveManifest(world_.context(), file).version.text(), "2026.01.01.1");
}

}  // namespace
}  // namespace swamp

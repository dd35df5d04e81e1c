#include "extension/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "extension/checkout_testing.h"

namespace swamp {
namespace {

using ::testing::AllOf;
using testing::Checkout;
using testing::CodeOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;
using ::testing::Not;
using testing::TempWorld;

constexpr const char* kHead = "manifestVersion: 1\nname: '@c/x'\nversion: 2026.01.01.1\n";

class PackTest : public ::testing::Test {
 protected:
  PackResult PackFolder(const std::string& folder = "src", const std::string& out = "out.tar.gz") {
    PackRequest request;
    request.source = world_.root / folder;
    request.out = world_.root / out;
    return Pack(world_.context(), request);
  }
  static std::vector<std::string> Paths(const PackResult& result) {
    std::vector<std::string> paths;
    for (const ArchiveFile& file : result.contents.files) paths.push_back(file.path);
    return paths;
  }

  TempWorld world_;
};

TEST_F(PackTest, TakesWhatIsDeclaredAndWhatThatImports) {
  world_.Write("src/manifest.yaml",
               std::string(kHead) +
                   "models: [m.ts]\nreports: [r.ts]\ninclude: [run.ts]\n"
                   "workflows: [w.yaml]\nskills: [helper]\n"
                   "additionalFiles: [a/t.txt, b/t.txt, COPYING]\nbinaries: [bin/tool]\n");
  world_.Write("src/extensions/models/m.ts",
               "import './_lib/a.ts';\nimport x from \"./_lib/noending\";\n");
  world_.Write("src/extensions/models/_lib/a.ts",
               "import { m } from '../m.ts';\nexport * from './b.json';\n");
  world_.Write("src/extensions/models/_lib/b.json", "{}");
  world_.Write("src/extensions/models/_lib/noending.ts", "");
  world_.Write("src/extensions/models/unused.ts", "");
  world_.Write("src/extensions/models/run.ts", "");
  world_.Write("src/extensions/reports/r.ts", "import { s } from '../models/_lib/shared.ts';");
  world_.Write("src/extensions/models/_lib/shared.ts", "");
  world_.Write("src/extensions/workflows/w.yaml", "");
  world_.Write("src/.claude/skills/helper/SKILL.md", "");
  world_.Write("src/.claude/skills/helper/.DS_Store", "");
  world_.Write("src/a/t.txt", "a");
  world_.Write("src/b/t.txt", "b");
  world_.Write("src/COPYING", "");
  world_.Write("src/bin/tool", "#!/bin/sh\n");
  const PackResult result = PackFolder();
  EXPECT_THAT(
      Paths(result),
      ElementsAre("files/COPYING", "files/a/t.txt", "files/b/t.txt", "files/bin/tool",
                  "manifest.yaml", "models/_lib/a.ts", "models/_lib/b.json",
                  "models/_lib/noending.ts", "models/_lib/shared.ts", "models/m.ts",
                  "models/run.ts", "reports/r.ts", "skills/helper/SKILL.md", "workflows/w.yaml"));
  EXPECT_EQ(result.checksum, Sha256Hex(world_.Read("out.tar.gz")));
  EXPECT_EQ(result.size, world_.Read("out.tar.gz").size());
  EXPECT_THAT(result.contents.warnings, ::testing::IsEmpty());
}

TEST_F(PackTest, TakesPathsFromTheManifestsFolderWhereItSaysSo) {
  world_.Write("src/manifest.yaml",
               std::string(kHead) + "paths: {base: manifest}\nmodels: [web/m.ts]\n");
  world_.Write("src/web/m.ts", "import '../lib/a.ts';");
  world_.Write("src/lib/a.ts", "");
  EXPECT_THAT(Paths(PackFolder()),
              ElementsAre("manifest.yaml", "models/lib/a.ts", "models/web/m.ts"));
}

TEST_F(PackTest, EX11_NamesEveryDeclaredOrImportedFileThatIsMissing) {
  world_.Write("src/manifest.yaml",
               std::string(kHead) +
                   "models: [m.ts, gone.ts]\nadditionalFiles: [no.txt]\nbinaries: [tool]\n"
                   "skills: [none]\n");
  world_.Write("src/models/m.ts",
               "import './gone-too.ts'; import '../../outside.ts'; import '../lib/x.ts';");
  EXPECT_THAT(MessageOf([&] { PackFolder(); }),
              AllOf(HasSubstr("models[1]: there is no file"), HasSubstr("additionalFiles[0]:"),
                    HasSubstr("binaries[0]:"), HasSubstr("skills[0]:"),
                    HasSubstr("models/m.ts imports ./gone-too.ts, but there is no file"),
                    HasSubstr("models/m.ts imports ../../outside.ts, which is outside"),
                    HasSubstr("models/m.ts imports ../lib/x.ts, which is outside")));
  EXPECT_EQ(CodeOf([&] { PackFolder(); }), "manifest_invalid");
  EXPECT_FALSE(world_.Exists("out.tar.gz"));
}

TEST_F(PackTest, RefusesWhatNoReaderWouldAccept) {
  world_.Write("src/manifest.yaml", std::string(kHead) + "models: [m.ts]\n");
  world_.Write("src/models/m.ts", "eval('1')");
  EXPECT_EQ(CodeOf([&] { PackFolder(); }), "archive_invalid");
  EXPECT_FALSE(world_.Exists("out.tar.gz"));
  world_.Write("src/manifest.yaml",
               "manifestVersion: 1\nname: '@c/x'\nversion: 2026.1.1.1\nmodels: [m.ts]\n");
  EXPECT_THAT(MessageOf([&] { PackFolder(); }), HasSubstr("YYYY.MM.DD.N with a real date"));
  EXPECT_EQ(CodeOf([&] { PackFolder("nowhere"); }), "path_not_found");
}

TEST_F(PackTest, EX04_GivesTheSameBytesWhereverAndWheneverItIsPacked) {
  const auto write = [&](const std::string& folder, bool backwards) {
    std::vector<std::pair<std::string, std::string>> files = {
        {"manifest.yaml", std::string(kHead) + "models: [m.ts, n.ts]\nbinaries: [tool]\n"},
        {"models/m.ts", "m"},
        {"models/n.ts", "n"},
        {"tool", "t"}};
    if (backwards) std::reverse(files.begin(), files.end());
    for (const auto& [name, content] : files) world_.Write(folder + "/" + name, content);
  };
  write("a", false);
  write("b/c", true);
  for (const char* name : {"models/m.ts", "tool", "manifest.yaml"}) {
    const std::filesystem::path path = world_.root / "b/c" / name;
    world_.files.SetMode(path, 0600);
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(9999));
  }
  const mode_t before = ::umask(077);
  const PackResult first = PackFolder("a", "one.tar.gz");
  ::umask(022);
  const PackResult second = PackFolder("b/c", "two.tar.gz");
  ::umask(before);
  EXPECT_EQ(first.checksum, second.checksum);
  EXPECT_EQ(world_.Read("one.tar.gz"), world_.Read("two.tar.gz"));
}

TEST_F(PackTest, PacksAnUnpackedArchiveToTheSameFiles) {
  world_.Write("src/manifest.yaml",
               std::string(kHead) + "models: [m.ts]\nbinaries: [bin/tool]\nskills: [s]\n");
  world_.Write("src/models/m.ts", "m");
  world_.Write("src/bin/tool", "t");
  world_.Write("src/skills/s/SKILL.md", "s");
  world_.Write("built/bundles/m.js", "b");
  PackRequest request;
  request.source = world_.root / "src/manifest.yaml";
  request.out = world_.root / "one.tar.gz";
  request.bundles = world_.root / "built";
  const PackResult first = Pack(world_.context(), request);
  EXPECT_THAT(Paths(first), Contains("bundles/m.js"));
  ReadArchive(world_.context(), *world_.files.Open(world_.root / "one.tar.gz"),
              world_.root / "unpacked");
  request.source = world_.root / "unpacked";
  request.out = world_.root / "two.tar.gz";
  request.bundles = world_.root / "unpacked";
  EXPECT_EQ(Pack(world_.context(), request).checksum, first.checksum);
}

TEST_F(PackTest, NamesTheArchiveAfterTheExtension) {
  world_.Write("src/manifest.yaml",
               "manifestVersion: 1\nname: '@c/x/y'\nversion: 2026.01.01.1\nmodels: [m.ts]\n");
  world_.Write("src/models/m.ts", "");
  world_.environment = FixedEnvironment({}, world_.root);
  PackRequest request;
  request.source = world_.root / "src";
  EXPECT_EQ(Pack(world_.context(), request).archive, world_.root / "c-x-y-2026.01.01.1.tar.gz");
}

TEST(EX11, WhatIsPackedIsInstalledElsewhereWithAllItsFields) {
  Checkout t;
  t.world.Write("src/manifest.yaml",
                std::string(kHead) +
                    "description: The x\nlabels: [l]\nmodels: [sub/m.ts]\n"
                    "additionalFiles: [a/t.txt, b/t.txt, COPYING]\nbinaries: [tool]\n");
  t.world.Write("src/models/sub/m.ts", "m");
  t.world.Write("src/models/sub/._m.ts", "clutter");
  t.world.Write("src/a/t.txt", "a");
  t.world.Write("src/b/t.txt", "b");
  t.world.Write("src/COPYING", "c");
  t.world.Write("src/tool", "t");
  PackRequest request;
  request.source = t.world.root / "src";
  request.out = t.world.root / "registry/@c/x/2026.01.01.1.tar.gz";
  const PackResult packed = Pack(t.context(), request);
  t.world.Write("registry/@c/x/2026.01.01.1.tar.gz.sha256", packed.checksum);
  t.Pull("@c/x");
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/manifest.yaml")),
            t.world.Read("src/manifest.yaml"));
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/files/a/t.txt")), "a");
  EXPECT_EQ(t.world.Read(Checkout::InTree("@c/x/files/b/t.txt")), "b");
  EXPECT_EQ(t.world.files.Stat(t.site.pulled_root / "@c/x/files/tool")->mode, 0755U);
  EXPECT_THAT(t.Sources(), Not(Contains(::testing::Key(HasSubstr("._m.ts")))));
}

}  // namespace
}  // namespace swamp

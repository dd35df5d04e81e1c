#include "extension/archive_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ArchiveRules, AllowSourceEndingsAndLegalFilesInSourceFolders) {
  for (const char* path : {"models/a.ts", "models/sub/b.json", "workflows/w.yml", "reports/R.MD",
                           "models/COPYING", "vaults/LICENSE", "models/License.txt",
                           "models/NOTICE-third-party", "models/COPYING.LESSER", "files/bin/tool",
                           "skills/s/run.py", "bundles/a.js", "manifest.yaml"}) {
    EXPECT_FALSE(WhyForbiddenFile(path)) << path;
  }
  for (const char* path :
       {"models/a.js", "models/tool", "workflows/run.sh", "models/licensed", "models/a.ts.exe"}) {
    EXPECT_TRUE(WhyForbiddenFile(path)) << path;
  }
}

TEST(ArchiveRules, ForbidHiddenFilesEverywhere) {
  for (const char* path :
       {".env", "models/.hidden.ts", "files/.git/config", "skills/.x/a.md", "bundles/.a.js"}) {
    EXPECT_TRUE(WhyForbiddenFile(path)) << path;
  }
}

TEST(EX11, KnowsSystemClutter) {
  for (const char* path : {"models/._a.ts", "models/.DS_Store", "__MACOSX/models/a.ts",
                           "files/Thumbs.db", "._manifest.yaml", "files/Desktop.ini"}) {
    EXPECT_TRUE(IsSystemClutter(path)) << path;
  }
  for (const char* path : {"models/a.ts", "models/_lib/a.ts", "files/thumbs.db.md"}) {
    EXPECT_FALSE(IsSystemClutter(path)) << path;
  }
}

TEST(FoldCase, IgnoresCaseBeyondAscii) {
  EXPECT_EQ(FoldCase("Models/A.ts"), "models/a.ts");
  EXPECT_EQ(FoldCase("\xc3\x89.md"), FoldCase("\xc3\xa9.md"));  // E, e with acute
  EXPECT_EQ(FoldCase("\xce\xa3"), FoldCase("\xcf\x82"));        // capital and final sigma
  EXPECT_NE(FoldCase("\xc3\xa9"), FoldCase("\xc3\xa8"));
  EXPECT_EQ(FoldCase("\xf0\x9f\x98\x80/\xe2\x82\xac"), "\xf0\x9f\x98\x80/\xe2\x82\xac");  // no case
}

TEST(PathSet, RefusesPathsThatMeetWhenCaseIsIgnored) {
  PathSet paths;
  EXPECT_FALSE(paths.AddFile("models/Lib/a.ts"));
  EXPECT_FALSE(paths.AddFile("models/lib/b.ts"));
  EXPECT_FALSE(paths.AddFolder("models/LIB"));
  EXPECT_TRUE(paths.AddFile("models/lib/A.ts"));
  EXPECT_TRUE(paths.AddFile("models/lib"));
  EXPECT_TRUE(paths.AddFile("models/lib/b.ts/c.ts"));
  EXPECT_TRUE(paths.AddFolder("models/lib/a.ts"));
}

std::optional<std::string> RefusalOf(std::string_view content) {
  return InspectTypeScript("m.ts", content).refusal;
}

TEST(TypeScriptRules, RefuseEvalAndNewFunction) {
  EXPECT_THAT(RefusalOf("a\nconst x = eval ('1')").value(), HasSubstr("line 2 calls eval("));
  EXPECT_TRUE(RefusalOf("eval('1')"));
  EXPECT_TRUE(RefusalOf("globalThis.eval(x)"));
  EXPECT_THAT(RefusalOf("new\n  Function('x')").value(), HasSubstr("new Function("));
  for (const char* fine : {"retrieval(x)", "$eval(x)", "evaluate(x)", "eval", "newFunction(x)",
                           "new FunctionTable(x)", "new Functional(x)", "renew Function(x)"}) {
    EXPECT_FALSE(RefusalOf(fine)) << fine;
  }
}

TEST(TypeScriptRules, OnlyWarnOfLongLinesBase64AndSubprocesses) {
  EXPECT_THAT(InspectTypeScript("m.ts", fmt::format("a\n{:->501}\n", "")).warnings,
              ElementsAre("m.ts, line 2: more than 500 characters"));
  EXPECT_THAT(InspectTypeScript("m.ts", fmt::format("{:->500}   \r\n", "")).warnings, IsEmpty());
  std::string umlauts;
  for (int i = 0; i < 400; ++i) umlauts += "\xc3\xa4";
  EXPECT_THAT(InspectTypeScript("m.ts", umlauts).warnings, IsEmpty());
  EXPECT_THAT(InspectTypeScript("m.ts", fmt::format("\n\n'{:A>100}=='", "")).warnings,
              ElementsAre(HasSubstr("line 3: a long run of base64")));
  EXPECT_THAT(InspectTypeScript("m.ts", std::string(99, 'A')).warnings, IsEmpty());
  EXPECT_THAT(InspectTypeScript("m.ts", "new Deno.Command('ls')").warnings,
              ElementsAre(HasSubstr("Deno.Command")));
}

}  // namespace
}  // namespace swamp

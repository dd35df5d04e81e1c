#include "util/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/error.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;

std::string Set(std::string_view text, std::vector<std::string> path, const Json& value) {
  return SetYamlKey(text, path, value);
}

TEST(ParseYaml, ResolvesScalarsByTheCoreSchema) {
  const Json value = ParseYaml(
      "a: 1\nb: 0x10\nc: 1.5\nd: yes\ne: true\nf: ~\ng: 2026-01-02\nh: '1'\ni: 2026.02.09.1\nj: -.inf\n"
      "k: 18446744073709551616\nl: 0o17\n",
      "x");
  EXPECT_EQ(value["a"], 1);
  EXPECT_EQ(value["b"], 16);
  EXPECT_EQ(value["c"], 1.5);
  EXPECT_EQ(value["d"], "yes");
  EXPECT_EQ(value["e"], true);
  EXPECT_TRUE(value["f"].is_null());
  EXPECT_EQ(value["g"], "2026-01-02");
  EXPECT_EQ(value["h"], "1");
  EXPECT_EQ(value["i"], "2026.02.09.1");
  EXPECT_LT(value["j"].get<double>(), 0);
  EXPECT_EQ(value["k"], 18446744073709551616.0);
  EXPECT_EQ(value["l"], 15);
}

TEST(ParseYaml, NamesSourceLineAndColumnOfAnError) {
  try {
    ParseYaml("a: 1\nb: [1\n", "models/x.yaml", "code_x");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "code_x");
    EXPECT_THAT(error.message(), HasSubstr("models/x.yaml is not valid YAML: line "));
  }
}

TEST(ParseYaml, RefusesWhatHasNoOneMeaning) {
  EXPECT_THROW(ParseYaml("a: 1\na: 2\n", "x"), UserError);
  EXPECT_THROW(ParseYaml("? [a]\n: 1\n", "x"), UserError);
  EXPECT_THROW(ParseYaml("a: 1\n---\nb: 2\n", "x"), UserError);
  EXPECT_THROW(ParseYaml(std::string(5000, '['), "x"), UserError);
}

TEST(ParseYaml, EndsOnAFlowIndicatorThatOpensNothing) {
  for (const char* text : {",a", ",", "]", "}", ",Hmanm", "? ]"}) {
    try {
      ParseYaml(text, "x");
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "yaml_invalid") << text;
    }
  }
}

TEST(ParseYaml, StopsAliasesThatExpandWithoutBound) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "" : ",") + before;
    bomb += "]\n";
  }
  EXPECT_THROW(ParseYaml(bomb, "x"), UserError);
}

TEST(EmitYaml, WritesTheFormOfDefinitions) {
  const Json value = {{"name", "m1"},
                      {"version", 1},
                      {"tags", Json::object()},
                      {"jobs", Json::array({{{"name", "main"}, {"steps", Json::array({1, "two"})}}})},
                      {"text", "a\n b\n"}};
  EXPECT_EQ(EmitYaml(value),
            "name: m1\nversion: 1\ntags: {}\njobs:\n  - name: main\n    steps:\n      - 1\n      - two\n"
            "text: |\n  a\n   b\n");
}

TEST(EmitYaml, QuotesWhatAReaderCouldMistake) {
  EXPECT_EQ(EmitYaml("2026-12-01T15:29:01.064Z"), "'2026-12-01T15:29:01.064Z'\n");
  EXPECT_EQ(EmitYaml("2026-12-01T15:29:01.064Z", YamlQuotes::kDouble), "\"2026-12-01T15:29:01.064Z\"\n");
  EXPECT_EQ(EmitYaml("20260206.200442.0"), "20260206.200442.0\n");
  EXPECT_EQ(EmitYaml("@acme/x"), "'@acme/x'\n");
  EXPECT_EQ(EmitYaml("4e0038fa-1837-4e63-9e49-89e17bae68f2"), "4e0038fa-1837-4e63-9e49-89e17bae68f2\n");
  EXPECT_EQ(EmitYaml("12345678-1837-4e63-9e49-89e17bae68f2"), "12345678-1837-4e63-9e49-89e17bae68f2\n");
  EXPECT_EQ(EmitYaml("1_000"), "'1_000'\n");
  EXPECT_EQ(EmitYaml("12:30:00"), "'12:30:00'\n");
  EXPECT_EQ(EmitYaml("2026-1-2"), "'2026-1-2'\n");
  EXPECT_EQ(EmitYaml("it's: so"), "'it''s: so'\n");
  EXPECT_EQ(EmitYaml("command/shell"), "command/shell\n");
}

TEST(EmitYaml, GivesBackEveryStringThatItIsGiven) {
  const std::vector<std::string> texts = {
      "",       " ",        "a ",      "yes",     "No",    "~",        "null",     "0123",    "1e3",  "12:30:00",
      "0x1f",   "-",        "- a",     "a: b",    "a #b",  "#a",       "'",        "\"",      "a\"b", "a\\b",
      "a\nb",   "a\n",      "\na",     "a\n\n",   " a\nb", "a\n\n\nb", "a\tb",     "\ta\nb",  "---",  "%x",
      "{a}",    "[a]",      "a\x01""b", "\u2028", "é",     "e\u0301",  "a\r\nb",   "a\n \nb", "*x",   "&x",
      "!x",     "|",        ">",       "@x",      "`x",    "?",        "? x",      ":",       ": x",  "a:",
      "1_000",  "+1",       ".5",      ".",       "..",    "=",        "<<",       "0b101",   "1.2.3", "\x7f",
      "\ufeffa", "-1",      "--- a",   "a\n--- b", "\u0085"};
  for (const std::string& text : texts) {
    for (const YamlQuotes quotes : {YamlQuotes::kSingle, YamlQuotes::kDouble}) {
      const Json value = {{"k", text}, {"l", Json::array({text, {{"m", text}}})}, {text, 1}};
      const std::string yaml = EmitYaml(value, quotes);
      EXPECT_EQ(ParseYaml(yaml, "x"), value) << yaml;
    }
  }
}

TEST(SetYamlKey, LeavesEveryOtherByteAsItIs) {
  const std::string text =
      "# top\nswampVersion: 1.2.3   # pinned\n\n# about the datastore\ndatastore:\n  # inner\n  type: filesystem\n"
      "  path: /x\n\n# about the rest\nunknown: { a: 1 }  # odd\n";
  EXPECT_EQ(Set(text, {"datastore", "path"}, "/y"),
            "# top\nswampVersion: 1.2.3   # pinned\n\n# about the datastore\ndatastore:\n  # inner\n"
            "  type: filesystem\n  path: /y\n\n# about the rest\nunknown: { a: 1 }  # odd\n");
  EXPECT_EQ(Set(text, {"swampVersion"}, "2.0.0"),
            "# top\nswampVersion: 2.0.0   # pinned\n\n# about the datastore\ndatastore:\n  # inner\n"
            "  type: filesystem\n  path: /x\n\n# about the rest\nunknown: { a: 1 }  # odd\n");
}

TEST(SetYamlKey, AddsWhatIsMissing) {
  EXPECT_EQ(Set("a: 1\n", {"b", "c"}, 2), "a: 1\nb:\n  c: 2\n");
  EXPECT_EQ(Set("a: 1\nb:\n  x: 1\n# end\n", {"b", "c"}, true), "a: 1\nb:\n  x: 1\n  c: true\n# end\n");
  EXPECT_EQ(Set("", {"a"}, 1), "a: 1\n");
  EXPECT_EQ(Set("# only a comment\n", {"a"}, 1), "# only a comment\na: 1\n");
  EXPECT_EQ(Set("a: 1", {"b"}, 2), "a: 1\nb: 2\n");
  EXPECT_EQ(Set("a: {x: 1}\n", {"a", "z"}, 2), "a:\n  x: 1\n  z: 2\n");
}

TEST(SetYamlKey, ChangesNoByteWhenTheValueIsThere) {
  const std::string text = "a:   'x'   # why\nb: [1,   2]\n";
  EXPECT_EQ(Set(text, {"a"}, "x"), text);
  EXPECT_EQ(Set(text, {"b"}, Json::array({1, 2})), text);
}

TEST(SetYamlKey, ReplacesValuesOfSeveralLines) {
  EXPECT_EQ(Set("a: |\n  one\n  two\nb:\n  - x\n  - y\nc: 3\n", {"b"}, Json::array({"z"})),
            "a: |\n  one\n  two\nb:\n  - z\nc: 3\n");
  EXPECT_EQ(Set("a: |\n  one\n\n  two\nb: 1\n", {"a"}, "x"), "a: x\nb: 1\n");
}

TEST(RemoveYamlKey, RemovesTheKeyAndItsLinesOnly) {
  const std::vector<std::string> path = {"datastore"};
  EXPECT_EQ(RemoveYamlKey("a: 1\ndatastore:\n  type: x\n  config:\n    b: 1\n# c\nd: 1\n", path),
            "a: 1\n# c\nd: 1\n");
  EXPECT_EQ(RemoveYamlKey("a: 1\n", path), "a: 1\n");
  const std::vector<std::string> inner = {"b", "x"};
  EXPECT_EQ(ParseYaml(RemoveYamlKey("b:\n  x: 1\n", inner), "x"), Json({{"b", Json::object()}}));
}

TEST(SetYamlKey, KeepsTheMeaningOfDocumentsOfAnyForm) {
  for (const std::string text :
       {"{a: 1, b: {c: 2}}\n", "\"a\": 1\n'b': {c: 2}\n", "a: 1\nb:\n    c: 2\n", "? a\n: 1\n? b\n: {c: 2}\n",
        "a: &x 1\nb: {c: 2, d: *x}\n", "%YAML 1.2\n---\na: 1\nb:\n  c: 2\n...\n"}) {
    Json wanted = ParseYaml(text, "x");
    wanted["b"]["c"] = "new";
    EXPECT_EQ(ParseYaml(Set(text, {"b", "c"}, "new"), "x"), wanted) << text;
  }
}

}  // namespace
}  // namespace swamp

// swamp cel eval and check, as scripts and tools use them. They need no repository.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "cel/eval_service.h"
#include "cel/time_zone.h"
#include "harness.h"
#include "util/text.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CelCommands : public ::testing::Test {
 protected:
  RunResult Cel(std::vector<std::string> words, const std::optional<std::string>& input = std::nullopt) const {
    words.insert(words.begin(), {SWAMP_PROGRAM, "cel"});
    return RunProcess(words, {{"HOME", folder.path().string()}}, folder.path(), input);
  }

  std::string File(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() / name) << text;
    return name;
  }

  TemporaryFolder folder;
};

TEST_F(CelCommands, EvalPrintsTheValue) {
  const RunResult number = Cel({"eval", "1 + 2"});
  EXPECT_EQ(number.out, "3\n") << number;
  EXPECT_EQ(number.err, "");
  EXPECT_EQ(number.exit_code, 0);
  EXPECT_EQ(Cel({"eval", "'a' + \"b\""}).out, "\"ab\"\n");
  EXPECT_EQ(Cel({"eval", "--", "-1 - 2"}).out, "-3\n");
  EXPECT_EQ(Cel({"eval", "{'a': [1, true]}", "--json"}).json(), Json::parse(R"({"value": {"a": [1, true]}})"));
  EXPECT_EQ(Cel({"eval", "timestamp('2026-07-01T00:00:00Z').getHours('Europe/Berlin')"}).out, "2\n");
}

TEST_F(CelCommands, EvalTakesVariablesFromJsonAndYaml) {
  const std::string json = File("vars.json", R"({"inputs": {"n": 7}})");
  const std::string yaml = File("vars.yaml", "inputs:\n  n: 7\ntypedVars:\n  i: {int64_value: '2'}\n");
  EXPECT_EQ(Cel({"eval", "inputs.n / 2", "--vars", json}).out, "3.5\n");
  EXPECT_EQ(Cel({"eval", "inputs.n / i", "--vars", yaml}).out, "3.5\n");
  EXPECT_EQ(Cel({"eval", "7 / i", "--vars", yaml}).out, "3\n");
}

TEST_F(CelCommands, EvalTakesVariablesFromAPipe) {
  EXPECT_EQ(Cel({"eval", "n + 1", "--vars", "/dev/stdin"}, R"({"n": 7})").out, "8\n");
  EXPECT_EQ(Cel({"eval", "n + 1", "--vars", "-"}, "n: 7\n").out, "8\n");
}

TEST_F(CelCommands, CheckRefusesSureTypeErrorsInTheDialectOnly) {
  EXPECT_EQ(Cel({"check", "1 == 'a'"}).exit_code, 0);
  EXPECT_EQ(Cel({"check", "1 == 'a'", "--dialect"}).exit_code, 1);
  EXPECT_EQ(Cel({"check", "data.latest('m', 'x').size > 3 && vault.get(v, k) != ''", "--dialect"}).exit_code, 0);
}

TEST_F(CelCommands, EvalSpeaksTheDialectUnlessStrictIsAskedFor) {
  const std::string vars = File("vars.json", R"({"n": 7})");
  EXPECT_EQ(Cel({"eval", "n + 1", "--vars", vars}).out, "8\n");
  EXPECT_EQ(Cel({"eval", "n + 1", "--vars", vars, "--dialect"}).out, "8\n");
  EXPECT_THAT(Cel({"eval", "n + 1", "--vars", vars, "--strict"}).err, HasSubstr("no such overload: double + int"));
}

TEST_F(CelCommands, ErrorsPointAtThePlace) {
  const RunResult failed = Cel({"eval", "1 +\n  nme", "--vars", File("vars.json", R"({"name": 1})")});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.out, "");
  EXPECT_EQ(failed.err,
            "Error: Invalid expression: Unknown variable: nme. Did you mean name? (line 2, column 3)\n"
            "    nme\n"
            "    ^^^\n");
}

TEST_F(CelCommands, ErrorsAreOneJsonDocumentWhenAskedFor) {
  const RunResult failed = Cel({"eval", "1 / 0", "--json"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.out, "");
  const Json wanted = {{"error", "Invalid expression: division by zero (line 1, column 3)"},
                       {"code", "expression_failed"},
                       {"line", 1},
                       {"column", 3}};
  EXPECT_EQ(ParseJson(failed.err, "standard error"), wanted);
}

TEST_F(CelCommands, EvalRefusesWhatItCannotUse) {
  const std::string list = File("list.json", "[1]");
  const std::string broken = File("broken.yaml", "a: [");
  EXPECT_EQ(Cel({"eval", "1", "--vars", list, "--json"}).error_code(), "json_invalid");
  EXPECT_EQ(Cel({"eval", "1", "--vars", broken, "--json"}).error_code(), "yaml_invalid");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"eval"}, {"eval", "1", "--stdin"}, {"eval", "1", "2"}, {"eval", "1", "--strict", "--dialect"},
           {"eval", "1", "--vars", "nosuch.json"}, {"eval", "--stdin", "--vars", list}, {"check"}}) {
    const RunResult refused = Cel(words, "");
    EXPECT_EQ(refused.exit_code, 2) << Join(words, " ") << refused;
    EXPECT_THAT(refused.err, StartsWith("Error: ")) << Join(words, " ");
  }
}

TEST_F(CelCommands, CheckReadsWithoutEvaluating) {
  const RunResult good = Cel({"check", "data.latest('m', 'x').attributes.n > 1 / 0"});
  EXPECT_EQ(good.exit_code, 0) << good;
  EXPECT_EQ(Cel({"check", "1", "--json"}).json(), Json::parse(R"({"valid": true})"));
  const RunResult bad = Cel({"check", "a.b(1,"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, EndsWith("  a.b(1,\n        ^\n"));
  EXPECT_EQ(Cel({"check", "a b", "--json"}).error_code(), "expression_failed");
  EXPECT_EQ(Cel({"check", "[1].map(1, 2)", "--json"}).error_code(), "expression_failed") << "a macro's name is no name";
}

TEST_F(CelCommands, AnswersEachLineOfStandardInput) {
  const RunResult result = Cel({"eval", "--stdin"},
                               "{\"expr\": \"n + 1\", \"vars\": {\"n\": 1}}\n"
                               "\n"
                               "{\"expr\": \"1 + 1.0\", \"mode\": \"strict\"}\r\n"
                               "{\"expr\": \"'last, without an end'\"}");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(Split(result.out, '\n'),
              ElementsAre(R"({"value":{"double_value":2.0}})", HasSubstr(R"("line":0,"column":0}})"),
                          R"({"error":{"message":"no such overload: int + double","line":1,"column":3}})",
                          R"({"value":{"string_value":"last, without an end"}})", ""));
  EXPECT_EQ(Cel({"eval", "--stdin"}, "").out, "");
}

TEST_F(CelCommands, AnswersEveryConformanceCaseInOneProcess) {
  const char* const given = std::getenv("SWAMP_CEL_CONFORMANCE");
  const fs::path cases = given != nullptr ? given : SWAMP_CEL_CONFORMANCE;
  if (!fs::exists(cases)) GTEST_SKIP() << "no conformance cases at " << cases;
  RealTimeWorld world;
  const cel::TimeZones zones(world.files);
  std::string requests;
  std::vector<std::string> wanted;
  for (const auto& entry : fs::directory_iterator(cases)) {
    if (entry.path().extension() != ".json") continue;
    for (const Json& test : ParseJson(ReadFile(world.files, entry.path()).value_or(""), entry.path().string())) {
      Json request = {{"expr", test["expr"]}, {"container", test.value("container", "")}, {"typedVars", Json::object()}};
      const Json bindings = test.value("bindings", Json::object());
      for (const auto& [name, binding] : bindings.items()) request["typedVars"][name] = binding["value"];
      const std::string line = CompactJson(request);
      requests += line + "\n";
      // conformance_test.cc says whether it is right; here it is about the protocol.
      wanted.push_back(cel::AnswerEvalLine(line, cel::Mode::kStrict, &zones));
    }
  }
  const RunResult result = Cel({"eval", "--stdin", "--strict"}, requests);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> answers = Split(result.out, '\n');
  ASSERT_EQ(answers.size(), wanted.size() + 1);
  answers.pop_back();  // behind the last line's end
  EXPECT_EQ(answers, wanted);
}

}  // namespace
}  // namespace swamp::e2e

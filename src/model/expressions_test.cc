#include "model/expressions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/test_world.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

Json J(const char* text) { return Json::parse(text); }

class ExpressionsTest : public ::testing::Test {
 protected:
  ExpressionsTest() {
    host.vault_get = [this](const std::string& vault, const std::string& key) {
      ++vault_reads;
      const auto found = vaults.find(vault + "/" + key);
      if (found == vaults.end()) throw UserError("secret_not_found", "there is no\nsecret " + key);
      return found->second;
    };
    host.env = [](const std::string& name) -> std::optional<std::string> {
      return name == "HOME" ? std::optional<std::string>("/home/ann") : std::nullopt;
    };
    host.data_latest = [this](const std::string& model, const std::string& name) -> std::optional<Json> {
      asked.push_back(model + "/" + name);
      if (model == "nope") return std::nullopt;
      return Json{{"attributes", {{"stdout", data}}}};
    };
  }

  EvaluatedTree Run(const Json& tree, EvaluationPass pass = EvaluationPass::kRun) {
    ExpressionEvaluator evaluator(host, {{"inputs", inputs}, {"self", J(R"({"name": "m1"})")}}, &secrets);
    return evaluator.EvaluateTree(tree, "globalArguments", pass);
  }
  Json Value(const std::string& text) { return Run(Json(text)).live; }
  std::string Why(const std::string& text) {
    const EvaluatedTree result = Run(Json(text));
    return result.unresolved.empty() ? "" : result.unresolved.front().message;
  }

  SystemRandom random;
  SecretTokens secrets{random};
  ExpressionHost host;
  Json inputs = J(R"({"n": 7, "a": "x", "b": "y", "nothing": null, "l": [1, {"k": true}], "my-key": 1, "vault": "v"})");
  std::map<std::string, std::string> vaults = {{"v/k", "s3cret"}, {"team-1password/a key, with comma", "other"},
                                               {"v/it's", "quoted"}};
  std::vector<std::string> asked;
  std::string data = "hi";
  int vault_reads = 0;
};

TEST(FindExpressions, EndsAtTheFirstBracesAcrossLines) {
  const auto found = FindExpressions("a ${{ 1\n + 2 }} b ${{x}} ${{ }} ${ y } {{ z }}");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].code, "1\n + 2");
  EXPECT_EQ(found[1].code, "x");
  EXPECT_EQ(FindExpressions("${{ {'a': {'b': 1}} }}").front().code, "{'a': {'b': 1");
  EXPECT_THAT(FindExpressions("${{ open"), IsEmpty());
}

TEST_F(ExpressionsTest, CL13_AWholeExpressionKeepsItsTypeAndOneInTextBecomesText) {
  EXPECT_EQ(Value("${{ inputs.n }}"), Json(7));
  EXPECT_EQ(Value("${{ inputs.n }} \n"), Json(7));
  EXPECT_EQ(Value(" ${{ inputs.n }}"), Json(" 7"));
  EXPECT_EQ(Value("n=${{ inputs.n }}"), Json("n=7"));
  EXPECT_EQ(Value("${{ inputs.a }}-${{ inputs.b }}"), Json("x-y"));
  EXPECT_EQ(Value("${{ \"}\" + \"}\" }}"), Json("}}"));
  EXPECT_EQ(Value("l=${{ inputs.l }}"), Json("l=[\n  1,\n  {\n    \"k\": true\n  }\n]"));
  EXPECT_EQ(Value("<${{ inputs.nothing }}>"), Json("<>"));
  EXPECT_EQ(Value("${{ inputs.nothing }}"), Json());
  EXPECT_EQ(Value("${{ 9007199254740991 }}"), Json(9007199254740991));
  EXPECT_EQ(Value("${{ \"${\" + \"{\" }}"), Json("${{"));
  EXPECT_EQ(Value("no ${{ }} braces"), Json("no ${{ }} braces"));
}

TEST_F(ExpressionsTest, CL07_ListsAndMapsOfMixedKinds) {
  EXPECT_EQ(Value("${{ {'name': inputs.n, 'kind': 'x', 'port': 22} }}"), J(R"({"name": 7, "kind": "x", "port": 22})"));
  EXPECT_EQ(Value("${{ [1, 'a', true] }}"), J(R"([1, "a", true])"));
}

TEST_F(ExpressionsTest, CL09_SeveralLinesAndThePlaceOfAFault) {
  EXPECT_EQ(Value("${{\n  inputs.n\n  + 1\n}}\n"), Json(8));
  EXPECT_THAT(Why("${{\n  inputs.n\n  +\n}}"), HasSubstr("line "));
}

TEST_F(ExpressionsTest, CL10_NamesWithHyphensDigitsAndBlanks) {
  EXPECT_EQ(secrets.Reveal(Value("${{ vault.get(team-1password, \"a key, with comma\") }}")), Json("other"));
  EXPECT_EQ(Value("${{ inputs[\"my-key\"] }}"), Json(1));
  EXPECT_THAT(Why("${{ inputs.my-key }}"), HasSubstr("inputs[\"my-key\"]"));
  EXPECT_EQ(PrepareCode("model.my-vpc.resource.x.y + 'model.my-vpc.input' + model.1a.input.name").text,
            "model[\"my-vpc\"].resource.x.y + 'model.my-vpc.input' + model[\"1a\"].input.name");
}

TEST_F(ExpressionsTest, CL12_WhatFailsStaysAndIsNamedByItsPlace) {
  const EvaluatedTree result = Run(J(R"j({"cfg": {"hosts": [{"name": "${{ data.latest('nope', 'x').attributes.h }}"}]}, "n": "${{ inputs.n }}"})j"));
  ASSERT_THAT(result.unresolved, SizeIs(1));
  EXPECT_EQ(result.unresolved[0].place, "globalArguments.cfg.hosts[0].name");
  EXPECT_EQ(result.live["cfg"]["hosts"][0]["name"], Json("${{ data.latest('nope', 'x').attributes.h }}"));
  EXPECT_EQ(result.live["n"], Json(7));
  EXPECT_NE(FindUnresolved(result.unresolved, "globalArguments.cfg"), nullptr);
  EXPECT_EQ(FindUnresolved(result.unresolved, "globalArguments.c"), nullptr);
  EXPECT_THAT(UnresolvedError(result.unresolved[0]).message(),
              HasSubstr("Unresolved expression in globalArguments.cfg.hosts[0].name: "));
}

TEST_F(ExpressionsTest, SecretsAreTokensUntilTheLastMoment) {
  const EvaluatedTree result = Run(J(R"({"p": "${{ vault.get(v, k) }}", "u": "a:${{ vault.get('v', \"k\") }}@h", "l": ["${{ [vault.get(v, k), inputs.a] }}"]})"));
  EXPECT_THAT(result.live["p"].get<std::string>(), MatchesRegex("__SWAMP_VSEC_[0-9a-f]{8}_0__"));
  EXPECT_THAT(result.live.dump(), Not(HasSubstr("s3cret")));
  EXPECT_EQ(secrets.Reveal(result.live), J(R"({"p": "s3cret", "u": "a:s3cret@h", "l": [["s3cret", "x"]]})"));
  EXPECT_EQ(result.stored["p"], Json("${{ vault.get(v, k) }}"));
  EXPECT_EQ(result.stored["u"], Json("a:${{ vault.get('v', \"k\") }}@h"));
  EXPECT_EQ(vault_reads, 1);
  EXPECT_TRUE(secrets.AnyIn(result.live));
  EXPECT_FALSE(secrets.AnyIn(result.stored));
}

TEST_F(ExpressionsTest, TheDefinitionPassReadsNeitherVaultsNorTheEnvironment) {
  const EvaluatedTree result = Run(J(R"({"p": "${{ vault.get(v, k) }}", "e": "${{ env.HOME }}/${{ inputs.a }}"})"), EvaluationPass::kDefinition);
  EXPECT_EQ(result.stored, J(R"({"p": "${{ vault.get(v, k) }}", "e": "${{ env.HOME }}/x"})"));
  EXPECT_EQ(result.live, result.stored);
  EXPECT_THAT(result.unresolved, IsEmpty());
  EXPECT_EQ(vault_reads, 0);
  EXPECT_EQ(Value("${{ env.HOME }}"), Json("/home/ann"));
  EXPECT_THAT(Why("${{ env.NOPE }}"), HasSubstr("NOPE"));
}

TEST_F(ExpressionsTest, VaultArgumentsMayBeExpressionsAndHoldQuotes) {
  EXPECT_EQ(secrets.Reveal(Value("${{ vault.get(inputs.vault, 'k') }}")), Json("s3cret"));
  EXPECT_EQ(secrets.Reveal(Value("${{ vault.get('v', 'it's') }}")), Json("quoted"));
  EXPECT_EQ(secrets.Reveal(Value("${{ vault.get('v', 'it\\'s') }}")), Json("quoted"));
  EXPECT_EQ(secrets.Reveal(Value("${{ vault.get(`v`, \"it's\") }}")), Json("quoted"));
  EXPECT_EQ(secrets.Reveal(Value("${{ vault.get('v', 'i' + \"t's\") }}")), Json("quoted"));
  EXPECT_EQ(secrets.Reveal(Value("${{ vault . get }}")), Json("${{ vault . get }}"));
  EXPECT_EQ(Value("${{ 'vault.get(v, k)' }}"), Json("vault.get(v, k)"));
  EXPECT_THAT(Why("${{ vault.get(inputs.n, k) }}"), HasSubstr("does not come to a text"));
  EXPECT_THAT(Why("${{ vault.get(inputs.nope, k) }}"), HasSubstr("Failed to resolve vault expression"));
  EXPECT_THAT(Why("${{ vault.get(v) }}"), HasSubstr("vault.get(vault, key)"));
  EXPECT_THAT(Why("${{ vault.put(v, k) }}"), HasSubstr("vault.get(vault, key)"));
  EXPECT_EQ(Why("${{ vault.get(v, gone) }}"),
            "Failed to resolve vault expression vault.get(v, gone): there is no secret gone");
}

TEST_F(ExpressionsTest, OnlySecretsThatAreNeededAreRead) {
  EXPECT_EQ(secrets.Reveal(Value("${{ inputs.n > 3 ? vault.get(v, k) : vault.get(v, gone) }}")), Json("s3cret"));
  EXPECT_EQ(vault_reads, 1);
}

TEST_F(ExpressionsTest, MW01_TextThatCameAsDataIsNeverEvaluated) {
  data = "${{ vault.get(v, k) }}";
  inputs["a"] = "${{ vault.get(v, k) }}";
  const EvaluatedTree result = Run(J(R"j({"d": "printf '${{ data.latest('m1', 'result').attributes.stdout }}'", "i": "${{ inputs.a }}", "l": "${{ [inputs.a] }}"})j"));
  EXPECT_EQ(result.live, J(R"({"d": "printf '${{ vault.get(v, k) }}'", "i": "${{ vault.get(v, k) }}", "l": ["${{ vault.get(v, k) }}"]})"));
  EXPECT_THAT(result.literal_places, ElementsAre("globalArguments.d", "globalArguments.i", "globalArguments.l"));
  EXPECT_EQ(vault_reads, 0);
}

TEST_F(ExpressionsTest, MW01_OfAnEvaluatedDocumentOnlyWhatTheAuthorWroteIsResolved) {
  ExpressionEvaluator evaluator(host, {}, &secrets);
  const EvaluatedTree result = evaluator.EvaluateStored(J(R"({"a": "${{ vault.get(v, k) }}", "b": "${{ vault.get(v, \"it's\") }}"})"),
                                                        "globalArguments",
                                                        J(R"({"a": "${{ vault.get(v, k) }}", "b": "${{ inputs.b }}"})"));
  EXPECT_EQ(secrets.Reveal(result.live)["a"], Json("s3cret"));
  EXPECT_EQ(result.live["b"], Json("${{ vault.get(v, \"it's\") }}"));
  EXPECT_THAT(result.literal_places, ElementsAre("globalArguments.b"));
}

TEST_F(ExpressionsTest, DataNamesTakeTheirVaryValues) {
  Value("${{ data.latest('m', 'x', ['eu', 1]) }}");
  EXPECT_THAT(asked, ElementsAre("m/x-eu-1"));
  EXPECT_THAT(Why("${{ data.version('m', 'x', 1) }}"), HasSubstr("not available here"));
}

TEST_F(ExpressionsTest, WhatTheCallerDefersStaysText) {
  ExpressionEvaluator evaluator(host, {{"inputs", inputs}}, &secrets);
  const EvaluatedTree result =
      evaluator.EvaluateTree(J(R"j(["${{ run.id }}", "${{ inputs.a }}", "${{ data.latest('m', 'x').version }}"])j"), "",
                             EvaluationPass::kDefinition, [](const ExpressionUse& use) {
                               return use.variables.contains("run") || use.functions.contains("data.latest");
                             });
  EXPECT_EQ(result.stored, J(R"j(["${{ run.id }}", "x", "${{ data.latest('m', 'x').version }}"])j"));
  EXPECT_THAT(result.unresolved, IsEmpty());
}

TEST_F(ExpressionsTest, MW18_SecretsAreNoPatternsAndNoShell) {
  vaults["v/k"] = "x$&y$1$$z`id`'\"\\1";
  EXPECT_EQ(secrets.Reveal(Value("p=${{ vault.get(v, k) }}")), Json("p=x$&y$1$$z`id`'\"\\1"));
}

TEST(FindUse, NamesVariablesFunctionsAndPaths) {
  const ExpressionUse use = FindUse("model.my-vpc.input.name + inputs.a + vault.get(inputs.v, k) + data.latest('m', 'x').y");
  EXPECT_THAT(use.variables, ElementsAre("inputs", "model"));
  EXPECT_THAT(use.functions, ElementsAre("data.latest", "vault.get"));
  EXPECT_THAT(use.paths, ElementsAre(ElementsAre("model", "my-vpc", "input", "name"), ElementsAre("inputs", "a"),
                                     ElementsAre("inputs", "v")));
  EXPECT_TRUE(use.at_run_only());
}

TEST(FindEnvUses, NamesPlaceAndVariable) {
  const auto uses = FindEnvUses(J(R"({"a": ["x ${{ env.HOME }} ${{ env.USER }}"]})"), "globalArguments");
  ASSERT_THAT(uses, SizeIs(2));
  EXPECT_EQ(uses[0].place, "globalArguments.a[0]");
  EXPECT_EQ(uses[1].name, "USER");
}

}  // namespace
}  // namespace swamp

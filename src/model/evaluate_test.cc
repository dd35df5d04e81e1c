#include "model/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/definition_secrets.h"
#include "model/definition_upgrade.h"
#include "model/definition_validation.h"
#include "model/edit_models.h"
#include "model/evaluate_models.h"
#include "model/evaluated_definitions.h"
#include "model/inputs.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Json J(const char* text) { return Json::parse(text); }

// Definitions in memory.
class MemoryConfig final : public ConfigTier {
 public:
  std::optional<Document> Read(const Context&, const std::string& path) override {
    const auto found = documents.find(path);
    if (found == documents.end()) return std::nullopt;
    return Document{path, found->second, "v"};
  }
  std::vector<std::string> List(const Context&, const std::string&) override {
    std::vector<std::string> paths;
    for (const auto& [path, bytes] : documents) paths.push_back(path);
    return paths;
  }
  void Refresh(const Context&) override {}
  std::unique_ptr<ConfigChange> Begin(const Context&) override { return std::make_unique<Change>(*this); }
  std::filesystem::path Locate(const std::string& path) const override { return "/repo/" + path; }
  bool managed() const override { return false; }

  std::map<std::string, std::string> documents;

 private:
  class Change final : public ConfigChange {
   public:
    explicit Change(MemoryConfig& config) : config_(config) {}
    void Create(const std::string& path, std::string_view bytes) override { config_.documents[path] = bytes; }
    void Replace(const std::string& path, std::string_view bytes, const std::string&) override {
      config_.documents[path] = bytes;
    }
    void Remove(const std::string& path, const std::string&) override { config_.documents.erase(path); }
    std::vector<Lost> PublishAll() override { return {}; }

   private:
    MemoryConfig& config_;
  };
};

ModelType TestType() {
  ModelType type;
  type.name = "test/db";
  type.version = "2026.03.01.2";
  type.global_arguments = J(R"({"type": "object", "properties": {
      "host": {"type": "string"}, "port": {"type": "integer"},
      "password": {"type": "string", "sensitive": true},
      "tls": {"anyOf": [{"type": "object", "properties": {"key": {"type": "string", "sensitive": true}}}, {"type": "null"}]}},
      "additionalProperties": false})");
  type.methods.push_back({"get", "", J(R"({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false})")});
  type.methods.push_back({"start", "", J(R"({"type": "object", "properties": {}})")});
  type.data_output_specs = J(R"([{"specName": "state", "kind": "resource", "schema": {"type": "object", "properties": {"size": {"type": "integer"}}, "additionalProperties": false}}])");
  type.checks.push_back({.name = "port-set", .description = "", .labels = {"net"}, .run = [](const Json& arguments) {
                           return arguments.contains("port") ? std::vector<std::string>() : std::vector<std::string>{"no port"};
                         }});
  type.checks.push_back({.name = "strong", .description = "", .applies_to = {"start"}, .run = [](const Json& arguments) {
                           const std::string password = arguments.value("password", "");
                           return password == "s3cret" ? std::vector<std::string>{"weak: " + password} : std::vector<std::string>();
                         }});
  type.upgrades.push_back({"2026.02.01.1", "hostname is host now", [](Json arguments) {
                             arguments["host"] = arguments.at("hostname");
                             arguments.erase("hostname");
                             return arguments;
                           }});
  type.upgrades.push_back({"2026.03.01.2", "port is a number", [](Json arguments) {
                             arguments["port"] = 5432;
                             return arguments;
                           }});
  return type;
}

class EvaluateTest : public ::testing::Test {
 protected:
  EvaluateTest() {
    types.Add(ShellModelType());
    types.Add(TestType());
    host.vault_get = [this](const std::string&, const std::string& key) {
      reads.push_back(key);
      return "s3cret";
    };
  }

  const Definition& Add(const std::string& name, const std::string& rest, const std::string& type = "test/db") {
    const std::string id = fmt::format("00000000-0000-4000-8000-{:012}", config.documents.size() + 1);
    config.documents["models/" + type + "/" + name + ".yaml"] =
        fmt::format("type: {}\nid: {}\nname: {}\n{}", type, id, name, rest);
    kept.push_back(std::make_unique<Definition>(definitions.Require(name).definition));
    return *kept.back();
  }
  EvaluatedDefinition Evaluate(const Definition& definition, const std::optional<MethodToRun>& method = std::nullopt) {
    ModelEvaluator evaluator(definitions, host, &secrets);
    return evaluator.Evaluate(definition, {.inputs = DefaultInputs(definition)}, method);
  }
  ModelValidation Validate(const std::string& name, const ValidateModelRequest& request = {}) {
    return ValidateModel(world.context, definitions, types, host, definitions.Require(name), request);
  }
  static std::vector<std::string> ProblemsOf(const ModelValidation& validation, const std::string& check) {
    for (const auto& one : validation.checks) {
      if (one.name == check) return one.problems;
    }
    return {"no such check"};
  }

  TestWorld world;
  MemoryConfig config;
  ModelTypes types;
  ExpressionHost host;
  Definitions definitions{world.context, config};
  SystemRandom random;
  SecretTokens secrets{random};
  std::vector<std::string> reads;
  std::vector<std::unique_ptr<Definition>> kept;
};

TEST_F(EvaluateTest, ReferencesToOtherModelsAreFollowedInWhateverOrder) {
  Add("c", "globalArguments:\n  host: ${{ inputs.h }}\ninputs:\n  h: {type: string, default: db1}\ntags: {team: x}\n");
  Add("b-1", "globalArguments:\n  host: ${{ model.c.input.globalArguments.host + '.example' }}\n");
  const Definition& a = Add("a", R"(globalArguments:
  host: ${{ model.b-1.definition.globalArguments.host }}
  port: ${{ 5000 + 432 }}
tags:
  t: ${{ model.c.input.tags.team }}-${{ self.name }}-${{ self.globalArguments.port }}
)");
  const EvaluatedDefinition result = Evaluate(a);
  EXPECT_EQ(result.stored.global_arguments, J(R"({"host": "db1.example", "port": 5432})"));
  EXPECT_EQ(result.stored.tags, J(R"({"t": "x-a-5432"})"));
  EXPECT_THAT(result.unresolved, IsEmpty());
  EXPECT_TRUE(result.had_expressions);
}

TEST_F(EvaluateTest, AReferenceToTheOtherFieldIsNoCycle) {
  Add("b", "globalArguments:\n  host: x\n  port: ${{ model.a.input.globalArguments.port }}\n");
  const Definition& a = Add("a", "globalArguments:\n  host: ${{ model.b.input.globalArguments.host }}\n  port: 1\n");
  EXPECT_EQ(Evaluate(a).stored.global_arguments["host"], Json("x"));
}

TEST_F(EvaluateTest, ACycleIsShownAsAChain) {
  Add("b", "globalArguments:\n  host: ${{ model.c.input.globalArguments.host }}\n");
  Add("c", "globalArguments:\n  host: ${{ model.a.input.globalArguments.host }}\n");
  const Definition& a = Add("a", "globalArguments:\n  host: ${{ model.b.input.globalArguments.host }}\n");
  const EvaluatedDefinition result = Evaluate(a);
  ASSERT_THAT(result.unresolved, SizeIs(1));
  EXPECT_EQ(result.unresolved[0].reason, Unresolved::Reason::kCycle);
  EXPECT_THAT(result.unresolved[0].message,
              HasSubstr("a.globalArguments.host -> b.globalArguments.host -> c.globalArguments.host -> a.globalArguments.host"));
}

TEST_F(EvaluateTest, SecretsOfAnotherModelStayReferencesInWhatIsKept) {
  Add("b", "globalArguments:\n  password: ${{ vault.get(v, k) }}\n");
  const Definition& a = Add("a", "globalArguments:\n  password: ${{ model.b.input.globalArguments.password }}\n");
  EXPECT_EQ(Evaluate(a).stored.global_arguments["password"], Json("${{ model.b.input.globalArguments.password }}"));
  EXPECT_THAT(reads, IsEmpty());
  const EvaluatedDefinition run = Evaluate(a, MethodToRun{"get"});
  EXPECT_EQ(run.stored.global_arguments["password"], Json("${{ model.b.input.globalArguments.password }}"));
  EXPECT_EQ(secrets.Reveal(run.global_arguments), J(R"({"password": "s3cret"})"));
}

TEST_F(EvaluateTest, MW09_OnlyWhatTheMethodReadsIsRequired) {
  const Definition& a = Add("a", "globalArguments:\n  host: ${{ inputs.region }}\n  port: 1\nmethods:\n  get:\n    arguments:\n      n: 2\n");
  const EvaluatedDefinition run = Evaluate(a, MethodToRun{"get"});
  EXPECT_EQ(run.arguments, J(R"({"n": 2})"));
  ASSERT_THAT(run.unresolved, SizeIs(1));
  EXPECT_EQ(run.unresolved[0].place, "globalArguments.host");
}

TEST_F(EvaluateTest, MW09_TheInputsThatAMethodReads) {
  const Definition& a = Add("a", R"(globalArguments:
  host: ${{ inputs.region }}
  port: ${{ inputs.size }}
methods:
  get:
    arguments:
      n: ${{ inputs.n + self.globalArguments.port }}
  start:
    arguments:
      all: ${{ inputs }}
  stop:
    arguments:
      x: 1
inputs:
  properties: {n: {}, region: {}, size: {}}
  required: [n, region, size]
)");
  EXPECT_THAT(InputsReadBy(a, "get"), ElementsAre("n", "size"));
  EXPECT_THAT(InputsReadBy(a, "start"), ElementsAre("n", "region", "size"));
  EXPECT_THAT(InputsReadBy(a, "stop"), IsEmpty());
  const InputsSchema schema(a.other["inputs"]);
  const std::set<std::string> demanded = InputsReadBy(a, "get");
  EXPECT_THAT(schema.Problems(Json::object(), &demanded), ElementsAre("n is required", "size is required"));
}

TEST_F(EvaluateTest, SecretsOfReplacedAndOfOtherMethodsArgumentsAreNotRead) {
  const Definition& a = Add("a", R"(methods:
  get:
    arguments:
      n: ${{ vault.get(v, one) }}
      m: ${{ vault.get(v, two) }}
  start:
    arguments:
      x: ${{ vault.get(v, three) }}
)");
  const EvaluatedDefinition run = Evaluate(a, MethodToRun{"get", {"n"}});
  EXPECT_THAT(reads, ElementsAre("two"));
  EXPECT_EQ(run.stored.methods["get"]["arguments"]["m"], Json("${{ vault.get(v, two) }}"));
}

TEST_F(EvaluateTest, MW01_AnotherModelsTextIsEvaluatedOnceOnly) {
  Add("b", "globalArguments:\n  host: ${{ inputs.h }}\ninputs:\n  h: {default: \"${{ vault.get(v, k) }}\"}\n");
  const Definition& a = Add("a", "globalArguments:\n  host: ${{ model.b.input.globalArguments.host }}\n");
  const EvaluatedDefinition run = Evaluate(a, MethodToRun{"get"});
  EXPECT_EQ(run.global_arguments["host"], Json("${{ vault.get(v, k) }}"));
  EXPECT_THAT(reads, IsEmpty());
  EXPECT_THAT(run.literal_places, ElementsAre("globalArguments.host"));
}

TEST_F(EvaluateTest, ModelsThatAreNotThereAndDataThatNobodyHas) {
  const Definition& a = Add("a", "globalArguments:\n  host: ${{ model.nope.input.name }}\n  port: ${{ model.a.resource.state.x.version }}\n");
  const EvaluatedDefinition result = Evaluate(a);
  ASSERT_THAT(result.unresolved, SizeIs(2));
  EXPECT_THAT(result.unresolved[0].message, HasSubstr("nope"));
  EXPECT_THAT(result.unresolved[1].message, HasSubstr("not available here"));
  host.model_resources = [](const std::string& id) -> std::optional<LazyValue> {
    return LazyValue(Json{{"state", {{"x", {{"version", 3}, {"of", id}}}}}});
  };
  EXPECT_EQ(Evaluate(a).stored.global_arguments["port"], Json(3));
}

// ---- types ----

TEST(ModelTypes, KindsComeFromTheNameUnlessDeclared) {
  EXPECT_EQ(MethodSpec{.name = "Describe"}.kind(), MethodKind::kRead);
  EXPECT_EQ(MethodSpec{.name = "patch"}.kind(), MethodKind::kUpdate);
  EXPECT_EQ((MethodSpec{.name = "get", .declared_kind = MethodKind::kAction}).kind(), MethodKind::kAction);
  EXPECT_EQ(MethodSpec{.name = "execute"}.kind(), std::nullopt);
  EXPECT_TRUE(MethodSpec{.name = "execute"}.mutates());
  EXPECT_FALSE(MethodSpec{.name = "find"}.mutates());
}

TEST(ModelTypes, VersionsAreDaysAndNumbersOfAnyLength) {
  EXPECT_TRUE(IsTypeVersion("2026.02.28.10"));
  for (const char* bad : {"2026.02.30.1", "2026.2.28.1", "2026.02.28", "2026.02.28.", "x"}) EXPECT_FALSE(IsTypeVersion(bad));
  EXPECT_LT(CompareTypeVersions("2026.02.28.9", "2026.02.28.10"), 0);
  EXPECT_GT(CompareTypeVersions("2026.02.28.100000000000000000000", "2026.02.28.99999999999999999999"), 0);
}

TEST(ModelTypes, BadTypesAreRefused) {
  const auto code_of = [](const std::function<void(ModelType&)>& change) {
    ModelTypes types;
    types.Add(ShellModelType());
    ModelType type = TestType();
    change(type);
    try {
      types.Add(std::move(type));
      return std::string("none");
    } catch (const UserError& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code_of([](ModelType&) {}), "none");
  EXPECT_EQ(code_of([](ModelType& type) { type.name = "command/shell"; }), "model_type_invalid");
  EXPECT_EQ(code_of([](ModelType& type) { type.version = "1"; }), "model_type_invalid");
  EXPECT_EQ(code_of([](ModelType& type) { std::swap(type.upgrades[0], type.upgrades[1]); }), "model_type_invalid");
  EXPECT_EQ(code_of([](ModelType& type) { type.upgrades.pop_back(); }), "model_type_invalid");
}

TEST(ModelTypes, CompactDescriptionHasNamesAndTypesOnly) {
  const Json json = DescribeType(TestType(), true);
  EXPECT_EQ(json["dataOutputSpecs"], J(R"(["state"])"));
  EXPECT_EQ(json["methods"][0]["arguments"], J(R"({"properties": {"n": {"type": "integer"}}, "required": ["n"]})"));
  EXPECT_EQ(DescribeType(ShellModelType(), false)["dataOutputSpecs"][1]["contentType"], Json("text/plain"));
}

// ---- secrets ----

TEST_F(EvaluateTest, LiteralSecretsAreRefusedOnEverySave) {
  const ModelType type = TestType();
  EXPECT_THAT(LiteralSecrets(type, J(R"({"password": "x", "tls": {"key": "pre-${{ vault.get(v, k) }}"}})")),
              ElementsAre("globalArguments.password", "globalArguments.tls.key"));
  EXPECT_THAT(LiteralSecrets(type, J(R"({"password": " ${{ vault.get(v, k) }} ", "tls": null})")), IsEmpty());
  EXPECT_THAT(LiteralSecrets(type, J(R"({"password": " ", "tls": {"key": ""}})")), IsEmpty());
  EXPECT_EQ(WithoutLiteralSecrets(type, J(R"({"host": "h", "password": "x"})")), J(R"({"host": "h", "password": "***"})"));
  const auto create = [&](const std::string& password) {
    CreateModel(world.context, config, types, {"test/db", "m", {{"password", password}}});
  };
  try {
    create("hunter2");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "literal_sensitive_global_arg");
    EXPECT_THAT(error.message(), HasSubstr("globalArguments.password"));
    EXPECT_EQ((error.message() + error.hint()).find("hunter2"), std::string::npos);
  }
  create("${{ vault.get(v, k) }}");
  const StoredDefinition stored = definitions.Require("m");
  EXPECT_THROW(UpdateModel(world.context, config, types, {stored, "name: m\nglobalArguments:\n  password: hunter2\n"}), UserError);
}

// ---- upgrades ----

TEST_F(EvaluateTest, UpgradesAreAppliedInOrderAndSavedWithExpressionsAndComments) {
  Add("old", "typeVersion: 2026.01.01.1\n# where it is\nglobalArguments:\n  hostname: ${{ inputs.h }}\nextra: kept # here\n");
  const StoredDefinition stored = definitions.Require("old");
  const UpgradePlan plan = PlanUpgrade(*types.Find("test/db"), stored.definition);
  EXPECT_THAT(plan.steps, SizeIs(2));
  EXPECT_EQ(UpgradeArguments(plan, J(R"({"hostname": "db"})")), J(R"({"host": "db", "port": 5432})"));
  SaveUpgraded(world.context, config, *types.Find("test/db"), stored, plan);
  const std::string text = config.documents["models/test/db/old.yaml"];
  EXPECT_THAT(text, HasSubstr("typeVersion: 2026.03.01.2"));
  EXPECT_THAT(text, HasSubstr("${{ inputs.h }}"));
  EXPECT_THAT(text, HasSubstr("extra: kept # here"));
  EXPECT_THAT(PlanUpgrade(*types.Find("test/db"), definitions.Require("old").definition).steps, IsEmpty());
}

TEST_F(EvaluateTest, UpgradesThatFailOrAreNotDue) {
  const ModelType& type = *types.Find("test/db");
  const Definition& bad = Add("bad", "typeVersion: 2026.01.01.1\nglobalArguments: {}\n");
  try {
    UpgradeArguments(PlanUpgrade(type, bad), bad.global_arguments);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "upgrade_failed");
    EXPECT_THAT(error.message(), HasSubstr("2026.02.01.1"));
  }
  const UpgradePlan absent = PlanUpgrade(type, Add("absent", "globalArguments: {}\n"));
  EXPECT_THAT(absent.steps, IsEmpty());
  EXPECT_TRUE(absent.warning.has_value());
  const UpgradePlan newer = PlanUpgrade(type, Add("newer", "typeVersion: 2027.01.01.1\n"));
  EXPECT_THAT(newer.steps, IsEmpty());
  EXPECT_TRUE(newer.warning.has_value());
  EXPECT_THAT(PlanUpgrade(type, Add("half", "typeVersion: 2026.02.01.1\n")).steps, SizeIs(1));
}

// ---- validation ----

TEST_F(EvaluateTest, ExpressionsAreCheckedByWhatTheyName) {
  Add("db", "globalArguments:\n  host: h\n");
  Add("m", R"(globalArguments:
  a: ${{ model.nope.input.name }}
  b: ${{ model.db.resource.stat.x.version }}
  c: ${{ model.db.resource.state.x.versoin }}
  d: ${{ model.db.resource.state.x.attributes.sise }}
  e: ${{ model.db.input.globalArguments.hots }}
  f: ${{ 1 + }}
  g: ${{ input.x }}
  h: ${{ data.lastest('db', 'state') }}
  i: "{{ inputs.x }} ${inputs.y} ${HOME} {{ .Name }} ${{ inputs.z }}"
  j: ${{ model["infra:web"].resorce.x.y }}
  also: ${{ model["infra:web"].resource.x.y.version + model["*:web"].file.x.y.size }}
  ok: ${{ data.query('name == \"x\"').size() + steps.a.status.size() + model.db.resource.state.x.attributes.size + data.findBySpec(self.name, 'y').filter(r, r.version > 1).size() }}
)");
  const auto problems = ProblemsOf(Validate("m"), "Expression paths");
  const auto one = [&](const std::string& place, const std::string& part) {
    EXPECT_THAT(problems, Contains(::testing::AllOf(::testing::StartsWith("globalArguments." + place + ":"), HasSubstr(part))));
  };
  one("a", "there is no model nope");
  one("b", "stat; it has state");
  one("c", "versoin");
  one("d", "sise; it has size");
  one("e", "hots; it has host");
  one("f", "Invalid expression");
  one("g", "did you mean inputs?");
  one("h", "data.lastest");
  one("i", "${{ inputs.x }}");
  one("i", "${{ inputs.y }}");
  one("j", "a model has no resorce");
  EXPECT_THAT(problems, SizeIs(11)) << ::testing::PrintToString(problems);
}

TEST_F(EvaluateTest, EnvIsAWarningAndGoodDefinitionsPass) {
  Add("m", "globalArguments:\n  host: ${{ env.DBHOST }}\n  port: 1\n");
  const ModelValidation validation = Validate("m");
  EXPECT_TRUE(validation.passed());
  ASSERT_THAT(validation.warnings, SizeIs(2));
  EXPECT_EQ(validation.warnings[0].env_uses[0].place, "globalArguments.host");
  EXPECT_EQ(validation.warnings[0].env_uses[0].name, "DBHOST");
}

TEST_F(EvaluateTest, MW13_EveryCheckRunsWithSecretsUnlessNarrowed) {
  Add("m", "typeVersion: 2026.03.01.2\nglobalArguments:\n  password: ${{ vault.get(v, k) }}\n");
  const ModelValidation all = Validate("m");
  EXPECT_THAT(ProblemsOf(all, "Check: port-set"), ElementsAre("no port"));
  EXPECT_THAT(ProblemsOf(all, "Check: strong"), ElementsAre("weak: ***"));
  EXPECT_THAT(ProblemsOf(Validate("m", {.method = "get"}), "Check: strong"), ElementsAre("no such check"));
  EXPECT_THAT(ProblemsOf(Validate("m", {.labels = {"net"}}), "Check: strong"), ElementsAre("no such check"));
  EXPECT_THAT(ProblemsOf(Validate("m", {.labels = {"net"}}), "Check: port-set"), ElementsAre("no port"));
}

TEST_F(EvaluateTest, TheSelectionOfChecksIsChecked) {
  Add("m", "globalArguments:\n  port: 1\nchecks:\n  require: [strong, nope]\n  skip: [strong]\n");
  const ModelValidation validation = Validate("m");
  EXPECT_THAT(ProblemsOf(validation, "Check selection"),
              ElementsAre(HasSubstr("nope is no check"), HasSubstr("strong is both required and skipped")));
  EXPECT_THAT(ProblemsOf(validation, "Check: strong"), ElementsAre("no such check"));
  EXPECT_THAT(ProblemsOf(validation, "Check: port-set"), IsEmpty());
}

TEST_F(EvaluateTest, InputsSchemaAndLiteralSecretsAreChecked) {
  Add("m", "globalArguments:\n  password: hunter2\ninputs:\n  a: {type: text}\n");
  const ModelValidation validation = Validate("m");
  EXPECT_THAT(ProblemsOf(validation, "Definition schema"), ElementsAre(HasSubstr("inputs.a.type")));
  EXPECT_THAT(ProblemsOf(validation, "Global arguments"), ElementsAre(HasSubstr("globalArguments.password is a secret")));
}

}  // namespace
}  // namespace swamp

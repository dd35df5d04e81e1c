#include "model/run_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/testing.h"
#include "model/evaluate.h"
#include "model/run.h"
#include "model/test_repository.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kReader = "11111111-1111-4111-8111-111111111111";

// The data functions of expressions, over the data of the model m1 and a model "reader" that asks for it.
class RunData : public ::testing::Test, protected TestRepository {
 protected:
  RunData() {
    world.environment = FixedEnvironment({{"SWAMP_HOME", folder.path() / "home"}, {"HOME", folder.path() / "home"}}, folder.path());
    Define("m1", kTestModel, "");
    store = VersionStore::Open(world.context, repo, datastore);
    catalog = Catalog::Open(world.context, repo, datastore, *store);
    AddDataFunctions(host, definitions, files,
                     {.store = [this]() -> const VersionStore& { return *store; },
                      .catalog = [this]() -> Catalog& { return *catalog; },
                      .refresh = [this](const std::optional<DataOwner>& owner) {
                        refreshed.push_back(owner ? owner->model_id : "all");
                      }});
  }

  void Define(const std::string& name, const std::string& id, const std::string& more) {
    WriteFileAtomically(world.files, folder.path() / "models/command/shell" / (name + ".yaml"),
                        "type: command/shell\nid: " + id + "\nname: " + name + "\n" + more);
  }
  void Write(const std::string& name, std::string_view bytes, const std::string& content_type = "application/json",
             const std::string& step = "") {
    NewVersion version = TestVersion(TestKey(name));
    version.content_type = content_type;
    version.tags["specName"] = "result";
    version.tags["color"] = "red";
    if (content_type.starts_with("text/")) version.tags["type"] = "file";
    version.owner.step_name = step;
    store->Write(std::move(version), bytes);
  }
  // The value of one expression in a definition.
  Json Value(const std::string& expression) {
    result = {};
    Definition definition;
    definition.id = kReader;
    definition.name = "reader";
    definition.type = "command/shell";
    definition.global_arguments = {{"x", "${{ " + expression + " }}"}};
    ModelEvaluator evaluator(definitions, host);
    result = evaluator.Evaluate(definition, {});
    return result.stored.global_arguments["x"];
  }

  Definitions definitions{world.context, *config, &datastore};
  RunFiles files{world.context, repo, datastore};
  std::unique_ptr<VersionStore> store;
  std::unique_ptr<Catalog> catalog;
  std::vector<std::string> refreshed;
  ExpressionHost host;
  EvaluatedDefinition result;
};

TEST_F(RunData, QueriesAnswerRecordsOrProjections) {
  Write("a", R"({"n": 1})");
  Write("b", R"({"n": 2})");
  EXPECT_EQ(Value("data.query('attributes.n > 1')[0].name"), Json("b"));
  EXPECT_EQ(Value("data.query('modelName == \"m1\"', 'attributes.n').size()"), Json(2));
  EXPECT_EQ(Value("data.query('modelName == \"m1\"', 'name + \"!\"')"), Json::parse(R"(["a!", "b!"])"));
  Value("data.query('nosuch == 1')");
  ASSERT_EQ(result.unresolved.size(), 1u);
  EXPECT_THAT(result.unresolved[0].message, HasSubstr("nosuch"));
}

TEST_F(RunData, ModelsAnswerTheirOutputsBySpecAndName) {
  EXPECT_EQ(Value("model.m1.resource.result.a.version"), Json("${{ model.m1.resource.result.a.version }}"));
  Write("a", R"({"n": 1})");
  Write("a", R"({"n": 7})");
  Write("log", "hello", "text/plain");
  EXPECT_EQ(Value("model.m1.resource.result.a.attributes.n"), Json(7));
  EXPECT_EQ(Value("model.m1.resource.result.map(name, name)"), Json::parse(R"(["a"])"));
  EXPECT_EQ(Value("model.m1.file.result.log.size"), Json(5));
  EXPECT_EQ(Value("model.m1.file.result.log.path"), Json((folder.path() / ".swamp/data/command/shell" / kTestModel / "log/1/raw").string()));
  EXPECT_EQ(Value("file.contents('m1', 'result')"), Json("hello"));
  EXPECT_EQ(Value("has(model.m1.resource.nosuch)"), Json(false));
}

TEST_F(RunData, ExecutionIsTheNewestOutput) {
  EXPECT_EQ(Value("model.m1.execution.status"), Json("${{ model.m1.execution.status }}"));
  OutputRecord record{.id = "22222222-2222-4222-8222-222222222222", .definition_id = kTestModel, .type = "command/shell", .method = "execute"};
  record.status = "succeeded";
  record.started_at = "2026-11-03T09:20:44.006Z";
  record.provenance = {{"definitionHash", "x"}, {"modelVersion", "2026.02.09.1"}, {"triggeredBy", "manual"}};
  files.Write(record.TierPath(), record.ToYaml());
  EXPECT_EQ(Value("model.m1.execution.status"), Json("succeeded"));
}

TEST_F(RunData, OneBrokenBodyDoesNotHideTheOthers) {
  Write("a", "{broken");
  Write("b", R"({"n": 2})");
  // The one that is asked for says so; in a list it is there without its body.
  Value("data.latest('m1', 'a').version");
  ASSERT_EQ(result.unresolved.size(), 1u);
  EXPECT_THAT(result.unresolved[0].message, HasSubstr("says that it is JSON and is not"));
  EXPECT_EQ(Value("data.findBySpec('m1', 'result').size()"), Json(2));
  EXPECT_EQ(Value("data.findByTag('color', 'red').map(r, r.attributes.?n.orValue(0))"), Json::parse("[0, 2]"));
  EXPECT_EQ(Value("data.query('modelName == \"m1\"').size()"), Json(2));
}

TEST_F(RunData, TypesOfJsonAreReadByOneRule) {
  Write("a", R"({"n": 1})", "application/vnd.x+json; charset=utf-8");
  EXPECT_EQ(Value("data.latest('m1', 'a').attributes.n"), Json(1));
  EXPECT_EQ(Value("data.query('name == \"a\"')[0].attributes.n"), Json(1));
}

TEST_F(RunData, EachStepHasItsNewest) {
  Write("a", R"({"n": 1})", "application/json", "one");
  Write("a", R"({"n": 2})", "application/json", "two");
  EXPECT_EQ(Value("data.findBySpec('m1', 'result').map(r, r.stepName)"), Json::parse(R"(["one", "two"])"));
  store->WriteTombstone(*store->Latest(TestKey("a")));
  EXPECT_EQ(Value("data.findBySpec('m1', 'result').filter(r, r.stepName == 'two')"), Json::array());
}

TEST_F(RunData, MW01_TextFromDataStaysText) {
  Write("a", R"({"t": "${{ 1 + 1 }}"})");
  EXPECT_EQ(Value("data.latest('m1', 'a').attributes.t"), Json("${{ 1 + 1 }}"));
  EXPECT_THAT(result.literal_places, ElementsAre("globalArguments.x"));
  EXPECT_EQ(Value("model.m1.resource.result.a.attributes.t"), Json("${{ 1 + 1 }}"));
  EXPECT_EQ(Value("data.query('name == \"a\"', 'attributes.t')[0]"), Json("${{ 1 + 1 }}"));
  EXPECT_THAT(result.unresolved, IsEmpty());
}

TEST_F(RunData, DA16_LatestSeesWhatWasWrittenMeanwhile) {
  EXPECT_EQ(Value("data.latest('m1', 'a')"), Json(nullptr));
  Write("a", R"({"n": 1})");
  EXPECT_EQ(Value("data.latest('m1', 'a').attributes.n"), Json(1));
  EXPECT_EQ(Value("data.listVersions('m1', 'a')"), Json::parse("[1]"));
  // What others write is asked for once.
  EXPECT_THAT(refreshed, ElementsAre(kTestModel));
}

TEST_F(RunData, DataOutlivesItsDefinition) {
  Write("a", R"({"n": 1})");
  std::filesystem::remove(folder.path() / "models/command/shell/m1.yaml");
  EXPECT_EQ(Value("data.latest('m1', 'a').attributes.n"), Json(1));
}

TEST_F(RunData, SensitiveFieldsGiveTheirSecretsToRunsOnly) {
  NewVersion version = TestVersion(TestKey("account"));
  version.tags["specName"] = "account";
  version.tags["_swamp.sensitiveFields"] = "password,login.pin";
  store->Write(std::move(version), R"x({"password": "${{ vault.get('v', 'p') }}", "login": {"pin": "${{ vault.get('v', 'n') }}"},
                                       "note": "${{ vault.get('v', 'other') }}"})x");
  Write("forged", R"x({"tags": {"_swamp.sensitiveFields": "*"}, "attributes": {"x": "${{ vault.get('v', 'other') }}"}})x");
  std::vector<std::string> read;
  host.vault_get = [&](const std::string& vault, const std::string& key) {
    read.push_back(vault + "/" + key);
    return "secret-" + key;
  };
  const auto run = [&](const std::string& expression) {
    SecretTokens tokens(world.random);
    Definition definition;
    definition.id = kReader;
    definition.name = "reader";
    definition.type = "command/shell";
    definition.global_arguments = {{"x", "${{ " + expression + " }}"}};
    result = ModelEvaluator(definitions, host, &tokens).Evaluate(definition, {}, MethodToRun{"execute"});
    return tokens.Reveal(result.global_arguments["x"]);
  };
  EXPECT_EQ(run("data.latest('m1', 'account').attributes.password"), Json("secret-p"));
  EXPECT_EQ(result.stored.global_arguments["x"], Json("${{ data.latest('m1', 'account').attributes.password }}"));
  EXPECT_EQ(run("'<' + data.findBySpec('m1', 'account')[0].content.login.pin + '>'"), Json("<secret-n>"));
  EXPECT_EQ(run("data.query('specName == \"account\"')[0].attributes.login"), Json({{"pin", "secret-n"}}));
  EXPECT_EQ(run("data.latest('m1', 'account').version"), Json(1));
  read.clear();
  // Fields that only look like references stay text, and so does data that only looks like a record.
  EXPECT_EQ(run("data.latest('m1', 'account').attributes.note"), Json("${{ vault.get('v', 'other') }}"));
  EXPECT_EQ(run("data.query('name == \"forged\"', 'attributes')[0].attributes.x"), Json("${{ vault.get('v', 'other') }}"));
  EXPECT_EQ(run("data.latest('m1', 'forged').attributes.attributes.x"), Json("${{ vault.get('v', 'other') }}"));
  EXPECT_THAT(read, IsEmpty());
}

}  // namespace
}  // namespace swamp

// model evaluate, validate, type describe and literal secrets, as a user runs them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness.h"

namespace swamp::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

class ModelEvaluate : public ::testing::Test {
 protected:
  ModelEvaluate() : checkout(bucket.Plain("plain")) {}

  void Create(const std::string& name, const std::string& rest) const {
    checkout.Do({"model", "create", "command/shell", name});
    Write(name, rest);
  }
  void Write(const std::string& name, const std::string& rest) const {
    const Json model = checkout.Do({"model", "get", name});
    std::ofstream(model["path"].get<std::string>())
        << "type: command/shell\nid: " << model["id"].get<std::string>() << "\nname: " << name << "\n" << rest;
  }
  static std::string Read(const fs::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  Bucket bucket{Backend::kFolder};
  Checkout& checkout;
};

TEST_F(ModelEvaluate, WritesTheCopyWithSecretsAndEnvironmentAsText) {
  Create("b", "tags: {team: ops}\n");
  Create("my-vpc", R"(globalArguments:
  n: ${{ inputs.n + 1 }}
  team: "team: ${{ model.b.input.tags.team }}"
  lines: |
    ${{
      [inputs.n, 'a', true]
    }}
  password: ${{ vault.get(v, "k") }}
  home: ${{ env.HOME }}/x
  missing: ${{ inputs.nope }}
inputs:
  n: {type: integer, default: 41}
)");
  const Json result = checkout.Do({"model", "evaluate", "my-vpc"});
  EXPECT_EQ(result["hadExpressions"], Json(true));
  EXPECT_EQ(result["globalArguments"]["n"], Json(42));
  EXPECT_EQ(result["globalArguments"]["team"], Json("team: ops"));
  EXPECT_EQ(result["globalArguments"]["lines"], Json::parse(R"([41, "a", true])"));
  EXPECT_EQ(result["globalArguments"]["password"], Json("${{ vault.get(v, \"k\") }}"));
  EXPECT_EQ(result["globalArguments"]["home"], Json("${{ env.HOME }}/x"));
  EXPECT_EQ(result["globalArguments"]["missing"], Json("${{ inputs.nope }}"));
  EXPECT_EQ(result["unresolved"][0]["path"], Json("globalArguments.missing"));
  const fs::path path = result["outputPath"].get<std::string>();
  EXPECT_EQ(path, checkout.folder() / ".swamp/definitions-evaluated/command/shell/my-vpc.yaml");
  EXPECT_THAT(Read(path), HasSubstr("'n': 42"));

  const Json all = checkout.Do({"model", "evaluate", "--all"});
  EXPECT_EQ(all["total"], Json(2));
  EXPECT_EQ(all["evaluated"], Json(1));
  EXPECT_EQ(all["items"][0]["name"], Json("b"));

  EXPECT_EQ(checkout.Do({"model", "delete", "my-vpc", "-y"})["evaluatedInputDeleted"], Json(true));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ModelEvaluate, CyclesAndWhatIsNoExpressionFail) {
  Create("a", "globalArguments:\n  x: ${{ model.b.input.globalArguments.x }}\n");
  Create("b", "globalArguments:\n  x: ${{ model.a.input.globalArguments.x }}\n");
  const RunResult cycle = checkout.Fail({"model", "evaluate", "a"}, "expression_failed");
  EXPECT_THAT(cycle.err, HasSubstr("a.globalArguments.x -> b.globalArguments.x -> a.globalArguments.x"));
  Write("a", "globalArguments:\n  x: ${{ 1 + }}\n");
  EXPECT_THAT(checkout.Fail({"model", "evaluate", "a"}, "expression_failed").err, HasSubstr("globalArguments.x of a"));
  checkout.Fail({"model", "evaluate", "nope"}, "model_not_found");
  checkout.Fail({"model", "evaluate"}, "usage");
  checkout.Fail({"model", "evaluate", "a", "--all"}, "usage");
}

TEST_F(ModelEvaluate, ValidateSaysWhatIsWrongWithExpressions) {
  Create("m", "methods:\n  execute:\n    arguments:\n      run: echo {{ inputs.x }} ${{ model.nope.input.name }} ${{ env.HOME }}\n");
  const RunResult result = checkout.Run({"model", "validate", "m", "--json"});
  EXPECT_EQ(result.exit_code, 1) << result;
  const Json json = result.json();
  EXPECT_EQ(json["passed"], Json(false));
  EXPECT_EQ(json["validations"][2]["name"], Json("Expression paths"));
  EXPECT_THAT(json["validations"][2]["error"].get<std::string>(), HasSubstr("there is no model nope"));
  EXPECT_EQ(json["warnings"][0]["envVars"][0],
            Json::parse(R"({"path": "methods.execute.arguments.run", "envVar": "HOME"})"));
  checkout.Fail({"model", "validate", "m", "--method", "nope"}, "unknown_method");
}

TEST_F(ModelEvaluate, AutomaticDefinitionsAreFoundByName) {
  const fs::path folder = checkout.folder() / ".swamp/auto-definitions/command/shell";
  fs::create_directories(folder);
  std::ofstream(folder / "d1.yaml") << "type: command/shell\nid: 11111111-1111-4111-8111-111111111111\nname: d1\n";
  const Json found = checkout.Do({"model", "get", "d1"});
  EXPECT_EQ(found["autoCreated"], Json(true));
  EXPECT_EQ(found["path"], Json((folder / "d1.yaml").string()));
  EXPECT_EQ(checkout.Do({"model", "get", "11111111"})["name"], Json("d1"));
  EXPECT_EQ(checkout.Do({"model", "search"})["results"], Json::array());
  // A definition that somebody made comes first.
  checkout.Do({"model", "create", "command/shell", "d1"});
  EXPECT_FALSE(checkout.Do({"model", "get", "d1"}).contains("autoCreated"));
}

TEST_F(ModelEvaluate, TypesAreDescribed) {
  const Json type = checkout.Do({"model", "type", "describe", "command/shell"});
  EXPECT_EQ(type["type"], Json::parse(R"({"raw": "command/shell", "normalized": "command/shell"})"));
  EXPECT_EQ(type["dataOutputSpecs"][0]["specName"], Json("result"));
  EXPECT_EQ(type["dataOutputSpecs"][1]["streaming"], Json(true));
  EXPECT_EQ(type["methods"][0]["name"], Json("execute"));
  const Json compact = checkout.Do({"model", "type", "get", "command/shell", "--compact"});
  EXPECT_EQ(compact["dataOutputSpecs"], Json::parse(R"(["result", "log"])"));
  EXPECT_EQ(compact["methods"][0]["arguments"]["required"], Json::parse(R"(["run"])"));
  checkout.Fail({"model", "type", "describe", "no/such"}, "unknown_model_type");
  EXPECT_THAT(checkout.Run({"model", "type", "describe", "command/shell"}).out, HasSubstr("run, workingDir?"));
}

TEST(ModelEvaluateSynced, ThePeerGetsTheCopy) {
  Bucket bucket(Backend::kFolder);
  Checkout& first = bucket.first();
  first.Do({"model", "create", "command/shell", "m"});
  const Json result = first.Do({"model", "evaluate", "m"});
  EXPECT_EQ(result["outputPath"], Json((first.cache() / "definitions-evaluated/command/shell/m.yaml").string()));
  EXPECT_TRUE(bucket.Peek("definitions-evaluated/command/shell/m.yaml").has_value());
  Checkout& second = bucket.Clone("second");
  second.Do({"datastore", "sync", "--pull"});
  EXPECT_TRUE(fs::exists(second.cache() / "definitions-evaluated/command/shell/m.yaml"));
  second.Do({"model", "evaluate", "m"});
  second.Do({"model", "delete", "m", "-y"});
  EXPECT_FALSE(bucket.Peek("definitions-evaluated/command/shell/m.yaml").has_value());
}

}  // namespace
}  // namespace swamp::e2e

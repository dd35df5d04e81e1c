#include "model/run.h"

#include <gmock/gmock.h>

#include "data/version_store.h"
#include "model/run_cancel.h"
#include "model/run_delete.h"
#include "model/test_repository.h"
#include "util/yaml.h"
#include "vault/secrets.h"
#include "vault/vault_config.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json ObjectSchema(const Json& properties) { return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}; }

// A type whose methods make, read and delete an account with a password.
ModelType AccountType() {
  ModelType type;
  type.name = "test/account";
  type.version = "2026.01.01.1";
  type.global_arguments = ObjectSchema({{"owner", {{"type", "string"}}}, {"pin", {{"type", "string"}, {"sensitive", true}}}});
  const Json arguments = ObjectSchema({{"size", {{"type", "integer"}}}, {"owner", {{"type", "string"}}}});
  const auto create = [](const MethodCall& call) {
    call.host.WriteResource("account", "account",
                            {{"owner", call.arguments.value("owner", "nobody")}, {"login", {{"password", "pa55word"}}}, {"none", nullptr}});
  };
  type.methods.push_back({.name = "create", .description = "", .arguments = arguments, .execute = create});
  type.methods.push_back({.name = "get", .description = "", .arguments = arguments, .execute = [](const MethodCall&) {}});
  type.methods.push_back({.name = "delete", .description = "", .arguments = arguments, .execute = [](const MethodCall&) {}});
  type.methods.push_back({.name = "twice", .description = "", .arguments = arguments, .execute = [create](const MethodCall& call) {
                            create(call);
                            create(call);
                          }});
  const auto half = [create](const MethodCall& call) {
    create(call);
    if (call.arguments.contains("size")) throw UserError("method_execution_failed", "half done");
  };
  type.methods.push_back({.name = "update", .description = "", .arguments = arguments, .execute = half, .rollback_on_failure = true});
  type.checks.push_back({.name = "owned", .description = "", .labels = {"policy"}, .run = [](const Json& global) {
                           return global.value("owner", "") == "mallory" ? std::vector<std::string>{"not her"} : std::vector<std::string>{};
                         }});
  type.data_output_specs = Json::array(
      {{{"specName", "account"},
        {"kind", "resource"},
        {"schema", ObjectSchema({{"owner", {{"type", "string"}}},
                                 {"none", {{"type", {"string", "null"}}, {"sensitive", true}}},
                                 {"login", ObjectSchema({{"password", {{"type", "string"}, {"sensitive", true}}}})}})},
        {"lifetime", "infinite"},
        {"garbageCollection", 5}}});
  return type;
}

class Runs : public ::testing::Test, protected TestRepository {
 protected:
  Runs() {
    world.environment = FixedEnvironment({{"SWAMP_HOME", folder.path() / "home"}, {"HOME", folder.path() / "home"}}, folder.path());
    types.Add(AccountType());
  }

  void WriteModel(const std::string& more = "") {
    WriteFileAtomically(world.files, folder.path() / "models/test/account/acc.yaml",
                        "type: test/account\ntypeVersion: 2026.01.01.1\nid: 7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10\nname: acc\n" + more);
  }
  void MakeVault() { CreateVault(world.context, *config, {.type = "local_encryption", .name = "safe"}); }

  RunResult Run(const std::string& method, RunRequest request = {}) {
    request.model_or_type = "acc";
    request.method = method;
    return RunMethod(world.context, {repo, datastore, *config, types, expressions}, request, {}).front();
  }
  std::pair<std::string, std::string> Failure(const std::string& method, RunRequest request = {}) {
    try {
      Run(method, std::move(request));
    } catch (const UserError& error) {
      return {error.code(), error.message()};
    }
    return {"", "it did not fail"};
  }
  std::vector<OutputRecord> Records() {
    RunFiles files(world.context, repo, datastore);
    return Outputs(files).All();
  }

  ModelTypes types;
  ExpressionHost expressions;
};

TEST_F(Runs, SensitiveFieldsGoIntoAVault) {
  WriteModel();
  EXPECT_EQ(Failure("create").first, "vault_required");
  MakeVault();
  const RunResult run = Run("create");
  ASSERT_EQ(run.artifacts.size(), 1u);
  const Json& stored = *run.artifacts[0].attributes;
  const std::string key = "test-account-7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10-create-account-account-login.password";
  EXPECT_EQ(stored["login"]["password"], "${{ vault.get('safe', '" + key + "') }}");
  EXPECT_TRUE(stored["none"].is_null());
  EXPECT_THAT(*ReadFile(world.files, run.artifacts[0].path), ::testing::Not(HasSubstr("pa55word")));
  EXPECT_EQ(Records()[0].artifacts[0].tags["_swamp.sensitiveFields"], "login.password");
  Redactor redactor;
  SecretReader reader(world.context, *config, repo, redactor);
  EXPECT_EQ(reader.Read("safe", key, "test"), "pa55word");
}

TEST_F(Runs, ADeleteLeavesTombstonesAndWhatIsGoneCannotBeRead) {
  WriteModel();
  MakeVault();
  Run("create");
  EXPECT_EQ(Run("get").status, "succeeded");
  const RunResult deleted = Run("delete");
  ASSERT_EQ(deleted.artifacts.size(), 1u);
  EXPECT_EQ((*deleted.artifacts[0].attributes)["deletedByMethod"], "delete");
  const auto [code, message] = Failure("get");
  EXPECT_EQ(code, "resource_deleted");
  EXPECT_THAT(message, HasSubstr("was deleted at"));
  EXPECT_EQ(Run("create").artifacts[0].version, 3u);
  EXPECT_EQ(Run("get").status, "succeeded");
}

TEST_F(Runs, ChecksRunBeforeWhatChangesSomething) {
  WriteModel("globalArguments: {owner: mallory}\n");
  MakeVault();
  EXPECT_EQ(Failure("create"), std::pair(std::string("check_failed"), std::string("owned: not her")));
  EXPECT_EQ(Failure("get").first, "");
  EXPECT_EQ(Failure("create", {.skip_checks = true}).first, "");
  EXPECT_EQ(Failure("create", {.skipped_check_labels = {"policy"}}).first, "");
  WriteModel("globalArguments: {owner: mallory}\nchecks: {require: [owned]}\n");
  EXPECT_EQ(Failure("create", {.skip_checks = true}).first, "check_failed");
}

TEST_F(Runs, GlobalArgumentsFillTheMethodsOwnAndAllProblemsAreTold) {
  WriteModel("globalArguments: {owner: ann}\n");
  MakeVault();
  EXPECT_EQ((*Run("create").artifacts[0].attributes)["owner"], "ann");
  EXPECT_EQ((*Run("create", {.input_sets = {{{"owner", "bob"}}}}).artifacts[0].attributes)["owner"], "bob");
  WriteModel("globalArguments: {owner: 7, colour: red}\n");
  const auto [code, message] = Failure("create", {.input_sets = {{{"size", "big"}}}});
  EXPECT_EQ(code, "validation_failed");
  EXPECT_THAT(message, HasSubstr("owner"));
  EXPECT_THAT(message, HasSubstr("colour"));
  EXPECT_THAT(message, HasSubstr("size"));
}

TEST_F(Runs, MW07_TypedInputsGetTheTypeThatTheSchemaAsksFor) {
  WriteModel();
  MakeVault();
  EXPECT_EQ(Run("create", {.input_sets = {{{"size", "5"}}}}).method_arguments["size"], 5);
}

TEST_F(Runs, MW09_AnExpressionThatFailsCountsOnlyWhereItIsRead) {
  WriteModel("globalArguments: {pin: '${{ inputs.pin }}'}\ninputs: {properties: {pin: {type: string}}, required: [pin]}\n");
  MakeVault();
  EXPECT_EQ(Run("create").status, "succeeded");
  WriteModel("inputs: {properties: {who: {type: string}}, required: [who]}\n"
             "methods: {create: {arguments: {owner: '${{ inputs.who }}'}}}\n");
  EXPECT_EQ(Failure("create").first, "input_validation_failed");
  EXPECT_EQ(Failure("get").first, "");
}

TEST_F(Runs, ANameThatIsWrittenTwiceFailsTheRunAndStaysOnRecord) {
  WriteModel();
  MakeVault();
  EXPECT_EQ(Failure("twice").first, "method_execution_failed");
  const OutputRecord record = Records().front();
  EXPECT_EQ(record.status, "failed");
  EXPECT_EQ(record.artifacts.size(), 2u);
}

TEST_F(Runs, TheRecordHasWhatOtherProgramsRead) {
  WriteModel("tags: {team: storage}\n");
  MakeVault();
  Run("create", {.tags = {{"run", "nightly"}, {"type", "file"}}});
  RunFiles files(world.context, repo, datastore);
  const OutputRecord record = Records().front();
  const Json json = ParseYaml(*files.Read(record.TierPath()), "the record");
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("id", "definitionId", "methodName", "status", "startedAt", "retryCount", "provenance", "artifacts",
                                "completedAt", "durationMs", "logFile", "pid", "host"));
  EXPECT_EQ(json["status"], "succeeded");
  EXPECT_THAT(json["logFile"].get<std::string>(), HasSubstr(".swamp/outputs/test/account/create/7b1d7a52-"));
  const Json tags = json["artifacts"]["dataArtifacts"][0]["tags"];
  EXPECT_EQ(tags["type"], "resource");
  EXPECT_EQ(tags["team"], "storage");
  EXPECT_EQ(tags["run"], "nightly");
  EXPECT_EQ(tags["modelName"], "acc");
}

TEST_F(Runs, MW21_TheDefinitionsHashCountsNestedValuesAndNotTheOrderOfKeys) {
  MakeVault();
  const auto hash = [&](const std::string& arguments) {
    WriteModel("globalArguments: {" + arguments + "}\n");
    Failure("get");
    world.clock.Advance(Duration(1000));
    return Records().front().provenance["definitionHash"].get<std::string>();
  };
  EXPECT_EQ(hash("owner: a, pin: ''"), hash("pin: '', owner: a"));
  EXPECT_NE(hash("owner: {a: {b: 1}}"), hash("owner: {a: {b: 2}}"));
}

TEST_F(Runs, ARunWithoutASignOfLifeIsShownAsInterrupted) {
  RunFiles files(world.context, repo, datastore);
  OutputRecord record;
  record.id = "0d4a1f7e-50f9-4f0e-8f0b-6f1f3d2a9c11";
  record.definition_id = "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10";
  record.type = "test/account";
  record.method = "get";
  record.started_at = FormatTime(world.clock.Now());
  record.host = "elsewhere";
  record.pid = 4711;
  files.Write(record.TierPath(), record.ToYaml());
  const auto touch = [&] {
    world.files.SetMtime(files.PathOf(record.TierPath()), std::chrono::nanoseconds(world.clock.Now().time_since_epoch()).count());
  };
  touch();
  const Outputs outputs(files);
  EXPECT_EQ(outputs.ShownStatus(record), "running");
  world.clock.Advance(Duration(91'000));
  EXPECT_EQ(outputs.ShownStatus(record), "interrupted");
  touch();
  try {
    CancelRuns(files, record.definition_id, "");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "run_on_other_host");
    EXPECT_THAT(error.message(), HasSubstr("elsewhere"));
  }
}

TEST_F(Runs, WithRollbackNothingOfAFailedMethodIsLeft) {
  WriteModel();
  MakeVault();
  const RunRequest fails{.input_sets = {{{"size", 1}}}};
  EXPECT_EQ(Failure("update", fails).first, "method_execution_failed");
  EXPECT_TRUE(Records()[0].artifacts.empty());
  EXPECT_FALSE(world.files.Stat(folder.path() / ".swamp/data/test"));
  EXPECT_EQ(Run("update").artifacts[0].version, 1u);
  EXPECT_EQ(Failure("update", fails).first, "method_execution_failed");
  const auto store = VersionStore::Open(world.context, repo, datastore);
  const DataKey key{{"test/account", "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10"}, "account"};
  EXPECT_THAT(store->Versions(key), ElementsAre(1u));
  EXPECT_EQ(Run("update").artifacts[0].version, 2u);
  EXPECT_EQ(store->LatestVersion(key), 2u);
}

TEST_F(Runs, AutoGcKeepsWhatThePolicySays) {
  WriteModel("resources: {account: {garbageCollection: 2}}\n");
  MakeVault();
  const auto store = VersionStore::Open(world.context, repo, datastore);
  const DataKey key{{"test/account", "7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10"}, "account"};
  for (int i = 0; i < 3; ++i) Run("create");
  EXPECT_THAT(store->Versions(key), ElementsAre(1u, 2u, 3u));
  repo.marker.Set({"autoGc"}, true);
  Run("create");
  EXPECT_THAT(store->Versions(key), ElementsAre(3u, 4u));
  WriteModel("resources: {account: {lifetime: 1h}}\n");
  Run("create");
  world.clock.Advance(std::chrono::hours(2));
  Run("get");
  EXPECT_TRUE(store->Names(key.owner).empty());
}

TEST_F(Runs, AModelThatAWorkflowNamesIsNotDeleted) {
  WriteModel();
  const RunServices services{repo, datastore, *config, types, expressions};
  const auto code = [&]() -> std::string {
    try {
      DeleteModelWithData(world.context, services, "acc", true);
    } catch (const UserError& error) {
      EXPECT_THAT(error.message(), HasSubstr("nightly"));
      return error.code();
    }
    return "";
  };
  const std::filesystem::path path = folder.path() / "workflows/workflow-nightly.yaml";
  const auto workflow = [&](const std::string& task) {
    WriteFileAtomically(world.files, path, "name: nightly\njobs:\n  - name: j\n    steps:\n      - name: s\n        task: " + task + "\n");
  };
  workflow("{type: model_method, modelIdOrName: acc, methodName: get}");
  EXPECT_EQ(code(), "model_in_use");
  workflow("{type: model_method, modelIdOrName: 7B1D7A52-0b0f-4f0a-9a55-3c1f3f0e2d10, methodName: get}");
  EXPECT_EQ(code(), "model_in_use");
  workflow("{type: model_method, modelType: Test::Account, modelName: acc, methodName: get}");
  EXPECT_EQ(code(), "model_in_use");
  workflow("{type: model_method, modelIdOrName: acc2, methodName: get}");
  EXPECT_EQ(code(), "");
}

}  // namespace
}  // namespace swamp

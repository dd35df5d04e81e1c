// Known faults around secrets in method runs, each named by its id.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/definition_secrets.h"
#include "model/definition_validation.h"
#include "model/run.h"
#include "model/test_repository.h"
#include "vault/secrets.h"
#include "vault/vault_config.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json ObjectOf(const Json& properties) {
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

class VaultFaults : public ::testing::Test, protected TestRepository {
 protected:
  VaultFaults() {
    world.environment = FixedEnvironment({{"SWAMP_HOME", folder.path() / "home"}, {"HOME", folder.path() / "home"}}, folder.path());
    ModelType type{.name = "test/pair", .version = "2026.01.01.1"};
    type.global_arguments = ObjectOf({{"token", {{"type", "string"}, {"sensitive", true}}}});
    const auto make = [this](const MethodCall& call) {
      ++executions;
      for (const auto& [spec, instance] : instances) call.host.WriteResource(spec, instance, {{"pw", "secret of " + instance}});
    };
    type.methods.push_back({.name = "create", .description = "", .arguments = ObjectOf(Json::object()), .execute = make});
    type.checks.push_back({.name = "prefix", .description = "", .run = [](const Json& global) {
                             const std::string token = global.value("token", "");
                             return token.starts_with("sk-") ? std::vector<std::string>()
                                                             : std::vector<std::string>{"it does not begin with sk-: " + token};
                           }});
    for (const char* spec : {"login", "login-x"}) {
      type.data_output_specs.push_back({{"specName", spec},
                                        {"kind", "resource"},
                                        {"schema", ObjectOf({{"pw", {{"type", "string"}, {"sensitive", true}}}})},
                                        {"lifetime", "infinite"},
                                        {"garbageCollection", 5}});
    }
    types.Add(std::move(type));
    WriteModel("${{ vault.get(safe, token) }}");
  }

  void WriteModel(const std::string& token) {
    WriteFileAtomically(world.files, folder.path() / "models/test/pair/m.yaml",
                        "type: test/pair\ntypeVersion: 2026.01.01.1\nid: 7b1d7a52-0b0f-4f0a-9a55-3c1f3f0e2d10\nname: m\n"
                        "globalArguments: {token: '" + token + "'}\n");
  }
  void MakeVault(const std::string& token) {
    CreateVault(world.context, *config, {.type = "local_encryption", .name = "safe"});
    Redactor redactor;
    SecretReader(world.context, *config, repo, redactor).Put("safe", "token", token, "test");
  }
  RunServices Services() { return {repo, datastore, *config, types, expressions}; }
  RunResult Run() {
    RunRequest request;
    request.model_or_type = "m";
    request.method = "create";
    request.skip_checks = skip_checks;
    return RunMethod(world.context, Services(), request, {}).front();
  }
  std::pair<std::string, std::string> Failure() {
    try {
      Run();
    } catch (const UserError& error) {
      return {error.code(), error.message() + error.hint()};
    }
    return {"", "it did not fail"};
  }
  // The value that the artifact's reference stands for.
  std::string SecretOf(const RunArtifact& artifact) {
    const std::string reference = (*artifact.attributes)["pw"];
    const std::string begin = "${{ vault.get('safe', '";
    EXPECT_TRUE(reference.starts_with(begin)) << reference;
    const std::string key = reference.substr(begin.size(), reference.size() - begin.size() - 5);
    Redactor redactor;
    return SecretReader(world.context, *config, repo, redactor).Read("safe", key, "test");
  }

  std::vector<std::pair<std::string, std::string>> instances = {{"login", "one"}};  // spec and name
  bool skip_checks = false;
  int executions = 0;
  ModelTypes types;
  ExpressionHost expressions;
};

TEST_F(VaultFaults, VA18_ALiteralSecretIsNeverShown) {
  const ModelType& type = types.Require("test/pair");
  const Json shown = WithoutLiteralSecrets(type, {{"token", "sk-hunter2"}});
  EXPECT_EQ(shown, Json({{"token", "***"}}));
  WriteModel("sk-hunter2");
  Definitions definitions(world.context, *config);
  const ModelValidation validation = ValidateModel(world.context, definitions, types, expressions, definitions.Require("m"), {});
  for (const auto& check : validation.checks) {
    for (const std::string& problem : check.problems) EXPECT_THAT(problem, Not(HasSubstr("hunter2")));
  }
}

TEST_F(VaultFaults, VA20_EachInstanceHasASecretOfItsOwnAlsoAfterASecondRun) {
  MakeVault("sk-1");
  instances = {{"login", "one"}, {"login", "two"}, {"login", "x-y"}, {"login-x", "y"}, {"login", "a.b"}, {"login", "a-b"}};
  for (int run = 0; run < 2; ++run) {
    const RunResult result = Run();
    ASSERT_EQ(result.artifacts.size(), instances.size());
    for (std::size_t i = 0; i < instances.size(); ++i) EXPECT_EQ(SecretOf(result.artifacts[i]), "secret of " + instances[i].second);
  }
}

TEST_F(VaultFaults, VA21_ASensitiveOutputWithoutAVaultIsRefusedBeforeTheMethodStarts) {
  WriteModel("");
  skip_checks = true;
  EXPECT_EQ(Failure().first, "vault_required");
  EXPECT_EQ(executions, 0);
}

TEST_F(VaultFaults, VA22_ValidateSaysThatItCouldNotCheckWithoutTheVault) {
  Definitions definitions(world.context, *config);
  const auto validate = [&](const std::function<std::string(const std::string&, const std::string&)>& vault_get) {
    expressions.vault_get = vault_get;
    return ValidateModel(world.context, definitions, types, expressions, definitions.Require("m"), {});
  };
  const auto outcome = [](const ModelValidation& validation) {
    for (const auto& check : validation.checks) {
      if (check.name == "Check: prefix") return check.problems.empty() ? std::string("passed") : check.problems[0];
    }
    for (const auto& warning : validation.warnings) {
      if (warning.name == "Check: prefix") return warning.message;
    }
    return std::string("nothing was said of it");
  };
  EXPECT_EQ(outcome(validate([](const auto&, const auto&) { return "sk-1"; })), "passed");
  EXPECT_EQ(outcome(validate([](const auto&, const auto&) { return "hunter2"; })), "it does not begin with sk-: ***");
  const ModelValidation without = validate([](const auto& vault, const auto&) -> std::string {
    throw UserError("vault_not_found", "Vault not found: " + vault);
  });
  EXPECT_THAT(outcome(without), AllOf(HasSubstr("could not be checked"), HasSubstr("Vault not found: safe")));
  EXPECT_TRUE(without.passed());
}

TEST_F(VaultFaults, VA22_ChecksSeeTheValueInValidateAndInARun) {
  MakeVault("sk-right");
  EXPECT_EQ(Failure().first, "");
  EXPECT_EQ(executions, 1);
  Redactor redactor;
  SecretReader(world.context, *config, repo, redactor).Put("safe", "token", "wrong-hunter2", "test");
  const auto [code, message] = Failure();
  EXPECT_EQ(code, "check_failed");
  EXPECT_THAT(message, AllOf(HasSubstr("does not begin with sk-"), Not(HasSubstr("hunter2"))));
  EXPECT_EQ(executions, 1);
}

}  // namespace
}  // namespace swamp

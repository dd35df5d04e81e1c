#include "vault/migrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vault/edit_secrets.h"
#include "vault/test_vault.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A local vault `v`, and a folder that a command vault keeps its secrets in.
class MigrateVaultTest : public ::testing::Test {
 protected:
  MigrateVaultTest() {
    vaults.Create("v", std::nullopt, /*audit_reads=*/true);
    Put("a", "value a");
    Put("b", "two\nlines\n");
    std::filesystem::create_directories(store);
    request.vault = "v";
    request.to_type = "command";
    request.config = CommandConfig();
  }
  Json CommandConfig() const {
    const std::string folder = store.string();
    return {{"get", {"cat", folder + "/{key}"}},
            {"list", {"ls", folder}},
            {"put", {"dd", "status=none", "of=" + folder + "/{key}"}},
            {"delete", {"rm", folder + "/{key}"}},
            {"raw", true}};
  }
  void Put(const std::string& key, const std::string& value) {
    secrets.Put({.vault = "v", .key = key, .value = value, .overwrite = true, .caller_context = "test"});
  }
  std::string Read(const std::string& key) { return secrets.Read("v", key, "test").value; }
  VaultMigration Migrate() { return MigrateVault(vaults.context, *vaults.config, vaults.repo, request); }
  VaultConfig Config() { return Vaults(vaults.context, *vaults.config).Require("v").vault; }
  std::vector<std::string> Documents() { return vaults.config->List(vaults.context, "vaults"); }

  TestVaults vaults;
  std::filesystem::path store = vaults.root / "store";
  Secrets secrets{vaults.context, *vaults.config, vaults.repo};
  MigrateVaultRequest request;
};

TEST_F(MigrateVaultTest, MovesEverySecretAndKeepsTheVault) {
  const VaultConfig before = Config();
  const VaultMigration done = Migrate();
  EXPECT_EQ(done.secrets, 2U);
  const VaultConfig after = Config();
  EXPECT_EQ(after.type, "command");
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.created_at, before.created_at);
  EXPECT_TRUE(after.audit_reads);
  EXPECT_THAT(after.other, IsEmpty()) << "no mark is left";
  EXPECT_THAT(Documents(), ElementsAre("vaults/command/" + after.id + ".yaml"));
  EXPECT_EQ(Read("a"), "value a");
  EXPECT_EQ(Read("b"), "two\nlines\n");
  EXPECT_TRUE(vaults.Exists(TestVaults::SecretFile("v", "a.enc"))) << "the old secrets stay until --delete-old";
}

TEST_F(MigrateVaultTest, ThereAndBackAgain) {
  Migrate();
  request.to_type = "local_encryption";
  request.config.reset();
  Migrate();
  EXPECT_EQ(Config().type, "local_encryption");
  EXPECT_THAT(Documents(), ElementsAre("vaults/local_encryption/" + Config().id + ".yaml"));
  EXPECT_EQ(Read("b"), "two\nlines\n");
}

TEST_F(MigrateVaultTest, OtherValuesInTheTargetStopItBeforeAnythingIsSwitched) {
  vaults.Write("store/a", "something else");
  const auto before = vaults.AllFiles();
  const UserError error = ErrorOf([&] { Migrate(); });
  EXPECT_EQ(error.code(), "already_exists");
  EXPECT_THAT(error.message(), HasSubstr("of: a."));
  auto after = vaults.AllFiles();
  std::erase_if(after, [](const auto& file) { return file.first.find("vault-locks") != std::string::npos; });
  auto expected = before;
  std::erase_if(expected, [](const auto& file) { return file.first.find("vault-locks") != std::string::npos; });
  EXPECT_EQ(after, expected);
  request.force = true;
  Migrate();
  EXPECT_EQ(vaults.Read("store/a"), "value a");
}

TEST_F(MigrateVaultTest, WhatTheTargetDoesNotGiveBackIsNotTrusted) {
  request.config->operator[]("raw") = false;
  Put("c", "one line\n");  // its line end would be lost
  const UserError error = ErrorOf([&] { Migrate(); });
  EXPECT_EQ(error.code(), "migration_unverified");
  EXPECT_THAT(error.message(), Not(HasSubstr("one line")));
  EXPECT_EQ(Config().type, "local_encryption");
  EXPECT_EQ(Read("c"), "one line\n");
}

TEST_F(MigrateVaultTest, WhatTheTargetCannotHoldNeedsConsent) {
  secrets.Annotate({.vault = "v", .key = "a", .url = "https://e.x", .caller_context = "test"});
  const UserError error = ErrorOf([&] { Migrate(); });
  EXPECT_EQ(error.code(), "vault_unsupported");
  EXPECT_THAT(error.message(), HasSubstr("annotation of a"));
  EXPECT_EQ(Config().type, "local_encryption");
  request.accept_losses = true;
  EXPECT_THAT(Migrate().not_carried, ElementsAre("annotation of a"));
}

TEST_F(MigrateVaultTest, OldSecretsGoWhenAsked) {
  request.delete_old = true;
  EXPECT_EQ(Migrate().deleted, 2U);
  EXPECT_FALSE(vaults.Exists(TestVaults::SecretFile("v", "a.enc")));
  EXPECT_EQ(Read("a"), "value a");
}

TEST_F(MigrateVaultTest, PlansWithoutChangingAnything) {
  const auto before = vaults.AllFiles();
  const VaultMigrationPlan plan = PlanVaultMigration(vaults.context, *vaults.config, vaults.repo, request);
  EXPECT_EQ(plan.secrets, 2U);
  EXPECT_EQ(plan.to.type, "command");
  EXPECT_EQ(vaults.AllFiles(), before);
}

TEST_F(MigrateVaultTest, RefusesWhatMakesNoSense) {
  request.to_type = "LOCAL_encryption";
  EXPECT_EQ(ErrorOf([&] { Migrate(); }).code(), "validation_failed");
  request.to_type = "1password";
  EXPECT_EQ(ErrorOf([&] { Migrate(); }).code(), "unknown_vault_type");
  request.to_type = "@swamp/aws-sm";
  EXPECT_EQ(ErrorOf([&] { Migrate(); }).code(), "vault_type_unavailable");
  request.to_type = "command";
  request.config = Json{{"list", {"ls"}}};
  EXPECT_EQ(ErrorOf([&] { Migrate(); }).code(), "validation_failed");
  request.config = Json{{"get", {"cat"}}};
  EXPECT_EQ(ErrorOf([&] { Migrate(); }).code(), "vault_unsupported");
}

// What a crash leaves between the two documents.
TEST_F(MigrateVaultTest, OfTwoDocumentsTheOneThatNamesTheOtherCounts) {
  VaultConfig next = Config();
  next.type = "command";
  next.config = CommandConfig();
  next.other["migratedFrom"] = "local_encryption";
  vaults.Write(PathOfVault(next), next.ToYaml());
  EXPECT_EQ(Config().type, "command");
  EXPECT_EQ(Vaults(vaults.context, *vaults.config).All().size(), 1U);
  // The next command that writes tidies up.
  Put("a", "new value");
  EXPECT_THAT(Documents(), ElementsAre(PathOfVault(next)));
  EXPECT_THAT(vaults.Read(PathOfVault(next)), Not(HasSubstr("migratedFrom")));
  EXPECT_EQ(vaults.Read("store/a"), "new value");
}


TEST_F(MigrateVaultTest, AnyKeyThatWasCopiedBeforeIsSkipped) {
  vaults.Write("store/a", "value a");
  request.config->operator[]("put") = {"dd", "status=none", "conv=excl", "of=" + store.string() + "/{key}"};
  EXPECT_EQ(Migrate().secrets, 2U) << "an equal value is not written again";
}

// ---- command vaults ----

TEST_F(MigrateVaultTest, CommandVaultsHandValuesOverOnStandardInputOnly) {
  Json config = CommandConfig();
  config["put"] = {"sh", "-c", "cat /proc/$$/cmdline > \"$0/args\"; cat > \"$0/$1\"", store.string(), "{key}"};
  vaults.Create("c", config, false, "command");
  secrets.Put({.vault = "c", .key = "k", .value = "s3cret", .caller_context = "test"});
  EXPECT_THAT(vaults.Read("store/args"), Not(HasSubstr("s3cret")));
  EXPECT_EQ(vaults.Read("store/k"), "s3cret");
  EXPECT_THAT(secrets.List("c").keys, ElementsAre("args", "k"));
  EXPECT_TRUE(secrets.Delete("c", "k", false, "test").existed);
  EXPECT_EQ(ErrorOf([&] { secrets.Delete("c", "k", false, "test"); }).code(), "secret_not_found");
  EXPECT_EQ(ErrorOf([&] { secrets.Read("c", "k", "test"); }).code(), "secret_not_found");
  EXPECT_EQ(ErrorOf([&] { secrets.Put({.vault = "c", .key = "-k", .value = "x", .caller_context = ""}); }).code(),
            "validation_failed");
}

TEST_F(MigrateVaultTest, AFailingCommandSaysNothingThatItPrinted) {
  vaults.Create("c", Json{{"get", {"sh", "-c", "echo s3cret; echo s3cret >&2; exit 3"}}}, false, "command");
  const UserError error = ErrorOf([&] { secrets.Read("c", "k", "test"); });
  EXPECT_EQ(error.code(), "vault_command_failed");
  EXPECT_THAT(error.message(), HasSubstr("exit code 3"));
  EXPECT_THAT(error.message() + error.hint(), Not(HasSubstr("s3cret")));
  EXPECT_EQ(ErrorOf([&] { secrets.Delete("c", "k", false, "test"); }).code(), "vault_unsupported");
  EXPECT_EQ(ErrorOf([&] { secrets.List("c"); }).code(), "vault_unsupported");
}

TEST_F(MigrateVaultTest, ACommandsLineEndIsNoPartOfTheValue) {
  vaults.Create("c", Json{{"get", {"printf", "value of {key}\\n"}}}, false, "command");
  EXPECT_EQ(secrets.Read("c", "k", "test").value, "value of k");
}

}  // namespace
}  // namespace swamp

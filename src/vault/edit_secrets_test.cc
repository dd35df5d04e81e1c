#include "vault/edit_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vault/test_vault.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SecretsTest : public ::testing::Test {
 protected:
  SecretsTest() { vaults.Create("v"); }
  Secrets::Change Put(const std::string& key, const std::string& value, bool overwrite = false) {
    return secrets.Put({.vault = "v", .key = key, .value = value, .overwrite = overwrite, .caller_context = "test"});
  }
  std::vector<std::string> Actions() {
    std::vector<std::string> actions;
    for (const Json& entry : AuditTrail(vaults.context, vaults.repo).Find({}).entries) {
      actions.push_back(entry["action"].get<std::string>() + " " + entry["secretKey"].get<std::string>());
    }
    return actions;
  }
  TestVaults vaults;
  Secrets secrets{vaults.context, *vaults.config, vaults.repo};
};

TEST_F(SecretsTest, VA23_RecordsWhatHappenedAndNothingElse) {
  Put("k", "value");
  EXPECT_EQ(ErrorOf([&] { Put("k", "other"); }).code(), "already_exists");
  secrets.Annotate({.vault = "v", .key = "k", .notes = "n", .caller_context = "test"});
  secrets.Read("v", "k", "test");
  secrets.Inspect("v", "k", "test");
  EXPECT_EQ(ErrorOf([&] { secrets.Delete("v", "none", false, "test"); }).code(), "secret_not_found");
  secrets.Delete("v", "none", true, "test");
  secrets.Delete("v", "k", false, "test");
  EXPECT_THAT(Actions(), ElementsAre("put k", "annotate k", "delete k"));
}

TEST_F(SecretsTest, OverwritesOnlyWhenTold) {
  EXPECT_FALSE(Put("k", "value").existed);
  EXPECT_EQ(ErrorOf([&] { Put("k", "other"); }).code(), "already_exists");
  EXPECT_EQ(secrets.Read("v", "k", "test").value, "value");
  EXPECT_TRUE(Put("k", "other", true).existed);
  EXPECT_EQ(secrets.Read("v", "k", "test").value, "other");
}

TEST_F(SecretsTest, AnnotationsMerge) {
  Put("k", "value");
  secrets.Annotate({.vault = "v", .key = "k", .url = "u", .labels = {{"a", "1"}, {"b", "2"}}, .caller_context = "t"});
  const auto done = secrets.Annotate({.vault = "v",
                                      .key = "k",
                                      .notes = "n",
                                      .labels = {{"a", "3"}, {"c", "4"}},
                                      .removed_labels = {"b", "c"},
                                      .caller_context = "t"});
  EXPECT_THAT(done.fields, ElementsAre("notes", "labels"));
  EXPECT_EQ(done.annotation.dump(), R"({"updatedAt":")" + FormatTime(done.at) +
                                        R"(","url":"u","notes":"n","labels":{"a":"3"}})");
  EXPECT_EQ(secrets.Inspect("v", "k", "t").annotation, done.annotation);
  EXPECT_TRUE(secrets.Annotate({.vault = "v", .key = "k", .clear = true, .caller_context = "t"}).annotation.is_null());
  EXPECT_TRUE(secrets.Inspect("v", "k", "t").annotation.is_null());
  EXPECT_EQ(ErrorOf([&] { secrets.Annotate({.vault = "v", .key = "none", .url = "u", .caller_context = "t"}); }).code(),
            "secret_not_found");
}

TEST_F(SecretsTest, VA24_ASecretsNotesGoWithIt) {
  Put("k", "value");
  secrets.Annotate({.vault = "v", .key = "k", .url = "u", .caller_context = "t"});
  secrets.Delete("v", "k", false, "t");
  Put("k", "value");
  EXPECT_TRUE(secrets.Inspect("v", "k", "t").annotation.is_null());
}

TEST_F(SecretsTest, InspectMeasuresWithoutShowing) {
  Put("k", "a\xc3\xa9\xf0\x9f\x98\x80");
  const Secrets::Facts facts = secrets.Inspect("v", "k", "t");
  EXPECT_EQ(facts.bytes, 7U);
  EXPECT_EQ(facts.characters, 3U);
  EXPECT_TRUE(facts.supports_annotations);
}

TEST_F(SecretsTest, TheProgramsOwnVaultsCannotBeChanged) {
  vaults.Write("vaults/local_encryption/a.yaml", "id: a\nname: _own\ntype: local_encryption\nconfig: {auto_generate: true}\n");
  for (const char* name : {"_own", "a"}) {
    EXPECT_EQ(ErrorOf([&] { secrets.ListForChange(name, "k"); }).code(), "validation_failed");
    EXPECT_EQ(ErrorOf([&] { secrets.Put({.vault = name, .key = "k", .value = "x"}); }).code(), "validation_failed");
    EXPECT_EQ(ErrorOf([&] { secrets.Delete(name, "k", true, ""); }).code(), "validation_failed");
  }
}

TEST_F(SecretsTest, VA07_OneBadConfigurationStopsNoOther) {
  Put("k", "value");
  vaults.Write("vaults/local_encryption/bad.yaml", "a: [");
  vaults.Write("vaults/strange/x.yaml", "id: x\nname: x\ntype: strange\n");
  vaults.Write("vaults/1password/o.yaml", "id: o\nname: o\ntype: 1password\n");
  EXPECT_EQ(secrets.Read("v", "k", "t").value, "value");
  EXPECT_THAT(vaults.log.warnings(), ::testing::Contains(HasSubstr("bad.yaml")));
  EXPECT_EQ(ErrorOf([&] { secrets.Read("x", "k", "t"); }).code(), "unknown_vault_type");
  EXPECT_EQ(ErrorOf([&] { secrets.Read("o", "k", "t"); }).hint(), "swamp extension pull @swamp/1password");
  EXPECT_EQ(ErrorOf([&] { secrets.Read("bad", "k", "t"); }).code(), "yaml_invalid");
}

// ---- refresh hooks ----

TEST_F(SecretsTest, ASecretThatIsDueIsRefreshedWhenItIsUsed) {
  vaults.Write("source", "first \n\n");
  const RefreshHook hook{.command = "cat source && echo x >> runs", .ttl = std::chrono::minutes(90), .last = {}};
  secrets.Put({.vault = "v", .key = "k", .value = std::nullopt, .refresh = hook, .caller_context = "t"});
  EXPECT_EQ(secrets.Read("v", "k", "t").value, "first") << "the command gives the first value";
  vaults.Write("source", "second");
  EXPECT_EQ(secrets.Read("v", "k", "t").value, "first");
  EXPECT_EQ(secrets.Inspect("v", "k", "t").refresh_hook.at("ttl"), "1h30m");
  vaults.world.clock.Advance(std::chrono::minutes(90));
  secrets.Inspect("v", "k", "t");
  EXPECT_EQ(vaults.Read("runs"), "x\n") << "inspect refreshes nothing";
  EXPECT_EQ(secrets.Read("v", "k", "t").value, "second");
  EXPECT_EQ(secrets.Read("v", "k", "t").value, "second");
  EXPECT_EQ(vaults.Read("runs"), "x\nx\n");
  EXPECT_EQ(secrets.Inspect("v", "k", "t").refresh_hook.at("lastRefreshedAt"), FormatTime(vaults.world.clock.Now()));
  secrets.Put({.vault = "v", .key = "k", .value = "third", .overwrite = true, .clear_refresh = true, .caller_context = ""});
  EXPECT_TRUE(secrets.Inspect("v", "k", "t").refresh_hook.is_null());
}

TEST_F(SecretsTest, ARefreshThatFailsLeavesTheOldValue) {
  for (const char* command : {"echo n3w; exit 1", "true", "printf '\\377'", "echo n3w >&2; false"}) {
    const RefreshHook hook{.command = command, .ttl = std::chrono::minutes(1), .last = {}};
    secrets.Put({.vault = "v", .key = "k", .value = "old", .overwrite = true, .refresh = hook, .caller_context = "t"});
    EXPECT_EQ(secrets.Read("v", "k", "t").value, "old");
    EXPECT_THAT(vaults.log.warnings().back(), HasSubstr("its old value is used"));
    EXPECT_THAT(vaults.log.warnings().back(), ::testing::Not(HasSubstr("n3w")));
  }
  const RefreshHook hook{.command = "false", .ttl = std::chrono::minutes(1), .last = {}};
  EXPECT_EQ(ErrorOf([&] {
              secrets.Put({.vault = "v", .key = "new", .value = std::nullopt, .refresh = hook, .caller_context = "t"});
            }).code(),
            "vault_command_failed");
}

TEST(ValueOfInput, VA08_DropsTheLineEndOfASingleLineOnly) {
  const auto value = [](const std::string& input) { return ValueOfInput(input, "x"); };
  EXPECT_EQ(value("x\n"), "x");
  EXPECT_EQ(value("x\r\n"), "x");
  EXPECT_EQ(value("x"), "x");
  EXPECT_EQ(value("x\r"), "x\r");
  EXPECT_EQ(value("a\n\n"), "a\n\n");
  EXPECT_EQ(value("a\nb\n"), "a\nb\n");
  EXPECT_EQ(value("\n"), "");
  EXPECT_EQ(ErrorOf([&] { value("a\xff"); }).code(), "validation_failed");
}

}  // namespace
}  // namespace swamp

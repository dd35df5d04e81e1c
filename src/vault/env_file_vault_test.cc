#include "vault/env_file_vault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vault/test_vault.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ValueOf(const std::string& text) { return ParseEnvFile("K=" + text, "f")["K"]; }

TEST(EnvFile, LinesAreKeysAndValues) {
  const auto values = ParseEnvFile("# comment\n\n A = one two \nexport B=2\r\nC=\nA=last\nD=x=y # z\n", "f");
  EXPECT_EQ(values, (std::map<std::string, std::string>{{"A", "last"}, {"B", "2"}, {"C", ""}, {"D", "x=y # z"}}));
}

// VA-13
TEST(EnvFile, VA13_NothingIsExpanded) {
  EXPECT_EQ(ValueOf("$HOME `x` $(y) %s"), "$HOME `x` $(y) %s");
  EXPECT_EQ(ValueOf("'a \\n \"b\" $c' # d"), "a \\n \"b\" $c");
  EXPECT_EQ(ValueOf("\"a\\n\\t\\\"\\\\\\$b \\x\""), "a\n\t\"\\$b \\x");
  EXPECT_EQ(ValueOf("\"one\ntwo\"\nL=3"), "one\ntwo");
  EXPECT_EQ(ParseEnvFile("K=\"one\ntwo\"\nL=3", "f")["L"], "3");
}

TEST(EnvFile, AFaultIsToldWithItsLineAndWithoutAValue) {
  for (const char* text : {"A=1\nhunter2\n", "A=1\n=hunter2\n", "A=1\nB='hunter2\n", "A=1\nB='hunter2' x\n"}) {
    const UserError error = ErrorOf([&] { ParseEnvFile(text, "the file"); });
    EXPECT_THAT(error.message(), AllOf(HasSubstr("the file, line "), Not(HasSubstr("hunter2")))) << text;
  }
}

class EnvFileVaultTest : public ::testing::Test {
 protected:
  EnvFileVaultTest() {
    Write("A=1\nB='two'\n");
    vaults_.Create("v", Json{{"path", "secrets.env"}}, false, "env_file");
  }
  void Write(const std::string& text, unsigned mode = 0600) {
    WriteFileAtomically(vaults_.world.files, vaults_.root / "secrets.env", text, mode);
    vaults_.world.files.SetMode(vaults_.root / "secrets.env", mode);
  }
  TestVaults vaults_;
};

TEST_F(EnvFileVaultTest, ReadsAndListsAndDoesNothingElse) {
  const auto vault = vaults_.Open("v");
  EXPECT_THAT(vault->List(), ElementsAre("A", "B"));
  EXPECT_EQ(vault->Get("B"), "two");
  EXPECT_EQ(vault->Get("C"), std::nullopt);
  EXPECT_EQ(ErrorOf([&] { vault->Put("A", "x", {}); }).code(), "vault_unsupported");
  EXPECT_EQ(ErrorOf([&] { vault->Delete("A"); }).code(), "vault_unsupported");
}

TEST_F(EnvFileVaultTest, AFileThatOthersMayReadIsRefused) {
  Write("A=1\n", 0640);
  EXPECT_THAT(ErrorOf([&] { vaults_.Open("v")->Get("A"); }).message(), HasSubstr("0640"));
  fs::remove(vaults_.root / "secrets.env");
  EXPECT_EQ(ErrorOf([&] { vaults_.Open("v")->Get("A"); }).code(), "vault_config_invalid");
  EXPECT_EQ(ErrorOf([&] { vaults_.Create("w", Json::object(), false, "env_file"); }).code(), "validation_failed");
}

}  // namespace
}  // namespace swamp

#include "model/shell_secrets.h"

#include <gmock/gmock.h>

#include "model/expressions_secrets.h"
#include "util/error.h"
#include "util/subprocess.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;

// MW-18: characters that a shell would act on, were the value ever read as shell text.
constexpr std::string_view kNasty = "a;touch pwn$(id)`id`&'\" x$&y$1$$z \\ *";

class ShellSecrets : public ::testing::Test {
 protected:
  // `@` stands for the secret.
  std::string With(std::string text) const {
    for (std::size_t at = 0; (at = text.find('@', at)) != std::string::npos; at += secret.token.size()) {
      text.replace(at, 1, secret.token);
    }
    return text;
  }
  // What the shell makes of it.
  std::string Run(const std::string& text) {
    const ShellCommand command = PlaceSecrets(With(text), tokens);
    SubprocessRequest request;
    request.arguments = {"sh", "-c", command.text};
    request.environment = command.variables;
    request.working_folder = folder.path();
    const SubprocessResult result = RunSubprocess(world.context, request);
    EXPECT_EQ(result.errors, "") << command.text;
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "pwn"));
    return result.output;
  }
  std::string WhyRefused(const std::string& text) {
    try {
      PlaceSecrets(With(text), tokens);
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "validation_failed");
      EXPECT_THAT(error.message(), ::testing::Not(HasSubstr(kNasty)));
      return error.message();
    }
    return "it was not refused";
  }

  RealTimeWorld world;
  TemporaryFolder folder;
  SecretTokens tokens{world.random};
  const SecretTokens::Secret& secret = tokens.Add("v", "k", std::string(kNasty));
};

TEST_F(ShellSecrets, MW18_AValueReachesTheCommandByteForByteHoweverItIsQuoted) {
  const std::string nasty(kNasty);
  const std::pair<std::string, std::string> cases[] = {
      {"printf %s @", nasty},
      {"printf %s \"@\"", nasty},
      {"printf %s \"<@>\" x@y", "<" + nasty + ">x" + nasty + "y"},
      {"printf %s 'it'\"'\"'s' @", "it's" + nasty},
      {"# don't mind\nprintf %s @", nasty},
      {"printf %s a#b'c' @", "a#bc" + nasty},
      {"printf %s \\'@", "'" + nasty},
      {"printf %s \\@", nasty},
      {"printf %s \"\\\"@\"", "\"" + nasty},
      {"printf %s \"$(printf %s '<'; printf %s @)\"", "<" + nasty},
      {"printf %s \"$(printf %s \"@\")\"", nasty},
      {"printf %s \"`printf %s 1`@\"", "1" + nasty},
      {"printf %s \"${none:-@}\"", nasty},
      {"printf %s ${none:-@}", nasty},
      {"cat <<END\nit's @\nEND\nprintf %s @", "it's " + nasty + "\n" + nasty},
      {"cat <<-END\n\t<@>\n\tEND\nprintf %s \"@\"", "<" + nasty + ">\n" + nasty},
      {"cat <<A <<B; printf %s @\nx\nA\n@\nB\n", nasty + "\n" + nasty},
  };
  for (const auto& [text, output] : cases) {
    if (text.find("<<A <<B") != std::string::npos) {
      EXPECT_EQ(Run(text), nasty + "\n" + nasty) << text;  // cat reads the second document
    } else {
      EXPECT_EQ(Run(text), output) << text;
    }
  }
}

TEST_F(ShellSecrets, WhereTheShellPutsNothingInIsRefused) {
  EXPECT_THAT(WhyRefused("printf %s '@'"), HasSubstr("the secret k of the vault v stands within single quotes"));
  EXPECT_THAT(WhyRefused("printf %s \"$(printf '%s @')\""), HasSubstr("single quotes"));
  EXPECT_THAT(WhyRefused("cat <<'END'\n@\nEND\n"), HasSubstr("here-document"));
  EXPECT_THAT(WhyRefused("cat <<\\END\n@\nEND\n"), HasSubstr("here-document"));
  // Each place is judged.
  EXPECT_THAT(WhyRefused("printf %s @ '@'"), HasSubstr("single quotes"));
}

TEST_F(ShellSecrets, OneVariableForEachSecret) {
  const SecretTokens::Secret& other = tokens.Add("v", "other", "o");
  const ShellCommand command = PlaceSecrets(With("echo @ ") + other.token + With(" @"), tokens);
  EXPECT_EQ(command.text, "echo \"${__SWAMP_VAULT_1}\" \"${__SWAMP_VAULT_2}\" \"${__SWAMP_VAULT_1}\"");
  EXPECT_EQ(command.variables.size(), 2u);
}

TEST_F(ShellSecrets, TextWithoutSecretsStays) {
  EXPECT_EQ(PlaceSecrets("it's; cat <<E", tokens).text, "it's; cat <<E");
}

}  // namespace
}  // namespace swamp

#include "model/shell.h"

#include <gmock/gmock.h>

#include "model/expressions_secrets.h"
#include "util/error.h"
#include "util/test_world.h"
#include "vault/redactor.h"

namespace swamp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps in memory what a method writes.
class RecordingHost final : public MethodHost {
 public:
  explicit RecordingHost(const std::filesystem::path& folder) : folder_(folder) {}
  const Context& context() const override { return run_context ? *run_context : world.context; }
  const SecretTokens& secrets() const override { return tokens; }
  const Redactor& redactor() const override { return hidden; }
  std::map<std::string, std::string> ChildVariables() const override { return {{"FROM_THE_RUN", "yes"}}; }
  void Log(LogLevel level, std::string_view line) override {
    lines.push_back((level == LogLevel::kWarning ? "W " : "I ") + std::string(line));
  }
  std::unique_ptr<MethodFile> BeginFile(const std::string& spec, const std::string&) override {
    return std::make_unique<File>(*this, spec);
  }
  void WriteResource(const std::string& spec, const std::string&, const Json& attributes) override {
    resources[spec] = attributes;
  }

  RealTimeWorld world;
  std::optional<Context> run_context;
  SecretTokens tokens{world.random};
  Redactor hidden;
  std::vector<std::string> lines;
  std::map<std::string, std::string> files;  // finished ones
  std::map<std::string, Json> resources;

 private:
  class File final : public MethodFile {
   public:
    File(RecordingHost& host, std::string spec) : host_(host), spec_(std::move(spec)) {}
    void Append(std::string_view bytes) override { text_ += bytes; }
    void Finish() override { host_.files[spec_] = text_; }
    std::optional<std::filesystem::path> final_path() const override { return host_.folder_ / spec_; }
    void Reserve(std::uint64_t) override {}

   private:
    RecordingHost& host_;
    std::string spec_;
    std::string text_;
  };
  std::filesystem::path folder_;
};

class Shell : public ::testing::Test {
 protected:
  void Run(const Json& arguments) {
    const Json none = Json::object();
    RunShellMethod({none, arguments, host});
  }
  const Json& Result() { return host.resources.at("result"); }
  std::pair<std::string, std::string> Failure(const Json& arguments) {
    try {
      Run(arguments);
    } catch (const UserError& error) {
      EXPECT_TRUE(host.resources.empty());
      EXPECT_TRUE(host.files.empty());
      return {error.code(), error.message()};
    }
    return {"", "it did not fail"};
  }

  TemporaryFolder folder;
  RecordingHost host{folder.path()};
};

TEST_F(Shell, KeepsWhatTheCommandPrints) {
  Run({{"run", "echo hi; echo there; echo oh >&2"}});
  EXPECT_EQ(Result()["exitCode"], 0);
  EXPECT_EQ(Result()["stdout"], "hi\nthere");
  EXPECT_EQ(Result()["stderr"], "oh");
  EXPECT_EQ(Result()["command"], "echo hi; echo there; echo oh >&2");
  EXPECT_EQ(host.files.at("log"), "[stdout]\nhi\nthere\n[stderr]\noh");
  EXPECT_THAT(host.lines, ::testing::UnorderedElementsAre("I hi", "I there", "W oh"));
}

TEST_F(Shell, TheLogHasOnlyThePartsThatAreNotEmpty) {
  Run({{"run", "true"}});
  EXPECT_EQ(host.files.at("log"), "");
  EXPECT_EQ(Result()["stdout"], "");
  Run({{"run", "echo oh >&2"}});
  EXPECT_EQ(host.files.at("log"), "[stderr]\noh");
  Run({{"run", "printf 'a\\n\\n'"}});
  EXPECT_EQ(Result()["stdout"], "a\n");
}

TEST_F(Shell, MW06_ANonZeroExitFailsAndWritesNothing) {
  EXPECT_EQ(Failure({{"run", "echo hi; exit 3"}}), std::pair(std::string("method_execution_failed"), std::string("Command exited with code 3")));
  EXPECT_EQ(Failure({{"run", "no-such-command-xyz"}}).second, "Command exited with code 127");
  EXPECT_EQ(Failure({{"run", "kill -9 $$"}}).second, "Command exited with code 137");
  Run({{"run", "no-such-command-xyz"}, {"ignoreExitCode", true}});
  EXPECT_EQ(Result()["exitCode"], 127);
}

TEST_F(Shell, TakesFolderAndVariables) {
  Run({{"run", "pwd; echo $A $FROM_THE_RUN"}, {"workingDir", "/usr"}, {"env", {{"A", "b c"}}}});
  EXPECT_EQ(Result()["stdout"], "/usr\nb c yes");
}

TEST_F(Shell, AFolderThatIsNotThereIsNamed) {
  EXPECT_EQ(Failure({{"run", "true"}, {"workingDir", "/no/such"}}),
            std::pair(std::string("method_execution_failed"), std::string("cannot start sh in /no/such: No such file or directory")));
}

TEST_F(Shell, ATimeOutIsToldAsOne) {
  const auto [code, message] = Failure({{"run", "echo begun; sleep 30 & wait"}, {"timeout", 200}});
  EXPECT_EQ(code, "method_timeout");
  EXPECT_THAT(message, HasSubstr("200 ms"));
  EXPECT_THAT(host.lines, ElementsAre("I begun"));
}

TEST_F(Shell, TheRunsOwnLimitIsNotTheArguments) {
  host.run_context = host.world.context.WithTimeout(Duration(200));
  EXPECT_THROW(Run({{"run", "sleep 30"}, {"timeout", 20000}}), DeadlineExceeded);
}

TEST_F(Shell, SecretsAreInTheEnvironmentAndNowhereElse) {
  const auto& secret = host.tokens.Add("v", "k", "s3cret-value");
  host.hidden.Add(secret.value);
  Run({{"run", "printf '%s\\n' <" + std::string("/dev/null") + " " + secret.token + "; echo s3cret-; tr '\\0' '\\n' < /proc/$$/cmdline >&2"}});
  EXPECT_EQ(Result()["stdout"], "***\ns3cret-");
  EXPECT_THAT(Result()["command"].get<std::string>(), HasSubstr("***"));
  for (const std::string& line : host.lines) EXPECT_THAT(line, ::testing::Not(HasSubstr("s3cret-value")));
  EXPECT_THAT(host.files.at("log"), ::testing::Not(HasSubstr("s3cret-value")));
  EXPECT_THAT(host.files.at("log"), HasSubstr("__SWAMP_VAULT_1"));  // what `ps` shows
}

TEST_F(Shell, ASecretInPiecesIsFoundAllTheSame) {
  const auto& secret = host.tokens.Add("v", "k", "first-second");
  host.hidden.Add(secret.value);
  Run({{"run", "printf first-; sleep 0.2; printf 'second done'"}});
  EXPECT_EQ(Result()["stdout"], "*** done");
}

TEST_F(Shell, TheResultHasTheBeginningAndTheLogHasAll) {
  Run({{"run", "head -c 3000000 /dev/zero | tr '\\0' x; head -c 2000000 /dev/zero | tr '\\0' y >&2"}});
  const std::string output = Result()["stdout"];
  EXPECT_LT(output.size(), (1u << 20) + 100);
  EXPECT_THAT(output.substr(output.size() - 60), HasSubstr("\n[cut at 1 MiB"));
  const std::string& log = host.files.at("log");
  EXPECT_EQ(std::count(log.begin(), log.end(), 'x'), 3'000'000);
  EXPECT_EQ(std::count(log.begin(), log.end(), 'y'), 2'000'000);
  for (const std::string& line : host.lines) EXPECT_LE(line.size(), (64u << 10) + 2);
}

TEST_F(Shell, ACutIsNeverWithinACharacter) {
  Run({{"run", "printf x; yes ä | head -c 1600000 | tr -d '\\n'"}});
  const std::string output = Result()["stdout"];
  EXPECT_EQ(output.substr(0, output.find('\n')).size() % 2, 1u);  // "x" and whole letters of two bytes
}

}  // namespace
}  // namespace swamp

#include "util/subprocess.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "util/error.h"
#include "util/test_world.h"

namespace swamp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Subprocess : public testing::Test {
 protected:
  SubprocessResult Run(std::vector<std::string> arguments, std::string input = {}) {
    SubprocessRequest request;
    request.arguments = std::move(arguments);
    request.input = std::move(input);
    return RunSubprocess(world.context, request);
  }
  SubprocessResult Shell(const std::string& script) { return Run({"/bin/sh", "-c", script}); }

  RealTimeWorld world;
};

TEST_F(Subprocess, AnswersExitCodeOutputAndErrorsApart) {
  const SubprocessResult result = Shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST_F(Subprocess, PassesArgumentsWithoutAShell) {
  EXPECT_EQ(Run({"printf", "%s|", "$HOME", "a b", "*", ""}).output, "$HOME|a b|*||");
}

TEST_F(Subprocess, GivesItsInputHoweverLong) {
  const std::string input(1'000'000, 'i');
  EXPECT_EQ(Run({"cat"}, input).output, input);
  EXPECT_EQ(Run({"cat", "/dev/stdin"}, "reopened").output, "reopened");
  EXPECT_EQ(Run({"cat"}).output, "");
  // A program that doesn't care for its input.
  EXPECT_EQ(Run({"true"}, input).exit_code, 0);
}

TEST_F(Subprocess, SetsVariablesAndFolder) {
  SubprocessRequest request;
  request.arguments = {"/bin/sh", "-c", "echo $SWAMP_TEST_VARIABLE $PATH; pwd"};
  request.environment = {{"SWAMP_TEST_VARIABLE", "set"}, {"PATH", "/elsewhere"}};
  request.working_folder = "/usr";
  EXPECT_EQ(RunSubprocess(world.context, request).output, "set /elsewhere\n/usr\n");
}

TEST_F(Subprocess, AProgramKilledBySignalHasItsNumberIn128) {
  EXPECT_EQ(Shell("kill -9 $$").exit_code, 137);
}

TEST_F(Subprocess, AMissingProgramIsAnErrorThatNamesIt) {
  try {
    Run({"no-such-program-here"});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), "program_not_started");
    EXPECT_EQ(error.message(), "cannot start no-such-program-here: No such file or directory");
  }
}

TEST_F(Subprocess, TheDeadlineEndsItWithAllItsChildren) {
  const TemporaryFolder folder;
  const std::string pid_file = (folder.path() / "pid").native();
  const Context limited = world.context.WithTimeout(Duration(300));
  SubprocessRequest request;
  request.arguments = {"/bin/sh", "-c", "sleep 600 & echo $! > " + pid_file + "; wait"};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(RunSubprocess(limited, request), DeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  const pid_t grandchild = std::stoi(*ReadFile(world.files, pid_file));
  // It may linger as a zombie until init has fetched it, but it does not run.
  for (int i = 0; i < 100 && ::kill(grandchild, 0) == 0; ++i) {
    const auto status = ReadFile(world.files, "/proc/" + std::to_string(grandchild) + "/stat");
    if (!status || status->find(") Z") != std::string::npos) break;
    std::this_thread::sleep_for(Duration(20));
    ASSERT_LT(i, 99) << "it runs on";
  }
}

TEST_F(Subprocess, OneThatIgnoresTheRequestToEndIsKilled) {
  const Context limited = world.context.WithTimeout(Duration(200));
  SubprocessRequest request;
  request.arguments = {"/bin/sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(RunSubprocess(limited, request), DeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST_F(Subprocess, CancellationEndsIt) {
  std::jthread canceller([&] {
    std::this_thread::sleep_for(Duration(100));
    world.cancellation.Request(2);
  });
  EXPECT_THROW(Run({"sleep", "600"}), Cancelled);
}

TEST_F(Subprocess, DoesNotWaitForWhatStaysInTheBackground) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Shell("sleep 3 & echo done").output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(Subprocess, TooMuchOutputIsAnError) {
  SubprocessRequest request;
  request.arguments = {"yes"};
  request.output_limit = 100'000;
  EXPECT_THROW(RunSubprocess(world.context, request), UserError);
}

TEST_F(Subprocess, InheritsNoOpenFiles) {
  const int leak = ::dup(STDOUT_FILENO);                       // without close-on-exec
  EXPECT_EQ(Shell("ls /proc/self/fd | wc -l").output, "4\n");  // ls itself opens the folder
  ::close(leak);
}

TEST_F(Subprocess, ManyAtOnce) {
  world.executor.ForEach(world.context, 40, 8, [&](const Context& context, std::size_t i) {
    SubprocessRequest request;
    request.arguments = {"echo", std::to_string(i)};
    EXPECT_EQ(RunSubprocess(context, request).output, std::to_string(i) + "\n");
  });
}

TEST(SplitShellWords, UnderstandsQuotesAndBackslashes) {
  EXPECT_THAT(*SplitShellWords("  a 'b c'\t\"d \\\"e\\\" \\x $f\" g\\ h i'j'\"k\" '' "),
              ElementsAre("a", "b c", "d \"e\" \\x $f", "g h", "ijk", ""));
  EXPECT_THAT(*SplitShellWords(""), testing::IsEmpty());
  EXPECT_EQ(SplitShellWords("a 'b"), std::nullopt);
  EXPECT_EQ(SplitShellWords("a \"b"), std::nullopt);
  EXPECT_EQ(SplitShellWords("a \\"), std::nullopt);
}

}  // namespace
}  // namespace swamp

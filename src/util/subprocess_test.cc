#include "util/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
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

// It may linger as a zombie until init has fetched it, but it does not run.
bool IsGone(pid_t pid) {
  RealTimeWorld world;
  for (int i = 0; i < 100; ++i) {
    if (::kill(pid, 0) != 0) return true;
    const auto status = ReadFile(world.files, "/proc/" + std::to_string(pid) + "/stat");
    if (!status || status->find(") Z") != std::string::npos) return true;
    std::this_thread::sleep_for(Duration(20));
  }
  return false;
}

void WriteFifo(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY);
  EXPECT_EQ(::write(file, "answer\n", 7), 7);
  ::close(file);
}

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

class Streaming : public testing::Test {
 protected:
  int Run(const Context& context, const std::string& script) {
    SubprocessRequest request;
    request.arguments = {"/bin/sh", "-c", script};
    return StreamSubprocess(context, request, options);
  }
  int Run(const std::string& script) { return Run(world.context, script); }

  RealTimeWorld world;
  std::string output;
  std::string errors;
  StreamOptions options{.take = [this](OutputStream stream, std::string_view piece) {
    (stream == OutputStream::kOutput ? output : errors) += piece;
  }};
};

TEST_F(Streaming, DeliversBothStreamsAndTheExitCode) {
  EXPECT_EQ(Run("echo out; echo err >&2; exit 3"), 3);
  EXPECT_EQ(output, "out\n");
  EXPECT_EQ(errors, "err\n");
  EXPECT_EQ(Run("kill -9 $$"), 137);
}

TEST_F(Streaming, DeliversOutputWhileTheProgramRuns) {
  const TemporaryFolder folder;
  const std::string go = (folder.path() / "go").native();
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  // The program waits for us to have seen its first line.
  options.take = [&](OutputStream, std::string_view piece) {
    output += piece;
    if (output == "first\n") WriteFifo(go);
  };
  EXPECT_EQ(Run("echo first; read line < " + go + "; echo $line"), 0);
  EXPECT_EQ(output, "first\nanswer\n");
}

TEST_F(Streaming, TakesMuchOutputInSmallPieces) {
  std::uint64_t total = 0;
  std::size_t largest = 0;
  options.take = [&](OutputStream, std::string_view piece) {
    total += piece.size();
    largest = std::max(largest, piece.size());
  };
  EXPECT_EQ(Run("head -c 64000000 /dev/zero"), 0);
  EXPECT_EQ(total, 64'000'000u);
  EXPECT_LE(largest, 64u << 10);
}

TEST_F(Streaming, AChildInTheBackgroundThatHoldsThePipeIsReadForAWhileOnly) {
  options.drain = Duration(200);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Run("sleep 30 & echo $!"), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  ::kill(std::stoi(output), SIGKILL);
}

TEST_F(Streaming, WhatABackgroundChildWritesSoonIsDelivered) {
  EXPECT_EQ(Run("(sleep 0.2; echo late) & echo early"), 0);
  EXPECT_EQ(output, "early\nlate\n");
}

TEST_F(Streaming, TheDeadlineCountsToTheExitOfTheProgramItself) {
  options.drain = Duration(400);
  const Context limited = world.context.WithTimeout(Duration(200));
  EXPECT_EQ(Run(limited, "sleep 30 & echo $!"), 0);
  ::kill(std::stoi(output), SIGKILL);
}

TEST_F(Streaming, TheDeadlineEndsTheGroupAndLastWordsAreHeard) {
  const Context limited = world.context.WithTimeout(Duration(200));
  EXPECT_THROW(Run(limited, "trap 'echo bye; exit 0' TERM; sleep 30 & echo $!; wait"), DeadlineExceeded);
  ASSERT_TRUE(output.ends_with("bye\n")) << output;
  const pid_t grandchild = std::stoi(output);
  EXPECT_TRUE(IsGone(grandchild));
}

TEST_F(Streaming, WhoIgnoresTermIsKilledAfterTheGrace) {
  options.grace = Duration(200);
  std::jthread canceller;
  options.take = [&](OutputStream, std::string_view piece) {
    output += piece;
    world.cancellation.Request(SIGINT);
  };
  EXPECT_THROW(Run("trap '' TERM; echo $$; while :; do sleep 0.05; done"), Cancelled);
  EXPECT_TRUE(IsGone(std::stoi(output)));
}

TEST_F(Streaming, AGrandchildThatIgnoresTermDoesNotSurviveItsParent) {
  options.grace = Duration(200);
  options.take = [&](OutputStream, std::string_view piece) {
    output += piece;
    world.cancellation.Request(SIGINT);
  };
  EXPECT_THROW(Run("(trap '' TERM; exec sleep 30) & echo $!; wait"), Cancelled);
  EXPECT_TRUE(IsGone(std::stoi(output)));
}

TEST_F(Streaming, AFailureOfTheReceiverEndsTheProgram) {
  options.grace = Duration(100);
  options.take = [&](OutputStream, std::string_view piece) {
    output += piece;
    throw UserError("disk_full", "no space");
  };
  EXPECT_THROW(Run("echo $$; sleep 30"), UserError);
  EXPECT_TRUE(IsGone(std::stoi(output)));
}

TEST_F(Streaming, AMissingProgramOrFolderIsNamedWithTheReason) {
  SubprocessRequest request;
  request.arguments = {"no-such-program-here"};
  const auto message = [&] {
    try {
      StreamSubprocess(world.context, request, options);
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), "program_not_started");
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(message(), "cannot start no-such-program-here: No such file or directory");
  request.arguments = {"sh"};
  request.working_folder = "/no/such/folder";
  EXPECT_EQ(message(), "cannot start sh in /no/such/folder: No such file or directory");
}

TEST_F(Streaming, AllThatRunCanBeKilledAtOnce) {
  options.take = [&](OutputStream, std::string_view) { EXPECT_TRUE(KillRunningSubprocesses()); };
  EXPECT_EQ(Run("trap '' TERM; echo ready; sleep 30"), 137);
  EXPECT_FALSE(KillRunningSubprocesses());
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

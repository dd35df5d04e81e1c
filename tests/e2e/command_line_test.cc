// What every command has in common: usage errors, help, one JSON document, exit codes.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::HasSubstr;

class CommandLine : public ::testing::Test {
 protected:
  // Not in a repository.
  RunResult Run(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& extra = {}) {
    std::vector<std::string> words = {SWAMP_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::map<std::string, std::string> environment = {{"HOME", folder_.path().string()}, {"PATH", "/usr/bin:/bin"}};
    for (const auto& [name, value] : extra) environment[name] = value;
    return RunProcess(words, environment, folder_.path(), std::nullopt, {});
  }
  TemporaryFolder folder_;
};

TEST_F(CommandLine, CI10_AnUnknownCommandNamesWhatIsNear) {
  const RunResult result = Run({"datastor", "sync", "now"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("unknown command \"swamp datastor\""));
  EXPECT_THAT(result.err, HasSubstr("Did you mean datastore?"));
  EXPECT_EQ(result.out, "");
}

TEST_F(CommandLine, CI10_AGroupAloneShowsItsCommands) {
  for (const char* group : {"extension", "datastore", "model", "report"}) {
    const RunResult help = Run({group});
    EXPECT_EQ(help.exit_code, 0) << help;
    EXPECT_THAT(help.out, HasSubstr(std::string("swamp ") + group));
    EXPECT_EQ(help.err, "");
    const RunResult json = Run({group, "--json"});
    EXPECT_EQ(json.exit_code, 2) << json;
    EXPECT_EQ(json.error_code(), "usage");
  }
  const RunResult nested = Run({"repo", "frobnicate", "--json"});
  EXPECT_EQ(nested.exit_code, 2);
  EXPECT_EQ(nested.error_code(), "usage");
}

TEST_F(CommandLine, CI09_AReaderThatGoesAwayEndsItQuietly) {
  const auto shell = [&](const std::string& script) {
    return RunProcess({"/bin/bash", "-c", "set -o pipefail; " + script}, {{"HOME", folder_.path().string()}, {"PATH", "/usr/bin:/bin"}},
                      folder_.path(), std::nullopt, {});
  };
  const std::string swamp = SWAMP_PROGRAM;
  for (const std::string& script : {swamp + " help --json | head -1", swamp + " help --json | true"}) {
    const RunResult result = shell(script);
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 141) << result;
    EXPECT_EQ(result.err, "");
  }
  const RunResult full = shell(swamp + " help --json > /dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.error_code(), "output_failed");
}

TEST_F(CommandLine, CI10_AnUnknownOptionNamesWhatIsNear) {
  const RunResult result = Run({"model", "search", "--refesh"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("unknown option --refesh"));
  EXPECT_THAT(result.err, HasSubstr("--refresh"));
}

TEST_F(CommandLine, HelpShowsTheWholePath) {
  const RunResult result = Run({"datastore", "sync", "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("swamp datastore sync [OPTIONS]"));
}

TEST_F(CommandLine, AnErrorIsOneJsonDocumentOnStandardError) {
  const RunResult result = Run({"model", "search", "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.error_code(), "not_a_repository");
}

TEST_F(CommandLine, WhatALibraryRefusesIsAnErrorTooAndNotACrash) {
  Run({"repo", "init", "--tool", "none"});
  EXPECT_EQ(Run({"model", "create", "command/shell", "m1"}).exit_code, 0);
  // The editor's scratch file has nowhere to be.
  const RunResult result = Run({"model", "edit", "m1"}, {{"TMPDIR", "/nonexistent"}, {"EDITOR", "true"}});
  EXPECT_EQ(result.exit_code, 1) << result;
}

TEST_F(CommandLine, VersionPrintsOneLine) {
  const RunResult result = Run({"version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1) << result.out;
}

// OB-09: nothing is sent to anybody who was not asked for, so nothing is waited for.
TEST_F(CommandLine, OB09_NobodyIsTalkedToThatTheCommandDoesNotName) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 16), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  std::map<std::string, std::string> environment;
  for (const char* name : {"SWAMP_CLUB_URL", "SWAMP_TELEMETRY_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT", "SWAMP_SERVE_URL", "http_proxy",
                           "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}) {
    environment[name] = url;
  }
  ASSERT_EQ(Run({"init", ".", "--tool", "none"}, environment).exit_code, 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"model", "create", "command/shell", "m1"}, {"model", "get", "m1"}, {"model", "search"},
        {"model", "method", "run", "m1", "execute", "--input", "run=true"}, {"data", "list", "m1"}, {"vault", "search"},
        {"extension", "list"}, {"datastore", "status"}, {"doctor"}, {"version"}, {"help"}}) {
    const RunResult result = Run(words, environment);
    EXPECT_EQ(result.exit_code, 0) << result;
  }
  EXPECT_EQ(::accept(listener, nullptr, nullptr), -1) << "somebody has called";
  ::close(listener);
}

}  // namespace
}  // namespace swamp::e2e

// Search commands at a terminal: a list from which one is picked. The terminal is a pseudo-terminal.

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "backends.h"

namespace swamp::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kPatience = 20'000;  // ms

// The program at a terminal.
class AtTerminal {
 public:
  AtTerminal(const Checkout& checkout, std::vector<std::string> arguments, std::map<std::string, std::string> environment = {}) {
    winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    if (::openpty(&terminal_, &other_end_, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty");
    ::tcgetattr(other_end_, &before_);
    arguments.insert(arguments.begin(), SWAMP_PROGRAM);
    environment.try_emplace("TERM", "xterm");
    environment["HOME"] = checkout.home();
    environment["PATH"] = "/usr/bin:/bin";
    std::vector<char*> argv;
    for (std::string& one : arguments) argv.push_back(one.data());
    argv.push_back(nullptr);
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
    std::vector<char*> envp;
    for (std::string& one : variables) envp.push_back(one.data());
    envp.push_back(nullptr);
    const std::string folder = checkout.folder();
    child_ = ::fork();
    if (child_ == 0) {
      ::setsid();
      for (int descriptor = 0; descriptor < 3; ++descriptor) ::dup2(other_end_, descriptor);
      if (::chdir(folder.c_str()) == 0) ::execve(argv[0], argv.data(), envp.data());
      ::_exit(127);
    }
  }
  ~AtTerminal() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::close(terminal_);
    ::close(other_end_);
  }

  void Type(std::string_view keys) { EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size())); }
  // Reads until the text has come.
  bool Shows(const std::string& text) {
    while (shown_.find(text) == std::string::npos) {
      if (!Read(kPatience)) return false;
    }
    return true;
  }
  // What comes from now on.
  void Forget() { shown_.clear(); }
  // Waits for the end: exit code, or 128 + signal.
  int Wait() {
    int status = 0;
    while (::waitpid(child_, &status, WNOHANG) == 0) Read(20);
    child_ = -1;
    while (Read(0)) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  const std::string& shown() const { return shown_; }
  pid_t child() const { return child_; }
  bool IsAsBefore() const {
    termios now{};
    ::tcgetattr(other_end_, &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag;
  }

 private:
  bool Read(int wait) {
    pollfd ready{terminal_, POLLIN, 0};
    if (::poll(&ready, 1, wait) <= 0) return false;
    char buffer[4096];
    const ssize_t count = ::read(terminal_, buffer, sizeof buffer);
    if (count <= 0) return false;
    shown_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  int terminal_ = -1;
  int other_end_ = -1;
  pid_t child_ = -1;
  termios before_{};
  std::string shown_;
};

class Pickers : public ::testing::Test {
 protected:
  Pickers() : bucket(Backend::kFolder), checkout(bucket.Plain("one")) {
    for (const char* name : {"alpha", "beta", "gamma"}) checkout.Do({"model", "create", "command/shell", name});
  }
  Bucket bucket;
  Checkout& checkout;
};

TEST_F(Pickers, ArrowsAndEnterShowWhatGetShows) {
  AtTerminal terminal(checkout, {"model", "search"});
  ASSERT_TRUE(terminal.Shows("3 of 3"));
  EXPECT_FALSE(terminal.IsAsBefore());
  EXPECT_THAT(terminal.shown(), HasSubstr("\x1b[7m> alpha"));
  terminal.Type("\x1b[B");
  ASSERT_TRUE(terminal.Shows("> beta"));
  terminal.Forget();
  terminal.Type("\r");
  EXPECT_EQ(terminal.Wait(), 0);
  const std::string left = terminal.shown().substr(terminal.shown().rfind("\x1b[J"));  // the list is taken away
  EXPECT_THAT(left, HasSubstr("Name:         beta\r\n"));
  EXPECT_THAT(left, Not(HasSubstr("gamma")));
  EXPECT_TRUE(terminal.IsAsBefore());
}

TEST_F(Pickers, TypingFilters) {
  AtTerminal terminal(checkout, {"model", "search"}, {{"NO_COLOR", "1"}});
  ASSERT_TRUE(terminal.Shows("3 of 3"));
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("\x1b[7m")));
  terminal.Type("gam");
  ASSERT_TRUE(terminal.Shows("1 of 3"));
  terminal.Forget();
  terminal.Type("\r");
  EXPECT_EQ(terminal.Wait(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("Name:         gamma"));
}

TEST_F(Pickers, LeavingPrintsNothingAndGivesTheTerminalBack) {
  AtTerminal left(checkout, {"model", "search"});
  ASSERT_TRUE(left.Shows("3 of 3"));
  left.Type("\x1b");
  EXPECT_EQ(left.Wait(), 0);
  EXPECT_THAT(left.shown(), Not(HasSubstr("Name:")));
  EXPECT_TRUE(left.IsAsBefore());
  AtTerminal interrupted(checkout, {"model", "search"});
  ASSERT_TRUE(interrupted.Shows("3 of 3"));
  interrupted.Type("\x03");
  EXPECT_EQ(interrupted.Wait(), 130);
  EXPECT_TRUE(interrupted.IsAsBefore());
  for (const int signal : {SIGTERM, SIGHUP}) {
    AtTerminal ended(checkout, {"model", "search"});
    ASSERT_TRUE(ended.Shows("3 of 3"));
    ::kill(ended.child(), signal);
    EXPECT_EQ(ended.Wait(), 128 + signal);
    EXPECT_TRUE(ended.IsAsBefore());
  }
}

TEST_F(Pickers, OthersGetTheTable) {
  EXPECT_THAT(checkout.Run({"model", "search"}).out, HasSubstr("NAME"));
  AtTerminal json(checkout, {"model", "search", "--json"});
  EXPECT_EQ(json.Wait(), 0);
  EXPECT_THAT(json.shown(), HasSubstr("\"results\""));
  AtTerminal dumb(checkout, {"model", "search"}, {{"TERM", "dumb"}});
  EXPECT_EQ(dumb.Wait(), 0);
  EXPECT_THAT(dumb.shown(), HasSubstr("gamma"));
  AtTerminal nothing(checkout, {"model", "search", "nosuch"});
  EXPECT_EQ(nothing.Wait(), 0);
  EXPECT_THAT(nothing.shown(), HasSubstr("No model matches."));
}

TEST_F(Pickers, EverySearchHasOne) {
  checkout.Do({"workflow", "create", "w1"});
  checkout.Do({"vault", "create", "local_encryption", "v1"});
  checkout.Do({"model", "method", "run", "alpha", "execute", "--input", "run=echo hi"});
  const std::vector<std::pair<std::vector<std::string>, std::string>> searches = {
      {{"workflow", "search"}, "w1"},
      {{"vault", "search"}, "\"storagePath\""},
      {{"model", "type", "search"}, "execute"},
      {{"model", "output", "search"}, "succeeded"},
      {{"data", "search", "result"}, "exitCode"},
  };
  for (const auto& [words, shown] : searches) {
    AtTerminal terminal(checkout, words);
    ASSERT_TRUE(terminal.Shows("1 of 1")) << words[0];
    terminal.Forget();
    terminal.Type("\r");
    EXPECT_EQ(terminal.Wait(), 0) << words[0];
    EXPECT_THAT(terminal.shown(), HasSubstr(shown)) << words[0];
  }
}

}  // namespace
}  // namespace swamp::e2e

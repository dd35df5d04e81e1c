#include "cli/vault_prompt.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "util/error.h"
#include "vault/wipe.h"

namespace swamp {
namespace {

// The terminal without echo, for as long as this lives. Lines can still be edited.
class NoEcho {
 public:
  NoEcho() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
  }
  ~NoEcho() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;
  bool works() const { return changed_; }

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace

std::string AskForSecret(Session& session, const std::string& question) {
  constexpr int kLookForInterrupt = 50;  // ms
  session.output().PrintNote(question);
  std::string line;
  {
    const NoEcho no_echo;
    if (!no_echo.works()) {
      throw UserError("usage", "the terminal cannot hide what is typed", "Give the value on standard input.");
    }
    while (!line.ends_with('\n')) {
      pollfd ready{STDIN_FILENO, POLLIN, 0};
      if (::poll(&ready, 1, kLookForInterrupt) <= 0) {
        session.context().Check();
        continue;
      }
      char buffer[4096];
      const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (count <= 0) break;
      line.append(buffer, static_cast<std::size_t>(count));
      OPENSSL_cleanse(buffer, sizeof buffer);
    }
  }
  session.output().PrintNote("\n");
  if (line.empty()) throw Cancelled(SIGINT);
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

}  // namespace swamp

// Wiring: the parts of the world, the types, the command line.

#include <csignal>
#include <pthread.h>
#include <thread>

#include "cli/command_line.h"
#include "model/model_types.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/executor.h"
#include "util/files.h"
#include "util/http_curl.h"
#include "util/random.h"

namespace {

// Turns SIGINT, SIGTERM and SIGHUP into a request that commands see at their next step. A second one ends the
// program at once.
class SignalWatcher {
 public:
  explicit SignalWatcher(swamp::Cancellation& cancellation) {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    std::thread([this, &cancellation] {
      for (bool first = true;; first = false) {
        int signal = 0;
        if (sigwait(&signals_, &signal) != 0) continue;
        if (!first) std::_Exit(128 + signal);
        cancellation.Request(signal);
      }
    }).detach();
  }

 private:
  sigset_t signals_{};
};

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that is gone shows as an error of the write
  swamp::SystemClock clock;
  swamp::SystemRandom random;
  swamp::SystemFiles files(random);
  swamp::SystemEnvironment environment;
  swamp::ThreadExecutor executor;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  swamp::Output output(clock, swamp::OutputOptionsOf(arguments));
  swamp::World world{clock, random, files, environment, executor, output};
  swamp::Cancellation cancellation;
  const SignalWatcher signals(cancellation);
  swamp::CurlHttpClient http;
  swamp::ModelTypes types;
  types.Add(swamp::ShellModelType());
  swamp::Session session({world, http, cancellation, output, types, SWAMP_VERSION, SWAMP_GIT_SHA});
  return swamp::RunCommandLine(session, arguments);
}

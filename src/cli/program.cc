#include "cli/program.h"

#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "cli/command_line.h"
#include "cli/picker.h"
#include "cli/version.h"
#include "model/model_types.h"
#include "util/clock.h"
#include "util/environment.h"
#include "util/executor.h"
#include "util/files.h"
#include "util/http_curl.h"
#include "util/random.h"
#include "util/subprocess.h"

namespace swamp {
namespace {

// How long a command whose programs were killed by a second signal may take to record that and to give back its locks.
constexpr timespec kLastWords{3, 0};

// Turns SIGINT, SIGTERM and SIGHUP into a request that commands see at their next step. A second one ends the
// program at once; where it runs programs of its own, they are killed first, and a moment is left for the record of it.
void WatchSignals(Cancellation& cancellation) {
  static sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([&cancellation] {
    for (bool first = true;; first = false) {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0) continue;
      if (!first) {
        if (KillRunningSubprocesses()) sigtimedwait(&signals, nullptr, &kLastWords);
        RestoreTerminal();
        std::_Exit(128 + signal);
      }
      cancellation.Request(signal);
    }
  }).detach();
}

}  // namespace

int RunProgram(const std::vector<std::string>& arguments, const ProgramHooks& hooks) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that is gone shows as an error of the write
  SystemClock clock(hooks.clock_offset);
  SystemRandom random;
  SystemFiles files(random);
  SystemEnvironment environment;
  ThreadExecutor executor;
  Output output(clock, OutputOptionsOf(arguments));
  World world{clock, random, files, environment, executor, output};
  // Outlives everything: the watcher never ends.
  static Cancellation cancellation;
  WatchSignals(cancellation);
  CurlHttpClient http;
  ModelTypes types;
  types.Add(ShellModelType());
  if (hooks.add_types) hooks.add_types(types);
  const Reports reports = BuiltInReports();
  Session session({world, http, cancellation, output, types, reports, kProgramVersion, kProgramRevision, hooks});
  return RunCommandLine(session, arguments);
}

}  // namespace swamp

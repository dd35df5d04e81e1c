#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/time.h"

namespace swamp {

class Context;

struct SubprocessRequest {
  // The program, looked up in PATH unless it has a "/", and its arguments.
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // in addition to this process's own, and over it
  std::filesystem::path working_folder;            // empty: this process's own
  std::string input;                               // what it reads on standard input
  std::uint64_t output_limit = 16ULL << 20;        // bytes of output and of errors, each
};

struct SubprocessResult {
  int exit_code = 0;  // 128 + signal when it was killed by one
  std::string output;
  std::string errors;
};

// Runs a program without a shell and waits for it. The program has no other files open than its
// three standard streams, and a process group of its own.
//
// When the context's cancellation or deadline comes first, the group is ended (SIGTERM, SIGKILL
// half a second later) and Cancelled or DeadlineExceeded thrown. What a program leaves running in
// the background is not waited for. Throws UserError: program_not_started, program_output_too_long.
SubprocessResult RunSubprocess(const Context& context, const SubprocessRequest& request);

enum class OutputStream { kOutput, kErrors };

struct StreamOptions {
  // Gets what the program writes, in pieces of at most 64 KiB, as it comes and on the caller's thread. What it throws ends
  // the program and is thrown on.
  std::function<void(OutputStream, std::string_view)> take;
  Duration grace{5'000};  // from SIGTERM to SIGKILL, for the whole process group
  Duration drain{5'000};  // how long a pipe is read after the program's end, while something in the background holds it
};

// The same for a program that may run long and write much: nothing of its output is kept, and `output_limit` does not
// count. Answers the exit code (128 + signal).
//
// When the context says stop, the group gets SIGTERM, and SIGKILL when anything of it is left after `grace`; what it writes
// until then is still delivered; then Cancelled or DeadlineExceeded is thrown. The deadline counts until the exit of the
// program itself. Throws program_not_started, naming program and reason.
int StreamSubprocess(const Context& context, const SubprocessRequest& request, const StreamOptions& options);

// Sends SIGKILL to the process groups of all programs that StreamSubprocess is running; whether there were any. For the end
// of this process: its second interrupt. May be called from any thread.
bool KillRunningSubprocesses();

// Splits a command line into words as a POSIX shell would, with quotes and backslashes but without
// expansions. Nothing: a quote is not closed.
std::optional<std::vector<std::string>> SplitShellWords(std::string_view line);

}  // namespace swamp

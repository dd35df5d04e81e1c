#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Splits a command line into words as a POSIX shell would, with quotes and backslashes but without
// expansions. Nothing: a quote is not closed.
std::optional<std::vector<std::string>> SplitShellWords(std::string_view line);

}  // namespace swamp

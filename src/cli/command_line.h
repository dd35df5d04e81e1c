#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/session.h"

namespace swamp {

// A group of commands (or one command) at the top of the tree; each cli/<name>.cc defines one.
struct CommandGroup {
  const char* name;
  void (*add)(CLI::App& root, Session& session);
};

// Every top-level word, in the order of the help.
const std::vector<CommandGroup>& CommandGroups();

// The whole tree, or only the group of one word, which is enough to run it.
std::unique_ptr<CLI::App> BuildCommandTree(Session& session, const std::string& only_group = {});

// The command tree as JSON, in the form that `help` prints; `path` leads to a subtree.
Json DescribeCommands(const CLI::App& root, const std::vector<std::string>& path, const std::string& version);

// One candidate a line for the last of `words` (what follows the program's name on a command line being
// typed). For the completion scripts: answers fast, takes no lock, touches no network, prints no error.
void PrintCompletions(Session& session, const std::vector<std::string>& words);

// Parses and runs one command line; returns the exit code. Prints results and errors.
int RunCommandLine(Session& session, const std::vector<std::string>& arguments);

// Exit codes by error code (docs/error-codes.md).
int ExitCodeOf(const UserError& error);

}  // namespace swamp

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "util/context.h"

namespace swamp {

// The AI coding tools that a repository can be enrolled for, by the names that --tool takes.
const std::vector<std::string>& KnownTools();

// Tools as typed, each once; "none" alone is no tool. Throws UserError usage: an unknown one, "none" with others.
std::vector<std::string> RequireKnownTools(const std::vector<std::string>& typed);
// Where the files of a tool stand, relative to the repository; none for a tool that this version doesn't know.
std::vector<std::string> PathsOfTool(const std::string& name);

struct ToolFiles {
  std::vector<std::string> written;   // relative to the repository; only what really changed
  bool instructions_created = false;  // an instructions file was made, or one got its section
  bool settings_created = false;      // likewise hooks, permissions or a plugin
};

// Writes what each tool needs to work in this repository (instructions, hooks, permissions), merged
// into what is there: a second call changes no byte. `program` is the absolute path of this
// program, for tools whose hooks don't know the user's PATH.
//
// What can't be merged is left alone and reported on the log: settings that aren't JSON or have
// another form, a link that leads out of the repository, a tool that this version doesn't know.
// Throws UserError instructions_ambiguous (see MergeInstructions) before anything is written.
ToolFiles WriteToolFiles(const Context& context, const std::filesystem::path& repo_root,
                         const std::vector<std::string>& tools,
                         const std::filesystem::path& program);

}  // namespace swamp

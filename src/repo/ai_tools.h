#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "util/context.h"

namespace swamp {

// The AI coding tools that a repository can be enrolled for, by the names that --tool takes.
const std::vector<std::string>& KnownTools();

struct ToolFiles {
  std::vector<std::string> written;  // relative to the repository; only what really changed
  bool instructions_created = false;
  bool settings_created = false;
};

// Writes what each tool needs to work in this repository (instructions, hooks, permissions), merged into
// what is there. Files that don't parse are left alone and reported on the log.
ToolFiles WriteToolFiles(const Context& context, const std::filesystem::path& repo_root,
                         const std::vector<std::string>& tools);

}  // namespace swamp

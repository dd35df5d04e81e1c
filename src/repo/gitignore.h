#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "util/files.h"

namespace swamp {

enum class GitignoreAction { kCreated, kUpdated, kUnchanged, kSkipped };
const char* NameOf(GitignoreAction action);

// Writes this program's section into `<repo_root>/.gitignore`, between two fixed marks, and leaves
// all other lines as they are. An older section, from "# Swamp managed defaults" to the next empty
// line, is replaced; a BEGIN that has lost its END is dropped.
GitignoreAction UpdateGitignore(Files& files, const std::filesystem::path& repo_root,
                                const std::vector<std::string>& tools);

// The section for these tools, with its marks and a final newline.
std::string GitignoreSection(const std::vector<std::string>& tools);

}  // namespace swamp

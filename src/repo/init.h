#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "repo/gitignore.h"
#include "util/context.h"
#include "util/json.h"

namespace swamp {

struct InitRequest {
  std::string path = ".";
  bool force = false;
  // As typed. Empty: the default tool, or those that the repository has already.
  std::vector<std::string> tools;
  std::filesystem::path program;  // as WriteToolFiles takes it; empty: the one that is running
};

struct InitResult {
  std::filesystem::path path;
  std::string version;
  std::string initialized_at;  // for the first time
  std::vector<std::string> tools;
  std::vector<std::string> removed_tools;  // enrolled before; their files are left
  std::vector<std::string> files_written;  // relative to `path`
  bool instructions_created = false;
  bool settings_created = false;
  GitignoreAction gitignore = GitignoreAction::kSkipped;
  bool asked_for_none = false;
  std::optional<std::filesystem::path> outer_repository;
  std::vector<std::string> next_steps;
};

// Makes a folder a repository. The marker comes last and is created exclusively, so that a crash
// leaves no valid repository and of two inits at once one wins. With `force` an existing marker
// keeps all its keys, the repository's id and datastore included; only version and tools are
// renewed. Throws UserError already_initialized, usage (unknown tool, "none" with others), and what
// WriteToolFiles and ChangeMarker throw.
InitResult InitRepository(const Context& context, const InitRequest& request,
                          const std::string& program_version);

}  // namespace swamp

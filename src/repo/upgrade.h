#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "repo/gitignore.h"
#include "util/context.h"

namespace swamp {

struct UpgradeRequest {
  std::string path = ".";
  std::vector<std::string> tools;  // as typed; empty: those that the repository has
  bool include_gitignore = false;  // from now on, also where it was not managed
  bool force = false;              // go on though a newer program has written the marker
  bool dry_run = false;            // say what would change, change nothing
  std::filesystem::path program;   // as WriteToolFiles takes it; empty: the one that is running
};

struct UpgradeResult {
  std::filesystem::path path;
  std::string previous_version;  // empty: the marker has none
  std::string version;
  std::string upgraded_at;  // empty: there was nothing to change
  std::vector<std::string> previous_tools;
  std::vector<std::string> tools;
  std::vector<std::string> added_tools;
  std::vector<std::string> removed_tools;   // their files are left
  std::vector<std::string> files_left;      // of removed tools, where no other tool uses them
  std::vector<std::string> changed_files;   // relative to `path`, in the order they were written
  std::vector<std::string> conflicts;       // of an older layout: not moved, since something else is there
  bool instructions_updated = false;
  bool settings_updated = false;
  GitignoreAction gitignore = GitignoreAction::kSkipped;
};

// Brings a repository's own files up to this program: files for AI tools, .gitignore, older layouts, the marker last. A second
// call changes no byte. Throws UserError not_a_repository, repository_damaged, repository_newer, usage (unknown tool), and
// what WriteToolFiles and ChangeMarker throw.
UpgradeResult UpgradeRepository(const Context& context, const UpgradeRequest& request,
                                const std::string& program_version);

// Of versions such as 20261202.000000.0, number by number: negative, zero or positive.
int CompareProgramVersions(const std::string& a, const std::string& b);

}  // namespace swamp

#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/session.h"

namespace swamp {

// A group was named without one of its commands: shows its help.
struct NoCommandGiven {
  const CLI::App* group;
};

// The result has been printed and says itself that something is wrong: only the exit code is left.
struct ExitQuietly {
  int code;
};

// A word that only leads to commands.
inline CLI::App* AddGroup(CLI::App& parent, const std::string& name, const std::string& description) {
  CLI::App* group = parent.add_subcommand(name, description);
  group->callback([group] {
    if (group->get_subcommands().empty()) throw NoCommandGiven{group};
  });
  return group;
}

// A command that works in a repository.
inline CLI::App* AddRepoCommand(CLI::App& parent, Session& session, const std::string& name,
                                const std::string& description) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->add_option("--repo-dir", session.options.repo_dir, "The repository's folder")
      ->type_name("<dir>")
      ->envname("SWAMP_REPO_DIR");
  return command;
}

struct Confirmation {
  bool yes = false;
  bool force = false;
  bool given() const { return yes || force; }
};

inline void AddConfirmation(CLI::App& command, Confirmation& confirmation) {
  command.add_flag("-y,--yes", confirmation.yes, "Don't ask");
  command.add_flag("-f,--force", confirmation.force, "Don't ask, and override what would be refused");
}

// "<n>" seconds or "30s", "5m", "1h": a time limit. Throws UserError usage.
Duration ParseTimeout(const std::string& text, Duration longest);

}  // namespace swamp

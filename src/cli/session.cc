#include "cli/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "repo/find.h"
#include "util/environment.h"
#include "util/text.h"

namespace swamp {

const Repository& Session::repo() {
  if (!repo_) repo_ = Repository::Open(context_, FindRepository(context_, options.repo_dir));
  return *repo_;
}

DatastoreParts Session::datastore_parts() const {
  const ProgramHooks& hooks = wiring_.hooks;
  DatastoreParts parts{.http = wiring_.http, .use_locks = hooks.use_locks, .decorate_store = hooks.decorate_store};
  // One line a request, for whoever wonders what a command does to the store.
  if (const auto file = context_.environment().GetNonEmpty("SWAMP_STORE_TRACE")) parts.trace_file = *file;
  return parts;
}

Datastore& Session::datastore() {
  if (!datastore_) {
    datastore_ = std::make_unique<Datastore>(context_, repo(), ResolveDatastore(context_, repo()), datastore_parts());
  }
  return *datastore_;
}

ConfigTier& Session::config() {
  if (!config_) config_ = OpenConfigTier(repo(), datastore());
  return *config_;
}

bool Session::interactive() const {
  return !options.json && IsTerminal(STDIN_FILENO) && IsTerminal(STDOUT_FILENO);
}

std::optional<std::string> Session::PipedInput(std::uint64_t limit) const {
  if (IsTerminal(STDIN_FILENO)) return std::nullopt;
  std::string text;
  std::string buffer(64 << 10, '\0');
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0) {
      if (errno == EINTR) {
        context_.Check();
        continue;
      }
      return std::nullopt;  // standard input is closed
    }
    if (count == 0) return text;
    text.append(buffer, 0, static_cast<std::size_t>(count));
    if (text.size() > limit) {
      throw UserError("usage", fmt::format("standard input is longer than {} bytes", limit));
    }
  }
}

std::optional<std::string> Session::PipedText() const {
  std::optional<std::string> text = PipedInput();
  if (text && Trim(*text).empty()) text.reset();
  return text;
}

bool Session::Confirm(const std::string& question, bool already_yes) const {
  if (already_yes || options.json) return true;
  if (!IsTerminal(STDIN_FILENO)) {
    throw UserError("usage", question + " - standard input is not a terminal, so nobody can answer",
                    "Give --yes (-y).");
  }
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  const std::string word = AsciiLower(Trim(answer));
  return word == "y" || word == "yes";
}

}  // namespace swamp

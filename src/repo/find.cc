#include "repo/find.h"

#include <fmt/format.h>

#include "repo/marker.h"
#include "util/environment.h"
#include "util/error.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLevelsOutsideGit = 10;

fs::path HomeFolder(const Context& context) {
  const auto home = context.environment().GetNonEmpty("HOME");
  if (!home) {
    throw UserError("no_home", "HOME is not set, so there is no place for the user's files",
                    "Set HOME, or SWAMP_HOME and SWAMP_CONFIG_DIR.");
  }
  return *home;
}

fs::path Absolute(const Context& context, const fs::path& path) {
  fs::path absolute = (context.environment().WorkingDirectory() / path).lexically_normal();
  if (!absolute.has_filename() && absolute.has_relative_path()) absolute = absolute.parent_path();
  return absolute;
}

}  // namespace

fs::path FindRepository(const Context& context, const std::optional<std::string>& repo_dir) {
  if (repo_dir) return Absolute(context, *repo_dir);
  if (const auto variable = context.environment().GetNonEmpty("SWAMP_REPO_DIR")) {
    return Absolute(context, *variable);
  }
  Files& files = context.files();
  fs::path start = files.Resolve(context.environment().WorkingDirectory());
  std::optional<fs::path> git_root;
  for (fs::path folder = start;; folder = folder.parent_path()) {
    if (files.Stat(folder / ".git")) {
      git_root = folder;
      break;
    }
    if (folder == folder.parent_path()) break;
  }
  int level = 0;
  for (fs::path folder = start;; folder = folder.parent_path()) {
    if (files.Stat(folder / kMarkerFile)) return folder;
    if (folder == folder.parent_path() || folder == git_root) break;
    if (!git_root && ++level > kMaxLevelsOutsideGit) break;
  }
  return start;
}

void RequireRepository(Files& files, const fs::path& root) {
  if (files.Stat(root / kMarkerFile)) return;
  if (files.Stat(root / ".swamp")) {
    throw UserError(
        "repository_damaged",
        fmt::format("{} has a .swamp folder but no {}: it looks half initialised or damaged",
                    root.string(), kMarkerFile),
        "Restore .swamp.yaml from version control. A fresh `swamp repo init` would not reconnect "
        "to a shared datastore.");
  }
  throw UserError("not_a_repository", fmt::format("{} is not a swamp repository", root.string()),
                  "Run `swamp repo init` there, or name another folder with --repo-dir.");
}

fs::path ExpandPath(const Context& context, const std::string& path, const fs::path& base) {
  fs::path expanded = path;
  if (path == "~" || path.starts_with("~/")) {
    expanded = HomeFolder(context) / (path.size() > 2 ? path.substr(2) : std::string());
  }
  fs::path absolute = (base / expanded).lexically_normal();
  if (!absolute.has_filename() && absolute.has_relative_path()) absolute = absolute.parent_path();
  return absolute;
}

fs::path DataFolder(const Context& context) {
  if (const auto home = context.environment().GetNonEmpty("SWAMP_HOME"))
    return Absolute(context, *home);
  return HomeFolder(context) / ".swamp";
}

fs::path ConfigFolder(const Context& context) {
  if (const auto folder = context.environment().GetNonEmpty("SWAMP_CONFIG_DIR"))
    return Absolute(context, *folder);
  if (const auto home = context.environment().GetNonEmpty("SWAMP_HOME"))
    return Absolute(context, *home) / "config";
  if (const auto xdg = context.environment().GetNonEmpty("XDG_CONFIG_HOME"))
    return fs::path(*xdg) / "swamp";
  return HomeFolder(context) / ".config" / "swamp";
}

}  // namespace swamp

#include "extension/refusals.h"

#include <fmt/format.h>

#include "util/error.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::size_t kShown = 8;

}  // namespace

std::string ListOf(const std::vector<std::string>& items) {
  std::vector<std::string> shown;
  for (const std::string& item : items) {
    if (shown.size() < kShown) shown.push_back(Printable(item));
  }
  const std::string list = Join(shown, ", ");
  return items.size() > kShown ? fmt::format("{} and {} more", list, items.size() - kShown) : list;
}

std::vector<std::string> RepositoryPaths(const ExtensionSite& site, const TreeState& state,
                                         const std::vector<std::string>& paths) {
  std::vector<std::string> repository_paths;
  for (const std::string& path : paths)
    repository_paths.push_back(RepositoryPath(site, state.folder / path));
  return repository_paths;
}

void RefuseEdited(const ExtensionSite& site, const ExtensionName& name, const TreeState& state) {
  if (state.edited.empty()) return;
  const std::string files = ListOf(RepositoryPaths(site, state, state.edited));
  throw UserError(
      "extension_edited",
      state.edits_are_known
          ? fmt::format("files of {} were edited here and would be overwritten: {}", name.text(),
                        files)
          : fmt::format(
                "files of {} are not as the lockfile says and may have been edited here: {}",
                name.text(), files),
      "Copy what you want to keep, then run the command with --force.");
}

void RefuseNotInstalled(const ExtensionName& name, const Lockfile& lockfile) {
  std::vector<std::string> names;
  for (const auto& [known, entry] : lockfile.entries()) names.push_back(known);
  const std::vector<std::string> near = NearestWords(name.text(), names);
  throw UserError("extension_not_installed", fmt::format("{} is not installed", name.text()),
                  near.empty() ? "swamp extension list shows what is."
                               : "Did you mean " + Join(near, " or ") + "?");
}

void RefuseConflicts(const ExtensionName& name, const std::vector<InstallConflict>& conflicts) {
  if (conflicts.empty()) return;
  std::vector<std::string> files;
  for (const InstallConflict& conflict : conflicts) {
    files.push_back(conflict.owner.empty()
                        ? conflict.path
                        : fmt::format("{} (of {})", conflict.path, conflict.owner));
  }
  throw UserError(
      "extension_conflict",
      fmt::format("{} would overwrite files that are not its own: {}", name.text(), ListOf(files)),
      "Move them away, or overwrite them with --force.");
}

}  // namespace swamp

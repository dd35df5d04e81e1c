#include "extension/remove.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "extension/install_tree.h"
#include "extension/receipt.h"
#include "extension/refusals.h"
#include "extension/staging.h"
#include "util/context.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace swamp {
namespace {

// The extensions of the lockfile that say they need `name`.
std::vector<std::string> DependentsOf(const Context& context, const ExtensionSite& site,
                                      const ExtensionName& name, const Lockfile& lockfile) {
  std::vector<std::string> dependents;
  for (const auto& [other, entry] : lockfile.entries()) {
    const auto other_name = ExtensionName::Parse(other);
    if (!other_name || *other_name == name) continue;
    const std::vector<Dependency> needed = DependenciesOf(context, site, *other_name, entry);
    const bool needs = std::any_of(needed.begin(), needed.end(), [&](const Dependency& dependency) {
      return dependency.name == name;
    });
    if (needs) dependents.push_back(other);
  }
  return dependents;
}

std::vector<std::string> BundlePaths(const Context& context, const ExtensionSite& site,
                                     const TreeState& state, const ExtensionName& name) {
  std::vector<std::string> paths;
  for (const ExtensionKindInfo& kind : kExtensionKinds) {
    if (kind.bundle_folder.empty()) continue;
    const std::filesystem::path folder = BundleFolder(site, state.pulled_root, name, kind);
    for (const std::string& path : ListFilesBelow(context.files(), folder)) {
      paths.push_back(RepositoryPath(site, folder / path));
    }
  }
  return paths;
}

// What is in the extension's folder and neither its own nor in the folder of an extension whose
// name goes on.
std::vector<std::string> UnknownFiles(const Context& context, const ExtensionSite& site,
                                      const TreeState& state, const ExtensionName& name,
                                      const Lockfile& lockfile) {
  const auto claims = ClaimsOfNeighbours(site, name, lockfile);
  std::vector<std::string> unknown;
  for (const std::string& path : ListFilesBelow(context.files(), state.folder)) {
    const bool is_receipt = path == kReceiptName || path.ends_with("/" + std::string(kReceiptName));
    const bool is_own = std::binary_search(state.owned.begin(), state.owned.end(), path);
    if (!is_receipt && !is_own && !claims.contains(state.folder / path)) {
      unknown.push_back(RepositoryPath(site, state.folder / path));
    }
  }
  return unknown;
}

// Folders below the collective's and below those for bundles: what a removal can make empty.
std::size_t CountFolders(const Context& context, const std::filesystem::path& folder) {
  const auto info = context.files().Stat(folder);
  if (!info || info->kind != FileKind::kFolder) return 0;
  std::size_t count = 1;
  for (const FolderEntry& entry : context.files().List(folder)) {
    if (entry.kind == FileKind::kFolder) count += CountFolders(context, folder / entry.name);
  }
  return count;
}

std::size_t CountFoldersAround(const Context& context, const ExtensionSite& site,
                               const TreeState& state, const ExtensionName& name) {
  std::size_t count =
      CountFolders(context, state.pulled_root / fmt::format("@{}", name.collective()));
  for (const ExtensionKindInfo& kind : kExtensionKinds) {
    if (!kind.bundle_folder.empty())
      count += CountFolders(context, BundleFolder(site, state.pulled_root, name, kind));
  }
  return count;
}

class Removal {
 public:
  Removal(const Context& context, const ExtensionSite& site, const RemoveRequest& request)
      : context_(context), site_(site), request_(request), name_(request.name) {}

  // Looks at what is there; throws when it must not be removed.
  const RemovalPreview& Look(const Lockfile& lockfile) {
    const Json* entry = lockfile.Find(name_.text());
    if (entry == nullptr) RefuseNotInstalled(name_, lockfile);
    lockfile_ = lockfile;
    state_ = InspectTree(context_, site_, name_, entry);
    preview_ = {};
    preview_.name = name_.text();
    preview_.version = EntryVersionText(*entry);
    preview_.dependents = DependentsOf(context_, site_, name_, lockfile);
    preview_.refused = state_.refused;
    const bool is_inside = FilesAreInside();
    kept_.clear();
    if (!request_.force) kept_.insert(state_.edited.begin(), state_.edited.end());
    const auto claims = ClaimsOfNeighbours(site_, name_, lockfile);
    for (const auto& [path, digest] : state_.present) {
      const std::string shown = RepositoryPath(site_, state_.folder / path);
      if (claims.contains(state_.folder / path)) continue;
      (kept_.contains(path) ? preview_.edited : preview_.files).push_back(shown);
    }
    if (is_inside) {
      preview_.unknown = UnknownFiles(context_, site_, state_, name_, lockfile);
      const auto bundles = BundlePaths(context_, site_, state_, name_);
      preview_.files.insert(preview_.files.end(), bundles.begin(), bundles.end());
    }
    std::sort(preview_.files.begin(), preview_.files.end());
    if (state_.owned.empty() && !preview_.unknown.empty()) {
      preview_.hint = fmt::format(
          "The lockfile doesn't say which files belong to {}. Look at {} and remove what you don't "
          "need.",
          name_.text(), RepositoryPath(site_, state_.folder));
    }
    if (!preview_.dependents.empty() && !request_.force) {
      throw UserError(
          "extension_in_use",
          fmt::format("{} is needed by {}", name_.text(), Join(preview_.dependents, ", ")),
          fmt::format("Remove {} first, or remove {} all the same with --force.",
                      preview_.dependents.size() == 1 ? preview_.dependents.front() : "these",
                      name_.text()));
    }
    return preview_;
  }

  LockfileDelta Decide(const Lockfile& current) {
    // Once the files are gone there is no way back.
    if (!applied_) Look(current);
    LockfileDelta delta;
    delta.remove.insert(name_.text());
    return delta;
  }

  void Apply(const std::filesystem::path& work_folder) {
    const std::size_t before = CountFoldersAround(context_, site_, state_, name_);
    if (FilesAreInside()) {
      TreeSwap swap(context_, site_, work_folder);
      PlanRemoval(context_, site_, name_, state_, lockfile_, kept_, swap);
      swap.Commit();
    }
    folders_removed_ =
        before - std::min(before, CountFoldersAround(context_, site_, state_, name_));
    applied_ = true;
  }

  RemoveResult Result() { return {false, preview_, folders_removed_}; }

 private:
  // False when the tree is a link that leads elsewhere: then nothing of it is the extension's.
  bool FilesAreInside() const {
    return std::none_of(state_.refused.begin(), state_.refused.end(),
                        [&](const RefusedPath& refused) {
                          return refused.path == RepositoryPath(site_, state_.folder);
                        });
  }

  const Context& context_;
  const ExtensionSite& site_;
  const RemoveRequest& request_;
  const ExtensionName& name_;
  Lockfile lockfile_;  // that the state belongs to
  TreeState state_;
  std::set<std::string> kept_;
  RemovalPreview preview_;
  std::size_t folders_removed_ = 0;
  bool applied_ = false;
};

// It publishes what earlier commands left: that this fails says nothing of the removal, which has not begun.
Lockfile RefreshFirst(const Context& context, InstalledSet& installed, const ExtensionName& name) {
  try {
    return installed.Refresh(context);
  } catch (const UserError& error) {
    if (error.code() != "managed_config_unpublished") throw;
    throw UserError("managed_lockfile_unavailable",
                    fmt::format("nothing was removed: an earlier change of the lockfile has to be published before it shows "
                                "whether {} is installed. {}",
                                name.text(), error.message()),
                    error.hint());
  }
}

}  // namespace

RemoveResult Remove(const Context& context, const ExtensionSite& site, InstalledSet& installed,
                    const RemoveRequest& request) {
  RecoverInterruptedInstalls(context, site);
  Removal removal(context, site, request);
  Lockfile known = installed.Read(context);
  // A peer may have pulled it, or a command that died before it published may have removed it.
  if (known.Find(request.name.text()) == nullptr) known = RefreshFirst(context, installed, request.name);
  const RemovalPreview& preview = removal.Look(known);
  if (request.confirm && !request.confirm(preview)) {
    RemoveResult result = removal.Result();
    result.cancelled = true;
    return result;
  }
  const StagingArea staging(context, site);
  const auto lock = LockInstallation(context, site);
  installed.Change(
      context, [&](const Lockfile& current) { return removal.Decide(current); },
      [&](const LockfileDelta&) { removal.Apply(staging.folder()); });
  return removal.Result();
}

}  // namespace swamp

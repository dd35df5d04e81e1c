#include "extension/install_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "extension/receipt.h"
#include "util/context.h"
#include "util/error.h"
#include "util/files.h"
#include "util/relative_path.h"

namespace swamp {
namespace {

using Paths = std::set<std::string>;

Paths PathsBelow(const Context& context, const std::filesystem::path& folder) {
  const std::vector<std::string> paths = ListFilesBelow(context.files(), folder);
  return {paths.begin(), paths.end()};
}

// Whether a path of the set is below `folder` ("" is above all).
bool HasBelow(const Paths& paths, const std::string& folder) {
  if (folder.empty()) return !paths.empty();
  const std::string prefix = folder + "/";
  const auto found = paths.lower_bound(prefix);
  return found != paths.end() && found->starts_with(prefix);
}

// Finds the fewest renames that put a staged tree (or nothing) in the place of a present one: a
// whole folder where nothing in it must stay, else folder by folder and file by file.
class TreePlan {
 public:
  TreePlan(const Context& context, std::filesystem::path staged_root,
           std::filesystem::path target_root, Paths removable, const Paths& kept, TreeSwap& swap)
      : context_(context),
        staged_root_(std::move(staged_root)),
        target_root_(std::move(target_root)),
        removable_(std::move(removable)),
        kept_(kept),
        swap_(swap) {
    if (!staged_root_.empty()) staged_ = PathsBelow(context, staged_root_);
    for (const std::string& path : PathsBelow(context, target_root_)) {
      const bool goes =
          (removable_.contains(path) || staged_.contains(path)) && !kept_.contains(path);
      if (!goes) stays_.insert(path);
    }
    std::erase_if(removable_, [&](const std::string& path) { return kept_.contains(path); });
  }

  void Run() { PlanFolder(""); }

 private:
  std::filesystem::path Target(const std::string& path) const {
    return path.empty() ? target_root_ : target_root_ / path;
  }
  std::filesystem::path Staged(const std::string& path) const {
    return path.empty() ? staged_root_ : staged_root_ / path;
  }

  void PlanFolder(const std::string& folder) {
    const bool is_staged = HasBelow(staged_, folder);
    const auto info = context_.files().Stat(Target(folder));
    const bool is_folder = info && info->kind == FileKind::kFolder;
    if (!is_folder || !HasBelow(stays_, folder)) {
      if (is_staged) {
        swap_.Place(Staged(folder), Target(folder));
      } else if (is_folder && HasBelow(removable_, folder)) {
        swap_.TakeAway(Target(folder));
      }
      return;
    }
    for (const std::string& name : NamesIn(folder)) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      if (staged_.contains(path)) {
        if (!kept_.contains(path)) swap_.Place(Staged(path), Target(path));
      } else if (removable_.contains(path) && !HasBelow(staged_, path)) {
        if (context_.files().Stat(Target(path))) swap_.TakeAway(Target(path));
      } else {
        PlanFolder(path);
      }
    }
  }

  // The first segments of what is staged or removable below `folder`.
  Paths NamesIn(const std::string& folder) const {
    Paths names;
    const std::string prefix = folder.empty() ? "" : folder + "/";
    for (const Paths* paths : {&staged_, &removable_}) {
      for (auto path = paths->lower_bound(prefix);
           path != paths->end() && path->starts_with(prefix); ++path) {
        names.insert(path->substr(prefix.size(), path->find('/', prefix.size()) - prefix.size()));
      }
    }
    return names;
  }

  const Context& context_;
  std::filesystem::path staged_root_;  // empty: nothing is staged
  std::filesystem::path target_root_;
  Paths staged_;
  Paths removable_;
  Paths stays_;  // files at the target that must not move
  const Paths& kept_;
  TreeSwap& swap_;
};

// The files of the present tree that are the extension's own, with its receipt.
Paths OwnFiles(const ExtensionSite& site, const ExtensionName& name, const TreeState& state,
               const Lockfile& lockfile) {
  const auto claims = ClaimsOfNeighbours(site, name, lockfile);
  Paths own = {std::string(kReceiptName)};
  for (const std::string& path : state.owned) {
    if (!claims.contains(state.folder / path)) own.insert(path);
  }
  return own;
}

void PlanBundles(const Context& context, const ExtensionSite& site,
                 const std::filesystem::path& pulled_root, const ExtensionName& name,
                 const std::filesystem::path& staged, TreeSwap& swap) {
  for (const ExtensionKindInfo& kind : kExtensionKinds) {
    if (kind.bundle_folder.empty()) continue;
    const std::filesystem::path target = BundleFolder(site, pulled_root, name, kind);
    if (!staged.empty() && context.files().Stat(staged / kind.bundle_folder)) {
      swap.Place(staged / kind.bundle_folder, target);
    } else if (context.files().Stat(target)) {
      // Whole: all of it can be made again, and it is named after this extension's own sources.
      swap.TakeAway(target);
    }
  }
}

}  // namespace

StagedTree StageArchive(const Context& context, const std::filesystem::path& archive,
                        const std::string& checksum, const ExtensionName& name,
                        const Version& version, const std::filesystem::path& folder) {
  Files& files = context.files();
  const auto file = files.Open(archive);
  if (!file) throw IoError("read", archive.native(), ENOENT);
  StagedTree staged{folder / "tree", folder / "bundles",
                    ReadArchiveOf(context, *file, name, version, folder / "tree")};
  for (const ExtensionKindInfo& kind : kExtensionKinds) {
    if (kind.bundle_folder.empty() || !files.Stat(staged.tree / kind.bundle_folder)) continue;
    files.CreateFolders(staged.bundles);
    files.Rename(staged.tree / kind.bundle_folder, staged.bundles / kind.bundle_folder);
  }
  const Receipt receipt{name, version, checksum, TreeFiles(staged.contents)};
  const auto receipt_file = files.Create(staged.tree / kReceiptName);
  receipt_file->Append(SerializeReceipt(receipt));
  receipt_file->Commit(Durability::kLater);
  return staged;
}

FileDigests TreeFiles(const ArchiveContents& contents) {
  FileDigests digests;
  for (const ArchiveFile& file : contents.files) {
    if (KindOfBundleFolder(file.path.substr(0, file.path.find('/'))) == nullptr)
      digests[file.path] = file.sha256;
  }
  return digests;
}

std::vector<std::string> InstalledPaths(const ExtensionSite& site,
                                        const ArchiveContents& contents) {
  const ExtensionName& name = contents.manifest.name;
  std::vector<std::string> paths;
  for (const ArchiveFile& file : contents.files) {
    const std::size_t slash = file.path.find('/');
    const ExtensionKindInfo* kind = KindOfBundleFolder(file.path.substr(0, slash));
    const std::filesystem::path path =
        kind == nullptr
            ? site.pulled_root / name.text() / file.path
            : BundleFolder(site, site.pulled_root, name, *kind) / file.path.substr(slash + 1);
    paths.push_back(RepositoryPath(site, path));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<InstallConflict> FindConflicts(const Context& context, const ExtensionSite& site,
                                           const StagedTree& staged, const TreeState& state,
                                           const Lockfile& lockfile) {
  const ExtensionName& name = staged.contents.manifest.name;
  const std::filesystem::path target = site.pulled_root / name.text();
  if (!IsWithin(context.files(), target, site.pulled_root)) {
    throw UserError("path_escape",
                    fmt::format("{} is a link that leads out of the pulled extensions",
                                RepositoryPath(site, target)),
                    "Remove the link, then run the command again.");
  }
  const auto claims = ClaimsOfNeighbours(site, name, lockfile);
  const Paths own =
      state.pulled_root == site.pulled_root ? OwnFiles(site, name, state, lockfile) : Paths();
  const Paths present = PathsBelow(context, target);
  std::map<std::string, std::string> found;  // path, owner
  const auto add = [&](const std::string& path) {
    const auto claim = claims.find(target / path);
    found.emplace(RepositoryPath(site, target / path), claim == claims.end() ? "" : claim->second);
  };
  for (const auto& [path, digest] : TreeFiles(staged.contents)) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const std::string folder = path.substr(0, slash);
      if (present.contains(folder) && !own.contains(folder)) add(folder);
    }
    if (present.contains(path)) {
      if (!own.contains(path) && DigestOfFile(context, target / path) != digest) add(path);
      continue;
    }
    const std::string inside = path + "/";
    for (auto other = present.lower_bound(inside);
         other != present.end() && other->starts_with(inside); ++other) {
      if (!own.contains(*other)) add(*other);
    }
  }
  std::vector<InstallConflict> conflicts;
  for (const auto& [path, owner] : found) conflicts.push_back({path, owner});
  return conflicts;
}

void PlanInstall(const Context& context, const ExtensionSite& site, const StagedTree& staged,
                 const TreeState& state, const Lockfile& lockfile,
                 const std::set<std::string>& kept, TreeSwap& swap) {
  const ExtensionName& name = staged.contents.manifest.name;
  Paths own = OwnFiles(site, name, state, lockfile);
  if (state.pulled_root != site.pulled_root) {
    TreePlan(context, {}, state.folder, std::move(own), kept, swap).Run();
    PlanBundles(context, site, state.pulled_root, name, {}, swap);
    TreePlan(context, staged.tree, site.pulled_root / name.text(), {}, {}, swap).Run();
  } else {
    TreePlan(context, staged.tree, state.folder, std::move(own), kept, swap).Run();
  }
  PlanBundles(context, site, site.pulled_root, name, staged.bundles, swap);
}

void PlanRemoval(const Context& context, const ExtensionSite& site, const ExtensionName& name,
                 const TreeState& state, const Lockfile& lockfile,
                 const std::set<std::string>& kept, TreeSwap& swap) {
  TreePlan(context, {}, state.folder, OwnFiles(site, name, state, lockfile), kept, swap).Run();
  PlanBundles(context, site, state.pulled_root, name, {}, swap);
}

}  // namespace swamp

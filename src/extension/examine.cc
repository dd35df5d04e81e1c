#include "extension/examine.h"

#include <algorithm>
#include <set>

#include "extension/receipt.h"
#include "util/context.h"
#include "util/files.h"

namespace swamp {
namespace {

namespace fs = std::filesystem;

bool IsOurs(const std::string& path) { return path == kReceiptName || path == kManifestName; }

// Names of trees with a receipt.
std::set<std::string> TreesBelow(const Context& context, const fs::path& root) {
  std::set<std::string> names;
  for (const std::string& path : ListFilesBelow(context.files(), root)) {
    const fs::path file(path);
    if (file.filename() == kReceiptName && ExtensionName::Parse(file.parent_path().string())) {
      names.insert(file.parent_path().string());
    }
  }
  return names;
}

// Folders below a tree's that are other extensions' trees.
bool IsNeighbours(const std::string& path, const std::string& name, const std::set<std::string>& trees) {
  return std::any_of(trees.begin(), trees.end(), [&](const std::string& tree) {
    return tree.starts_with(name + "/") && (name + "/" + path).starts_with(tree + "/");
  });
}

ExaminedExtension Examine(const Context& context, const ExtensionSite& site, const ExtensionName& name, const Json* entry,
                          const std::set<std::string>& trees) {
  ExaminedExtension examined{.name = name.text()};
  examined.in_lockfile = entry != nullptr;
  if (entry != nullptr) examined.version = EntryVersionText(*entry);
  const TreeState state = InspectTree(context, site, name, entry);
  if (state.version && state.installed) examined.here = state.version->text();
  const auto add = [&](std::vector<std::string>& to, const std::string& path) {
    to.push_back(RepositoryPath(site, state.folder / path));
  };
  for (const std::string& path : state.missing) add(examined.missing, path);
  for (const std::string& path : state.missing_bundles) examined.missing.push_back(path);
  for (const std::string& path : state.edited) add(examined.modified, path);
  examined.refused = state.refused;
  if (!state.installed) return examined;
  for (const std::string& path : ListFilesBelow(context.files(), state.folder)) {
    const bool owned = std::binary_search(state.owned.begin(), state.owned.end(), path);
    if (!owned && !IsOurs(path) && !IsNeighbours(path, name.text(), trees)) add(examined.orphans, path);
  }
  return examined;
}

}  // namespace

std::vector<ExaminedExtension> ExamineExtensions(const Context& context, const ExtensionSite& site, InstalledSet& installed) {
  const Lockfile lockfile = installed.Read(context);
  std::set<std::string> trees = TreesBelow(context, site.pulled_root);
  if (site.older_pulled_root) trees.merge(TreesBelow(context, *site.older_pulled_root));
  std::set<std::string> names = trees;
  for (const auto& [name, entry] : lockfile.entries()) {
    if (!site.built_in.contains(name)) names.insert(name);
  }
  std::vector<ExaminedExtension> examined;
  for (const std::string& text : names) {
    const auto name = ExtensionName::Parse(text);
    if (!name) continue;
    const auto entry = lockfile.entries().find(text);
    examined.push_back(Examine(context, site, *name, entry == lockfile.entries().end() ? nullptr : &entry->second, trees));
  }
  return examined;
}

}  // namespace swamp

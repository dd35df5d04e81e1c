#include "extension/tree_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "extension/manifest.h"
#include "extension/receipt.h"
#include "util/context.h"
#include "util/error.h"
#include "util/files.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::uint64_t kMaxManifest = 1 << 20;

// What follows `folder` and a slash in `path`; nothing when it isn't below.
std::optional<std::string_view> Below(std::string_view path, std::string_view folder) {
  if (path.size() <= folder.size() + 1 || !path.starts_with(folder) || path[folder.size()] != '/')
    return std::nullopt;
  return path.substr(folder.size() + 1);
}

// Whether a path could be a tree's own: what an archive may bring.
bool IsTreePath(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/'));
  return path == kManifestName ||
         (first != path && (first == kFilesFolder || KindOfFolder(first) != nullptr));
}

// Reads the manifest of a tree; nothing when there is none that can be read.
std::optional<Manifest> ReadTreeManifest(const Context& context,
                                         const std::filesystem::path& tree) {
  const auto text = ReadFile(context.files(), tree / kManifestName, kMaxManifest);
  if (!text) return std::nullopt;
  try {
    return ParseManifest(*text, kManifestName);
  } catch (const UserError&) {
    return std::nullopt;  // edited, or of another program: then it says nothing
  }
}

bool HasTree(const Context& context, const std::filesystem::path& folder) {
  return context.files().Stat(folder / kReceiptName) ||
         context.files().Stat(folder / kManifestName);
}

std::filesystem::path RootOf(const Context& context, const ExtensionSite& site,
                             const ExtensionName& name) {
  const bool older = site.older_pulled_root && !HasTree(context, site.pulled_root / name.text()) &&
                     HasTree(context, *site.older_pulled_root / name.text());
  return older ? *site.older_pulled_root : site.pulled_root;
}

// Remembers for each folder whether, links resolved, it is still below the root.
class LinkCheck {
 public:
  LinkCheck(const Context& context, const std::filesystem::path& root)
      : context_(context), root_(root) {}

  bool StaysInside(const std::filesystem::path& file) {
    const std::filesystem::path folder = file.parent_path();
    const auto [found, is_new] = known_.try_emplace(folder, false);
    if (is_new) found->second = IsWithin(context_.files(), folder, root_);
    return found->second;
  }

 private:
  const Context& context_;
  const std::filesystem::path& root_;
  std::map<std::filesystem::path, bool> known_;
};

}  // namespace

ListedFiles ReadListedFiles(const ExtensionSite& site, const ExtensionName& name,
                            const Json& entry) {
  std::vector<std::string> roots = {RepositoryPath(site, site.pulled_root)};
  if (site.older_pulled_root) roots.push_back(RepositoryPath(site, *site.older_pulled_root));
  const std::string swamp = RepositoryPath(site, site.swamp_folder);
  ListedFiles listed;
  for (const std::string& path : EntryFiles(entry)) {
    if (const auto why = WhyUnsafePath(path)) {
      listed.refused.push_back({path, *why});
      continue;
    }
    bool known = false;
    for (const std::string& root : roots) {
      const auto in_root = Below(path, root);
      if (!in_root) continue;
      const auto in_tree = Below(*in_root, name.text());
      // Older programs laid the files of all extensions into one tree.
      const std::string_view relative = in_tree ? *in_tree : *in_root;
      known = IsTreePath(relative);
      if (known) listed.tree.emplace_back(relative);
      break;
    }
    const auto in_swamp = known ? std::nullopt : Below(path, swamp);
    if (in_swamp) {
      const ExtensionKindInfo* kind = KindOfBundleFolder(in_swamp->substr(0, in_swamp->find('/')));
      const auto in_kind = kind == nullptr ? std::nullopt : Below(*in_swamp, kind->bundle_folder);
      const std::size_t slash = in_kind ? in_kind->find('/') : std::string_view::npos;
      known = slash != std::string_view::npos;
      if (known) listed.bundles.emplace_back(kind, in_kind->substr(slash + 1));
    }
    if (!known) listed.refused.push_back({path, "it is no place of this extension"});
  }
  std::sort(listed.tree.begin(), listed.tree.end());
  listed.tree.erase(std::unique(listed.tree.begin(), listed.tree.end()), listed.tree.end());
  return listed;
}

bool TreeState::Fulfils(const Json& entry) const {
  if (!installed || !missing.empty() || !missing_bundles.empty()) return false;
  const std::string pinned = EntryChecksum(entry);
  if (!pinned.empty() && !checksum.empty()) return pinned == checksum;
  return version && version == EntryVersion(entry);
}

TreeState InspectTree(const Context& context, const ExtensionSite& site, const ExtensionName& name,
                      const Json* entry) {
  TreeState state;
  state.pulled_root = RootOf(context, site, name);
  state.folder = state.pulled_root / name.text();
  const ListedFiles listed = entry == nullptr ? ListedFiles() : ReadListedFiles(site, name, *entry);
  state.refused = listed.refused;
  LinkCheck links(context, state.pulled_root);
  if (!links.StaysInside(state.folder / kManifestName)) {
    state.refused.push_back(
        {RepositoryPath(site, state.folder), "a link leads out of the pulled extensions"});
    return state;
  }
  state.installed = HasTree(context, state.folder);
  const auto receipt = ReadReceipt(context, state.folder);
  state.has_receipt = receipt && receipt->name == name;
  if (state.has_receipt) {
    state.version = receipt->version;
    state.checksum = receipt->checksum;
    for (const auto& [path, digest] : receipt->files) state.owned.push_back(path);
  } else {
    if (const auto manifest = ReadTreeManifest(context, state.folder))
      state.version = manifest->version;
    state.owned = listed.tree;
  }
  for (const std::string& path : state.owned) {
    context.Check();
    const std::filesystem::path file = state.folder / path;
    if (!links.StaysInside(file)) {
      state.refused.push_back(
          {RepositoryPath(site, file), "a link leads out of the pulled extensions"});
      continue;
    }
    auto digest = DigestOfFile(context, file);
    if (!digest) {
      state.missing.push_back(path);
      continue;
    }
    if (state.has_receipt && *digest != receipt->files.at(path)) state.edited.push_back(path);
    state.present.emplace(path, std::move(*digest));
  }
  if (!state.has_receipt && entry != nullptr && !state.present.empty() &&
      !EntryFilesChecksum(*entry).empty() &&
      FilesChecksum(state.present) != EntryFilesChecksum(*entry)) {
    state.edits_are_known = false;
    for (const auto& [path, digest] : state.present) state.edited.push_back(path);
  }
  for (const auto& [kind, path] : listed.bundles) {
    const std::filesystem::path bundle = BundleFolder(site, state.pulled_root, name, *kind) / path;
    if (!context.files().Stat(bundle))
      state.missing_bundles.push_back(RepositoryPath(site, bundle));
  }
  return state;
}

bool IsInstalledHere(const Context& context, const ExtensionSite& site, const ExtensionName& name,
                     const Json& entry) {
  TreeState state;
  state.pulled_root = RootOf(context, site, name);
  state.folder = state.pulled_root / name.text();
  state.installed = HasTree(context, state.folder);
  if (const auto receipt = ReadReceipt(context, state.folder)) {
    state.version = receipt->version;
    state.checksum = receipt->checksum;
  } else if (const auto manifest = ReadTreeManifest(context, state.folder)) {
    state.version = manifest->version;
  }
  const std::vector<std::string> listed = ReadListedFiles(site, name, entry).tree;
  return state.Fulfils(entry) &&
         std::all_of(listed.begin(), listed.end(), [&](const std::string& path) {
           return context.files().Stat(state.folder / path).has_value();
         });
}

std::map<std::filesystem::path, std::string> ClaimsOfNeighbours(const ExtensionSite& site,
                                                                const ExtensionName& name,
                                                                const Lockfile& lockfile) {
  std::map<std::filesystem::path, std::string> claims;
  for (const auto& [text, entry] : lockfile.entries()) {
    const auto other = ExtensionName::Parse(text);
    if (!other || (!Below(text, name.text()) && !Below(name.text(), text))) continue;
    for (const std::string& path : ReadListedFiles(site, *other, entry).tree) {
      claims.emplace(site.pulled_root / text / path, text);
      if (site.older_pulled_root) claims.emplace(*site.older_pulled_root / text / path, text);
    }
  }
  return claims;
}

std::vector<Dependency> DependenciesOf(const Context& context, const ExtensionSite& site,
                                       const ExtensionName& name, const Json& entry) {
  std::vector<Dependency> dependencies;
  if (const auto found = entry.find("dependencies"); found != entry.end() && found->is_array()) {
    for (const Json& item : *found) {
      if (!item.is_string()) continue;
      if (auto dependency = ParseDependency(item.get<std::string>()))
        dependencies.push_back(std::move(*dependency));
    }
    return dependencies;
  }
  const auto manifest = ReadTreeManifest(context, RootOf(context, site, name) / name.text());
  return manifest ? manifest->dependencies : dependencies;
}

}  // namespace swamp

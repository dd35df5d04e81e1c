#include "extension/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace swamp {
namespace {

// By whole segments; neither is resolved.
bool IsBelow(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto [folder_end, path_end] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return folder_end == folder.end() && path_end != path.end();
}

}  // namespace

std::string RepositoryPath(const ExtensionSite& site, const std::filesystem::path& path) {
  return path.lexically_relative(site.repo_root).generic_string();
}

std::string BundleNamespace(std::string_view path) {
  std::uint32_t hash = 2166136261U;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return fmt::format("{:08x}", hash);
}

std::filesystem::path BundleFolder(const ExtensionSite& site,
                                   const std::filesystem::path& pulled_root,
                                   const ExtensionName& name, const ExtensionKindInfo& kind) {
  const std::string sources = RepositoryPath(site, pulled_root / name.text() / kind.folder);
  return site.swamp_folder / kind.bundle_folder / BundleNamespace(sources);
}

bool IsInstallPlace(const ExtensionSite& site, const std::filesystem::path& path) {
  if (IsBelow(path, site.pulled_root)) return true;
  if (site.older_pulled_root && IsBelow(path, *site.older_pulled_root)) return true;
  return std::any_of(
      kExtensionKinds.begin(), kExtensionKinds.end(), [&](const ExtensionKindInfo& kind) {
        return !kind.bundle_folder.empty() && IsBelow(path, site.swamp_folder / kind.bundle_folder);
      });
}

}  // namespace swamp

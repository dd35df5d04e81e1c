#pragma once

#include <array>
#include <string_view>

namespace swamp {

// What an extension can bring.
enum class ExtensionKind { kModel, kWorkflow, kVault, kDriver, kDatastore, kReport, kSkill };

struct ExtensionKindInfo {
  ExtensionKind kind;
  // The key in the manifest and the folder in an archive, in the installed tree and beside the
  // sources.
  std::string_view folder;
  // Where its bundles are, in an archive and under .swamp/; empty: the kind has none.
  std::string_view bundle_folder;
  // Whether the folder holds program sources, whose file endings are restricted.
  bool has_sources;
};

inline constexpr std::array<ExtensionKindInfo, 7> kExtensionKinds = {{
    {ExtensionKind::kModel, "models", "bundles", true},
    {ExtensionKind::kWorkflow, "workflows", "", true},
    {ExtensionKind::kVault, "vaults", "vault-bundles", true},
    {ExtensionKind::kDriver, "drivers", "driver-bundles", true},
    {ExtensionKind::kDatastore, "datastores", "datastore-bundles", true},
    {ExtensionKind::kReport, "reports", "report-bundles", true},
    {ExtensionKind::kSkill, "skills", "", false},
}};

// Where additional files and binaries are, in an archive and in the installed tree.
inline constexpr std::string_view kFilesFolder = "files";
inline constexpr std::string_view kManifestName = "manifest.yaml";

// The kind whose sources, or whose bundles, are in `folder`; null: none.
constexpr const ExtensionKindInfo* KindOfFolder(std::string_view folder) {
  for (const ExtensionKindInfo& info : kExtensionKinds) {
    if (info.folder == folder) return &info;
  }
  return nullptr;
}
constexpr const ExtensionKindInfo* KindOfBundleFolder(std::string_view folder) {
  for (const ExtensionKindInfo& info : kExtensionKinds) {
    if (!info.bundle_folder.empty() && info.bundle_folder == folder) return &info;
  }
  return nullptr;
}

}  // namespace swamp

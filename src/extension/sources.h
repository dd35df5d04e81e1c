#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "util/context.h"
#include "util/json.h"

namespace swamp {

inline constexpr const char* kSourcesFile = ".swamp-sources.yaml";

// A folder with the sources of extensions in development, as `.swamp-sources.yaml` names it: a file of this checkout alone,
// which version control leaves out.
struct ExtensionSource {
  std::string path;                // as written
  std::filesystem::path folder;    // where it is
  std::vector<std::string> only;   // of kExtensionKinds' folders; empty: all
  Json entry = Json::object();     // with the keys that this program doesn't know
};

// Those of the file, in its order; none when there is no file. Relative paths count from the repository, in a linked Git
// work tree from the main one's. Throws UserError sources_invalid naming every fault, yaml_invalid.
std::vector<ExtensionSource> ReadSources(const Context& context, const std::filesystem::path& repo_root);

struct SourceChange {
  std::string action;  // "added", "updated", "removed" or "unchanged"
  ExtensionSource source;
  std::vector<ExtensionSource> sources;  // as they are now
};
// `path`: as typed, from the working directory. A folder that is there already gets the new `only`.
// Throws sources_invalid, path_not_found, usage (`only` has no kind of an extension; a folder in .swamp).
SourceChange AddSource(const Context& context, const std::filesystem::path& repo_root, const std::string& path,
                       const std::vector<std::string>& only);
// By its path, as typed or as written; the folder may be gone. Throws source_not_found with those that there are.
SourceChange RemoveSource(const Context& context, const std::filesystem::path& repo_root, const std::string& path);

}  // namespace swamp

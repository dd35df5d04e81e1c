#include "extension/pack_sources.h"

#include <fmt/format.h>

#include <array>
#include <deque>

#include "extension/typescript_imports.h"
#include "util/context.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::uint64_t kMaxSource =
    16 << 20;  // far above what an archive may hold: its check tells better
constexpr std::array<std::string_view, 5> kSkillFolders = {
    "skills", ".claude/skills", ".agents/skills", ".cursor/skills", ".kiro/skills"};

class SourceCollector {
 public:
  SourceCollector(const Context& context, const PackRequest& request,
                  const std::filesystem::path& folder, const Manifest& manifest)
      : context_(context), request_(request), folder_(folder), manifest_(manifest) {}

  std::map<std::string, std::filesystem::path> Run() {
    for (const DeclaredPath& declared : DeclaredPaths(manifest_)) AddDeclared(declared);
    while (!unread_.empty()) {
      const std::string path = unread_.front();
      unread_.pop_front();
      AddImports(path);
    }
    if (request_.bundles) AddBundles(*request_.bundles);
    if (!faults_.empty()) {
      throw UserError(
          "manifest_invalid",
          fmt::format("{}: {}", (folder_ / kManifestName).string(), Join(faults_, "; ")),
          "Everything that is declared or imported has to be there to be packed.");
    }
    return std::move(files_);
  }

 private:
  bool IsFile(const std::filesystem::path& path) const {
    const auto info = context_.files().Stat(context_.files().Resolve(path));
    return info && info->kind == FileKind::kFile;
  }
  bool IsFolder(const std::filesystem::path& path) const {
    const auto info = context_.files().Stat(path);
    return info && info->kind == FileKind::kFolder;
  }

  std::filesystem::path KindFolder(const ExtensionKindInfo& kind) const {
    if (manifest_.paths_base == PathsBase::kManifest) return folder_;
    const auto given = request_.kind_folders.find(kind.kind);
    if (given != request_.kind_folders.end()) return given->second;
    return IsFolder(folder_ / "extensions") ? folder_ / "extensions" / kind.folder
                                            : folder_ / kind.folder;
  }

  void AddDeclared(const DeclaredPath& declared) {
    if (declared.kind != nullptr && declared.kind->kind == ExtensionKind::kSkill) {
      AddSkill(declared);
      return;
    }
    std::filesystem::path source;
    if (declared.kind != nullptr) {
      source = KindFolder(*declared.kind) / declared.entry;
    } else {
      source = folder_ / declared.entry;
      if (!IsFile(source) && IsFile(folder_ / declared.archive_path))
        source = folder_ / declared.archive_path;
    }
    if (IsFile(source)) {
      Add(declared.archive_path, source);
    } else {
      faults_.push_back(fmt::format("{}: there is no file {}", declared.field, source.string()));
    }
  }

  void AddSkill(const DeclaredPath& declared) {
    for (const std::string_view place : kSkillFolders) {
      const std::filesystem::path skill = folder_ / place / declared.entry;
      bool found = false;
      for (const std::string& path : ListFilesBelow(context_.files(), skill)) {
        if (IsSystemClutter(path)) continue;
        Add(declared.archive_path + "/" + path, skill / path);
        found = true;
      }
      if (found) return;
    }
    faults_.push_back(fmt::format("{}: there is no folder {} with files", declared.field,
                                  (folder_ / kSkillFolders.front() / declared.entry).string()));
  }

  void Add(const std::string& archive_path, const std::filesystem::path& source) {
    if (!files_.emplace(archive_path, source).second) return;
    const ExtensionKindInfo* kind = KindOfFolder(archive_path.substr(0, archive_path.find('/')));
    if (kind != nullptr && kind->has_sources && archive_path.ends_with(".ts"))
      unread_.push_back(archive_path);
  }

  // An import leads from one file of the archive to another just as it does among the sources.
  void AddImports(const std::string& importer) {
    const auto text = ReadFile(context_.files(), files_.at(importer), kMaxSource);
    if (!text) return;
    for (const std::string& import : RelativeImports(*text)) {
      const std::string target = (std::filesystem::path(importer).parent_path() / import)
                                     .lexically_normal()
                                     .generic_string();
      const std::size_t slash = target.find('/');
      const ExtensionKindInfo* kind = KindOfFolder(target.substr(0, slash));
      if (slash == std::string::npos || kind == nullptr || !kind->has_sources) {
        faults_.push_back(
            fmt::format("{} imports {}, which is outside of the folders that are packed", importer,
                        Printable(import, 200)));
        continue;
      }
      const std::filesystem::path source = KindFolder(*kind) / target.substr(slash + 1);
      if (IsFile(source)) {
        Add(target, source);
      } else if (IsFile(source.string() + ".ts")) {
        Add(target + ".ts", source.string() + ".ts");
      } else {
        faults_.push_back(fmt::format("{} imports {}, but there is no file {}", importer,
                                      Printable(import, 200), source.string()));
      }
    }
  }

  void AddBundles(const std::filesystem::path& folder) {
    for (const ExtensionKindInfo& kind : kExtensionKinds) {
      if (kind.bundle_folder.empty()) continue;
      for (const std::string& path :
           ListFilesBelow(context_.files(), folder / kind.bundle_folder)) {
        if (!IsSystemClutter(path))
          Add(fmt::format("{}/{}", kind.bundle_folder, path), folder / kind.bundle_folder / path);
      }
    }
  }

  const Context& context_;
  const PackRequest& request_;
  const std::filesystem::path& folder_;
  const Manifest& manifest_;
  std::map<std::string, std::filesystem::path> files_;
  std::deque<std::string> unread_;  // sources whose imports haven't been looked at
  std::vector<std::string> faults_;
};

}  // namespace

std::map<std::string, std::filesystem::path> CollectSources(
    const Context& context, const PackRequest& request,
    const std::filesystem::path& manifest_folder, const Manifest& manifest) {
  return SourceCollector(context, request, manifest_folder, manifest).Run();
}

}  // namespace swamp

#include "extension/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "extension/gzip.h"
#include "extension/tar.h"
#include "util/context.h"
#include "util/digest.h"
#include "util/error.h"
#include "util/files.h"
#include "util/relative_path.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::string_view kTopFolder = "extension";
constexpr unsigned kManifestMode = 0444;
constexpr unsigned kExecutableMode = 0755;

[[noreturn]] void Refuse(std::string_view reason) {
  throw UserError("archive_invalid", std::string(reason));
}

[[noreturn]] void RefuseEntry(std::string_view path, std::string_view reason) {
  Refuse(fmt::format("the archive's entry \"{}\" is refused: {}", Printable(path), reason));
}

// The part below the top folder: empty for the folder itself.
std::string_view BelowTop(std::string_view name) {
  if (const auto why = WhyUnsafePath(name)) RefuseEntry(name, *why);
  if (name == kTopFolder) return {};
  const std::size_t slash = name.find('/');
  if (name.substr(0, slash) != kTopFolder || slash == std::string_view::npos) {
    RefuseEntry(name, "all entries must be in one folder, extension/");
  }
  return name.substr(slash + 1);
}

bool IsKnownPlace(std::string_view path) {
  if (path == kManifestName) return true;
  const std::size_t slash = path.find('/');
  const std::string_view folder = path.substr(0, slash);
  return slash != std::string_view::npos &&
         (folder == kFilesFolder || KindOfFolder(folder) != nullptr ||
          KindOfBundleFolder(folder) != nullptr);
}

class ArchiveReader {
 public:
  ArchiveReader(const Context& context, const InputFile& archive,
                const std::optional<std::filesystem::path>& target, const ArchiveLimits& limits)
      : context_(context),
        target_(target),
        limits_(limits),
        gunzip_(archive, limits.unpacked_bytes),
        tar_(gunzip_) {
    if (archive.Info().size > limits.archive_bytes) {
      Refuse(fmt::format("the archive has more than {} bytes", limits.archive_bytes));
    }
  }

  ArchiveContents ReadAll() {
    while (auto entry = tar_.Next()) {
      context_.Check();
      if (++entries_ > limits_.entries)
        Refuse(fmt::format("the archive has more than {} entries", limits_.entries));
      ReadEntry(*entry);
    }
    Drain();
    if (!manifest_text_) Refuse(fmt::format("the archive has no {}/{}", kTopFolder, kManifestName));
    Manifest manifest = ParseManifest(*manifest_text_, "the archive's manifest.yaml");
    std::sort(files_.begin(), files_.end(),
              [](const ArchiveFile& a, const ArchiveFile& b) { return a.path < b.path; });
    MarkBinaries(manifest);
    CheckSources();
    WarnOfMissing(manifest);
    for (const std::string& folder : unknown_) {
      warnings_.push_back(fmt::format("{} is of no kind that this program knows and is left out",
                                      Printable(folder)));
    }
    return {std::move(manifest), std::move(files_), std::move(warnings_)};
  }

  Manifest ReadManifest() {
    while (auto entry = tar_.Next()) {
      context_.Check();
      if (++entries_ > limits_.entries) break;
      if (entry->kind != TarEntry::Kind::kFile || BelowTop(entry->name) != kManifestName) continue;
      return ParseManifest(ReadText(*entry), "the archive's manifest.yaml");
    }
    Refuse(fmt::format("the archive has no {}/{}", kTopFolder, kManifestName));
  }

 private:
  void ReadEntry(const TarEntry& entry) {
    const std::string_view path = BelowTop(entry.name);
    if (entry.kind == TarEntry::Kind::kOther) {
      RefuseEntry(entry.name, "only files and folders are allowed, no links or devices");
    }
    if (path.empty()) {
      if (entry.kind == TarEntry::Kind::kFile) RefuseEntry(entry.name, "it must be a folder");
      return;
    }
    if (IsSystemClutter(path)) return;
    if (entry.kind == TarEntry::Kind::kFolder) {
      if (const auto why = paths_.AddFolder(path)) RefuseEntry(entry.name, *why);
      return;
    }
    if (const auto why = WhyForbiddenFile(path)) RefuseEntry(entry.name, *why);
    if (const auto why = paths_.AddFile(path)) RefuseEntry(entry.name, *why);
    if (!IsKnownPlace(path)) {
      unknown_.insert(std::string(path.substr(0, path.find('/'))));
      return;
    }
    ReadFileEntry(std::string(path), entry);
  }

  void ReadFileEntry(std::string path, const TarEntry& entry) {
    const bool is_script = path.ends_with(".ts");
    const bool is_manifest = path == kManifestName;
    if ((is_script || is_manifest) && entry.size > limits_.source_file_bytes) RefuseSize(path);
    std::unique_ptr<OutputFile> output;
    if (target_)
      output = context_.files().Create(*target_ / path, is_manifest ? kManifestMode : 0644);
    Hasher hasher;
    std::string text;
    for (std::string buffer(64 << 10, '\0');;) {
      const std::string_view piece = std::string_view(buffer).substr(0, tar_.Read(buffer));
      if (piece.empty()) break;
      hasher.Update(piece);
      if (output) output->Append(piece);
      if (is_script || is_manifest) text += piece;
    }
    if (is_script) {
      SourceFindings findings = InspectTypeScript(path, text);
      if (findings.refusal) RefuseEntry(entry.name, *findings.refusal);
      std::move(findings.warnings.begin(), findings.warnings.end(), std::back_inserter(warnings_));
    }
    if (output) output->Commit(Durability::kLater);
    files_.push_back({std::move(path), entry.size, hasher.FinishHex(), false});
    if (is_manifest) manifest_text_ = std::move(text);
  }

  std::string ReadText(const TarEntry& entry) {
    if (entry.size > limits_.source_file_bytes) RefuseSize(entry.name);
    std::string text(static_cast<std::size_t>(entry.size), '\0');
    tar_.Read(text);
    return text;
  }

  [[noreturn]] void RefuseSize(std::string_view path) const {
    RefuseEntry(path, fmt::format("it has more than {} bytes", limits_.source_file_bytes));
  }

  // To the end of the gzip stream, so that its own checksum is looked at.
  void Drain() {
    std::string buffer(64 << 10, '\0');
    while (gunzip_.Read(buffer) == buffer.size()) context_.Check();
  }

  void MarkBinaries(const Manifest& manifest) {
    for (const std::string& binary : manifest.binaries) {
      ArchiveFile* file = Find(fmt::format("{}/{}", kFilesFolder, binary));
      if (file == nullptr) continue;
      file->executable = true;
      if (target_) context_.files().SetMode(*target_ / file->path, kExecutableMode);
    }
  }

  void CheckSources() const {
    std::size_t count = 0;
    std::uint64_t total = 0;
    for (const ArchiveFile& file : files_) {
      const std::string_view folder = std::string_view(file.path).substr(0, file.path.find('/'));
      if (file.executable || KindOfBundleFolder(folder) != nullptr) continue;
      if (file.size > limits_.source_file_bytes) RefuseSize(file.path);
      ++count;
      total += file.size;
    }
    if (count > limits_.source_files) {
      Refuse(fmt::format("the archive has {} source files; at most {} are allowed", count,
                         limits_.source_files));
    }
    if (total > limits_.source_bytes) {
      Refuse(fmt::format("the archive's source files have {} bytes; at most {} are allowed", total,
                         limits_.source_bytes));
    }
  }

  void WarnOfMissing(const Manifest& manifest) {
    for (const DeclaredPath& declared : DeclaredPaths(manifest)) {
      const std::string folder = declared.archive_path + "/";
      const bool there = std::any_of(files_.begin(), files_.end(), [&](const ArchiveFile& file) {
        return file.path == declared.archive_path || file.path.starts_with(folder);
      });
      if (!there) {
        warnings_.push_back(
            fmt::format("the manifest lists {} ({}), which the archive doesn't hold",
                        Printable(declared.entry), declared.field));
      }
    }
  }

  ArchiveFile* Find(const std::string& path) {
    const auto found = std::lower_bound(
        files_.begin(), files_.end(), path,
        [](const ArchiveFile& file, const std::string& p) { return file.path < p; });
    return found != files_.end() && found->path == path ? &*found : nullptr;
  }

  const Context& context_;
  const std::optional<std::filesystem::path>& target_;
  const ArchiveLimits& limits_;
  GunzipSource gunzip_;
  TarReader tar_;
  std::size_t entries_ = 0;
  PathSet paths_;
  std::optional<std::string> manifest_text_;
  std::vector<ArchiveFile> files_;
  std::vector<std::string> warnings_;
  std::set<std::string> unknown_;  // top-level names that were left out
};

// Removes what was written if it isn't kept.
class TargetGuard {
 public:
  TargetGuard(Files& files, const std::optional<std::filesystem::path>& target)
      : files_(files), target_(target) {}
  ~TargetGuard() {
    if (kept_ || !target_) return;
    try {
      RemoveTree(files_, *target_);
    } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): what ends the command is on its
                                  // way already
    }
  }
  TargetGuard(const TargetGuard&) = delete;
  TargetGuard& operator=(const TargetGuard&) = delete;
  void Keep() { kept_ = true; }

 private:
  Files& files_;
  const std::optional<std::filesystem::path>& target_;
  bool kept_ = false;
};

}  // namespace

ArchiveContents ReadArchive(const Context& context, const InputFile& archive,
                            const std::optional<std::filesystem::path>& target,
                            const ArchiveLimits& limits) {
  TargetGuard guard(context.files(), target);
  ArchiveContents contents = ArchiveReader(context, archive, target, limits).ReadAll();
  guard.Keep();
  return contents;
}

ArchiveContents ReadArchiveOf(const Context& context, const InputFile& archive,
                              const ExtensionName& name, const Version& version,
                              const std::optional<std::filesystem::path>& target,
                              const ArchiveLimits& limits) {
  TargetGuard guard(context.files(), target);
  ArchiveContents contents = ReadArchive(context, archive, target, limits);
  const Manifest& manifest = contents.manifest;
  if (manifest.name != name || manifest.version != version) {
    Refuse(fmt::format("the archive is {} {} where {} {} was asked for", manifest.name.text(),
                       manifest.version.text(), name.text(), version.text()));
  }
  guard.Keep();
  return contents;
}

Manifest ReadArchiveManifest(const Context& context, const InputFile& archive,
                             const ArchiveLimits& limits) {
  return ArchiveReader(context, archive, std::nullopt, limits).ReadManifest();
}

}  // namespace swamp

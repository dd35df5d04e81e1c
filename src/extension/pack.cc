#include "extension/pack.h"

#include <fmt/format.h>

#include <set>

#include "extension/gzip.h"
#include "extension/pack_sources.h"
#include "extension/tar.h"
#include "util/context.h"
#include "util/digest.h"
#include "util/environment.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace swamp {
namespace {

constexpr std::uint64_t kMaxManifest = 1 << 20;

std::filesystem::path ManifestOf(const Context& context, const std::filesystem::path& source) {
  const auto info = context.files().Stat(context.files().Resolve(source));
  if (info && info->kind == FileKind::kFolder) return source / kManifestName;
  if (info && source.filename() == kManifestName) return source;
  throw UserError("path_not_found", fmt::format("{} is neither a folder with a {} nor such a file",
                                                source.string(), kManifestName));
}

void RequirePublishable(const Manifest& manifest, const std::filesystem::path& path) {
  if (manifest.version.IsCalendarVersion()) return;
  throw UserError(
      "manifest_invalid",
      fmt::format("{}: version: \"{}\" is not of the form YYYY.MM.DD.N with a real date",
                  path.string(), manifest.version.text()));
}

void AddFile(const Context& context, TarWriter& tar, const std::string& name,
             const std::filesystem::path& source, bool executable) {
  const auto file = context.files().Open(source);
  if (!file) throw UserError("path_not_found", fmt::format("{} is gone", source.string()));
  const std::uint64_t size = file->Info().size;
  tar.BeginFile(name, size, executable);
  std::string buffer(256 << 10, '\0');
  for (std::uint64_t offset = 0; offset < size;) {
    context.Check();
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - offset));
    if (file->ReadAt(offset, std::span(buffer).first(wanted)) != wanted) {
      throw UserError("archive_invalid",
                      fmt::format("{} was cut while it was read", source.string()),
                      "Run the command again.");
    }
    tar.Append(std::string_view(buffer).substr(0, wanted));
    offset += wanted;
  }
  tar.EndFile();
}

}  // namespace

std::string DefaultArchiveName(const Manifest& manifest) {
  return fmt::format("{}-{}.tar.gz", ReplaceAll(manifest.name.text().substr(1), "/", "-"),
                     manifest.version.text());
}

PackResult Pack(const Context& context, const PackRequest& request) {
  const std::filesystem::path manifest_path = ManifestOf(context, request.source);
  const auto text = ReadFile(context.files(), manifest_path, kMaxManifest);
  if (!text)
    throw UserError("path_not_found", fmt::format("there is no {}", manifest_path.string()));
  const Manifest manifest = ParseManifest(*text, manifest_path.string());
  RequirePublishable(manifest, manifest_path);
  const auto sources = CollectSources(context, request, manifest_path.parent_path(), manifest);

  const std::filesystem::path target =
      request.out.value_or(context.environment().WorkingDirectory() / DefaultArchiveName(manifest));
  const auto output = context.files().Create(target);
  Hasher hasher;
  std::uint64_t size = 0;
  GzipWriter gzip([&](std::string_view bytes) {
    hasher.Update(bytes);
    size += bytes.size();
    output->Append(bytes);
  });
  TarWriter tar([&](std::string_view bytes) { gzip.Write(bytes); });
  // The manifest first: who looks for it in a registry reads no further.
  tar.BeginFile(fmt::format("extension/{}", kManifestName), text->size(), false);
  tar.Append(*text);
  tar.EndFile();
  std::set<std::string> executables;
  for (const std::string& binary : manifest.binaries)
    executables.insert(fmt::format("{}/{}", kFilesFolder, binary));
  for (const auto& [path, source] : sources) {
    AddFile(context, tar, "extension/" + path, source, executables.contains(path));
  }
  tar.Finish();
  gzip.Finish();
  output->Close(Durability::kSynced);

  const auto archive = context.files().Open(output->temporary_path());
  if (!archive) throw IoError("read", output->temporary_path().native(), ENOENT);
  PackResult result{
      target, hasher.FinishHex(), size,
      ReadArchiveOf(context, *archive, manifest.name, manifest.version, std::nullopt)};
  output->Commit(Durability::kSynced);
  return result;
}

}  // namespace swamp

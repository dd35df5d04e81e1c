#include "extension/push.h"

#include <fmt/format.h>

#include <algorithm>

#include "extension/files_checksum.h"
#include "util/context.h"
#include "util/error.h"
#include "util/files.h"

namespace swamp {

PushResult Push(const Context& context, Registry& registry, const PushRequest& request) {
  const auto file = context.files().Open(request.archive);
  const auto checksum = file ? DigestOfFile(context, request.archive) : std::nullopt;
  if (!checksum)
    throw UserError("path_not_found",
                    fmt::format("there is no archive {}", request.archive.string()));
  const ArchiveContents contents = ReadArchive(context, *file, std::nullopt);
  const Manifest& manifest = contents.manifest;
  if (!manifest.version.IsCalendarVersion()) {
    throw UserError("manifest_invalid",
                    fmt::format("version: \"{}\" is not of the form YYYY.MM.DD.N with a real date",
                                manifest.version.text()));
  }
  const auto versions =
      registry.Versions(context, manifest.name).value_or(std::vector<RegistryVersion>());
  const bool exists = std::any_of(
      versions.begin(), versions.end(),
      [&](const RegistryVersion& version) { return version.version == manifest.version; });
  if (exists) {
    throw UserError(
        "version_exists",
        fmt::format("{} has version {} of {} already", registry.url(), manifest.version.text(),
                    manifest.name.text()),
        fmt::format("Published versions never change. The next one: swamp extension version {}",
                    manifest.name.text()));
  }
  const std::uint64_t size = file->Info().size;
  if (!request.dry_run) {
    registry.Publish(context, {manifest, request.channel, request.archive, *checksum, size});
  }
  return {manifest.name.text(),
          manifest.version.text(),
          std::string(ChannelName(request.channel)),
          *checksum,
          size,
          registry.url(),
          !request.dry_run,
          contents.warnings};
}

}  // namespace swamp

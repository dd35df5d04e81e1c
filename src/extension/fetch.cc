#include "extension/fetch.h"

#include <fmt/format.h>

#include "util/context.h"
#include "util/error.h"
#include "util/files.h"

namespace swamp {
namespace {

[[noreturn]] void Mismatch(const FetchRequest& request, std::string_view authority,
                           const std::string& expected, const std::string& actual,
                           std::string_view hint) {
  throw UserError(
      "checksum_mismatch",
      fmt::format("the archive of {} {} has the checksum {}, but {} says {}", request.name.text(),
                  request.version.text(), actual, authority, expected),
      std::string(hint));
}

}  // namespace

FetchedExtension Fetch(const Context& context, Registry& registry, const FetchRequest& request,
                       const std::filesystem::path& folder) {
  const std::filesystem::path archive = folder / "archive.tar.gz";
  const auto expected = registry.Checksum(context, request.name, request.version, request.channel);
  const std::string checksum =
      registry.Download(context, request.name, request.version, request.channel, archive);
  if (expected && *expected != checksum) {
    Mismatch(request, registry.url(), *expected, checksum,
             "Nothing was installed. The archive was damaged on the way, is still being copied, or "
             "was tampered with.");
  }
  if (!request.pinned_checksum.empty() && request.pinned_checksum != checksum) {
    Mismatch(request, "the lockfile", request.pinned_checksum, checksum,
             "Nothing was installed. A published version must never change: ask its publisher. To "
             "accept the new "
             "content: swamp extension pull " +
                 request.name.text() + "@" + request.version.text() + " --force");
  }
  FetchedExtension fetched{
      request.name,
      request.version,
      request.channel,
      checksum,
      expected.has_value(),
      StageArchive(context, archive, checksum, request.name, request.version, folder / "unpacked")};
  context.files().Remove(archive);
  return fetched;
}

}  // namespace swamp

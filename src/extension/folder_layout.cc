#include "extension/folder_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/context.h"
#include "util/error.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"
#include "util/time.h"
#include "util/yaml.h"

namespace swamp {
namespace {

constexpr std::string_view kArchiveEnding = ".tar.gz";
constexpr std::string_view kStatusName = "status.yaml";
constexpr std::uint64_t kMaxSmallFile = 1 << 20;

bool IsSha256(std::string_view text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// "<hex>", or "<hex>  name" as sha256sum prints it.
std::optional<std::string> ReadChecksumFile(const Context& context,
                                            const std::filesystem::path& path) {
  const auto text = ReadFile(context.files(), path, kMaxSmallFile);
  if (!text) return std::nullopt;
  const std::string_view trimmed = Trim(*text);
  const std::string_view hex = trimmed.substr(0, trimmed.find_first_of(" \t\r\n"));
  if (!IsSha256(hex)) return std::nullopt;
  return AsciiLower(hex);
}

}  // namespace

std::optional<std::pair<Version, Channel>> ParseArchiveName(std::string_view name) {
  if (!name.ends_with(kArchiveEnding)) return std::nullopt;
  name.remove_suffix(kArchiveEnding.size());
  const std::size_t dash = name.find('-');
  const auto version = Version::Parse(name.substr(0, dash));
  const auto channel =
      dash == std::string_view::npos ? Channel::kStable : ParseChannel(name.substr(dash + 1));
  if (!version || !channel) return std::nullopt;
  return std::pair(*version, *channel);
}

std::string ArchiveName(const Version& version, Channel channel) {
  const std::string suffix =
      channel == Channel::kStable ? "" : fmt::format("-{}", ChannelName(channel));
  return version.text() + suffix + std::string(kArchiveEnding);
}

std::string FormatFileTime(std::int64_t mtime_ns) {
  return FormatTime(Time(Duration(mtime_ns / 1'000'000)));
}

FolderStatus ReadFolderStatus(const Context& context, const std::filesystem::path& folder) {
  FolderStatus status;
  const std::filesystem::path path = folder / kStatusName;
  const auto text = ReadFile(context.files(), path, kMaxSmallFile);
  if (!text) return status;
  const auto refuse = [&](std::string_view problem) {
    throw UserError("registry_answer_invalid", fmt::format("{}: {}", path.string(), problem),
                    "docs/extensions-registry.md shows the form of this file.");
  };
  const Json document = ParseYaml(*text, path.string(), "registry_answer_invalid");
  if (document.is_null()) return status;
  if (!document.is_object()) refuse("it is not a map");
  if (const auto info = context.files().Stat(path)) status.at = FormatFileTime(info->mtime_ns);
  for (const auto& [key, value] : document.items()) {
    if (key == "deprecated") {
      if (!value.is_object())
        refuse("deprecated must be a map with reason, and perhaps supersededBy");
      status.deprecated = StringMember(value, "reason").value_or("");
      status.superseded_by = StringMember(value, "supersededBy");
    } else if (key == "yanked") {
      if (!value.is_array()) refuse("yanked must be a list of maps with version and reason");
      for (const Json& item : value) {
        const std::string reason = StringMember(item, "reason").value_or("");
        if (item.is_object() && !item.contains("version")) {
          status.yanked = reason;
          continue;
        }
        const auto version = Version::Parse(StringMember(item, "version").value_or(""));
        if (!version) refuse("each version in yanked must be of the form YYYY.MM.DD.N");
        status.yanked_versions.emplace_back(*version, reason);
      }
    } else {
      refuse(fmt::format("the key {} is not known", Printable(key, 60)));
    }
  }
  return status;
}

std::vector<FolderVersion> ListFolderVersions(const Context& context,
                                              const std::filesystem::path& folder) {
  const FolderStatus status = ReadFolderStatus(context, folder);
  std::vector<FolderVersion> items;
  for (const FolderEntry& entry : context.files().List(folder)) {
    const auto parsed = ParseArchiveName(entry.name);
    if (!parsed || entry.kind == FileKind::kFolder) continue;
    const std::filesystem::path archive = folder / entry.name;
    const auto checksum =
        ReadChecksumFile(context, folder / (entry.name + std::string(kFolderChecksumEnding)));
    const auto file = context.files().Open(archive);
    if (!checksum || !file) continue;
    FolderVersion item{parsed->first, parsed->second,        archive,
                       *checksum,     file->Info().mtime_ns, status.yanked};
    for (const auto& [version, reason] : status.yanked_versions) {
      if (version == item.version) item.yanked = reason;
    }
    items.push_back(std::move(item));
  }
  std::sort(items.begin(), items.end(), [](const FolderVersion& a, const FolderVersion& b) {
    return a.version != b.version ? a.version > b.version : a.channel < b.channel;
  });
  items.erase(std::unique(items.begin(), items.end(),
                          [](const FolderVersion& a, const FolderVersion& b) {
                            return a.version == b.version;
                          }),
              items.end());
  return items;
}

}  // namespace swamp
